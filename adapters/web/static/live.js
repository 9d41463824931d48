'use strict';

import { byId } from './dom.js';

// What a session still draws, below its lines: of a known agent what it writes, and what it does
// now; of another program the rows that aren't lines yet.

export function showLive(live) {
  const writing = (live?.known ? live.writing : live?.rows) ?? [];
  const status = live?.known ? live.status ?? '' : '';
  const isEmpty = writing.every((row) => row.trim() === '') && status.trim() === '';
  const box = byId('live');
  box.hidden = isEmpty;
  box.classList.toggle('alternate', Boolean(live?.alternate && !live.known));
  box.classList.toggle('known', Boolean(live?.known));
  byId('live-rows').textContent = writing.join('\n').replace(/\n$/, '');
  byId('live-rows').hidden = writing.length === 0;
  byId('live-status').textContent = status;
  byId('live-status').hidden = status === '';
}
