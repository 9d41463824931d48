'use strict';

import { isNews } from './looked.js';
import { isMuted } from './mute.js';
import { doneAt, needsYou } from './words.js';

// The groups in which sessions are listed, those that need somebody first.

const never = '1970-01-01T00:00:00Z';
const titles = { waits: 'Waits for you', working: 'Working', done: 'Done, not looked at', idle: 'Idle', muted: 'Muted on this device', ended: 'Ended' };

function groupOf(s) {
  if (isMuted(s)) return 'muted';
  if (needsYou(s)) return 'waits';
  if (s.state === 'starting' || s.state === 'working') return 'working';
  if (isNews(s)) return 'done';
  return s.state === 'ended' ? 'ended' : 'idle';
}

// Not by localeCompare, which takes as long as a frame the first time.
const byText = (a, b) => (a > b) - (a < b);
// A time has more digits than a number of milliseconds holds.
const byTime = (a, b) => Date.parse(a) - Date.parse(b) || byText(a.replace('Z', ''), b.replace('Z', ''));
const byAge = (a, b) => byTime(a.created_at, b.created_at) || byText(a.id, b.id);
const newestFirst = (a, b) => Date.parse(doneAt(b) || 0) - Date.parse(doneAt(a) || 0) || byAge(a, b);
const endedLast = (a, b) => byTime(b.ended_at ?? never, a.ended_at ?? never) || byAge(a, b);
const orders = { waits: byAge, working: byAge, done: newestFirst, idle: byAge, muted: byAge, ended: endedLast };

// groupsOf sorts sessions into groups: {name, title, sessions}, all groups. Within one the order doesn't
// change under the reader's finger.
export function groupsOf(sessions) {
  const groups = Object.entries(titles).map(([name, title]) => ({ name, title, sessions: [] }));
  const byName = new Map(groups.map((group) => [group.name, group]));
  for (const session of sessions) byName.get(groupOf(session)).sessions.push(session);
  for (const group of groups) group.sessions.sort(orders[group.name]);
  return groups;
}

// GroupedList keeps a list per group in an element, with an item per session. Items are kept and changed in
// place, and move between groups with what's in them, so that the focus stays where it is.
export class GroupedList {
  // make makes a session's item, draw(item, session) changes it, gone(item) is told when it's taken away.
  constructor(box, level, { make, draw, gone = () => {} }) {
    Object.assign(this, { box, make, drawItem: draw, gone });
    this.items = new Map(); // by session id
    this.lists = new Map(Object.entries(titles).map(([name, title]) => [name, makeGroup(box, level, name, title)]));
  }

  draw(groups) {
    const { activeElement } = document;
    const held = this.box.contains(activeElement) ? activeElement : null;
    const known = new Set(groups.flatMap((group) => group.sessions.map((s) => s.id)));
    for (const [id, item] of this.items) {
      if (known.has(id)) continue;
      this.gone(item);
      item.remove();
      this.items.delete(id);
    }
    for (const { name, sessions } of groups) {
      const { section, count, list } = this.lists.get(name);
      section.hidden = sessions.length === 0;
      if (count.textContent !== String(sessions.length)) count.textContent = sessions.length;
      sessions.forEach((session, i) => {
        const item = this.items.get(session.id) ?? this.add(session);
        this.drawItem(item, session, name);
        if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
      });
    }
    if (held?.isConnected && document.activeElement !== held) held.focus(); // its item was moved
  }

  add(session) {
    const item = this.make(session);
    this.items.set(session.id, item);
    return item;
  }
}

function makeGroup(box, level, name, title) {
  const section = document.createElement('div');
  section.className = 'group';
  section.setAttribute('role', 'group');
  section.dataset.group = name;
  section.hidden = true;
  const head = document.createElement(level);
  head.id = `${box.id}-${name}`;
  head.className = 'group-title';
  const count = document.createElement('span');
  count.className = 'group-count';
  head.append(`${title} `, count);
  section.setAttribute('aria-labelledby', head.id);
  const list = document.createElement('ul');
  section.append(head, list);
  box.append(section);
  return { section, count, list, head };
}
