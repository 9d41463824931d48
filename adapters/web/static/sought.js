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

// lettersOf are the letters of a text as a search compares them, small and without accents: {from, to, small, kind}. A mark above a
// letter is a part of it.
function lettersOf(text) {
  const letters = [];
  for (let from = 0; from < text.length;) {
    const letter = String.fromCodePoint(text.codePointAt(from));
    const to = from + letter.length;
    const bare = letter < '\u0080' ? letter : letter.normalize('NFD').replace(/[\u0300-\u036f]/g, '').normalize('NFC');
    if (bare === '' && letters.length > 0) letters.at(-1).to = to;
    for (const one of bare) letters.push({ from, to, small: one.toLowerCase(), kind: classOf(one) });
    from = to;
  }
  return letters;
}

const kindAt = (letters, at) => letters[at]?.kind ?? 'other';

// begins says whether a word begins at a letter. The capital behind others begins one if two small letters follow.
function begins(letters, at) {
  const [was, is] = [kindAt(letters, at - 1), kindAt(letters, at)];
  if (was === 'other' || is === 'other' || is === 'spaceless' || was === 'spaceless') return true;
  if (was === 'capital' && is === 'capital') return kindAt(letters, at + 1) === 'small' && kindAt(letters, at + 2) === 'small';
  return (was === 'small' && is === 'capital') || (was === 'digit') !== (is === 'digit');
}

// isWhole says that a text is found as a whole word: it ends with one or two letters, of Hangul with one.
function isWhole(sought) {
  const before = sought.findLastIndex(({ kind }) => kind === 'other' || kind === 'spaceless');
  const first = sought[before + 1];
  const n = sought.length - before - 1;
  return n === 1 || (n === 2 && !/\p{Script=Hangul}/u.test(first.small));
}

const ends = (letters, at, sought) => !isWhole(sought) || ['other', 'spaceless'].includes(kindAt(letters, at));

// soughtIn are the places in a line where one of some texts stands: [from, to], in their order, which don't overlap.
export function soughtIn(line, texts) {
  const letters = lettersOf(line);
  const found = [];
  for (const sought of texts.map(lettersOf)) {
    const isThere = (at) => begins(letters, at) && sought.every(({ small }, i) => letters[at + i].small === small) && ends(letters, at + sought.length, sought);
    for (let at = 0; sought.length > 0 && at + sought.length <= letters.length; at += 1) {
      if (isThere(at)) found.push([letters[at].from, letters[at + sought.length - 1].to]);
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
