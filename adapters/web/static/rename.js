'use strict';

import { byId } from './dom.js';
import { renameSession } from './api.js';
import { attempt } from './dialogs.js';

// renameDialog gives the session that current() returns another name; done() is told.
export function renameDialog(current, done) {
  const dialog = byId('rename-dialog');
  let id = '';
  byId('rename').addEventListener('click', () => {
    const session = current();
    if (!session) return;
    id = session.id;
    byId('rename-error').textContent = '';
    byId('rename-name').value = session.name;
    dialog.showModal();
    byId('rename-name').select();
  });
  byId('rename-cancel').addEventListener('click', () => dialog.close());
  byId('rename-form').addEventListener('submit', (event) => {
    event.preventDefault();
    attempt('rename-do', 'rename-error', async () => {
      await renameSession(id, byId('rename-name').value.trim());
      dialog.close();
      await done();
    });
  });
}
