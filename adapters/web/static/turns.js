'use strict';

import { byId, clock, element } from './dom.js';
import { getTurns } from './api.js';
import { markNode } from './lines.js';
import { took } from './words.js';

// The turns of a session: a mark where one ended that failed or took its time, and the list of
// them, from which one jumps.

const worthAMark = 5; // seconds that a turn took whose end is marked though it went well
const listed = 100; // turns that the list has, and so many more when asked for

const lasted = (turn) => Date.parse(turn.ended_at) - Date.parse(turn.started_at);
const failed = (turn) => Boolean(turn.why) || turn.status > 0;

// TurnMarks keeps the marks of one list of lines.
export class TurnMarks {
  constructor(session, list) {
    this.session = session;
    this.list = list;
    this.turns = []; // those to be marked, in the window or behind it, the newest first
  }

  // ask asks which turns ended between two lines; to 0: up to the newest.
  async ask(from, to) {
    this.turns = await getTurns(this.session, { from, to: to || undefined, notable: worthAMark });
  }

  // place shows those that aren't and whose place is between the lines top and bottom.
  place(top, bottom) {
    const shown = new Set(Array.from(this.list.querySelectorAll('[data-turn]'), (node) => Number(node.dataset.turn)));
    for (const turn of this.turns) {
      if (shown.has(turn.turn) || turn.after > bottom || turn.after < top - 1) continue;
      const before = lastUpTo(this.list, turn);
      if (before) before.after(endNode(turn));
      else this.list.prepend(endNode(turn));
    }
  }
}

function endNode(turn) {
  const time = took(lasted(turn));
  const node = failed(turn)
    ? markNode('failure', turn.why ? `failed: ${turn.why}` : `exit status ${turn.status}`)
    : markNode('turn-end', `Done in ${time} · ${clock(turn.ended_at)}`);
  if (failed(turn)) node.title = `after ${time}, ${clock(turn.ended_at)}`;
  node.dataset.turn = turn.turn;
  return node;
}

// lastUpTo is the node that a turn's end stands behind: its last line that's there, or the end
// of an earlier turn that ended there, too.
function lastUpTo(list, { turn, after }) {
  for (let node = list.lastChild; node; node = node.previousSibling) {
    if (Number(node.dataset.turn) < turn || Number(node.dataset.n) <= after) return node;
  }
  return null;
}

// nextTurn is the first line of the next turn behind a line, or before it; 0: there's none.
export async function nextTurn(session, line, step) {
  if (step < 0 && line <= 1) return 0;
  const turns = step > 0
    ? await getTurns(session, { from: line + 1, order: 'oldest', limit: 3 })
    : await getTurns(session, { to: line - 1, limit: 3 });
  return turns.find((turn) => (step > 0 ? turn.first > line : turn.first < line && turn.first > 0))?.first ?? 0;
}

// TurnList is the dialog with a session's turns, the newest first. choose gets the first line of
// the one that's chosen.
export class TurnList {
  constructor(session, choose) {
    this.session = session;
    this.choose = choose;
    this.dialog = byId('turns-dialog');
    this.list = byId('turns-list');
    this.more = byId('turns-more');
    this.onMore = () => this.load();
    this.more.addEventListener('click', this.onMore);
  }

  async open() {
    this.list.replaceChildren();
    this.before = undefined;
    byId('turns-none').hidden = true;
    await this.load();
    byId('turns-none').hidden = this.list.firstChild !== null;
    if (!this.closed && !this.dialog.open) this.dialog.showModal();
  }

  // load shows so many turns more.
  async load() {
    const turns = await getTurns(this.session, { to: this.before, limit: listed });
    if (this.closed) return;
    const fresh = turns.filter((turn) => !this.list.querySelector(`[data-turn="${turn.turn}"]`));
    this.list.append(...fresh.map((turn) => this.entry(turn)));
    this.more.hidden = turns.length < listed || fresh.length === 0;
    this.before = turns.at(-1)?.first;
  }

  entry(turn) {
    const row = element('li');
    const button = element('button', 'turn-entry');
    button.type = 'button';
    button.dataset.turn = turn.turn;
    const state = turn.open ? 'at work' : failed(turn) ? 'failed' : 'done';
    const about = turn.open ? `since ${clock(turn.started_at)}` : `${took(lasted(turn))} · ${clock(turn.ended_at)}`;
    const asked = element('span', 'turn-asked', turn.asked || `Turn ${turn.turn}`);
    asked.dir = 'auto';
    button.append(asked, element('span', `turn-about ${state.replace(' ', '-')}`, `${state} · ${about}`));
    button.addEventListener('click', () => {
      this.dialog.close();
      this.choose(turn.first);
    });
    row.append(button);
    return row;
  }

  close() {
    this.closed = true;
    this.more.removeEventListener('click', this.onMore);
    this.dialog.close();
    this.list.replaceChildren();
  }
}
