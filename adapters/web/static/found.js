'use strict';

import { holderOf } from './lines.js';

// The line that a search led to: it's marked, and stays where it is in view until the reader scrolls, whatever is drawn around
// it meanwhile.

const margin = 12; // pixels above it, at least
const scrolls = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

export class FoundLine {
  constructor(list, scroller) {
    Object.assign(this, { list, scroller });
    this.n = 0; // its number; 0: none was sought, or the reader has scrolled
    this.hasCome = () => this.list.childElementCount > 0;
    this.letGoIfShown = () => { if (this.hasCome()) this.letGo(); };
    for (const name of scrolls) scroller.addEventListener(name, this.letGoIfShown, { passive: true });
  }

  close() {
    this.letGo();
    for (const name of scrolls) this.scroller.removeEventListener(name, this.letGoIfShown);
  }

  // letGo has the reader be where they like.
  letGo() {
    this.n = 0;
    this.unmark(null);
  }

  unmark(but) {
    for (const node of this.list.querySelectorAll('.found-line')) {
      if (node === but) continue;
      node.classList.remove('found-line');
      node.removeAttribute('tabindex');
    }
  }

  // show marks the line, and scrolls to it. It says whether it's in the list.
  show() {
    const node = holderOf(this.list, this.n);
    this.unmark(node);
    if (!node) return false;
    node.classList.add('found-line');
    node.tabIndex = -1; // so that it's read out
    const { top, height } = node.getBoundingClientRect();
    const box = this.scroller.getBoundingClientRect();
    this.scroller.scrollTop += top - box.top - Math.max(margin, (box.height - height) / 3);
    return true;
  }

  focus() {
    this.list.querySelector('.found-line')?.focus({ preventScroll: true });
  }
}
