'use strict';

import { diffBox, diffRows } from './diff.js';
import { byId, element } from './dom.js';
import { answerPrompt, getPrompt, getScreen } from './api.js';
import { authorBegins, mayDo } from './roles.js';
import { rebuild } from './screen.js';

// The question that a session asks, above the composer or in the inbox: its options as buttons,
// and afterwards a line that says who answered what. A digit chooses as a click does.

const armedAfter = 400; // milliseconds for which a new question takes no click: it was meant for what stood there
const stillFor = 300; // milliseconds, so with one that has moved
const lingers = 60000; // milliseconds for which the line stays
const noteOfKeys = 'panebridge doesn’t know this dialog. Each button presses its key, while this very screen stands.';
const noteOfFields = 'It asks for something that’s typed there only, a key or a code perhaps. Answer it in the session.';
const noteOfLines = 'Its program reads a line.';
const noteOfHidden = 'It doesn’t show it: a password, perhaps.';
// What can be chosen, and by what a question is told from itself with more to be seen.
const offered = (prompt) => prompt.options.filter((option) => option.offered);
const extent = (prompt) => `${Boolean(prompt.unseen)} ${Boolean(prompt.disputed)} ${prompt.note ?? ''} ${prompt.body}`;
const final = (prompt) => prompt.state === 'answered' || prompt.state === 'closed';

export class PromptPanel {
  // It's shown in box, with a heading of that level, and moves when a part of `around` has another size. With digits, it takes those that are
  // typed anywhere in the page. below says where a line can be written that its program reads.
  constructor(session, { box = byId('prompt'), around = [byId('foot')], digits = true, level = 'h2', below = 'What you send below is typed there.' } = {}) {
    Object.assign(this, { session, box, level, below });
    box.tabIndex = -1;
    this.events = new AbortController();
    if (digits) document.addEventListener('keydown', (event) => this.key(event), { signal: this.events.signal });
    this.moves = new ResizeObserver(() => this.noteMove());
    for (const part of [box, ...around]) this.moves.observe(part);
    box.addEventListener('click', (event) => this.holdClick(event), { capture: true, signal: this.events.signal });
    this.hide();
  }

  // isOpen says that a question can be answered here.
  isOpen() {
    return Boolean(this.prompt) && !final(this.prompt);
  }

  // isInView says that all choices are seen, and the question's first words as well unless the focus is on it.
  isInView() {
    const seen = (node) => {
      const { left, top, width, height } = node.getBoundingClientRect();
      return this.box.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    };
    const hasFocus = this.box.contains(document.activeElement);
    return [...this.box.querySelectorAll('[data-digit]')].every(seen) && (hasFocus || seen(this.box.firstElementChild));
  }

  close() {
    this.closed = true;
    this.events.abort();
    this.moves.disconnect();
    this.hide();
  }

  hide() {
    clearTimeout(this.timer);
    this.prompt = null;
    this.box.hidden = true;
    this.box.replaceChildren();
  }

  // show takes in how a question is now.
  show(prompt) {
    if (this.closed || prompt.session !== this.session) return;
    const { prompt: was } = this;
    if (was && was.id !== prompt.id && (final(prompt) || prompt.opened_at < was.opened_at && !final(was))) return; // late news of an earlier one
    if (was && was.id === prompt.id && (was.state === prompt.state && extent(was) === extent(prompt) || final(was))) return;
    if (!was && final(prompt)) return; // nobody saw it here
    clearTimeout(this.timer);
    this.prompt = prompt;
    this.holdFocus();
    if (was?.id === prompt.id && !final(prompt) && extent(was) === extent(prompt)) this.state(prompt);
    else if (final(prompt)) this.done(prompt);
    else this.ask(prompt);
    this.box.hidden = false;
  }

  // holdFocus has the focus stay at the question when what has it there is about to go: no field takes it, so that
  // digits answer the next question, and a phone's keyboard stays away.
  holdFocus() {
    if (this.box.contains(document.activeElement)) this.box.focus({ preventScroll: true });
  }

