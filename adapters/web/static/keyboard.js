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
  // frame() is the number of the frame on the screen, 0: none is there yet; paste(text) takes a text that's pasted.
  constructor(session, field, { frame, paste }) {
    Object.assign(this, { session, field, frame, paste, waiting: [] });
    this.events = new AbortController();
    const on = (name, fn) => field.addEventListener(name, fn, { signal: this.events.signal });
    on('keydown', (event) => { this.isTaken = this.key(event); });
    on('keypress', (event) => { if (this.isTaken) event.preventDefault(); }); // some browsers' automation sends one although the key was taken
    on('beforeinput', (event) => { // of a phone's keyboard, which may say no key
      if (event.inputType === 'deleteContentBackward' && field.value === '' && !event.isComposing) this.press('BSpace');
      if (event.inputType !== 'insertLineBreak' && event.inputType !== 'insertParagraph') return;
      event.preventDefault();
      this.takeText(); // what an input method has, whose work it may end
      this.press('Enter');
    });
    on('input', (event) => { if (!event.isComposing) this.takeText(); }); // the same, or of an input method
    on('compositionend', () => this.takeText());
    on('paste', (event) => {
      event.preventDefault();
      paste(event.clipboardData.getData('text/plain'));
    });
  }

  // key says whether a key was taken: pressed in the session, or used here.
  key(event) {
    if (event.keyCode === 229 || event.key === 'Process' || event.key === 'Dead' || event.key === 'Unidentified') return false; // an input method's
    const leaves = event.key === 'Escape' && event.shiftKey;
    const key = leaves ? '' : keyOf(event);
    if (key === '' && !leaves) return false;
    event.preventDefault();
    event.stopPropagation(); // the page's own keys aren't meant
    if (event.isComposing) this.takeText(); // the input method has left the key alone: it's pressed behind what was composed
    if (leaves) this.field.blur();
    else this.press(key);
    return true;
  }

  // takeText presses what was written into the field. Several letters with a new line among them were inserted by something
  // else than keys, and are for the field below as what's pasted.
  takeText() {
    const text = this.field.value;
    this.field.value = '';
    if (text.length > 1 && text.includes('\n')) this.paste(text);
    else for (const letter of text) this.press({ '\n': 'Enter', '\t': 'Tab' }[letter] ?? names[letter] ?? letter);
  }

  press(key) {
    const frame = this.frame();
    if (!frame) {
      toast('Not pressed: the screen isn’t there yet.');
      return;
    }
    this.waiting.push({ key, frame });
    this.pump();
  }

  // pump presses what waits, if nothing is on its way.
  async pump() {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.waiting.length > 0) {
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

  // close takes no more keys. Those that were typed are pressed still, in their session.
  close() {
    this.events.abort();
  }
}

const isMac = /Mac|iP(?:hone|ad|od)/.test(navigator.platform);

// letterOf is the letter of a key on a keyboard with Latin letters, where the key has another: programs know no other with Ctrl.
const letterOf = ({ key, code }) => (/^[ -~]$/.test(key) ? key : /^Key([A-Z])$/.exec(code)?.[1].toLowerCase() ?? '');

// keyOf is the name of a key for tmux; '': it's the browser's.
export function keyOf(event) {
  const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
  if (metaKey) return '';
  const isText = [...key].length === 1 && key !== ' ';
  const plainly = isText && /^[ -~]$/.test(key) && key.toLowerCase() === letterOf({ key: '', code: event.code });
  // Where a level of the keyboard is chosen by Option, or by AltGr, what's said is the character that it has.
  const isLevel = altKey && isText && !plainly && (isMac || ctrlKey || event.getModifierState?.('AltGraph'));
  if (isText && (isLevel || (!ctrlKey && !altKey))) return key;
  if (isText) return withLetter(event, letterOf(event));
  const name = names[key] ?? '';
  if (name === '' || (name === 'IC' && (ctrlKey || shiftKey))) return ''; // which copy and paste
  if (name === 'Tab') return shiftKey ? 'BTab' : 'Tab';
  if (name === 'BSpace' || name === 'Enter' || name === 'Escape') return altKey ? `M-${name}` : name;
  if (name === 'Space') return `${ctrlKey ? 'C-' : ''}${altKey ? 'M-' : ''}${name}`;
  return `${ctrlKey ? 'C-' : ''}${altKey ? 'M-' : ''}${shiftKey ? 'S-' : ''}${name}`;
}

// withLetter names a letter with Ctrl or Alt.
function withLetter({ ctrlKey, altKey, shiftKey }, letter) {
  if (letter === '') return '';
  if (!ctrlKey) return `M-${letter}`;
  const low = letter.toLowerCase();
  if (low === 'v' || (low === 'c' && !getSelection().isCollapsed)) return ''; // it's pasted, or copied
  if (shiftKey && /[a-z]/.test(low)) return ''; // the browser's own
  return /[a-z@[\\\]^_]/.test(low) ? `C-${altKey ? 'M-' : ''}${low}` : '';
}
