'use strict';

import { loadKept, saveKept } from './kept.js';

// What was looked at on this device: of each session how many turns, and how many lines, somebody has seen to
// their end. It's kept by the browser alone.

const key = 'panebridge.looked';
const most = 500; // sessions of which something is kept
const before = 24 * 3600 * 1000; // milliseconds before the first visit; what ended earlier counts as looked at

let kept = null; // {since, sessions: {id: {turn, line, ended, at}}}

function read() {
  if (kept) return kept;
  kept = loadKept(key);
  if (typeof kept?.since !== 'number' || typeof kept.sessions !== 'object' || !kept.sessions) kept = { since: Date.now() - before, sessions: {} };
  return kept;
}

const write = () => saveKept(key, kept);

// Another tab has looked at something.
addEventListener('storage', (event) => { if (event.key === key || event.key === null) kept = null; });

// lookedAt is how far a session was looked at: {turn, line, ended}; null: never.
export const lookedAt = (id) => (Object.hasOwn(read().sessions, id) ? read().sessions[id] : null);

// noteLooked notes that a session was looked at up to a turn and a line, and whether it had ended then.
export function noteLooked(id, { turn = 0, line = 0, ended = false }) {
  const was = lookedAt(id);
  const now = { turn: Math.max(turn, was?.turn ?? 0), line: Math.max(line, was?.line ?? 0), ended: ended || Boolean(was?.ended) };
  if (was && was.turn === now.turn && was.line === now.line && was.ended === now.ended) return;
  read().sessions[id] = { ...now, at: Date.now() };
  write();
}

// turnsDone is the number of a session's newest turn that has ended.
export const turnsDone = (s) => (s.turn?.number ?? 0) - (s.turn?.open ? 1 : 0);

// lookedThrough notes that all of a session was looked at, as it's now.
export const lookedThrough = (s) => noteLooked(s.id, { turn: turnsDone(s), line: s.lines, ended: s.state === 'ended' });

// isNews says that something of a session has come to its end, and nobody has looked at it here.
export function isNews(s) {
  const seen = lookedAt(s.id);
  if (!seen) {
    const at = Date.parse(s.ended_at ?? s.turn?.ended_at ?? s.last_output_at ?? '');
    return (s.lines > 0 || turnsDone(s) > 0 || Boolean(s.exit)) && at > read().since;
  }
  if (s.state === 'ended' && !seen.ended) return true;
  return turnsDone(s) > seen.turn || (turnsDone(s) === 0 && s.lines > seen.line);
}

// keepLooked forgets what's beyond the bound: first sessions that aren't listed any more, the oldest first.
export function keepLooked(sessions) {
  const { sessions: all } = read();
  const ids = Object.keys(all);
  if (ids.length <= most) return;
  const listed = new Set(sessions.map((s) => s.id));
  ids.sort((a, b) => listed.has(a) - listed.has(b) || all[a].at - all[b].at);
  for (const id of ids.slice(0, ids.length - most)) delete all[id];
  write();
}

// forgetLooked forgets all of it.
export function forgetLooked() {
  kept = null;
  saveKept(key, null);
}
