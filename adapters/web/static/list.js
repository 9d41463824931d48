'use strict';

import { byId, element } from './dom.js';
import { GroupedList } from './groups.js';
import { isMuted } from './mute.js';
import { lasting, machineWords, needsYou, shortAgo, stateWords } from './words.js';

// The list of sessions at the side, in the groups of the inbox.

let list = null;
let chosen = ''; // the id of the session that's open

export function drawList(groups, open, choose) {
  chosen = open ?? '';
  list ??= new GroupedList(byId('sessions'), 'h2', { make: (session) => makeItem(session.id, choose), draw: drawItem });
  list.draw(groups);
}

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

function drawItem(item, session) {
  const button = item.firstChild;
  button.dataset.state = session.state;
  if (session.id === chosen) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
  button.title = machineWords(session);
  const set = (selector, text) => {
    const e = button.querySelector(selector);
    if (e.textContent !== text) e.textContent = text;
  };
  set('.session-name', session.name);
  set('.session-agent', [session.agent, needsYou(session) ? lasting(session.since) : stateWords(session).split(',')[0]].filter(Boolean).join(' · '));
  set('.session-time', shortAgo(session.last_output_at));
  button.querySelector('.session-needs').hidden = !needsYou(session) || isMuted(session);
  button.dataset.muted = String(isMuted(session));
}
