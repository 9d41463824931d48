'use strict';

import { getMarkdown } from './api.js';
import { nodesOf } from './markdown.js';

// The answers among the lines, as their Markdown says. The first line of a block
// shows all of it, the others are hidden: so lines come and go as before. A block with
// secrets stays as it is, where they can be shown one by one.

const atOnce = 50; // blocks
const maxSource = 1 << 20; // characters, of the blocks of one request
const texts = new WeakMap(); // of the lines' nodes
const refused = new WeakMap(); // of the first nodes of blocks that aren't drawn: of how many lines they were then

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
    if (lines[0].dataset.drawn !== drawn && refused.get(lines[0]) !== drawn) found.push({ lines, drawn });
  }
  return found;
}

// drawAnswers draws what has changed, within calls of change, until that returns false. Without an
// answer of the server the lines stay as they are, and so does what it refuses or is too large.
export async function drawAnswers(list, change) {
  for (let blocks = blocksOf(list); blocks.length > 0; blocks = blocksOf(list)) {
    const some = [];
    let size = 0;
    for (const block of blocks.slice(0, atOnce)) {
      block.source = block.lines.map((node) => texts.get(node)).join('\n');
      if (block.source.length > maxSource) {
        refused.set(block.lines[0], block.drawn);
        continue;
      }
      size += block.source.length;
      if (size > maxSource) break;
      some.push(block);
    }
    if (some.length === 0) continue;
    let trees = null;
    try {
      trees = await getMarkdown(some.map((block) => block.source));
    } catch (error) {
      if (!(error.status >= 400 && error.status < 500 && error.status !== 401)) throw error;
      for (const block of some) refused.set(block.lines[0], block.drawn);
      continue;
    }
    if (change(() => some.forEach((block, i) => draw(block, trees[i]))) === false) return;
  }
}

function draw({ lines, drawn }, tree) {
  const [first, ...rest] = lines;
  if (!first.parentNode) return;
  first.replaceChildren(...nodesOf(tree));
  first.dataset.drawn = drawn;
  first.hidden = false;
  for (const node of rest) node.hidden = true;
}
