'use strict';

import { loadKept, saveKept } from './kept.js';

// What was written to sessions and not sent. It's kept by the browser, so that it's there after a reload, until it's
// sent, the session is gone, or the browser isn't let in any more. Two tabs have the same drafts.

const key = 'panebridge.drafts';
const most = 50; // sessions; of more, what was written last is kept
const mostCharacters = 2 * 1024 * 1024; // of all; a browser keeps some five million

// read reads them anew each time: another tab may have written. One that's empty was sent, or taken out of the field.
function read() {
  const all = loadKept(key);
  return all && typeof all === 'object' ? Object.fromEntries(Object.entries(all).filter(([, one]) => typeof one?.text === 'string')) : {};
}

const write = (all) => saveKept(key, Object.keys(all).length > 0 ? all : null);

const here = new Map(); // by session: what the browser doesn't keep

export function draftOf(id) {
  if (here.has(id)) return here.get(id);
  const all = read();
  return Object.hasOwn(all, id) ? all[id].text : '';
}

// isForgotten says that nothing is known of what's written to a session, so nobody has sent it either.
export const isForgotten = (id) => !here.has(id) && !Object.hasOwn(read(), id);

// keepDraft keeps what's written to a session; '': nothing is.
export function keepDraft(id, text) {
  const all = read();
  if (!text && !here.has(id) && !Object.hasOwn(all, id)) return;
  all[id] = { text, at: Date.now() };
  const ids = Object.keys(all).sort((a, b) => all[b].at - all[a].at);
  let characters = 0;
  for (const [i, one] of ids.entries()) {
    characters += all[one].text.length;
    if (one !== id && (i >= most || characters > mostCharacters)) delete all[one];
  }
  if (write(all)) here.delete(id);
  else here.set(id, text);
}

// moveDraft has what's written to a session stand in the field of another.
export function moveDraft(from, to) {
  const text = draftOf(from);
  if (text === '') return;
  keepDraft(to, text);
  keepDraft(from, '');
}

// forgetDrafts forgets those to sessions that are gone, which isGone says of an id; without that, all.
export function forgetDrafts(isGone = () => true) {
  for (const id of here.keys()) if (isGone(id)) here.delete(id);
  const all = read();
  const gone = Object.keys(all).filter(isGone);
  if (gone.length === 0) return;
  for (const id of gone) delete all[id];
  write(all);
}

// onDrafts calls fn when another tab has changed them, or may have, until signal ends it.
export function onDrafts(fn, signal) {
  window.addEventListener('storage', (event) => { if (event.key === key || event.key === null) fn(); }, { signal });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) fn(); }, { signal });
}
