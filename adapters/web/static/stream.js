'use strict';

import { openEvents } from './api.js';
import { takeConnection } from './connections.js';
import { forgetStart } from './key.js';

// A Stream follows the events of one session. What comes before somebody listens is kept
// for them. When the connection breaks it opens a new one behind the last event it got. It reads server-sent events from a
// request of its own: the browser's EventSource can't sign, and gives up for good on
// some errors. Where a browser's connections are few, it may have to let others have theirs for a while: that's no break.

const firstDelay = 250;
const maxDelay = 8000;

export class Stream {
  // place is where it begins: {last}, so many lines before the end, or {from}, at an event's id. request opens the events of a
  // session from a place on.
  constructor(session, place, request = openEvents) {
    this.session = session;
    this.place = place;
    this.request = request;
    this.early = []; // events that nobody has heard of
    this.on = (...event) => this.early.push(event);
    this.onStatus = () => {};
    this.delay = firstDelay;
    this.focused = () => { if (this.waits) this.open(true); };
    addEventListener('focus', this.focused);
    this.open(document.hasFocus());
  }

  // listen has on(name, data) called for each event, and onStatus(connected) when that changes.
  listen(on, onStatus) {
    this.on = on;
    this.onStatus = onStatus;
    if (this.isOpen || this.timer) onStatus(Boolean(this.isOpen || this.waits));
    for (const event of this.early.splice(0)) on(...event);
  }

  // open opens a connection; one that insists takes another window's if there's none left.
  async open(insists = false) {
    this.give();
    const connection = new AbortController();
    this.connection = connection;
    let part = null; // of the browser's connections
    let over = false; // it's another's turn
    this.waits = true;
    try {
      part = await takeConnection(connection.signal, insists);
      if (this.connection === connection) this.waits = false;
      part.onOver = () => {
        over = true;
        connection.abort();
      };
      if (this.connection === connection) await this.read(connection, part);
    } catch {
      // the connection broke, or there was none: the list says if it's for another reason
    }
    part?.release();
    if (this.connection !== connection) return;
    if (over) {
      this.waitForTurn(part.pause);
      return;
    }
    forgetStart();
    this.retry();
  }

  // read reads a connection to its end.
  async read(connection, part) {
    const { body } = await this.request(this.session, this.place, connection);
    if (this.connection === connection) this.connected();
    part.opened();
    for await (const event of eventsOf(body, () => { this.heard = Date.now(); })) {
      if (this.connection !== connection) return; // it was given up
      this.receive(event);
    }
  }

  connected() {
    this.isOpen = true;
    this.heard = Date.now();
    this.delay = firstDelay;
    this.onStatus(true);
  }

  receive({ name, id, data }) {
    if (id) this.place = { from: id };
    this.on(name, JSON.parse(data));
  }

  retry() {
    this.give();
    this.onStatus(false);
    this.timer = setTimeout(() => this.open(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(this.delay * 2, maxDelay);
  }

  // waitForTurn goes on when it may have a connection again. Until then it counts as connected.
  waitForTurn(pause) {
    this.give();
    this.waits = true;
    this.timer = setTimeout(() => this.open(), pause);
  }

  // now opens a new connection at once, when there's reason to believe it works.
  now() {
    if (this.closed || this.isOpen || this.waits) return;
    this.delay = firstDelay;
    this.open();
  }

  // silence is for how many milliseconds nothing came over a connection that's open, or seems to be.
  silence() { return this.isOpen ? Date.now() - this.heard : 0; }

  // renew opens a new connection behind what the one of now has brought.
  renew() {
    if (!this.closed) this.open();
  }

  close() {
    this.closed = true;
    removeEventListener('focus', this.focused);
    this.give();
  }

  // give gives up the connection, or the wait for the next.
  give() {
    clearTimeout(this.timer);
    this.connection?.abort();
    this.connection = null;
    this.isOpen = false;
    this.waits = false;
  }
}

// eventsOf yields the events in a body, as far as the API writes them: one line of data
// each. A chunk without a line break can't end one, so what's long is put together once. heard is called for each chunk.
async function* eventsOf(body, heard) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let chunks = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const text = decoder.decode(value, { stream: true });
      chunks.push(text);
      if (!text.includes('\n')) continue;
      const blocks = chunks.join('').split('\n\n');
      chunks = [blocks.pop()];
      for (const block of blocks) {
        const event = eventOf(block);
        if (event.data) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // it broke before
  }
}

function eventOf(block) {
  const fields = Object.fromEntries(block.split('\n').map((line) => {
    const at = line.indexOf(': ');
    return [line.slice(0, at), line.slice(at + 2)];
  }));
  return { name: fields.event, id: fields.id, data: fields.data };
}
