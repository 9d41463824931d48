'use strict';

import { byId, copyButton, element, smallButton, toast } from './dom.js';
import { cancelReceipt, getReceipt, isAway, openReceipts, pressKeys, sendAnyway } from './api.js';
import { draftOf, isForgotten, keepDraft, onDraft } from './drafts.js';
import {
  dismiss, keptText, keyOf, noteReceipt, noteTakenBack, outgoing, receiptsOf, sendText, settle, takeBack, textSent, unsent, watchOutgoing, writeBack,
} from './outgoing.js';
import { isLast } from './receipts.js';
import { authorWords, isMe } from './roles.js';
import { hasMask, withSecrets } from './secrets.js';
import { composes } from './typing.js';
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
    this.takenBack = new Set(); // those that somebody takes back here
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
    this.unwatch = watchOutgoing(session, this);
    onDraft(session, () => this.takeDraft(), this.events.signal);
    this.text.value = draftOf(session);
    this.grow();
    this.drawOutgoing();
    this.lookElsewhere();
  }

  close() {
    this.closed = true;
    this.events.abort();
    this.unwatch();
    this.uploads.close();
    this.text.value = '';
    this.list.replaceChildren();
    byId('queue').hidden = true;
  }

  enable(enabled) {
    const was = this.enabled;
    this.enabled = enabled;
    if (enabled !== was) this.drawOutgoing();
    for (const e of [this.text, byId('send'), byId('attach'), ...document.querySelectorAll('[data-key]')]) e.disabled = !enabled;
  }

  key(event) {
    if (event.key !== 'Enter' || event.shiftKey || composes(event)) return;
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

  // takeDraft shows what another tab has written, or that it has sent it. It says whether there's something new.
  takeDraft() {
    const draft = draftOf(this.session);
    if (draft === this.text.value || isForgotten(this.session)) return false;
    this.text.value = draft;
    this.grow();
    return true;
  }

  grow() {
    this.text.style.height = 'auto';
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, 180)}px`;
  }

  // send takes what's written out of the field and sends it.
  send() {
    if (this.takeDraft()) return; // it's to be seen first
    const text = this.text.value;
    if (text.trim() === '' && this.uploads.files.length === 0) return;
    const paths = this.uploads.paths();
    if (!paths) return;
    this.uploads.clear(paths);
    this.text.value = '';
    this.changed();
    sendText(this.session, paths.length > 0 ? [text.trim(), ...paths].filter(Boolean).join(' ') : text);
  }

  // drawOutgoing shows the texts that are on their way to the server, below those that weren't sent.
  drawOutgoing() {
    for (const item of this.list.querySelectorAll('.outgoing, .unsent')) item.remove();
    for (const { key, text, unsent: why } of unsent(this.session)) {
      const item = element('li', 'receipt unsent');
      item.dataset.state = 'failed';
      item.append(element('span', 'progress', 'not sent'), element('span', 'receipt-text', text));
      this.offerAgain(item, text, () => dismiss(key));
      item.append(element('span', 'receipt-reason', why));
      this.list.append(item);
    }
    if (this.enabled === false) this.drawDraft();
    const texts = outgoing(this.session);
    const waits = texts.some(({ slow, unsure }) => slow || unsure);
    for (const { key, text, slow, unsure, back } of texts) {
      const item = element('li', 'outgoing');
      item.append(element('span', 'progress', outgoingWords(slow || unsure, back)), element('span', 'receipt-text', text));
      if (waits && !back) item.append(smallButton('Take back', () => takeBack(key)));
      this.list.append(item);
    }
  }

  // drawDraft shows what's written to a session that has ended, which has no field for it any more.
  drawDraft() {
    const draft = draftOf(this.session);
    if (draft === '') return;
    const item = element('li', 'receipt unsent');
    item.append(element('span', 'progress', 'written'), element('span', 'receipt-text', draft));
    this.offerAgain(item, draft, () => keepDraft(this.session, ''));
    this.list.append(item);
  }

  // press presses keys one after the other: two requests at once may arrive in
  // another order.
  press(key) {
    this.pressing = (this.pressing ?? Promise.resolve()).then(async () => {
      try {
        await pressKeys(this.session, [key]);
      } catch (error) {
        toast(`${isAway(error) ? 'Nobody knows whether the key was pressed' : 'Key not pressed'}: ${error.message}`);
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
          for (const receipt of open) {
            noteReceipt(receipt);
            this.follow(receipt);
          }
          for (const id of receiptsOf(this.session)) await this.followAgain(id);
        } catch {
          // the bar at the top says that there's no connection
        }
      }
      await sleep(listEvery);
    }
  }

  // followAgain shows what became of a text that was sent from here before the session was opened, if it isn't well.
  async followAgain(id) {
    if (this.shown.has(id)) return;
    try {
      const receipt = await getReceipt(id);
      if (this.closed) return;
      if (receipt.state === 'cancelled') noteTakenBack(receipt);
      if (receipt.state === 'failed' || !isDone(receipt)) this.follow(receipt);
      else settle(id);
    } catch (error) {
      if (error.status !== 404) throw error;
      settle(id);
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
    const after = [...this.list.children].find((other) => !other.dataset.at || other.dataset.at > receipt.created_at);
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
    if (this.closed || now.state === 'failed') return;
    if (now.state === 'cancelled') noteTakenBack(now);
    settle(receipt.id);
    await sleep(lingers);
    item.remove();
    this.number();
  }

  // number says in which order the texts are typed that wait, where it's several.
  number() {
    if (this.closed) return;
    const waiting = [...this.list.children].filter((item) => waits.has(item.dataset.state));
    for (const item of this.list.querySelectorAll('[data-id]')) {
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
    const by = authorWords(receipt.author, receipt.by);
    if (by && !isMe(receipt.author)) item.append(element('span', 'receipt-author', `by ${by}`));
    for (const way of receipt.revivals ?? []) {
      item.append(smallButton(revivals[way] ?? way, () => this.sendAnyway(receipt, way), 'needs-approver'));
    }
    if (receipt.quoted) {
      const label = receipt.front ? `Type it into ${receipt.front} all the same` : 'Send anyway';
      item.append(smallButton(label, () => this.sendAnyway(receipt), 'needs-approver'));
    }
    if (takeable.has(receipt.state)) item.append(smallButton('Take back', () => this.takeBack(receipt)));
    if (receipt.state === 'failed') this.offerAgain(item, textSent(receipt.id), () => settle(receipt.id));
    if (receipt.reason) item.append(element('span', 'receipt-reason', receipt.reason));
    this.number();
  }

  // offerAgain offers what can be done about a text that wasn't typed, or of which nobody knows: text is as it was written,
  // undefined: that isn't known.
  offerAgain(item, text, forget) {
    const end = () => {
      forget();
      item.remove();
    };
    if (text !== undefined && this.enabled === false) item.append(copyButton(() => text));
    else if (text !== undefined) {
      item.append(smallButton('Write again', () => {
        end();
        writeBack(this.session, text);
      }));
    }
    item.append(smallButton('Dismiss', end));
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

  // takeBack has a text of this device's stand in the field again, whatever is open by then: as it was written, which the
  // receipt has only if nothing of it is masked.
  async takeBack(receipt) {
    const key = await keyOf(receipt);
    if (key) {
      takeBack(key);
      return;
    }
    if (this.takenBack.has(receipt.id)) return; // what's shown is from before
    this.takenBack.add(receipt.id);
    const whole = keptText(receipt.key) ?? (hasMask(receipt.text) ? undefined : receipt.text);
    try {
      await cancelReceipt(receipt.id);
    } catch (error) {
      this.takenBack.delete(receipt.id);
      toast(error.message);
      return;
    }
    if (!isMe(receipt.author)) return;
    if (whole === undefined) toast('It’s taken back. It had something secret, which isn’t kept here: write it anew.');
    else writeBack(this.session, whole);
  }
}

// isDone says that nothing more is done about a text.
const isDone = (receipt) => isLast(receipt) || receipt.state === 'submitted';

function outgoingWords(waits, back) {
  if (back) return 'being taken back…';
  return waits ? 'no answer yet; it’s sent again…' : 'sending…';
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
