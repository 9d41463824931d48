'use strict';

import { byId } from './dom.js';
import { loadKept, saveKept } from './kept.js';

// Sessions that are muted on this device: they're in a group of their own, whatever they do, and count nowhere. It's kept
// by the browser alone.

const key = 'panebridge.muted';
const most = 500; // sessions

let kept = null; // a set of ids

function read() {
  if (kept) return kept;
  const ids = loadKept(key);
  kept = new Set(Array.isArray(ids) ? ids : []);
  return kept;
}

const write = () => saveKept(key, kept.size > 0 ? [...kept].slice(-most) : null);

// Another tab has muted something.
addEventListener('storage', (event) => { if (event.key === key || event.key === null) kept = null; });

// mutedIDs are the ids of those that are muted, in order.
export const mutedIDs = () => [...read()].slice(-most).sort();

// isMuted says whether a session is muted here; one that has ended isn't any more.
export const isMuted = (s) => s.state !== 'ended' && read().has(s.id);

// offerMute has the menu mute the session that current() returns, or end that; changed() is told.
export function offerMute(current, changed) {
  byId('mute').addEventListener('click', () => {
    const session = current();
    if (!session) return;
    if (!read().delete(session.id)) read().add(session.id);
    write();
    changed();
  });
}

// drawMute says in the menu what it does to the session that's open.
export function drawMute(session) {
  byId('mute').hidden = !session || session.state === 'ended';
  byId('mute').textContent = muteWords(session);
}

export const muteWords = (session) => (session && isMuted(session) ? 'Mute it no longer' : 'Mute it on this device');

// forgetMuted forgets all of it.
export function forgetMuted() {
  kept = new Set();
  write();
}
