'use strict';

import { clock } from './dom.js';
import { getAnswered } from './api.js';
import { markNode } from './lines.js';
import { answerer } from './prompt.js';

// Questions that were answered stay in the conversation, with who answered what: each stands behind
// what the session had said by then.

export class AnsweredMarks {
  constructor(session, list) {
    this.session = session;
    this.list = list;
    this.answered = []; // in the window's time or later, the oldest first
  }

  // ask asks what was answered in the time of the lines in the list, or with open since the first; in a
  // list without lines all.
  async ask(open) {
    const lines = this.list.querySelectorAll('[data-at]');
    const timeOf = (node) => node && new Date(Number(node.dataset.at)).toISOString();
    const to = open ? undefined : timeOf(lines[lines.length - 1]);
    this.answered = (await getAnswered(this.session, { from: timeOf(lines[0]), to })).reverse();
  }

  // place shows those that aren't, and whose place is in the list; open: it reaches to the newest line.
  place(open) {
    const lines = this.list.querySelectorAll('[data-at]');
    if (lines.length === 0 || this.answered.length === 0) return;
    const shown = new Set(Array.from(this.list.querySelectorAll('[data-prompt]'), (node) => node.dataset.prompt));
    for (const prompt of this.answered) {
      const at = Date.parse(prompt.at);
      if (shown.has(prompt.id) || at < Number(lines[0].dataset.at) || (!open && at > Number(lines[lines.length - 1].dataset.at))) continue;
      lastUntil(this.list, at).after(answeredNode(prompt));
    }
  }
}

// lastUntil is the last node of the time until then; the first line is.
function lastUntil(list, at) {
  let node = list.lastChild;
  while (node.previousSibling && !(Number(node.dataset.at) <= at || Number(node.dataset.answered) <= at)) node = node.previousSibling;
  return node;
}

function answeredNode(prompt) {
  const node = markNode('answered', `${prompt.title} — ${answerer(prompt)} answered: ${prompt.chosen || 'none of them'}`);
  node.dir = 'auto';
  node.title = clock(prompt.at);
  node.dataset.prompt = prompt.id;
  node.dataset.answered = Date.parse(prompt.at);
  return node;
}
