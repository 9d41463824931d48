'use strict';

import { element } from './dom.js';
import { getMarkdown } from './api.js';

// The answers among the lines, as their Markdown says. The first line of a block
// shows all of it, the others are hidden: so lines come and go as before. A block with
// secrets stays as it is, where they can be shown one by one.

const atOnce = 50; // blocks
const maxSource = 1 << 20; // characters, of the blocks of one request
const texts = new WeakMap(); // of the lines' nodes

// answerLine takes note of a line of an answer.
export function answerLine(node, line) {
  texts.set(node, line.text);
  if (line.begins) node.dataset.begins = 'true';
}

const isAnswer = (node) => Boolean(node) && texts.has(node);

// blocksOf returns the blocks in a list of lines that don't look as they should. What's
// left of a block whose beginning is gone is shown as it is.
function blocksOf(list) {
  const found = [];
  for (let node = list.firstChild; node;) {
    if (!isAnswer(node)) {
      node = node.nextSibling;
      continue;
    }
    const lines = [node];
    for (node = node.nextSibling; isAnswer(node) && !node.dataset.begins; node = node.nextSibling) lines.push(node);
    if (!lines[0].dataset.begins || lines.some((line) => line.dataset.secret)) {
      for (const line of lines) line.hidden = false;
      continue;
    }
    const drawn = `${lines.length}`;
    if (lines[0].dataset.drawn !== drawn) found.push({ lines, drawn });
  }
  return found;
}

// drawAnswers draws what has changed, and then calls done. Without an answer of the
// server the lines stay as they are.
export async function drawAnswers(list, done) {
  for (let blocks = blocksOf(list); blocks.length > 0; blocks = blocksOf(list)) {
    const some = [];
    let size = 0;
    for (const block of blocks.slice(0, atOnce)) {
      block.source = block.lines.map((node) => texts.get(node)).join('\n');
      size += block.source.length;
      if (some.length > 0 && size > maxSource) break;
      some.push(block);
    }
    const runs = await getMarkdown(some.map((block) => block.source));
    some.forEach((block, i) => draw(block, runs[i]));
    done();
  }
}

function draw({ lines, drawn }, runs) {
  const [first, ...rest] = lines;
  if (!first.parentNode) return;
  first.replaceChildren(...nodesOf(runs));
  first.dataset.drawn = drawn;
  first.hidden = false;
  for (const node of rest) node.hidden = true;
}

// nodesOf makes nodes of runs. Blocks of code are elements of their own, so that the
// line breaks around them aren't needed.
function nodesOf(runs) {
  const nodes = [];
  let code = null;
  for (const run of runs) {
    if (run.pre) {
      if (!code) {
        trimEnd(nodes.at(-1));
        code = element('pre', 'md-pre');
        if (run.language) code.dataset.language = run.language;
        nodes.push(code);
      }
      code.append(run.text);
      continue;
    }
    const text = code ? run.text.replace(/^\n/, '') : run.text;
    code = null;
    if (text) nodes.push(spanOf(run, text));
  }
  return nodes;
}

function trimEnd(node) {
  const last = node?.lastChild;
  if (last?.nodeType === Node.TEXT_NODE) last.data = last.data.replace(/\n$/, '');
}

const looks = ['bold', 'italic', 'strike', 'code', 'quote'];

function spanOf(run, text) {
  const node = element(run.url && /^https?:\/\//i.test(run.url) ? 'a' : 'span', '', text);
  if (node.nodeName === 'A') {
    node.href = run.url;
    node.target = '_blank';
    node.rel = 'noopener noreferrer';
  }
  for (const look of looks) if (run[look]) node.classList.add(`md-${look}`);
  return node;
}
