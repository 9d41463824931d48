'use strict';

import { byId, element } from './dom.js';
import { getScreen, isAway } from './api.js';

// The Screen tab: the pane as it is, fetched anew when something changed, at
// most every pause milliseconds, and only while it's open. It opens where its prompt is,
// and stays there until the reader scrolls.

const pause = 500;
const near = 4; // pixels beside the place where the prompt is seen that count as being there
const classPattern = /^(?:[fb]\d{1,3}|bold|dim|italic|underline|reverse|hidden|strike|cursor)$/;
const colourPattern = /^#[0-9a-f]{6}$/;

export class Screen {
  constructor(session) {
    this.session = session;
    this.rows = byId('screen-rows');
    this.rows.replaceChildren();
    this.scroller = this.rows.parentElement;
    this.resizes = new ResizeObserver(() => this.toPrompt(this.isAway()));
    this.resizes.observe(this.scroller);
    this.shown = false;
    this.busy = false;
    this.again = false;
    this.secrets = byId('screen-secrets');
    this.secrets.checked = false;
    this.ask = () => this.changed();
    this.secrets.addEventListener('change', this.ask);
  }

  show(shown) {
    this.shown = shown;
    if (!shown) return;
    this.place = null; // it's opened at its prompt
    this.toPrompt(false);
    this.changed();
  }

  changed() {
    if (!this.shown) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    this.fetch();
    setTimeout(() => {
      this.busy = false;
      if (this.again) {
        this.again = false;
        this.changed();
      }
    }, pause);
  }

  async fetch() {
    try {
      const text = await getScreen(this.session, this.secrets.checked ? 'show' : 'mask');
      if (!this.shown) return;
      const away = this.isAway();
      this.rows.replaceChildren(...rebuild(text));
      this.toPrompt(away);
    } catch (error) {
      if (this.shown && !isAway(error)) this.rows.replaceChildren(element('span', 'dim', `The screen can't be read: ${error.message}`));
    }
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
    if (away || !this.shown) return;
    const rows = this.rows.textContent.replace(/\n$/, '').split('\n');
    const height = this.rows.offsetHeight / rows.length;
    const cursor = this.rows.querySelector('.cursor');
    const last = rows.findLastIndex((row) => row.trim() !== '');
    const at = cursor ? Math.round((cursor.getBoundingClientRect().top - this.rows.getBoundingClientRect().top) / height) : last;
    const padding = this.rows.offsetTop - this.scroller.offsetTop;
    const bottom = padding + (Math.max(last, at) + 1) * height + padding;
    this.scroller.scrollTop = Math.min(bottom - this.scroller.clientHeight, padding + at * height);
    this.place = this.scroller.scrollTop;
  }

  close() {
    this.resizes.disconnect();
    this.secrets.removeEventListener('change', this.ask);
    this.shown = false;
    this.rows.replaceChildren();
  }
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
