'use strict';

import { byId, whenClosed } from './dom.js';
import { getFile } from './api.js';
import { attempt, save } from './dialogs.js';

// getFileDialog has a file of the folder of the session that current() returns saved by the browser, as /send has it sent
// to a chat.
export function getFileDialog(current) {
  const dialog = byId('get-dialog');
  let id = '';
  byId('get').addEventListener('click', () => {
    const session = current();
    if (!session) return;
    id = session.id;
    byId('get-error').textContent = '';
    byId('get-folder').textContent = session.cwd;
    dialog.showModal();
    byId('get-path').select();
  });
  byId('get-cancel').addEventListener('click', () => dialog.close());
  byId('get-form').addEventListener('submit', (event) => {
    event.preventDefault();
    attempt('get-do', 'get-error', async () => {
      const path = byId('get-path').value.trim();
      save(await getFile(id, path), path.split('/').at(-1));
      dialog.close();
    });
  });
  whenClosed(dialog, () => byId('get-form').reset());
}
