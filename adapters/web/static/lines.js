'use strict';

import { answerLine } from './answers.js';
import { clock, element } from './dom.js';
import { authorWords } from './roles.js';
import { withSecrets } from './secrets.js';
import { toolLine } from './tools.js';
import { workShown } from './work.js';

// The nodes of a conversation: one for each line, and marks between them, which have no number:
// gaps, ends of turns, answered questions, and where what's new begins.

// lineNode is a line. The first of what a person wrote says who and when.
export function lineNode(line) {
  const node = element('div', `line ${line.kind}`);
  node.dir = 'auto';
  if (line.kind === 'user' && line.begins) node.append(authorNode(line));
  node.append(...withSecrets(line.text, line.secrets));
  if (line.secrets?.length > 0) node.dataset.secret = 'true';
  if (line.begins) node.dataset.begins = 'true';
  if (line.kind === 'answer') answerLine(node, line);
  if (line.kind === 'tool') toolLine(node, line);
  if (line.kind === 'thought') node.hidden = workShown().thinking === 'none';
  node.dataset.n = line.n;
  if (line.at) node.dataset.at = Date.parse(line.at);
  return node;
}

function authorNode(line) {
  const node = element('span', 'author', authorWords(line.author) || 'you');
  const time = element('time', 'author-time', clock(line.at));
  time.dateTime = line.at ?? '';
  node.append(' ', time);
  if (line.author) {
    const receipt = element('span', 'bubble-receipt'); // see receipts.js
    receipt.setAttribute('aria-live', 'off'); // it's there to be read, and not to be heard with each line
    node.append(receipt);
  }
  return node;
}

export function gapNode(gap) {
  const lines = gap.at_least === 1 ? 'line' : 'lines';
  const what = gap.at_least > 0 ? `at least ${gap.at_least} ${lines} missing` : 'lines may be missing';
  const node = markNode('gap', gap.reason ? `${what}: ${gap.reason}` : what);
  node.dataset.after = gap.after;
  return node;
}

// mergedNodes are lines with the gaps between them.
export function mergedNodes(lines, gaps) {
  const fragment = document.createDocumentFragment();
  let next = 0;
  for (const line of lines) {
    while (next < gaps.length && gaps[next].after < line.n) fragment.append(gapNode(gaps[next++]));
    fragment.append(lineNode(line));
  }
  while (next < gaps.length) fragment.append(gapNode(gaps[next++]));
  return fragment;
}

// markNode is a mark between lines.
export function markNode(className, text) {
  const node = element('div', className, text);
  node.setAttribute('role', 'note');
  return node;
}

const isGap = (node) => Boolean(node?.dataset.after);
export const isMark = (node) => Boolean(node) && !node.dataset.n;

// gapAmong says whether a gap is among the marks that begin with a node and go on that way.
export function gapAmong(node, way) {
  for (let mark = node; isMark(mark); mark = mark[way]) if (isGap(mark)) return true;
  return false;
}

// numberOf is the number of a node's line, or of the next line behind a mark; 0: there's none.
export function numberOf(node) {
  for (let at = node; at; at = at.nextSibling) if (at.dataset.n) return Number(at.dataset.n);
  return 0;
}

// lineAt is the node of a line, or of the next one that's there and seen.
export function lineAt(list, n) {
  let low = 0;
  let high = list.children.length;
  while (low < high) { // marks have the number of the line behind them
    const middle = (low + high) >> 1;
    const number = numberOf(list.children[middle]) || Infinity;
    if (number < n) low = middle + 1;
    else high = middle;
  }
  let node = list.children[low];
  while (node && (isMark(node) || node.hidden)) node = node.nextSibling;
  return node ?? null;
}

// holderOf is the node in which a line is read: its own, or, if that's hidden, the one before that shows it, too: of an answer, or
// a tool's card. Of a line that's gone it's the next one.
export function holderOf(list, n) {
  let node = [...list.children].find((child) => Number(child.dataset.n) >= n) ?? null;
  while (node && (isMark(node) || node.hidden)) node = node.previousSibling;
  return node ?? lineAt(list, n);
}

// firstNumber is the number of the first line in a list; 0: there's none.
export const firstNumber = (list) => numberOf(list.firstChild);

// nodeInView is the first node of a list in the view of its scroller; or else the end of the list that's nearer.
export function nodeInView(list, scroller) {
  const box = scroller.getBoundingClientRect();
  for (let y = 14; y < box.height; y += 10) {
    const node = document.elementFromPoint(box.left + box.width / 2, box.top + y)?.closest('#lines > *');
    if (node) return node;
  }
  return list.getBoundingClientRect().top > box.top ? list.firstElementChild : list.lastElementChild;
}
