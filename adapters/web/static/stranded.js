'use strict';

import { byId, copyButton, element, smallButton } from './dom.js';
import { dismiss, stranded } from './outgoing.js';

// Texts that weren't sent, of which the session is gone: they stand above the inbox until somebody dismisses them.

let drawn = '';

// drawStranded shows them, if isOpen; isThere says of an id whether there's such a session.
export function drawStranded(isOpen, isThere) {
  const texts = isOpen ? stranded(isThere) : [];
  byId('stranded').hidden = texts.length === 0;
  const look = texts.map(({ key }) => key).join();
  if (look === drawn) return; // what's the same isn't read out again
  drawn = look;
  byId('stranded-texts').replaceChildren(...texts.map((one) => {
    const item = element('li', 'receipt');
    item.dataset.state = 'failed';
    const end = smallButton('Dismiss', () => {
      dismiss(one.key);
      drawStranded(isOpen, isThere);
    });
    item.append(element('span', 'stranded-text', one.text), copyButton(() => one.text), end);
    return item;
  }));
}
