'use strict';

import { byId, element } from './dom.js';
import { openTerminal } from './api.js';
import { Keyboard } from './keyboard.js';
import { mayDo } from './roles.js';
import { Stream } from './stream.js';

// The Screen tab: the pane as it is, frame by frame as its program draws, while it's open and the page is seen. It opens
// where its prompt is, and stays there until the reader scrolls. Who may type types straight into it.

const near = 4; // pixels beside the place where the prompt is seen that count as being there
const classPattern = /^(?:[fb]\d{1,3}|w[12]|bold|dim|italic|underline|reverse|hidden|strike|apart|cursor)$/;
const colourPattern = /^#[0-9a-f]{6}$/;

export class Screen {
  constructor(session) {
    this.session = session;
    this.rows = byId('screen-rows');
    this.rows.replaceChildren();
    this.note = byId('screen-note');
    this.scroller = this.rows.parentElement;
    this.resizes = new ResizeObserver(() => this.toPrompt(this.isAway()));
    this.resizes.observe(this.scroller);
    this.shown = false;
    this.frame = 0;
    this.secrets = byId('screen-secrets');
    this.secrets.checked = false;
    this.events = new AbortController();
    const on = (target, name, fn) => target.addEventListener(name, fn, { signal: this.events.signal });
    on(this.secrets, 'change', () => this.follow());
    on(document, 'visibilitychange', () => this.follow());
    this.field = byId('screen-keys');
    this.keyboard = new Keyboard(session, this.field, { frame: () => this.frame, paste });
    on(byId('screen-type'), 'click', () => this.field.focus());
    on(this.scroller, 'click', (event) => {
      if (event.pointerType === 'mouse' && mayDo('operator') && getSelection().isCollapsed) this.field.focus({ preventScroll: true });
    });
  }

  show(shown) {
    this.shown = shown;
    if (shown) {
      this.place = null; // it's opened at its prompt
      this.toPrompt(false);
    }
    this.follow();
  }

  // follow begins or ends the stream of frames, as is needed now.
  follow() {
    this.stream?.close();
    this.stream = null;
    this.frame = 0;
    if (!this.shown || document.hidden) return;
    const secrets = this.secrets.checked ? 'show' : 'mask';
    this.stream = new Stream(this.session, {}, (id, place, abort) => openTerminal(id, secrets, abort));
    this.stream.listen((name, data) => this.receive(name, data), (connected) => {
      if (!connected) this.frame = 0; // keys are pressed at what's seen
      if (!connected && this.rows.childElementCount > 0) this.say('Reconnecting…');
    });
  }

  // keepUp opens the stream again that has broken, or was silent for longer than so many milliseconds: the daemon answers.
  keepUp(mostSilence) {
    this.stream?.now();
    if (this.stream?.silence() > mostSilence) this.stream.renew();
  }

  receive(name, data) {
    if (name === 'frame') this.draw(data);
    else if (name === 'unframe') {
      if (data.ended) this.stream?.close();
      this.say(`The screen can’t be seen: ${data.message}`);
    }
  }

  say(text) {
    this.note.textContent = text;
    this.note.hidden = text === '';
  }

  // draw takes in the rows that have changed.
  draw({ n, height, rows, dead }) {
    const away = this.isAway();
    while (this.rows.childElementCount > height) this.rows.lastElementChild.remove();
    while (this.rows.childElementCount < height) this.rows.append(element('div'));
    for (const [i, html] of Object.entries(rows)) this.rows.children[i]?.replaceChildren(...rebuild(html), '\n');
    this.frame = n;
    this.say(dead ? 'The program has ended.' : '');
    this.toPrompt(away);
  }

  // isAway says that the reader has scrolled away from the prompt.
  isAway() {
    if (this.place === null) return false;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    return Math.abs(scrollTop - Math.min(this.place, scrollHeight - clientHeight)) > near;
  }

  // toPrompt scrolls to the last row that has something, or to the cursor's where that's
  // above; a reader who is away stays where he is.
  toPrompt(away) {
    if (away || !this.shown || this.rows.childElementCount === 0) return;
    const rows = [...this.rows.children];
    const height = this.rows.offsetHeight / rows.length;
    const cursor = this.rows.querySelector('.cursor');
    const last = rows.findLastIndex((row) => row.textContent.trim() !== '');
    const at = cursor ? rows.indexOf(cursor.parentElement) : last;
    const padding = this.rows.offsetTop - this.scroller.offsetTop;
    const bottom = padding + (Math.max(last, at) + 1) * height + padding;
    this.scroller.scrollTop = Math.min(bottom - this.scroller.clientHeight, padding + at * height);
    this.place = this.scroller.scrollTop;
  }

  close() {
    this.resizes.disconnect();
    this.events.abort();
    this.keyboard.close();
    this.shown = false;
    this.follow();
    this.say('');
    this.rows.replaceChildren();
  }
}

// paste puts a text that was pasted into the screen where it can be read before it's typed.
function paste(text) {
  const field = byId('text');
  field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.focus();
}

// rebuild makes nodes from the server's HTML. It takes over text, and of spans
// the known classes and colours; whatever else there was would be text only.
export function rebuild(text) {
  // The newline behind <pre> is what HTML ignores there: without it, a first
  // row that is empty would be.
  const parsed = new DOMParser().parseFromString(`<pre>\n${text}</pre>`, 'text/html');
  return Array.from(parsed.querySelector('pre').childNodes, rebuildNode);
}

function rebuildNode(node) {
  if (node.nodeName !== 'SPAN') return document.createTextNode(node.textContent);
  const span = element('span', '', node.textContent);
  for (const name of node.classList) if (classPattern.test(name)) span.classList.add(name);
  setColour(span, '--fg', node.dataset.fg);
  setColour(span, '--bg', node.dataset.bg);
  return span;
}

function setColour(span, variable, value) {
  if (value && colourPattern.test(value)) span.style.setProperty(variable, value);
}
