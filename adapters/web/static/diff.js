'use strict';

import { element } from './dom.js';

// Diffs, as rows with their numbers: of a tool, of a question, of what a session has changed.

const linesAtFirst = 300;
const looks = { '+': 'added', '-': 'removed' };

// diffBox shows rows: {op, old, new, text}, or {head} for what stands between them. Of a long diff the
// first rows are shown, and a button shows the others.
export function diffBox(rows, label) {
  const numbered = rows.some((row) => row.old || row.new);
  const box = element('div', numbered ? 'diff numbered' : 'diff');
  box.tabIndex = 0;
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', label);
  for (const row of rows.slice(0, linesAtFirst)) box.append(diffRow(row, numbered));
  if (rows.length > linesAtFirst) {
    const more = element('button', 'button small diff-more', `Show ${rows.length - linesAtFirst} more lines`);
    more.type = 'button';
    more.addEventListener('click', () => {
      more.replaceWith(...rows.slice(linesAtFirst).map((row) => diffRow(row, numbered)));
      box.focus({ preventScroll: true }); // the button had it
    });
    box.append(more);
  }
  return box;
}

// unseen are characters that aren't seen where they stand: they turn the direction of writing, are drawn as nothing, or
// nobody knows what they do. What joins emoji or letters is one of them behind anything else.
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/gu;
const joinable = /^(?:\p{Extended_Pictographic}|\p{Lo}|\p{M}|\u200c|\u200d)$/u; // a character

// legible is a text in which nothing is hidden: those are written as their numbers, as in questions, which come so from the
// server.
function legible(text) {
  return text.replace(unseen, (c, at) => {
    if (c === '\t' || '\u200c\u200d'.includes(c) && joinable.test([...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '')) return c;
    if (c === '\r') return '\\r';
    const n = c.codePointAt(0).toString(16);
    return n.length > 4 ? `\\U${n.padStart(8, '0')}` : `\\u${n.padStart(4, '0')}`;
  });
}

function diffRow(row, numbered) {
  if (row.head !== undefined) return element('div', 'diff-head', legible(row.head));
  const node = element('div', `diff-row ${looks[row.op] ?? ''}`);
  if (numbered) node.append(element('span', 'diff-n', row.old ?? ''), element('span', 'diff-n', row.new ?? ''));
  node.append(element('span', 'diff-sign', row.op === '-' ? '−' : row.op), element('span', 'diff-text', legible(row.text) || ' '));
  return node;
}

// diffRows are the rows of a unified diff. Those of a hunk are counted: one that goes may look like a head.
export function diffRows(text) {
  const rows = [];
  let [old, now, olds, news] = [0, 0, 0, 0];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const op = line[0];
    if (olds > 0 && (op === '-' || op === ' ') || news > 0 && (op === '+' || op === ' ')) {
      rows.push({ op, old: op === '+' ? undefined : old, new: op === '-' ? undefined : now, text: line.slice(1) });
      if (op !== '+') [old, olds] = [old + 1, olds - 1];
      if (op !== '-') [now, news] = [now + 1, news - 1];
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) [old, olds, now, news] = [Number(hunk[1]), Number(hunk[2] ?? 1), Number(hunk[3]), Number(hunk[4] ?? 1)];
    rows.push({ head: line || ' ' });
  }
  return rows;
}
