'use strict';

import { loadKept, saveKept } from './kept.js';

// What was written to sessions and not sent. It's kept by the browser, so that it's there after a reload, until it's
// sent, the session is gone, or the browser isn't let in any more.

const key = 'panebridge.drafts';
const most = 50; // sessions; of more, what was written last is kept
const longest = 64 * 1024; // characters that are kept of one

// read reads them anew each time: another tab may have written.
function read() {
  const all = loadKept(key);
  return all && typeof all === 'object' ? all : {};
}

const write = (all) => saveKept(key, Object.keys(all).length > 0 ? all : null);

const here = new Map(); // by session: what this page keeps, also where the browser keeps nothing

export function draftOf(id) {
  const { text } = (Object.hasOwn(read(), id) && read()[id]) || {};
  const mine = here.get(id) ?? '';
  return typeof text !== 'string' || text === mine.slice(0, longest) ? mine : text; // else another tab has written
}

// keepDraft keeps what's written to a session; '' forgets it.
export function keepDraft(id, text) {
  if (text) here.set(id, text);
  else here.delete(id);
  const all = read();
  if (text) all[id] = { text: text.slice(0, longest), at: Date.now() };
  else if (Object.hasOwn(all, id)) delete all[id];
  else return;
  const ids = Object.keys(all).sort((a, b) => all[b].at - all[a].at);
  for (const old of ids.slice(most)) delete all[old];
  write(all);
}

// forgetDrafts forgets those to sessions that don't live any more; without sessions, all.
export function forgetDrafts(sessions = []) {
  const living = new Set(sessions.filter((s) => s.state !== 'ended').map((s) => s.id));
  for (const id of here.keys()) if (!living.has(id)) here.delete(id);
  const all = read();
  const gone = Object.keys(all).filter((id) => !living.has(id));
  if (gone.length === 0) return;
  for (const id of gone) delete all[id];
  write(all);
}
