'use strict';

import { byId } from './dom.js';
import { closeSession, createSession } from './api.js';

// The two dialogs: a new session, and closing one.

export function newDialog(created) {
  const dialog = byId('new-dialog');
  byId('new').addEventListener('click', () => {
    byId('new-error').textContent = '';
    dialog.showModal();
  });
  byId('new-cancel').addEventListener('click', () => dialog.close());
  byId('new-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    await attempt('new-create', 'new-error', async () => {
      const session = await createSession(wanted());
      byId('new-form').reset();
      dialog.close();
      created(session);
    });
  });
}

function wanted() {
  const value = (id) => byId(id).value.trim();
  return { name: value('new-name'), agent: value('new-agent'), cwd: value('new-cwd') };
}

// closeDialog asks before the session that current() returns is closed.
export function closeDialog(current, closed) {
  const dialog = byId('close-dialog');
  byId('close').addEventListener('click', () => {
    const session = current();
    if (!session) return;
    byId('close-error').textContent = '';
    byId('close-text').textContent = session.owned
      ? `“${session.name}” and the program in its pane are ended.`
      : `“${session.name}” isn't mirrored any more. Its pane stays as it is.`;
    dialog.showModal();
    byId('close-cancel').focus();
  });
  byId('close-cancel').addEventListener('click', () => dialog.close());
  byId('close-confirm').addEventListener('click', () => attempt('close-confirm', 'close-error', async () => {
    await closeSession(current().id);
    dialog.close();
    closed();
  }));
}

// attempt runs a call with its button disabled, and shows why it didn't work.
async function attempt(button, error, fn) {
  byId(button).disabled = true;
  byId(error).textContent = '';
  try {
    await fn();
  } catch (e) {
    byId(error).textContent = e.message;
  } finally {
    byId(button).disabled = false;
  }
}
