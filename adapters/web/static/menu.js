'use strict';

import { byId } from './dom.js';

// The menu of the open session's head: what can be done with the session besides writing to it.

export class Menu {
  constructor() {
    this.button = byId('more');
    this.box = byId('more-menu');
    this.button.addEventListener('click', () => this.open(this.box.hidden));
    this.button.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowDown') return;
      event.preventDefault();
      this.open(true);
    });
    this.box.addEventListener('click', () => this.open(false));
    this.box.addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('click', (event) => { if (!event.target.closest('#more, #more-menu')) this.open(false); });
  }

  open(open) {
    if (this.box.hidden !== open) return;
    this.box.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
    if (open) this.items()[0]?.focus();
  }

  items() {
    return [...this.box.querySelectorAll('[role=menuitem]')].filter((item) => item.checkVisibility() && !item.disabled);
  }

  key(event) {
    const items = this.items();
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: (at + 1) % items.length, ArrowUp: (at - 1 + items.length) % items.length, Home: 0, End: items.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      items[to].focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      this.open(false);
      this.button.focus();
    }
  }
}
