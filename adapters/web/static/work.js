'use strict';

import { byId } from './dom.js';
import { loadKept, saveKept } from './kept.js';

// How much of agents' work this device shows: the calls of tools each as a card, or one line that counts them, or
// not at all; and what agents think before they answer. The log has all of it, and a search finds it.

const key = 'panebridge.work';
const extents = ['all', 'brief', 'none'];

// workShown is how much is shown of each kind.
export function workShown() {
  const { tools, thinking } = loadKept(key) ?? {};
  return { tools: extents.includes(tools) ? tools : 'all', thinking: thinking === 'all' ? 'all' : 'none' };
}

// setWork changes that.
export function setWork(change) {
  saveKept(key, { ...workShown(), ...change });
  dispatchEvent(new Event('work-shown'));
}

// onWork calls a function when it has changed, here or in another window.
export function onWork(changed) {
  addEventListener('work-shown', changed);
  addEventListener('storage', (event) => { if (event.key === key) changed(); });
}

// offerWork has the dialog be opened in which it's seen and changed.
export function offerWork() {
  const dialog = byId('work-dialog');
  byId('work').addEventListener('click', () => {
    const now = workShown();
    for (const kind of ['tools', 'thinking']) byId(`work-${kind}`).value = now[kind];
    dialog.showModal();
  });
  for (const kind of ['tools', 'thinking']) byId(`work-${kind}`).addEventListener('change', (event) => setWork({ [kind]: event.target.value }));
}

// What kinds of work are called, once and often, in the order in which they're said: sessions/work.go has the same.
const phrases = [
  ['read', 'read 1 file', (n) => `read ${n} files`],
  ['run', 'ran 1 command', (n) => `ran ${n} commands`],
  ['edit', 'edited 1 file', (n) => `edited ${n} files`],
  ['search', 'searched once', (n) => `searched ${n} times`],
  ['web', 'fetched 1 page', (n) => `fetched ${n} pages`],
  ['ask', 'asked 1 question', (n) => `asked ${n} questions`],
  ['agent', 'began 1 helper', (n) => `began ${n} helpers`],
  ['other', 'used 1 other tool', (n) => `used ${n} other tools`],
];

// workText counts in words what was done: counts by kind, and how many of it failed.
export function workText(counts, failed) {
  const did = phrases.filter(([kind]) => counts[kind]).map(([kind, once, often]) => (counts[kind] === 1 ? once : often(counts[kind]))).join(', ');
  return [did, failed > 0 && `${failed} failed`].filter(Boolean).join(' · ');
}
