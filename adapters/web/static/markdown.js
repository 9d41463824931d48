'use strict';

import { copyButton, element } from './dom.js';

// Nodes of an answer, made of the tree that the server has made of its Markdown. Each kind of
// block has its element; a kind that isn't known is shown as text. Nothing is HTML.

const looks = ['bold', 'italic', 'strike', 'code'];
const aligned = ['left', 'right', 'center'];
const tokens = ['keyword', 'string', 'comment', 'number', 'name', 'type', 'added', 'removed'];

// nodesOf makes the nodes of a list of blocks.
export const nodesOf = (blocks) => (blocks ?? []).map(nodeOf);

const makers = {
  paragraph: (block) => withRuns('p', block.runs),
  heading: (block) => withRuns(`h${Math.min(6, Math.max(1, block.level ?? 1) + 1)}`, block.runs),
  plain: (block) => withRuns('p', block.runs, 'md-plain'),
  quote: (block) => withBlocks('blockquote', block.blocks),
  rule: () => element('hr'),
  list: listNode,
  code: (block) => codeNode(block.code ?? [], block.language),
  table: tableNode,
};

const nodeOf = (block) => (makers[block.kind] ?? makers.plain)(block);

function withBlocks(tag, blocks, className) {
  const node = element(tag, className);
  node.append(...nodesOf(blocks));
  return node;
}

function withRuns(tag, runs, className) {
  const node = element(tag, className);
  node.dir = 'auto';
  node.append(...runNodes(runs));
  return node;
}

const runNodes = (runs) => (runs ?? []).map(runNode);

function runNode(run) {
  const link = run.url && /^https?:\/\//i.test(run.url);
  const node = element(link ? 'a' : 'span', '', run.text);
  if (link) {
    node.href = run.url;
    node.target = '_blank';
    node.rel = 'noopener noreferrer';
  }
  for (const look of looks) if (run[look]) node.classList.add(`md-${look}`);
  return node.nodeName === 'SPAN' && node.classList.length === 0 ? document.createTextNode(run.text) : node;
}

function listNode(block) {
  const list = element(block.ordered ? 'ol' : 'ul');
  if (block.ordered) list.start = block.start ?? 0;
  for (const item of block.blocks ?? []) {
    const node = withBlocks('li', item.blocks);
    node.dir = 'auto';
    if (item.task) {
      node.className = 'md-task';
      const box = element('span', 'md-box', item.done ? '☑ ' : '☐ ');
      (node.firstChild?.nodeName === 'P' ? node.firstChild : node).prepend(box);
    }
    list.append(node);
  }
  return list;
}

// codeNode is a block of code with its language and a button that copies it.
export function codeNode(code, language) {
  const figure = element('div', 'md-code-block');
  const pre = element('pre', 'md-pre');
  pre.tabIndex = 0;
  const text = code.map((token) => token.text).join('').replace(/\n$/, '');
  let left = text.length;
  for (const token of code) {
    const shown = token.text.slice(0, left);
    left -= shown.length;
    if (tokens.includes(token.as)) pre.append(element('span', `code-${token.as}`, shown));
    else pre.append(shown);
  }
  const head = element('div', 'md-code-head');
  head.append(element('span', 'md-language', language ?? ''), copyButton(() => text));
  if (language) pre.dataset.language = language;
  pre.setAttribute('aria-label', language ? `Code, ${language}` : 'Code');
  pre.setAttribute('role', 'group');
  figure.append(head, pre);
  return figure;
}

function tableNode(block) {
  const scroll = element('div', 'md-table');
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'group');
  scroll.setAttribute('aria-label', 'Table');
  const table = element('table');
  const rowOf = (cells, tag) => {
    const row = element('tr');
    cells.forEach((runs, i) => {
      const cell = withRuns(tag, runs);
      const align = block.align?.[i];
      if (aligned.includes(align)) cell.classList.add(`md-${align}`);
      row.append(cell);
    });
    return row;
  };
  const [head, ...body] = block.rows ?? [];
  if (head) table.createTHead().append(rowOf(head, 'th'));
  table.createTBody().append(...body.map((cells) => rowOf(cells, 'td')));
  scroll.append(table);
  return scroll;
}
