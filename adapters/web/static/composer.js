'use strict';

import { byId, element, toast } from './dom.js';
import { draftOf, keepDraft } from './drafts.js';
import { cancelReceipt, getReceipt, openReceipts, pressKeys, sendAnyway, sendInput } from './api.js';
import { isMe } from './roles.js';
import { withSecrets } from './secrets.js';
import { Uploads } from './upload.js';
import { stepWords } from './words.js';

// The composer: what's written to the session, and how far it got; also what was
// written elsewhere, or before the page was loaded, and isn't done.

const final = new Set(['answered', 'failed', 'cancelled']);
const revivals = { start: 'Start it again', resume: 'Go on with its conversation' };
const takeable = new Set(['stored', 'held']);
const steps = ['stored', 'typed', 'submitted', 'answered'];
const pollEvery = 400; // milliseconds between looks at a receipt
const patientAfter = 15000; // milliseconds after which it's looked at as seldom as
const listEvery = 2000; // milliseconds between looks for receipts from elsewhere
const names = { web: 'the owner’s browser', cli: 'the command line' };
const lingers = 5000; // milliseconds for which a finished one is shown
const answersIn = 60000; // milliseconds for which a submitted one is, that its agent hasn't queued
const waits = new Set(['stored', 'held', 'typing']); // to be typed

export class Composer {
  // agent is the name of the session's, '': it has none.
  constructor(session, agent) {
    Object.assign(this, { session, agent });
    this.text = byId('text');
    this.list = byId('receipts');
    this.list.replaceChildren();
    this.shown = new Set(); // ids of receipts
    this.events = new AbortController();
    const on = (target, name, fn) => target.addEventListener(name, fn, { signal: this.events.signal });
    on(byId('composer'), 'submit', (event) => {
      event.preventDefault();
      this.send();
    });
    on(this.text, 'keydown', (event) => this.key(event));
    on(this.text, 'input', () => this.changed());
    for (const button of document.querySelectorAll('[data-key]')) {
      on(button, 'click', () => this.press(button.dataset.key));
    }
    this.uploads = new Uploads(session);
    this.text.value = draftOf(session);
    this.grow();
    this.lookElsewhere();
  }

  close() {
    this.closed = true;
    this.events.abort();
    this.uploads.close();
    this.text.value = '';
    this.list.replaceChildren();
    byId('queue').hidden = true;
  }

  enable(enabled) {
    this.enabled = enabled;
    for (const e of [this.text, byId('send'), byId('attach'), ...document.querySelectorAll('[data-key]')]) e.disabled = !enabled;
  }

