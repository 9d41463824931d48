'use strict';

import { byId, element, whenClosed } from './dom.js';
import { getDiff } from './api.js';
import { attempt, save } from './dialogs.js';
import { diffBox, diffRows } from './diff.js';
import { mayDo } from './roles.js';

// changesDialog shows what the session that current() returns has changed in its repository: all of it, or a file's, since
// it began or since a commit.
export function changesDialog(current) {
  const dialog = byId('diff-dialog');
  let [session, shown] = [null, null];
  const look = () => attempt('diff-do', 'diff-error', async () => {
    const asked = session;
    const changes = await getDiff(asked.id, { file: byId('diff-file').value.trim(), since: byId('diff-since').value.trim() }).catch((error) => {
      byId('diff-parts').replaceChildren();
      byId('diff-save').hidden = true;
      throw error;
    });
    if (asked !== session) return; // it was closed meanwhile
    shown = changes;
    draw(changes);
  });
  byId('diff').addEventListener('click', () => {
    session = current();
    if (!session) return;
    byId('diff-error').textContent = '';
    byId('diff-since-row').hidden = !mayDo('operator');
    byId('diff-parts').replaceChildren(element('p', 'tool-note', 'Loading…'));
    byId('diff-save').hidden = true;
    dialog.showModal();
    look();
  });
  byId('diff-close').addEventListener('click', () => dialog.close());
  byId('diff-save').addEventListener('click', () => save(new Blob([shown.diff], { type: 'application/octet-stream' }), `${session.name}.diff`));
  byId('diff-form').addEventListener('submit', (event) => {
    event.preventDefault();
    look();
  });
  whenClosed(dialog, () => {
    [session, shown] = [null, null];
    byId('diff-form').reset();
    byId('diff-parts').replaceChildren();
  });
}

function draw({ root, commit, files, diff, notes }) {
  const many = files === 1 ? '1 file has changed' : `${files || 'No'} files have changed`;
  const parts = [element('p', 'tool-note', `${many} in ${root} since ${commit.slice(0, 10) || 'before its first commit'}.`)];
  for (const note of notes) parts.push(element('p', 'tool-note', note));
  if (diff) parts.push(diffBox(diffRows(diff), 'What has changed'));
  byId('diff-parts').replaceChildren(...parts);
  byId('diff-save').hidden = !diff;
}
