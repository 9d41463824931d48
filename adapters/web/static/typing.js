'use strict';

// A field may go away while somebody types in it: its session ends, or its question is answered elsewhere. What they
// type on was meant for the field. It's no command and no answer until they pause, or point at something.

const pause = 1000; // milliseconds without a key
const ends = new Set(['Enter', 'Escape', 'Tab']); // the typing in a field
// isField says that keys for a node are text. The palette's field has the focus for a moment when it's gone.
const isField = (node) => node instanceof Element && node.matches('input:not([type=checkbox]), textarea, select') && node.checkVisibility();

// composes says that a key belongs to an input method. The Enter that ends its work says so in Safari by its code alone.
export const composes = (event) => event.isComposing || event.keyCode === 229;

let typedAt = -Infinity; // when the last key was pressed that was meant for a field

// endTyping says that a field was left on purpose: what's pressed now is meant for what has the focus.
export const endTyping = () => { typedAt = -Infinity; };

// holdMistakenKeys takes such keys before anything else hears of them, and an Enter that's held down: what it was pressed for
// is done.
export function holdMistakenKeys() {
  addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.repeat) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (isField(event.target)) {
      typedAt = ends.has(event.key) || event.ctrlKey || event.metaKey ? -Infinity : performance.now();
      return;
    }
    if (performance.now() - typedAt > pause) return;
    typedAt = performance.now();
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  addEventListener('pointerdown', () => { typedAt = -Infinity; }, true);
}