  // noteMove takes in that it may stand elsewhere now.
  noteMove() {
    this.movedAt = performance.now();
    this.box.dataset.moving = '';
    clearTimeout(this.still);
    this.still = setTimeout(() => { delete this.box.dataset.moving; }, stillFor);
  }

  // holdClick takes the click of a pointer for what has just come under it. Keys mean what they say.
  holdClick(event) {
    if (event.detail === 0 || performance.now() - this.movedAt >= stillFor) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // expect is told which question is open, as the list of sessions says, which may be
  // older than what's shown, or newer.
  async expect(id) {
    const shown = this.prompt && !final(this.prompt) ? this.prompt.id : '';
    const ask = shown || id;
    if (shown === (id ?? '') || this.asking || ask === this.prompt?.id && !shown) return;
    this.asking = true;
    try {
      this.show(await getPrompt(ask));
    } catch (error) {
      if (error.status === 404 && this.prompt?.id === ask) this.hide();
    } finally {
      this.asking = false;
    }
  }

  // key clicks the option of a digit's number; in a field, a digit is text.
  key(event) {
    if (!/^[1-9]$/.test(event.key) || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (document.querySelector('dialog[open]') || event.target.closest('input:not([type=checkbox]), textarea, select')) return;
    const choice = this.box.querySelector(`[data-digit="${event.key}"]:enabled`);
    if (!choice) return;
    event.preventDefault();
    choice.click();
  }

  ask(prompt) {
    const unread = prompt.kind === 'unread';
    const title = element(this.level, 'prompt-title', prompt.title || (unread ? 'Its screen looks like a question' : 'The session asks'));
    const parts = [title];
    if (prompt.folder) parts.push(element('p', 'prompt-note', `In ${prompt.folder}`));
    if (prompt.note) parts.push(element('p', 'prompt-note', prompt.note));
    if (prompt.body && prompt.diff) {
      const body = diffBox(diffRows(prompt.body), 'What it would change');
      body.classList.add('prompt-diff');
      parts.push(body);
    } else if (prompt.body) {
      const body = element('pre', 'prompt-body', (prompt.cut ? '…\n' : '') + prompt.body);
      body.tabIndex = 0;
      body.setAttribute('aria-label', 'What it’s about');
      parts.push(body);
      if (unread) this.draw(body, prompt);
    }
    if (prompt.kind === 'line') parts.push(element('p', 'prompt-note', [noteOfLines, this.below, prompt.hidden && noteOfHidden].filter(Boolean).join(' ')));
    if (unread) parts.push(element('p', 'prompt-note', prompt.options.length > 0 ? noteOfKeys : noteOfFields));
    if (prompt.disputed) parts.push(element('p', 'prompt-unseen', 'What the dialog shows isn’t in the agent’s own record of the call. Only what refuses can be chosen here. Look at it in the session.'));
    else if (prompt.unseen) parts.push(element('p', 'prompt-unseen', 'Not all of what it’s about can be seen, so only what refuses can be chosen here. Look at it in the session.'));
    if (!mayDo('approver')) parts.push(element('p', 'prompt-note', 'This device may not answer: that takes an approver’s.'));
    parts.push(prompt.multi && !prompt.unseen ? this.boxes(prompt) : this.buttons(prompt));
    if (prompt.text && !prompt.unseen) parts.push(this.field(prompt));
    this.status = element('p', 'prompt-status');
    this.status.setAttribute('role', 'alert');
    this.box.replaceChildren(...parts, this.status);
    this.box.dataset.state = 'open';
    this.enable(false);
    this.timer = setTimeout(() => this.state(this.prompt), armedAfter);
  }

  // draw shows the screen with its colours, by which alone some dialogs show what's marked.
  async draw(body, prompt) {
    try {
      const text = await getScreen(prompt.session, 'mask');
      if (this.prompt?.id === prompt.id && body.isConnected) body.replaceChildren(...rebuild(text));
    } catch {
      // its rows stand there
    }
  }

  buttons(prompt) {
    const keys = prompt.kind === 'unread';
    const list = element('div', keys ? 'prompt-options prompt-keys' : 'prompt-options');
    for (const option of offered(prompt)) {
      const button = element('button', 'button prompt-option');
      button.type = 'button';
      if (!keys) button.append(element('span', 'prompt-n', String(option.n)));
      answersTo(button, keys ? option.label : option.n);
      button.append(labelOf(option));
      button.addEventListener('click', () => this.answer({ option: option.n }));
      list.append(button);
    }
    return list;
  }

  boxes(prompt) {
    const form = element('form', 'prompt-options');
    for (const option of prompt.options) {
      const label = element('label', 'prompt-check');
      const box = element('input');
      box.type = 'checkbox';
      box.value = option.n;
      answersTo(box, option.n);
      label.append(box, element('span', 'prompt-n', String(option.n)), labelOf(option));
      form.append(label);
    }
    form.append(sendButton('Send'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.answer({ options: [...form.querySelectorAll('input:checked')].map((box) => Number(box.value)) });
    });
    return form;
  }

  field(prompt) {
    const form = element('form', 'prompt-text');
    const field = element('input');
    field.autocomplete = 'off';
    field.placeholder = prompt.text;
    field.setAttribute('aria-label', prompt.text);
    form.append(field, sendButton('Send text'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (field.value.trim() !== '') this.answer({ text: field.value });
    });
    return form;
  }

  async answer(body) {
    const { prompt } = this;
    this.holdFocus();
    this.enable(false);
    this.say('Answering…');
    try {
      this.show(await answerPrompt(prompt.id, body));
    } catch (error) {
      if (error.prompt) this.show(error.prompt);
      if (this.prompt?.id !== prompt.id || this.box.hidden) return;
      this.state(this.prompt);
      this.say(error.message, true);
    }
  }

  // state shows whether an open question can be answered now.
  state(prompt) {
    if (final(prompt)) return;
    this.enable(prompt.state === 'open');
    this.say(prompt.state === 'answering' ? `${who(prompt)} is answering: ${prompt.answer.chosen}` : '');
  }

  done(prompt) {
    const text = prompt.state === 'answered'
      ? `${prompt.title} — ${who(prompt)} answered: ${prompt.answer.chosen || 'none of them'}`
      : `${prompt.title} — closed: ${prompt.reason}`;
    const line = element('p', 'prompt-done', text);
    if (this.status?.isConnected && this.status.classList.contains('error')) line.append(element('span', 'error', ` ${this.status.textContent}`));
    this.box.replaceChildren(line);
    this.box.dataset.state = prompt.state;
    this.timer = setTimeout(() => this.hide(), lingers);
  }

  enable(enabled) {
    for (const part of this.box.querySelectorAll('button:not(.diff-more), input')) part.disabled = !enabled || !mayDo('approver');
  }

  say(text, bad) {
    if (!this.status) return;
    this.status.textContent = text;
    this.status.classList.toggle('error', Boolean(bad));
  }
}

// answersTo has a control answer to a digit, if it's one.
function answersTo(control, digit) {
  control.dataset.digit = digit;
  if (/^[1-9]$/.test(digit)) control.setAttribute('aria-keyshortcuts', digit);
}

function labelOf(option) {
  const label = element('span', 'prompt-label', option.label);
  if (option.detail) label.append(element('span', 'prompt-detail', option.detail));
  return label;
}

function sendButton(text) {
  const button = element('button', 'button primary', text);
  button.type = 'submit';
  return button;
}

// answerer is who answered, as people are called.
export const answerer = (answer) => authorBegins(answer?.author, answer?.name) || 'Somebody';

const who = ({ answer }) => answerer(answer);
