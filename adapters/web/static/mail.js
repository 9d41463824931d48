'use strict';

import { byId, element, smallButton, whenClosed } from './dom.js';
import { listFleets, listLetters, sendLetter, settleLetter } from './api.js';
import { attempt } from './dialogs.js';
import { mayDo } from './roles.js';
import { agoWords } from './words.js';

// Which sessions work together, what agents have written to who uses this device, and what's written to them: the same
// as /fleet and /mail in chats.

const refreshEvery = 5000; // milliseconds

export class MailDialog {
  // sessions() are all that are known.
  constructor(sessions) {
    this.sessions = sessions;
    this.dialog = byId('mail-dialog');
    byId('mail').addEventListener('click', () => this.open());
    byId('mail-close').addEventListener('click', () => this.dialog.close());
    byId('mail-new').addEventListener('click', () => this.answer(null));
    whenClosed(this.dialog, () => this.clear());
    for (const field of ['mail-to', 'mail-text']) byId(field).addEventListener('input', () => { this.key = ''; });
    byId('mail-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.send();
    });
  }

  open() {
    this.clear();
    byId('mail-sessions').replaceChildren(...this.sessions().filter((s) => s.state !== 'ended').map(({ name }) => {
      const option = element('option');
      option.value = name;
      return option;
    }));
    this.dialog.showModal();
    this.load();
  }

  clear() {
    clearTimeout(this.timer);
    this.drawn = '';
    for (const id of ['mail-fleets', 'mail-letters']) byId(id).replaceChildren();
    for (const id of ['mail-said', 'mail-error']) byId(id).textContent = '';
    for (const id of ['mail-none', 'mail-no-fleets']) byId(id).hidden = true;
    byId('mail-form').reset();
    this.answer(null);
  }

  async load() {
    clearTimeout(this.timer);
    try {
      const [fleets, letters] = await Promise.all([listFleets(), mayDo('operator') ? listLetters() : []]);
      if (this.dialog.open) this.draw(fleets, letters);
    } catch (error) {
      byId('mail-error').textContent = error.message;
    }
    if (this.dialog.open) this.timer = setTimeout(() => this.load(), refreshEvery);
  }

  draw(fleets, letters) {
    const drawn = JSON.stringify([fleets, letters]);
    if (drawn === this.drawn) return; // what's the same keeps its focus
    this.drawn = drawn;
    const focused = document.activeElement?.id;
    byId('mail-fleets').replaceChildren(...fleets.flatMap(fleetNodes));
    byId('mail-no-fleets').hidden = fleets.length > 0;
    byId('mail-letters').replaceChildren(...letters.map((letter) => this.entry(letter)));
    byId('mail-none').hidden = letters.length > 0;
    if (focused) byId(focused)?.focus();
    if (!this.dialog.contains(document.activeElement)) byId('mail-close').focus();
  }

  entry(letter) {
    const item = element('li', 'access-entry');
    const head = element('p', 'access-head');
    head.append(element('strong', '', letter.from), element('span', 'mail-time', agoWords(letter.at)));
    const text = element('p', 'mail-words', letter.text);
    text.dir = 'auto';
    const buttons = element('div', 'mail-buttons');
    buttons.append(
      button(`mail-answer-${letter.id}`, 'Answer', `Answer ${letter.from}`, () => this.answer(letter)),
      button(`mail-done-${letter.id}`, 'Done', `It’s done: what ${letter.from} wrote`, () => this.change(`mail-done-${letter.id}`, async () => {
        await settleLetter(letter.id);
        return 'Done.';
      })),
    );
    item.append(head, text, buttons);
    return item;
  }

  // answer has what's written next be the answer to a letter; null: a letter of its own.
  answer(letter) {
    this.answers = letter?.id ?? '';
    this.key = '';
    byId('mail-to').value = letter?.from ?? '';
    byId('mail-to').readOnly = Boolean(letter);
    byId('mail-new').hidden = !letter;
    if (letter) byId('mail-text').focus();
  }

  // send sends what's written; the same once, though nobody has heard that it was.
  send() {
    this.key ||= crypto.randomUUID();
    return this.change('mail-send', async () => {
      const to = this.answers ? { answers: this.answers } : { to: byId('mail-to').value.trim() };
      const sent = await sendLetter({ ...to, text: byId('mail-text').value, key: this.key });
      byId('mail-form').reset();
      this.answer(null);
      return sent.untold ? `Stored for ${sent.to}, who wasn’t told of it yet: ${sent.untold}.` : `Sent to ${sent.to}, who was told of it.`;
    });
  }

  change(id, fn) {
    byId('mail-said').textContent = '';
    return attempt(id, 'mail-error', async () => {
      byId('mail-said').textContent = await fn();
      await this.load();
    });
  }
}

function fleetNodes({ name, members }) {
  const list = element('ul', 'access-list');
  list.append(...members.map((m) => {
    const item = element('li', 'access-entry');
    const head = element('p', 'access-head');
    head.append(element('strong', '', m.name || m.id));
    if (m.directs) head.append(element('span', 'access-role', 'director'));
    const received = m.last_received_at ? `received mail ${agoWords(m.last_received_at)}` : 'received no mail yet';
    item.append(head, element('p', 'access-about', m.name ? `${m.state} · ${received} · ${m.unread} unread` : 'gone'));
    return item;
  }));
  return [element('h3', '', name), list];
}

function button(id, text, label, fn) {
  const made = smallButton(text, fn);
  made.id = id;
  made.setAttribute('aria-label', label);
  return made;
}
