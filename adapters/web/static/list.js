'use strict';

import { ago, byId, element } from './dom.js';

// The list of sessions. Its elements are kept and changed in place, so that the
// focus stays where it is when the list is drawn anew.

const items = new Map(); // by session id

export function drawList(sessions, chosen, choose) {
  const list = byId('sessions');
  const known = new Set(sessions.map((s) => s.id));
  for (const [id, item] of items) {
    if (known.has(id)) continue;
    item.remove();
    items.delete(id);
  }
  sorted(sessions).forEach((session, i) => {
    let item = items.get(session.id);
    if (!item) {
      item = makeItem(session.id, choose);
      items.set(session.id, item);
    }
    drawItem(item, session, session.id === chosen);
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
  });
}

// needsYou says that a session waits for a person.
export const needsYou = (s) => s.state !== 'ended' && (s.state === 'waiting' || Boolean(s.prompt));

function rank(s) {
  if (needsYou(s)) return 0;
  return { starting: 1, working: 1, ended: 3 }[s.state] ?? 2;
}

// sorted puts first those that need somebody, then those that work, those that are done,
// and those that have ended, the newest before older ones; among these the order doesn't
// change under the reader's finger.
function sorted(sessions) {
  return [...sessions].sort((a, b) => rank(a) - rank(b)
    || (a.ended_at && b.ended_at ? b.ended_at.localeCompare(a.ended_at) : 0)
    || a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id));
}

// firstToOpen is the session that a reader who has chosen none wants to see: the first that
// needs somebody, or else the one that was active last, or that ended last.
export function firstToOpen(sessions) {
  const inOrder = sorted(sessions);
  const living = inOrder.filter((s) => s.state !== 'ended');
  if (living.length === 0) return inOrder[0];
  return living.find(needsYou) ?? living.reduce((a, b) => (activeAt(b) > activeAt(a) ? b : a));
}

const activeAt = (s) => Math.max(Date.parse(s.created_at), Date.parse(s.last_output_at ?? s.created_at));

function makeItem(id, choose) {
  const item = element('li');
  const button = element('button', 'session');
  button.type = 'button';
  button.addEventListener('click', () => choose(id));
  const names = element('span', 'session-names');
  names.append(element('span', 'session-name'), element('span', 'session-agent'));
  const side = element('span', 'session-side');
  side.append(element('span', 'session-needs', 'needs you'), element('span', 'session-time'));
  button.append(element('span', 'dot'), names, side);
  item.append(button);
  return item;
}

function drawItem(item, session, chosen) {
  const button = item.firstChild;
  button.dataset.state = session.state;
  if (chosen) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
  button.title = session.reason ? `${session.state}: ${session.reason}` : session.state;
  const set = (selector, text) => {
    const e = button.querySelector(selector);
    if (e.textContent !== text) e.textContent = text;
  };
  set('.session-name', session.name);
  set('.session-agent', [session.agent, session.state].filter(Boolean).join(' · '));
  set('.session-time', ago(session.last_output_at));
  button.querySelector('.session-needs').hidden = !needsYou(session);
}
