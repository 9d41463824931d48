'use strict';

import { byId, element } from './dom.js';
import { otherKeys } from './commands.js';

// The keyboard: it does the commands that have keys. In a field keys are text, but for Escape and those with Ctrl.

const patience = 10000; // milliseconds for the second of two keys

export class Shortcuts {
  constructor(commands) {
    this.commands = commands;
    this.first = ''; // of two keys, the one that was pressed
    document.addEventListener('keydown', (event) => this.key(event));
    byId('keys-close').addEventListener('click', () => byId('keys-dialog').close());
    drawKeys(commands.all);
  }

  key(event) {
    if (event.defaultPrevented || event.repeat || event.isComposing) return;
    const pressed = nameOf(event);
    const command = pressed && this.find(pressed);
    const field = event.target.closest('input:not([type=checkbox]), textarea, select');
    const inField = field?.checkVisibility(); // the palette's has the focus for a moment when it's gone
    if (document.querySelector('dialog[open]')) return; // which has keys of its own
    if (inField && !pressed.startsWith('Ctrl+') && pressed !== 'Escape') return;
    if (!command) return;
    event.preventDefault();
    command.run();
  }

  // find returns the command of a key, or of the key before and this one.
  find(pressed) {
    const before = this.first;
    this.first = '';
    clearTimeout(this.timer);
    const offered = this.commands.offered();
    const has = (keys) => offered.find((command) => command.keys?.includes(keys));
    const found = (before && has(`${before} ${pressed}`)) || has(pressed);
    if (found || !offered.some((command) => command.keys?.some((keys) => keys.startsWith(`${pressed} `)))) return found;
    this.first = pressed;
    this.timer = setTimeout(() => { this.first = ''; }, patience);
    return undefined;
  }
}

// nameOf is a key as the table of commands has it; '': it has none.
function nameOf({ key, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey) return key.length === 1 && !altKey ? `Ctrl+${key.toUpperCase()}` : '';
  return altKey ? '' : key;
}

function drawKeys(commands) {
  byId('keys-list').replaceChildren(...[...commands, ...otherKeys].filter(({ keys }) => keys).flatMap(({ words, keys }) => {
    const list = element('dd');
    keys.forEach((one, i) => {
      if (i > 0) list.append(one === '…' || keys[i - 1] === '…' ? ' ' : ' or ');
      if (one === '…') list.append(one);
      else list.append(...one.split(' ').flatMap((key, n) => [n > 0 ? ' then ' : '', element('kbd', '', key)]));
    });
    return [element('dt', '', words), list];
  }));
}
