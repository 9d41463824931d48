'use strict';

import { eventsURL } from './api.js';

// A Stream follows the events of one session. When the connection breaks it
// opens a new one behind the last event it got: the browser's own reconnecting
// isn't used, as it gives up for good on some errors.

const names = ['output', 'gap', 'live', 'turn', 'state', 'exit', 'prompt'];
const firstDelay = 250;
const maxDelay = 8000;

export class Stream {
  // on(name, data) is called for each event, onStatus(connected) when that changes.
  constructor(session, from, on, onStatus) {
    this.session = session;
    this.from = String(from); // a line number at first, then an event's id
    this.on = on;
    this.onStatus = onStatus;
    this.delay = firstDelay;
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.source?.close();
    const source = new EventSource(eventsURL(this.session, this.from));
    this.source = source;
    source.onopen = () => {
      this.delay = firstDelay;
      this.onStatus(true);
    };
    source.onerror = () => this.retry();
    for (const name of names) source.addEventListener(name, (event) => this.receive(name, event));
  }

  receive(name, event) {
    if (event.target !== this.source) return; // of a connection that was given up
    if (event.lastEventId) this.from = event.lastEventId;
    this.on(name, JSON.parse(event.data));
  }

  retry() {
    this.source.close();
    this.onStatus(false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(this.delay * 2, maxDelay);
  }

  // now opens a new connection at once, when there's reason to believe it works.
  now() {
    if (!this.source || this.source.readyState === EventSource.OPEN) return;
    this.delay = firstDelay;
    this.open();
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
    this.source = null;
  }
}
