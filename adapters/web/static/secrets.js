'use strict';

import { element } from './dom.js';

// A text in which secrets stand, each hidden until it's clicked.

// withSecrets returns the nodes of a text; secrets say where in it they stand, in its order.
export function withSecrets(text, secrets) {
  const nodes = [];
  let at = 0;
  for (const { from, to, name } of secrets ?? []) {
    nodes.push(text.slice(at, from), secretNode(text.slice(from, to), name));
    at = to;
  }
  nodes.push(text.slice(at));
  return nodes;
}

const maskOf = (name) => `[masked: ${name}]`;

// hasMask says whether something in a text is masked.
export const hasMask = (text) => /\[masked: [^\]]*\]/.test(text);

// secretNode hides a secret until it's clicked.
function secretNode(text, name) {
  const node = element('button', 'secret', maskOf(name));
  node.type = 'button';
  node.title = 'Show it here';
  let shown = false;
  node.addEventListener('click', () => {
    shown = !shown;
    node.textContent = shown ? text : maskOf(name);
    node.title = shown ? 'Hide it again' : 'Show it here';
  });
  return node;
}
