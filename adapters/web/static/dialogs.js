'use strict';

import { byId, element } from './dom.js';
import { closeSession, createSession, forgetSession, listAgents } from './api.js';

// The two dialogs: a new session, and closing one or, when it has ended, removing it.

export function newDialog(created) {
  const dialog = byId('new-dialog');
  for (const button of ['new', 'begin']) {
    byId(button).addEventListener('click', () => {
      byId('new-error').textContent = '';
      dialog.showModal();
      offerAgents();
    });
  }
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

// offerAgents shows what can be begun; where that's a shell only, where agents were looked for.
async function offerAgents() {
  try {
    const { agents, looked_for: names, looked_in: folders } = await listAgents();
    const list = byId('new-agent');
    const chosen = list.value;
    list.replaceChildren(list.options[0], ...agents.map((name) => {
      const option = element('option', '', name);
      option.value = name;
      return option;
    }));
    list.value = agents.includes(chosen) ? chosen : '';
    byId('new-none').hidden = agents.length > 0 || names.length === 0;
    byId('new-none').textContent = `None of ${names.join(', ')} is in ${folders.join(', ')}. Another folder’s goes into the configuration, below agents.`;
  } catch (error) {
    byId('new-error').textContent = error.message;
  }
}

function wanted() {
  const value = (id) => byId(id).value.trim();
  return { name: value('new-name'), agent: value('new-agent'), cwd: value('new-cwd') };
}

// closeDialog asks before the session that current() returns is closed or removed.
export function closeDialog(current, done) {
  const dialog = byId('close-dialog');
  let act = async () => {};
  const ask = (button, question) => byId(button).addEventListener('click', () => {
    const session = current();
    if (!session) return;
    const { title, text, confirm, call } = question(session);
    byId('close-title').textContent = title;
    byId('close-text').textContent = text;
    byId('close-confirm').textContent = confirm;
    byId('close-error').textContent = '';
    act = () => call(session.id);
    dialog.showModal();
    byId('close-cancel').focus();
  });
  ask('close', closing);
  ask('remove', removing);
  byId('close-cancel').addEventListener('click', () => dialog.close());
  byId('close-confirm').addEventListener('click', () => attempt('close-confirm', 'close-error', async () => {
    await act();
    dialog.close();
    done();
  }));
}

const closing = ({ name, owned }) => ({
  title: 'Close this session?',
  text: owned
    ? `“${name}” and the program in its pane are ended.`
    : `“${name}” isn't mirrored any more. Its pane stays as it is.`,
  confirm: 'Close',
  call: closeSession,
});

const removing = ({ name }) => ({
  title: 'Remove this session?',
  text: `“${name}” and all it printed are removed from here. That can't be undone.`,
  confirm: 'Remove',
  call: forgetSession,
});

// attempt runs a call with its button disabled, and shows why it didn't work.
export async function attempt(button, error, fn) {
  byId(button).disabled = true;
  byId(error).textContent = '';
  try {
    await fn();
  } catch (e) {
    byId(error).textContent = e.message;
  } finally {
    const again = byId(button); // the call may have drawn it anew, or taken it away
    if (again) again.disabled = false;
  }
}
