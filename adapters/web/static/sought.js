'use strict';

import { element } from './dom.js';
import { withSecrets } from './secrets.js';

// Where in a line the words stand that were sought. The daemon says which lines have them (internal/search); this only marks them.

// textsOf are the texts of a query: what stands between spaces, or between quotation marks.
export function textsOf(query) {
  return query.split('"').flatMap((part, i) => (i % 2 === 0 ? part.split(/\s+/) : [part])).filter((text) => text.trim() !== '');
}

const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function classOf(letter) {
  if (letter === undefined) return 'other';
  if (spaceless.test(letter)) return 'spaceless';
  if (/\p{Lu}/u.test(letter)) return 'capital';
  if (/[\p{L}\p{M}]/u.test(letter)) return 'small';
  return /\p{Nd}/u.test(letter) ? 'digit' : 'other';
}

// begins says whether a word begins at a letter.
function begins(before, letter) {
  const [was, is] = [classOf(before), classOf(letter)];
  if (was === 'other' || is === 'other' || is === 'spaceless' || was === 'spaceless') return true;
  return (was === 'small' && is === 'capital') || (was === 'digit') !== (is === 'digit');
}

// fold makes letters small, one by one, so that places stay what they are.
const fold = (text) => Array.from({ length: text.length }, (_, i) => {
  const small = text[i].toLowerCase();
  return small.length === 1 ? small : text[i];
}).join('');

// isWhole says that a text is found as a whole word: it ends with one or two letters.
const isWhole = (text) => /(?:^|[^\p{L}\p{M}\p{Nd}])[\p{L}\p{M}\p{Nd}]{1,2}$/u.test(text) && classOf(text.at(-1)) !== 'spaceless';

const ends = (line, to, text) => !isWhole(text) || ['other', 'spaceless'].includes(classOf(line[to]));

// soughtIn are the places in a line where one of some texts stands: [from, to], in their order, which don't overlap.
export function soughtIn(line, texts) {
  const folded = fold(line);
  const found = [];
  for (const text of texts.map(fold)) {
    for (let at = folded.indexOf(text); at >= 0; at = folded.indexOf(text, at + 1)) {
      if (begins(line[at - 1], line[at]) && ends(line, at + text.length, text)) found.push([at, at + text.length]);
    }
  }
  found.sort((a, b) => a[0] - b[0]);
  const joined = [];
  for (const [from, to] of found) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

const mostShown = 600; // characters of a line
const shownBefore = 60; // what's found first

// soughtNodes are the nodes of a line as it's found: what was sought is marked, secrets are hidden, and of a long line a part is
// shown.
export function soughtNodes({ text, secrets = [] }, texts) {
  const places = soughtIn(text, texts);
  const first = places[0]?.[0] ?? 0;
  const cut = (at) => secrets.find(({ from, to }) => from < at && at < to)?.from ?? at; // not within a secret
  const from = first > 2 * shownBefore ? cut(first - shownBefore) : 0;
  const to = cut(Math.min(text.length, from + mostShown));
  const shown = text.slice(from, to);
  const within = secrets.filter((one) => one.from >= from && one.to <= to).map((one) => ({ ...one, from: one.from - from, to: one.to - from }));
  const nodes = [];
  let at = from;
  for (const node of withSecrets(shown, within)) {
    if (typeof node !== 'string') {
      nodes.push(node);
      const secret = secrets.find((one) => one.from === at);
      at = secret.to;
      continue;
    }
    nodes.push(...markedNodes(node, at, places));
    at += node.length;
  }
  return [from > 0 ? '…' : '', ...nodes, to < text.length ? '…' : ''];
}

// markedNodes are the nodes of a part of a line that begins at a place.
function markedNodes(part, at, places) {
  const nodes = [];
  let done = 0;
  for (const [from, to] of places) {
    const begin = Math.max(from - at, done);
    const end = Math.min(to - at, part.length);
    if (begin >= end) continue;
    nodes.push(part.slice(done, begin), element('mark', '', part.slice(begin, end)));
    done = end;
  }
  nodes.push(part.slice(done));
  return nodes;
}
