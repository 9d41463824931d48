import { $, h, icon, toast } from './dom.js';
import { hear, list } from './list.js';
import { message } from './message.js';
import { formatted } from './text.js';

let at = null; // the open place: {chat, thread}
let person = localStorage.getItem('person') ?? '';
let state = null;
let replying = null; // the message that's answered or edited: {id, edit}
const told = new Set(); // presses whose answers have been shown

function readHash() {
  const match = /^#(-?\d+)\/(\d+)$/.exec(location.hash);
  at = match ? { chat: match[1], thread: match[2] } : null;
  document.body.dataset.pane = at ? 'conversation' : 'list';
}

let loading = false;
let stale = false;
async function load() {
  if (loading) { stale = true; return; }
  loading = true;
  try {
    const query = new URLSearchParams({ person, chat: at?.chat ?? '', thread: at?.thread ?? '0' });
    const response = await fetch(`state?${query}`);
    if (response.ok) show(await response.json());
  } catch { /* the event stream says when it's back */ } finally { loading = false; }
  if (stale) { stale = false; load(); }
}

async function act(what, body = {}) {
  const response = await fetch(`do/${what}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ person, ...at, ...body }),
  });
  const answer = await response.json();
  if (answer.error) toast(answer.error);
  return !answer.error;
}

function show(next) {
  state = next;
  document.body.dataset.look = state.look;
  if (people()) { stale = true; return; } // who's looking wasn't known
  const chat = state.chats.find((c) => c.id === at?.chat);
  const topic = chat?.topics.find((t) => t.thread === at.thread);
  if (topic) hear(chat.id, topic);
  $('chats').replaceChildren(...list(state.chats, at));
  $('head').hidden = !topic;
  $('foot').hidden = !topic || topic.locked;
  $('nothing').hidden = Boolean(topic);
  if (!topic) { $('messages').replaceChildren(); $('pinned').hidden = true; return; }
  header(chat, topic);
  conversation();
  answers();
  $('slash').hidden = !state.commands?.length;
}

// people returns whether another one is looking than before.
function people() {
  const known = !state.people?.length || state.people.some((p) => p.id === person);
  if (!known) person = state.people[0].id;
  $('person').replaceChildren(...(state.people ?? []).map((p) => h('option', { value: p.id, selected: p.id === person }, p.name)));
  return !known;
}

function header(chat, topic) {
  $('title').textContent = topic.name;
  const doing = topic.doing && `${state.bot.name}: ${topic.doing.replaceAll('_', ' ')}…`;
  $('subtitle').textContent = doing || (chat.threads ? chat.title : chat.gone ?? '');
  document.title = topic.name;
  const [group] = state.open.windows ?? [];
  const until = state.open.penalty_until;
  $('budget').hidden = !group;
  $('budget').className = until ? 'penalty' : '';
  $('budget').textContent = until ? `silenced until ${new Date(until).toLocaleTimeString()}` : `${group?.used}/${group?.calls} calls in ${group?.seconds} s`;
  const real = chat.threads && topic.thread !== '0';
  const items = [
    chat.threads && [`New ${chat.named}…`, () => ask(`Name of the ${chat.named}`, '', (text) => act('create-topic', { text }))],
    real && ['Rename…', () => ask(`Name of the ${chat.named}`, topic.name, (text) => act('rename-topic', { text }))],
    real && !topic.closed && ['Close', () => act('close-topic')],
    real && topic.closed && ['Reopen', () => act('reopen-topic')],
    real && ['Delete', () => act('delete-topic')],
  ].filter(Boolean);
  $('menu').hidden = items.length === 0;
  $('actions').replaceChildren(...items.map(([text, run]) => h('button', { type: 'button', role: 'menuitem', onclick: () => { menu(false); run(); } }, text)));
}

function conversation() {
  const log = $('messages');
  if (log.dataset.at !== location.hash) atEnd = true;
  sync(log, [
    ...state.messages.map((m) => [String(m.id), signature(m), () => message(m, state.look, person, state.presses, on)]),
    ...state.open.drafts.map((d, i) => [`draft ${i}`, JSON.stringify(d), () => draft(d)]),
  ]);
  log.dataset.at = location.hash;
  const pinned = state.messages.filter((m) => m.pinned).pop();
  $('pinned').hidden = !pinned;
  if (pinned) {
    $('pinned').replaceChildren(icon('pin', 'Pinned'), ` ${pinned.text.split('\n')[0] || 'Pinned message'}`);
    $('pinned').onclick = () => on.show(pinned.id);
  }
  stay();
}

// signature changes with whatever changes how a message looks.
function signature(m) {
  const waiting = state.presses.filter((p) => p.message === m.id && !p.done).map((p) => p.data);
  return JSON.stringify([location.hash, person, m, waiting]);
}

// sync leaves elements alone that look as they should: what somebody has opened
// or marked stays so, and pictures aren't loaded again.
function sync(log, wanted) {
  const have = new Map([...log.children].map((e) => [e.dataset.key, e]));
  const elements = wanted.map(([key, look, make]) => {
    const old = have.get(key);
    if (old?.look === look) return old;
    const made = make();
    made.dataset.key = key;
    made.look = look;
    return made;
  });
  const keep = new Set(elements);
  for (const e of [...log.children]) if (!keep.has(e)) e.remove();
  elements.forEach((e, i) => { if (log.children[i] !== e) log.insertBefore(e, log.children[i] ?? null); });
}

function draft(d) {
  return h('article', { class: 'message bot draft' }, h('div', { class: 'bubble' },
    h('p', { class: 'name' }, 'writing…'), h('div', { class: 'text' }, ...(d.text ? formatted(d.text, d.entities, () => {}) : ['Thinking…']))));
}

// Whoever is at the end stays there, whatever comes or grows.
let atEnd = true;
function stay() {
  const log = $('messages');
  if (atEnd) log.scrollTop = log.scrollHeight;
}

// answers shows what the bot answered presses with.
function answers() {
  for (const p of state.presses) {
    if (!p.done || told.has(p.id)) continue;
    told.add(p.id);
    if (p.alert) {
      $('alert').querySelector('p').textContent = p.text;
      $('alert').showModal();
    } else if (p.text) toast(p.text);
  }
}

const on = {
  press: (message, text) => act('press', { message, text }),
  choose: (message, text, values) => act('choose', { message, text, values }),
  react: (message, text) => act('react', { message, text }),
  reply: (m) => refer({ id: m.id, edit: false }, `Answer to ${m.from.name}: ${m.text.slice(0, 60)}`),
  edit: (m) => { refer({ id: m.id, edit: true }, 'Edit'); $('text').value = m.text; grow(); },
  command: (text) => { $('text').value = `${text} `; $('text').focus(); },
  copy: (text) => navigator.clipboard?.writeText(text).then(() => toast('Copied')),
  show: (id) => {
    const element = $('messages').querySelector(`[data-id="${id}"]`);
    element?.scrollIntoView({ block: 'center' });
    element?.classList.add('flash');
    setTimeout(() => element?.classList.remove('flash'), 1200);
  },
};

function refer(to, text) {
  replying = to;
  $('replying').hidden = !to;
  $('replying').querySelector('span').textContent = text ?? '';
  if (to) $('text').focus();
}

async function submit(event) {
  event?.preventDefault();
  const text = $('text').value;
  if (!text.trim()) return;
  const done = await act(replying?.edit ? 'edit' : 'say', { text, message: replying?.id ?? '' });
  if (!done) return;
  $('text').value = '';
  refer(null);
  grow();
}

function grow() {
  $('text').rows = Math.min(6, $('text').value.split('\n').length);
}

function ask(question, value, then) {
  const dialog = $('ask');
  dialog.querySelector('span').textContent = question;
  dialog.querySelector('input').value = value;
  dialog.onclose = () => { if (dialog.returnValue === 'ok') then(dialog.querySelector('input').value); };
  dialog.returnValue = '';
  dialog.showModal();
}

function menu(open) {
  $('actions').hidden = !open;
  $('menu').setAttribute('aria-expanded', String(open));
}

function commands(open) {
  $('commands').hidden = !open;
  $('commands').replaceChildren(...(state?.commands ?? []).map((c) =>
    h('button', { type: 'button', onclick: () => { commands(false); on.command(`/${c.name}`); } }, h('strong', {}, `/${c.name}`), h('span', {}, c.help))));
}

$('messages').addEventListener('scroll', () => {
  const log = $('messages');
  atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
});
$('messages').addEventListener('load', stay, true);
new ResizeObserver(stay).observe($('messages'));
$('composer').addEventListener('submit', submit);
$('text').addEventListener('input', () => { grow(); commands($('text').value === '/' && state?.commands?.length > 0); });
$('text').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
});
$('replying').querySelector('button').addEventListener('click', () => refer(null));
$('slash').addEventListener('click', () => commands($('commands').hidden));
$('menu').addEventListener('click', () => menu($('actions').hidden));
document.addEventListener('click', (event) => {
  if (!event.target.closest('#menu, #actions')) menu(false);
});
$('back').addEventListener('click', () => { location.hash = ''; });
$('person').addEventListener('change', () => {
  person = $('person').value;
  localStorage.setItem('person', person);
  load();
});
$('file').addEventListener('change', async () => {
  const [chosen] = $('file').files;
  $('file').value = '';
  if (!chosen) return;
  const query = new URLSearchParams({ person, chat: at.chat, thread: at.thread, name: chosen.name });
  const answer = await (await fetch(`do/file?${query}`, { method: 'POST', body: chosen })).json();
  if (answer.error) toast(answer.error);
});
addEventListener('hashchange', () => { readHash(); refer(null); commands(false); load(); });

readHash();
new EventSource('events').addEventListener('changed', load);
setInterval(load, 5000); // penalties, drafts and actions end without a sign
