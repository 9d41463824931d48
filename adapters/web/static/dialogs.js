'use strict';

import { byId, element } from './dom.js';
import { closeSession, createSession, forgetSession, listAgents, listConversations, restartSession } from './api.js';
import { sendText } from './outgoing.js';
import { agoWords } from './words.js';

// The two dialogs: a new session, and what's asked before one is closed, its program is started anew or, when it
// has ended, it's removed.

export function newDialog(created) {
  const dialog = byId('new-dialog');
  for (const button of ['new', 'inbox-new', 'begin']) {
    byId(button).addEventListener('click', () => {
      byId('new-error').textContent = '';
      begun = null;
      dialog.showModal();
      byId('new-resume-row').hidden = true;
      offerAgents().then(offerConversations);
    });
  }
  for (const field of ['new-agent', 'new-cwd']) byId(field).addEventListener('change', offerConversations);
  byId('new-cancel').addEventListener('click', () => dialog.close());
  byId('new-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    await attempt('new-create', 'new-error', async () => {
      const session = await createSession(keyed(wanted()));
      begun = null;
      const text = byId('new-text').value;
      byId('new-form').reset();
      dialog.close();
      created(session);
      if (text.trim() !== '') sendText(session.id, text);
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

// offerConversations shows what the chosen agent can go on with in the folder.
async function offerConversations() {
  const [agent, folder] = [byId('new-agent').value, byId('new-cwd').value.trim()];
  const list = byId('new-resume');
  list.value = '';
  byId('new-resume-row').hidden = true;
  if (!agent) return;
  const all = await listConversations(agent, folder).catch(() => []); // of a folder that can't be read there are none
  if (byId('new-agent').value !== agent || byId('new-cwd').value.trim() !== folder) return; // others are asked for
  list.replaceChildren(list.options[0], ...all.map(({ id, title, changed_at: at, session }) => {
    const option = element('option', '', [title || '(without words)', agoWords(at), session && `it’s ${session}`].filter(Boolean).join(' · '));
    option.value = id;
    option.disabled = Boolean(session);
    return option;
  }));
  byId('new-resume-row').hidden = all.length === 0;
}

let begun = null; // the request that this dialog made, and its key

// keyed gives a request a key: that of before if it's the same. So who got no answer and presses Create again begins no other
// session.
function keyed(request) {
  const text = JSON.stringify(request);
  if (begun?.text !== text) begun = { text, key: crypto.randomUUID() };
  return { ...request, key: begun.key };
}

function wanted() {
  const value = (id) => byId(id).value.trim();
  return { name: value('new-name'), agent: value('new-agent'), cwd: value('new-cwd'), resume: byId('new-resume-row').hidden ? '' : value('new-resume') };
}

// closeDialog asks before something is done to the session that current() returns.
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
  ask('restart', restarting);
  byId('close-cancel').addEventListener('click', () => dialog.close());
  byId('close-confirm').addEventListener('click', () => attempt('close-confirm', 'close-error', async () => {
    const response = await act();
    dialog.close();
    done(response.status === 200 ? await response.json() : null);
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

const restarting = ({ name, state }) => ({
  title: state === 'ended' ? 'Begin it again?' : 'Start its program anew?',
  text: state === 'ended'
    ? `Another session begins with the name “${name}”, with its conversation if the agent can go on with it.`
    : `The program in the pane of “${name}” is ended and started anew, with its conversation if the agent can go on with it.`,
  confirm: state === 'ended' ? 'Begin' : 'Start anew',
  call: restartSession,
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

// save has the browser save a blob. It's of no type that a browser shows.
export function save(blob, name) {
  const link = element('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