  key(event) {
    // While an input method composes, Enter belongs to it.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  }

  // write puts a text into the field, to be changed and sent.
  write(text) {
    this.text.value = text;
    this.changed();
  }

  changed() {
    keepDraft(this.session, this.text.value);
    this.grow();
  }

  grow() {
    this.text.style.height = 'auto';
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, 180)}px`;
  }

  // send sends what's written; what's written and to be sent while that isn't known to be stored comes afterwards.
  async send() {
    const text = this.text.value;
    if (text.trim() === '' && this.uploads.files.length === 0) return;
    if (this.sending) {
      this.again = true;
      return;
    }
    const paths = this.uploads.paths();
    if (!paths) return;
    this.sending = true;
    byId('send').disabled = true;
    try {
      const receipt = await sendInput(this.session, paths.length > 0 ? [text.trim(), ...paths].filter(Boolean).join(' ') : text);
      this.uploads.clear(paths);
      if (draftOf(this.session) === text) keepDraft(this.session, '');
      if (this.closed) {
        this.forgetShown(text);
        return;
      }
      if (this.text.value === text) this.write('');
      this.follow(receipt);
    } catch (error) {
      this.again = false;
      toast(`Not sent: ${error.message}`);
    } finally {
      this.sending = false;
      byId('send').disabled = false;
    }
    if (this.again && !this.closed) {
      this.again = false;
      this.send();
    }
  }

  // forgetShown empties the field of the same session, opened anew meanwhile, if it shows what was sent.
  forgetShown(text) {
    if (location.hash.slice(1) !== this.session || this.text.value !== text) return;
    this.text.value = '';
    this.text.dispatchEvent(new Event('input'));
  }

  // press presses keys one after the other: two requests at once may arrive in
  // another order.
  press(key) {
    this.pressing = (this.pressing ?? Promise.resolve()).then(async () => {
      try {
        await pressKeys(this.session, [key]);
      } catch (error) {
        toast(`Key not pressed: ${error.message}`);
      }
    });
  }

  // lookElsewhere shows what waits for the session, wherever it was written.
  async lookElsewhere() {
    while (!this.closed) {
      if (!document.hidden && this.enabled !== false) {
        try {
          const open = await openReceipts(this.session);
          if (this.closed) return;
          for (const receipt of open) this.follow(receipt);
        } catch {
          // the bar at the top says that there's no connection
        }
      }
      await sleep(listEvery);
    }
  }

  // follow shows a receipt until its text is answered, or won't be.
  async follow(receipt) {
    if (this.shown.has(receipt.id)) return;
    this.shown.add(receipt.id);
    const began = Date.now();
    const item = element('li', 'receipt');
    item.dataset.at = receipt.created_at;
    item.dataset.id = receipt.id;
    const after = [...this.list.children].find((other) => other.dataset.at > receipt.created_at);
    this.list.insertBefore(item, after ?? null);
    let now = receipt;
    let submitted = 0; // since when it has been; 0: it isn't
    for (;;) {
      this.draw(item, now);
      if (now.state === 'submitted' && now.cause !== 'queued') submitted ||= Date.now();
      if (final.has(now.state) || this.closed || (submitted && Date.now() - submitted > answersIn)) break;
      await sleep(Date.now() - began < patientAfter ? pollEvery : listEvery);
      try {
        now = await getReceipt(receipt.id);
      } catch (error) {
        if (error.status === 404) now = { ...now, state: 'failed', reason: error.message };
        else await sleep(1000);
      }
    }
    if (now.state === 'failed') return;
    await sleep(lingers);
    item.remove();
    this.number();
  }

  // number says in which order the texts are typed that wait, where it's several.
  number() {
    if (this.closed) return;
    const waiting = [...this.list.children].filter((item) => waits.has(item.dataset.state));
    for (const item of this.list.children) {
      const place = item.querySelector('.receipt-place');
      place.textContent = waiting.length > 1 && waiting.includes(item) ? `${waiting.indexOf(item) + 1}.` : '';
    }
    byId('queue').hidden = waiting.length < 2;
    byId('queue').textContent = `${waiting.length} texts wait. They’re typed in this order:`;
  }

  draw(item, receipt) {
    const look = [receipt.state, receipt.reason, receipt.quoted].join('\n');
    if (item.dataset.look === look) return;
    item.dataset.look = look;
    item.dataset.state = receipt.state;
    const text = element('span', 'receipt-text');
    text.append(...withSecrets(receipt.text, receipt.secrets));
    const far = progress(receipt, this.agent);
    far.prepend(element('span', 'receipt-place'));
    item.replaceChildren(far, text);
    const by = receipt.by || (names[receipt.author] ?? receipt.author);
    if (by && !isMe(receipt.author)) item.append(element('span', 'receipt-author', `by ${by}`));
    for (const way of receipt.revivals ?? []) {
      item.append(this.button(revivals[way] ?? way, () => this.sendAnyway(receipt, way)));
    }
    if (receipt.quoted) {
      const label = receipt.front ? `Type it into ${receipt.front} all the same` : 'Send anyway';
      item.append(this.button(label, () => this.sendAnyway(receipt)));
    }
    if (takeable.has(receipt.state)) item.append(this.button('Take back', () => this.takeBack(receipt)));
    if (receipt.state === 'failed') item.append(this.button('Dismiss', () => item.remove()));
    if (receipt.reason) item.append(element('span', 'receipt-reason', receipt.reason));
    this.number();
  }

  button(text, fn) {
    const button = element('button', 'button small', text);
    button.type = 'button';
    button.addEventListener('click', fn);
    return button;
  }

  // sendAnyway is for the screen, or the program in front, as it was when the button was
  // drawn.
  async sendAnyway(receipt, revival) {
    try {
      await sendAnyway(receipt.id, receipt.quoted, revival);
    } catch (error) {
      toast(error.message);
    }
  }

  async takeBack(receipt) {
    try {
      await cancelReceipt(receipt.id);
      if (this.closed || this.text.value !== '' || !isMe(receipt.author)) return;
      this.write(receipt.text);
    } catch (error) {
      toast(error.message);
    }
  }
}

// progress draws waiting → typed → the agent has it, with what stands in the way.
function progress({ state }, agent) {
  const box = element('span', 'progress');
  const reached = state === 'typing' ? 0 : steps.indexOf(state);
  if (reached < 0 && state !== 'held') {
    box.append(element('span', `step ${state}`, stepWords(state, agent)));
    return box;
  }
  steps.forEach((step, i) => {
    if (i > 0) box.append(element('span', 'arrow', '→'));
    box.append(element('span', i <= reached || (state === 'held' && i === 0) ? 'step done' : 'step', stepWords(step, agent)));
    if (i === 0 && state === 'held') {
      box.append(element('span', 'arrow', '→'), element('span', 'step held', stepWords('held', agent)));
    }
  });
  return box;
}

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
