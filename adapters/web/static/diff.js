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

function diffRow(row, numbered) {
  if (row.head !== undefined) return element('div', 'diff-head', row.head);
  const node = element('div', `diff-row ${looks[row.op] ?? ''}`);
  if (numbered) node.append(element('span', 'diff-n', row.old ?? ''), element('span', 'diff-n', row.new ?? ''));
  node.append(element('span', 'diff-sign', row.op === '-' ? '−' : row.op), element('span', 'diff-text', row.text || ' '));
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
