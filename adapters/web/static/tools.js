'use strict';

import { getTool } from './api.js';
import { diffBox } from './diff.js';
import { copyButton, element } from './dom.js';
import { withSecrets } from './secrets.js';
import { workShown, workText } from './work.js';

// What a known agent's tools do, each as a folded card: its call with its result, and for edits what
// changes. A card asks for all of it when it's opened, and again when its result comes.
//
// How it's used: toolLine takes note of each line of kind "tool" with its node, as answerLine does of
// answers; drawTools(session, list) then places cards, whenever lines have come or gone. As with answers,
// the first line of a block shows its card and the others are hidden; a result stands in the card of its
// call, and has one of its own where that isn't in the list. Lines of which no more is known stay as they
// are: those of old logs, and questions. toolCard and update draw one card by itself.
//
// Where a device shows less of the work (work.js), the cards between two lines that are shown stand behind one
// line that counts them, or are hidden.

const linesOf = new WeakMap(); // of the lines' nodes
const cards = new WeakMap(); // of the nodes that show one
const unfolded = new Set(); // "session n" of runs of cards that are counted in one line, and that somebody has opened
const opened = new Set(); // "session n" of cards that somebody has opened, for when they come into the list again
const answers = new Map(); // what was asked for last, by the same
const kept = 30; // of these
const ends = ['answer', 'user', 'turn-end', 'failure']; // what stands behind tools that have ended

// forgetTools leaves nothing of what was asked for.
export function forgetTools() {
  opened.clear();
  unfolded.clear();
  answers.clear();
}

// toolLine takes note of a line of a tool.
export function toolLine(node, line) { linesOf.set(node, line); }

// blocksOf are the blocks of tools in a list, in their order. What's left of a block whose beginning is
// gone is none, and is shown as it is.
function blocksOf(list) {
  const found = [];
  let block = null;
  let said = 0; // how many blocks there were when something was said last
  for (let node = list.firstChild; node; node = node.nextSibling) {
    const line = linesOf.get(node);
    if (!line) {
      if (node.dataset.n) block = null;
      if (ends.some((name) => node.classList.contains(name))) said = found.length;
      continue;
    }
    if (line.begins) {
      block = { nodes: [], lines: [] };
      found.push(block);
    }
    if (!block) node.hidden = false;
    block?.nodes.push(node);
    block?.lines.push(line);
  }
  for (const one of found.slice(0, said)) one.later = true;
  return found;
}

// drawTools places the cards of a list; atWork: what has no result may still be running.
export function drawTools(session, list, atWork = true) {
  const calls = new Map(); // the last block of each call
  const blocks = blocksOf(list);
  for (const block of blocks) {
    const { tool } = block.lines[0];
    if (tool?.part !== 'result') {
      if (tool?.call) calls.set(tool.call, block);
      continue;
    }
    const call = tool.call ? calls.get(tool.call) : null;
    if (!call || call.result) continue;
    call.result = block;
    block.call = call;
  }
  for (const block of blocks) {
    const { tool } = block.lines[0];
    const asked = (block.call ?? block).lines[0].tool?.part === 'question';
    if (!tool?.detail || asked) showLines(block);
    else if (block.call && block.call.lines[0].tool.detail) for (const node of block.nodes) node.hidden = true;
    else showCard(session, block, atWork);
  }
  showWork(session, list, blocks);
}

// showWork hides what isn't to be seen of the work in a list whose cards are placed.
function showWork(session, list, blocks) {
  const { tools } = workShown();
  for (const head of list.querySelectorAll(':scope > .counted > .work-line')) if (tools !== 'brief') unfold(head.parentNode);
  if (tools === 'all') return;
  const blockOf = new Map(blocks.flatMap((block) => block.nodes.map((node) => [node, block])));
  let run = [];
  const end = () => {
    if (run.length > 0 && tools === 'brief') foldRun(session, run);
    run = [];
  };
  for (const node of list.children) {
    const block = blockOf.get(node);
    if (block) {
      if (tools === 'none') node.hidden = true;
      run.push({ node, block, first: block.nodes[0] === node });
    } else if (!node.hidden) {
      if (node.classList.contains('counted')) unfold(node);
      end();
    }
  }
  end();
}

function unfold(node) {
  node.classList.remove('counted', 'folded');
  node.querySelector(':scope > .work-line')?.remove();
}

