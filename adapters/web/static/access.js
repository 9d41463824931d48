'use strict';

import { byId, element, smallButton } from './dom.js';
import { grantAccess, listAccess, revokeAccess } from './api.js';
import { attempt } from './dialogs.js';
import { shortAgo } from './words.js';

// Who may do what in chats: the dialog in which access is listed, given and taken back.

export function accessDialog() {
  const dialog = byId('access-dialog');
  byId('access').addEventListener('click', () => {
    byId('access-said').textContent = '';
    byId('access-error').textContent = '';
    dialog.showModal();
    attempt('access-grant', 'access-error', drawEntries);
  });
  byId('access-close').addEventListener('click', () => dialog.close());
  byId('access-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const person = byId('access-person').value.trim();
    const role = byId('access-role').value;
    change('access-grant', async () => {
      await grantAccess(person, role);
      byId('access-person').value = '';
      return `${person} is ${role} now.`;
    });
  });
}

// showAccess shows the button where there are chats that people can be let into.
export function showAccess(chats) {
  byId('access-foot').hidden = !chats;
}

// change runs a change, says what came of it, and draws the list anew.
function change(button, fn) {
  byId('access-said').textContent = '';
  return attempt(button, 'access-error', async () => {
    byId('access-said').textContent = await fn();
    await drawEntries();
  });
}

async function drawEntries() {
  const entries = await listAccess();
  byId('access-none').hidden = entries.length > 0;
  byId('access-list').replaceChildren(...entries.map(drawEntry));
}

function drawEntry(entry) {
  const item = element('li', 'access-entry');
  if (entry.void) item.dataset.void = '';
  const head = element('p', 'access-head');
  head.append(element('strong', '', entry.name || entry.person), element('span', 'access-role', entry.role));
  item.append(head);
  if (entry.name) item.append(element('p', 'access-about access-id', entry.person));
  item.append(element('p', 'access-about', about(entry)));
  if (entry.void) item.append(element('p', 'access-void', `Doesn’t count: ${entry.void}`));
  if (entry.by !== 'configuration') item.append(revokeButton(entry));
  return item;
}

const givers = { configuration: 'by the configuration', cli: 'from the terminal', web: 'on this page' };

function about({ by, at, chat, last_used: used }) {
  const given = `given ${givers[by] ?? `by ${by}`}${at ? `, ${when(at)}` : ''}`;
  const lastUsed = used ? `last used ${when(used)}` : 'never used';
  return [given, chat && `in ${chat}`, by !== 'configuration' && lastUsed].filter(Boolean).join(' · ');
}

function when(iso) {
  const age = shortAgo(iso);
  return age === 'now' ? 'just now' : `${age} ago`;
}

function revokeButton({ person, role, name }) {
  const button = smallButton('Take back', () => change(button.id, async () => (await revokeAccess(person, role)).message));
  button.id = `revoke-${person}-${role}`;
  button.setAttribute('aria-label', `Take back ${role} from ${name || person}`);
  return button;
}
