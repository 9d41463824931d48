'use strict';

import { keptKeys, loadKept, saveKept } from './kept.js';

// What was written to sessions and not sent. It's kept by the browser, so that it's there after a reload, until it's
// sent, the session is gone, or the browser isn't let in any more. Two tabs have the same drafts. Each has a key of its
// own there: tabs that write at the same time to different sessions don't write over each other.

const prefix = 'panebridge.draft.';
const most = 50; // sessions; of more, what was written last is kept
const mostCharacters = 2 * 1024 * 1024; // of all; a browser keeps some five million

const here = new Map(); // by session: {text, at} that the browser doesn't keep

// load reads one anew each time: another tab may have written. One that's empty was sent, or taken out of the field.
function load(id) {
  const kept = here.get(id) ?? loadKept(prefix + id);
  return typeof kept?.text === 'string' && typeof kept.at === 'number' ? kept : null;
}

const ids = () => [...new Set([...here.keys(), ...keptKeys(prefix).map((key) => key.slice(prefix.length))])];

export const draftOf = (id) => load(id)?.text ?? '';

// isForgotten says that nothing is known of what's written to a session, so nobody has sent it either.
export const isForgotten = (id) => load(id) === null;

// keepDraft keeps what's written to a session; '': nothing is.
export function keepDraft(id, text) {
  if (!text && isForgotten(id)) return;
  const draft = { text, at: Date.now() };
  if (saveKept(prefix + id, draft)) here.delete(id);
  else here.set(id, draft);
  forgetOldest(id);
}

function forgetOldest(but) {
  const all = ids();
  if (all.length <= most && draftOf(but).length < mostCharacters / most) return;
  const at = new Map(all.map((id) => [id, id === but ? Infinity : load(id)?.at ?? 0]));
  let characters = 0;
  for (const [i, id] of all.sort((a, b) => at.get(b) - at.get(a)).entries()) {
    characters += draftOf(id).length;
    if (i >= most || (i > 0 && characters > mostCharacters)) forget(id);
  }
}

function forget(id) {
  here.delete(id);
  saveKept(prefix + id, null);
}

// moveDraft has what's written to a session stand in the field of another.
export function moveDraft(from, to) {
  const text = draftOf(from);
  if (text === '') return;
  keepDraft(to, text);
  keepDraft(from, '');
}

// forgetDrafts forgets those to sessions that are gone: isGone says it of an id and the time when it was written to. Without
// that it forgets all.
export function forgetDrafts(isGone = () => true) {
  for (const id of ids()) if (isGone(id, load(id)?.at ?? 0)) forget(id);
}

// onDraft calls fn when another tab has changed what's written to a session, or may have, until signal ends it.
export function onDraft(id, fn, signal) {
  window.addEventListener('storage', (event) => { if (event.key === prefix + id) fn(); }, { signal });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) fn(); }, { signal });
}