// foldRun has the first node of some blocks between which nothing is shown say how much work they are. What's behind it is
// seen when it's pressed.
function foldRun(session, run) {
  const counts = {};
  let failed = 0;
  for (const { block, first } of run) {
    const { tool } = block.lines[0];
    if (!first) continue;
    if (tool?.part === 'result') failed += tool.failed ? 1 : 0;
    else {
      const kind = tool?.does ?? 'other';
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  const [{ node }, ...rest] = run;
  const text = workText(counts, failed);
  for (const other of rest) unfold(other.node);
  if (!text) { // of calls further up
    unfold(node);
    return;
  }
  const key = `${session} ${node.dataset.n}`;
  let head = node.querySelector(':scope > .work-line');
  if (!head) {
    head = element('button', 'work-line');
    head.type = 'button';
    head.addEventListener('click', () => {
      if (!unfolded.delete(key)) unfolded.add(key);
      dispatchEvent(new Event('work-shown'));
    });
    node.prepend(head);
  }
  const open = unfolded.has(key);
  head.setAttribute('aria-expanded', String(open));
  setText(head, text);
  node.classList.add('counted');
  node.classList.toggle('folded', !open);
  const alone = node.hidden; // its own card stands in the one of its call
  node.hidden = false;
  if (alone) node.classList.add('folded');
  if (!open) for (const other of rest) other.node.hidden = true;
}

function showLines({ nodes, lines }) {
  nodes.forEach((node, i) => {
    node.hidden = false;
    if (!cards.has(node)) return;
    cards.delete(node);
    node.classList.remove('has-card');
    node.replaceChildren(...withSecrets(lines[i].text, lines[i].secrets));
  });
}

function showCard(session, block, atWork) {
  const [first, ...rest] = block.nodes;
  let card = cards.get(first);
  if (!card) {
    card = toolCard(session, block.lines);
    cards.set(first, card);
    first.classList.add('has-card');
    first.replaceChildren(card);
    first.classList.remove('counted', 'folded');
  }
  first.hidden = false;
  for (const node of rest) node.hidden = true;
  update(card, block.lines, block.result?.lines ?? null, block.later || !atWork);
}

// toolCard is a card of a block's lines: of a call, or of a result whose call isn't there.
export function toolCard(session, lines) {
  const card = element('details', 'tool-card');
  const head = element('summary', 'tool-head');
  head.append(element('span', 'tool-icon'), element('span', 'tool-name'), element('span', 'tool-arg'), element('span', 'tool-state'));
  head.firstChild.setAttribute('aria-hidden', 'true');
  const body = element('div', 'tool-body');
  card.append(head, body);
  card.dataset.tool = lines[0].n;
  card.about = { session, n: lines[0].n, lines, result: null, shown: '', known: '', secrets: 'mask' };
  update(card, lines, null, false);
  const key = `${session} ${lines[0].n}`;
  card.addEventListener('toggle', () => {
    if (!card.open) {
      opened.delete(key);
      return;
    }
    opened.add(key);
    if (card.about.failed) card.about.shown = ''; // it's tried again
    fill(card);
  });
  if (opened.has(key)) card.open = true;
  return card;
}

// update has a card say what's known of its lines; result: those of its result, null while there's none;
// over: it isn't running any more.
export function update(card, lines, result, over) {
  const { tool } = lines[0];
  const its = tool.part === 'result' ? lines : result;
  const name = tool.name === '!' ? 'shell' : tool.name || 'result';
  const said = shownText(lines[0]).replace(/^(⚙|✗) |^ {2}/, '');
  Object.assign(card.about, { lines, result });
  card.dataset.kind = tool.does ?? 'other';
  card.dataset.state = stateOf(its, over, card.about.known);
  const [, nameNode, arg, state] = card.firstChild.children;
  setText(nameNode, name);
  setText(arg, argumentIn(said, name));
  setText(state, stateText(card.dataset.state, its));
  if (card.open) fill(card);
}

// argumentIn is what a call's line says besides the tool's name: "Bash: seq 3", in the demo "Shell(make)".
function argumentIn(said, name) {
  if (said === name) return '';
  if (said.startsWith(`${name}: `)) return said.slice(name.length + 2);
  if (said.startsWith(`${name}(`) && said.endsWith(')')) return said.slice(name.length + 1, -1);
  return said;
}

function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

// shownText is a line's text without its secrets.
function shownText({ text, secrets }) {
  let out = '';
  let at = 0;
  for (const { from, to, name } of secrets ?? []) {
    out += `${text.slice(at, from)}[masked: ${name}]`;
    at = to;
  }
  return out + text.slice(at);
}

// stateOf is how far a tool is; known: how it ended, if it was asked for.
function stateOf(ends, over, known) {
  if (!ends) return known || (over ? 'unknown' : 'running');
  return ends[0].tool.failed ? 'failed' : 'done';
}

function stateText(state, ends) {
  if (state === 'running') return 'running…';
  if (state === 'unknown') return ''; // its result may stand further below
  if (state === 'done') return 'done';
  return /exit status -?\d+$/.exec(ends?.[0].text ?? '')?.[0] ?? 'failed';
}

// fill shows what an open card has, and asks for it if that's needed.
async function fill(card) {
  const { about } = card;
  const wants = `${about.result?.[0].n ?? 0} ${about.secrets}`;
  if (about.shown === wants) return;
  about.shown = wants;
  about.failed = false;
  const key = `${about.session} ${about.n}`;
  const known = answers.get(key);
  if (known?.wants === wants) {
    draw(card, known.use);
    return;
  }
  const body = card.lastChild;
  if (!body.firstChild) body.append(element('p', 'tool-note', 'Loading…'));
  try {
    const use = await getTool(about.session, about.n, about.secrets);
    if (about.shown !== wants) return; // it's asked for again
    if (about.secrets === 'mask') keep(key, { wants, use });
    draw(card, use);
  } catch (error) {
    if (about.shown !== wants) return;
    about.failed = true;
    drawLines(card, error.status === 404 ? 'All of it isn’t kept any more.' : `All of it can’t be shown now: ${error.message}`);
  }
}

function keep(key, answer) {
  answers.delete(key);
  answers.set(key, answer);
  if (answers.size > kept) answers.delete(answers.keys().next().value);
}

// drawLines shows the lines of a use of which there's no more.
function drawLines(card, why) {
  const { lines, result } = card.about;
  card.lastChild.replaceChildren(
    element('p', 'tool-note', why),
    textBox('Lines', [...lines, ...(result ?? [])].map(shownText).join('\n')),
  );
}

function draw(card, use) {
  const parts = [];
  if (use.result > 0) card.about.known = use.failed ? 'failed' : 'done';
  if (use.result > 0 && ['running', 'unknown'].includes(card.dataset.state)) {
    card.dataset.state = card.about.known;
    setText(card.firstChild.lastChild, card.about.known);
  }
  for (const { name, text } of use.input) parts.push(inputNode(label(name), text));
  for (const file of use.files ?? []) parts.push(fileNode(file));
  if (use.result > 0) {
    const none = use.output === '';
    const output = section('Output', none ? element('p', 'tool-note', noOutput(card, use)) : textBox('Output', use.output));
    if (!none) output.firstChild.append(copyButton(() => use.output));
    parts.push(output);
  } else parts.push(element('p', 'tool-note', card.dataset.state === 'running' ? 'It hasn’t returned yet.' : 'There’s no result.'));
  if (use.masked || card.about.secrets === 'show') parts.push(secretsNote(card));
  card.lastChild.replaceChildren(...parts);
}

// noOutput is what's shown of a result without a text: its line says more if it was refused.
function noOutput({ about }, use) {
  const ends = about.result ?? (about.lines[0].tool.part === 'result' ? about.lines : null);
  if (!ends) return 'No output.';
  const said = ends.map(shownText).join(' ').replace(/^✗ /, '').trim();
  return use.files?.length > 0 && !use.failed ? said : said || 'No output.';
}

// label is an argument's name in words: "file_path" is "File path".
function label(name) {
  const words = name.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`).trim();
  return words ? words[0].toUpperCase() + words.slice(1) : 'Input';
}

// inputNode is an argument: a short one beside its name.
function inputNode(name, text) {
  if (text.length > 80 || text.includes('\n')) return section(name, textBox(name, text));
  const node = element('p', 'tool-short');
  node.append(element('span', '', name), ' ', element('code', '', text));
  return node;
}

function section(title, content) {
  const node = element('section', 'tool-part');
  const head = element('div', 'tool-part-head');
  head.append(element('span', '', title));
  node.append(head, content);
  return node;
}

// textBox is a text that scrolls within itself if it's long.
function textBox(name, text) {
  const box = element('pre', 'tool-text', text);
  box.tabIndex = 0;
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', name);
  return box;
}

const does = { edit: 'edited', write: 'written', add: 'added', delete: 'deleted' };

function fileNode(file) {
  const rows = [];
  for (const [i, hunk] of file.hunks.entries()) {
    if (i > 0 || hunk.head) rows.push({ head: hunk.head || '⋯' });
    rows.push(...hunk.lines);
  }
  const count = (op) => rows.filter((row) => row.op === op).length;
  const box = diffBox(rows, `Changes of ${file.path}`);
  if (file.more) box.append(element('p', 'tool-note', `${file.more} more lines aren’t shown.`));
  const node = section(file.path, rows.length > 0 ? box : element('p', 'tool-note', 'No line of it is told.'));
  node.firstChild.firstChild.className = 'tool-path';
  const about = [does[file.does] ?? '', file.from && `was ${file.from}`].filter(Boolean).join(', ');
  node.firstChild.append(element('span', 'tool-does', about), element('span', 'diff-count added', `+${count('+')}`), element('span', 'diff-count removed', `−${count('-')}`));
  return node;
}

// secretsNote says that secrets are masked; an admin may see them.
function secretsNote(card) {
  const { about } = card;
  const shown = about.secrets === 'show';
  const note = element('p', 'tool-note', shown ? 'Secrets are shown. ' : 'Secrets are masked. ');
  const button = element('button', 'button small needs-admin', shown ? 'Mask them' : 'Show them');
  button.type = 'button';
  button.addEventListener('click', () => {
    about.secrets = shown ? 'mask' : 'show';
    fill(card);
  });
  note.append(button);
  return note;
}
