'use strict';

import { getProgress } from './api.js';
import { receiptWords } from './words.js';

// How far the texts got that people wrote, at their bubbles: asked for until nothing more becomes of a text.

const askEvery = 1000; // milliseconds, while something may become of one
const askLater = 5000; // milliseconds, where that has taken longer than
const patience = 60000; // milliseconds
const atOnce = 100; // lines of one request
const followed = 10; // texts of which it's asked again; before them nothing happens any more

const last = new Set(['answered', 'failed', 'cancelled']);
// isLast says that nothing more becomes of a text.
export const isLast = ({ state, submit }) => last.has(state) || (state === 'typed' && !submit);

export class BubbleReceipts {
  // agent is the name of the session's, '': it has none. change makes a change of the list.
  constructor(session, agent, list, change) {
    Object.assign(this, { session, agent, list, change });
    this.known = new Map(); // by the number of the bubble's first line; null: it has none
    this.timer = 0;
  }

  // look draws what's known, and asks for what isn't.
  look() {
    if (this.closed) return;
    const fresh = [];
    const open = [];
    for (const node of this.list.querySelectorAll('.line.user .bubble-receipt')) {
      const n = Number(node.closest('.line').dataset.n);
      const receipt = this.known.get(n);
      if (receipt) draw(node, receipt, this.agent);
      if (receipt === undefined) fresh.push(n);
      else if (receipt && !isLast(receipt)) open.push(n);
    }
    if (this.asking) return;
    if (fresh.length > 0 && !this.failed) {
      this.since = Date.now();
      this.ask(fresh.slice(-atOnce));
    } else if (fresh.length + open.length > 0 && !this.timer) {
      const isNew = !this.failed && Date.now() - this.since < patience;
      this.timer = setTimeout(() => this.again([...fresh, ...open.slice(-followed)].slice(-atOnce)), isNew ? askEvery : askLater);
    }
  }

  again(numbers) {
    this.timer = 0;
    if (document.hidden) this.timer = setTimeout(() => this.again(numbers), askLater);
    else this.ask(numbers);
  }

  async ask(numbers) {
    this.asking = true;
    try {
      const told = new Map((await getProgress(this.session, numbers)).map((receipt) => [receipt.line, receipt]));
      for (const n of numbers) this.known.set(n, told.get(n) ?? null);
      this.failed = false;
    } catch {
      this.failed = true; // the bar at the top says that there's no connection
    } finally {
      this.asking = false;
    }
    if (!this.closed) this.change(() => this.look());
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }
}

function draw(node, receipt, agent) {
  const text = ` · ${receiptWords(receipt, agent)}`;
  if (node.textContent === text) return;
  node.textContent = text;
  node.dataset.state = receipt.state;
}
