'use strict';

import { byId, element, whenClosed } from './dom.js';
import { groupsOf } from './groups.js';
import { composes } from './typing.js';
import { stateWords } from './words.js';

// The palette finds sessions and commands by words, and does what's chosen. Its field keeps the focus; the arrow keys
// go through what's found.

const mostFound = 50;

export class Palette {
  // page has sessions() and choose(id).
  constructor(page, commands) {
    Object.assign(this, { page, commands });
    this.dialog = byId('palette');
    this.field = byId('palette-field');
    this.list = byId('palette-list');
    byId('find').addEventListener('click', () => this.open());
    this.field.addEventListener('input', () => this.draw());
    this.field.addEventListener('keydown', (event) => this.key(event));
    this.dialog.addEventListener('click', (event) => { if (event.target === this.dialog) this.dialog.close(); });
    whenClosed(this.dialog, () => {
      this.list.replaceChildren();
      this.field.blur(); // where nothing had the focus before, it stays in the field
    });
    this.list.addEventListener('click', (event) => {
      const option = event.target.closest('[role=option]');
      if (option) this.run([...this.list.children].indexOf(option));
    });
  }

  open() {
    this.field.value = '';
    this.dialog.showModal();
    this.draw();
  }

  key(event) {
    if (!this.dialog.open) return; // its field may have the focus for a moment still: what's pressed is the page's
    const moves = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + 8, PageUp: this.at - 8 };
    if (event.key in moves) {
      event.preventDefault();
      this.mark(moves[event.key], event.key.startsWith('Arrow'));
    } else if (event.key === 'Enter' && !composes(event)) {
      event.preventDefault();
      this.run(this.at);
    } else if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.dialog.close();
    }
  }

  draw() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text) => words.every((word) => text.toLowerCase().includes(word));
    const sessions = groupsOf(this.page.sessions()).flatMap((group) => group.sessions)
      .filter((s) => matches([s.name, s.agent, s.cwd, stateWords(s)].join(' ')))
      .map((s) => ({ words: s.name, about: [stateWords(s), s.agent, s.cwd].filter(Boolean).join(' · '), run: () => this.page.choose(s.id) }));
    const commands = this.commands.offered().filter((c) => matches(c.words) && !['Ctrl+K', 'Escape', 'j', 'k'].includes(c.keys?.[0]))
      .map((c) => ({ words: c.words, about: c.keys?.join(' or ') ?? '', run: c.run }));
    // Without a word, and where there are many sessions, commands can be reached, too.
    this.found = [...sessions.slice(0, words.length > 0 ? mostFound : 8), ...commands];
    this.list.replaceChildren(...this.found.map(({ words: text, about }, i) => {
      const option = element('li', 'palette-option');
      option.id = `palette-${i}`;
      option.setAttribute('role', 'option');
      option.append(element('span', 'palette-words', text), element('span', 'palette-about', about));
      return option;
    }));
    byId('palette-none').hidden = this.found.length > 0;
    this.mark(0);
  }

  mark(i, round) {
    const { length } = this.found;
    this.at = round ? (i + length) % length : Math.min(Math.max(i, 0), length - 1);
    [...this.list.children].forEach((option, n) => option.setAttribute('aria-selected', String(n === this.at)));
    const marked = this.list.children[this.at];
    if (marked) this.field.setAttribute('aria-activedescendant', marked.id);
    else this.field.removeAttribute('aria-activedescendant');
    marked?.scrollIntoView({ block: 'nearest' });
  }

  run(i) {
    const chosen = this.found[i];
    if (!chosen) return;
    this.dialog.close();
    chosen.run();
  }
}
