'use strict';

import { pressKeys, isAway } from './api.js';
import { toast } from './dom.js';

// A Keyboard is a field whose keys go straight into a session, each with the frame that stood on the screen as it was
// pressed. They're pressed in their order: what's typed while the last ones are on their way goes with the next request.
// Text that's pasted doesn't: it's for the field below, whose text is typed as a whole.

const most = 100; // keys of a request

const names = {
  Enter: 'Enter', Escape: 'Escape', Tab: 'Tab', Backspace: 'BSpace', Delete: 'DC', Insert: 'IC', ' ': 'Space',
  ArrowUp: 'Up', ArrowDown: 'Down', ArrowLeft: 'Left', ArrowRight: 'Right', Home: 'Home', End: 'End', PageUp: 'PageUp', PageDown: 'PageDown',
};
for (let n = 1; n <= 12; n += 1) names[`F${n}`] = `F${n}`;

export class Keyboard {
  // frame() is the number of the frame on the screen; paste(text) takes a text that's pasted.
  constructor(session, field, { frame, paste }) {
    Object.assign(this, { session, field, frame, paste, waiting: [] });
    this.events = new AbortController();
    const on = (name, fn) => field.addEventListener(name, fn, { signal: this.events.signal });
    on('keydown', (event) => { this.isTaken = this.key(event); });
    on('keypress', (event) => { if (this.isTaken) event.preventDefault(); }); // some browsers' automation sends one although the key was taken
    on('input', (event) => { if (!event.isComposing) this.takeText(); }); // of a phone's keyboard, or an input method
    on('compositionend', () => this.takeText());
    on('paste', (event) => {
      event.preventDefault();
      paste(event.clipboardData.getData('text/plain'));
    });
  }

  // key says whether a key was taken: pressed in the session, or used here.
  key(event) {
    if (event.isComposing || event.key === 'Process' || event.key === 'Dead' || event.key === 'Unidentified') return false;
    const leaves = event.key === 'Escape' && event.shiftKey;
    const key = leaves ? '' : keyOf(event);
    if (key === '' && !leaves) return false;
    event.preventDefault();
    event.stopPropagation(); // the page's own keys aren't meant
    if (leaves) this.field.blur();
    else this.press(key);
    return true;
  }

  takeText() {
    const text = this.field.value;
    this.field.value = '';
    for (const letter of text) this.press(letter === '\n' ? 'Enter' : names[letter] ?? letter);
  }

  press(key) {
    this.waiting.push({ key, frame: this.frame() });
    this.pump();
  }

  // pump presses what waits, if nothing is on its way.
  async pump() {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.waiting.length > 0 && !this.events.signal.aborted) {
        const keys = this.waiting.splice(0, most);
        await pressKeys(this.session, keys.map(({ key }) => key), keys[0].frame);
      }
    } catch (error) {
      const lost = this.waiting.splice(0).length;
      toast(`${isAway(error) ? 'Nobody knows whether the last keys were pressed' : 'Not pressed'}: ${error.message}${lost > 0 ? ` What was typed behind that (${lost}) wasn’t pressed.` : ''}`);
    } finally {
      this.busy = false;
    }
  }

  close() {
    this.events.abort();
    this.waiting = [];
  }
}

// keyOf is the name of a key for tmux; '': it's the browser's.
export function keyOf({ key, ctrlKey, altKey, metaKey, shiftKey }) {
  if (metaKey || (ctrlKey && shiftKey && key.length === 1)) return '';
  if (ctrlKey && key.toLowerCase() === 'v') return ''; // it's pasted
  if (ctrlKey && key.toLowerCase() === 'c' && !getSelection().isCollapsed) return ''; // it's copied
  const isText = [...key].length === 1 && key !== ' ';
  if (isText && !ctrlKey && !altKey) return key;
  const name = isText ? key.toLowerCase() : names[key] ?? '';
  if (name === '') return '';
  if (name === 'Tab' && shiftKey) return 'BTab';
  return `${ctrlKey ? 'C-' : ''}${altKey ? 'M-' : ''}${shiftKey && !isText && name !== 'Enter' && name !== 'Space' && name !== 'BSpace' ? 'S-' : ''}${name}`;
}
