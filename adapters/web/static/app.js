'use strict';

import { byId, ago } from './dom.js';
import { accessDialog, showAccess } from './access.js';
import { isAway, listAdapters, listSessions, marked } from './api.js';
import { passGate, showGate } from './gate.js';
import { askWhetherIn, known, loadKey } from './key.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { drawDelivery } from './delivery.js';
import { closeDialog, newDialog } from './dialogs.js';
import { drawList, firstToOpen, needsYou } from './list.js';
import { PromptPanel } from './prompt.js';
import { forgetRoles, learnRoles, rolesKnown } from './roles.js';
import { Screen } from './screen.js';
import { Stream } from './stream.js';

// The page: a list of sessions, which is polled, and one session that's open,
// which has an event stream. A stream per session would soon use up the six
// connections that a browser opens to one server.

const pollEvery = 2000; // milliseconds
const firstLines = 500; // of a session that's opened
const endedAtOnce = 50; // sessions that have ended and are shown, and so many more when asked for
const hiddenGrace = 30000; // milliseconds after which a hidden page gives its connection back

const state = {
  sessions: [],
  ended: 0, // how many have ended
  mostEnded: endedAtOnce, // of these are shown
  open: null, // {id, conversation, composer, prompt, screen, stream}
  tab: 'conversation',
  known: false, // the sessions were listed
  problem: '', // why the last poll didn't work
  seenAt: null, // when the last one did
  streaming: true, // the stream is connected
  shut: null, // why the browser isn't let in; '': it is; null: that isn't known yet
};

const current = () => state.sessions.find((s) => s.id === state.open?.id);

const idInAddress = () => decodeURIComponent(location.hash.slice(1));
const chosenByAddress = () => state.sessions.find((s) => s.id === idInAddress());

// choose opens a session through the address, so that going back works.
function choose(id) {
  drawer(false);
  if (location.hash.slice(1) === id) follow();
  else location.hash = id;
}

// follow opens the session that the address names; or else leaves what's open,
// or opens what a reader wants to see first.
function follow() {
  const session = chosenByAddress() ?? current() ?? firstToOpen(state.sessions);
  if (session?.id === state.open?.id) return;
  closeOpen();
  if (session) openSession(session);
  draw();
}

function openSession(session) {
  const { id } = session;
  const open = {
    id,
    conversation: new Conversation(session),
    composer: new Composer(id),
    prompt: new PromptPanel(id),
    screen: new Screen(id),
  };
  state.open = open;
  const from = session.lines > firstLines ? session.lines - firstLines + 1 : 0;
  open.start = (at) => new Stream(id, at, (name, data) => receive(open, name, data), (connected) => {
    state.streaming = connected;
    if (connected) open.conversation.askTurns();
    drawConnection();
  });
  open.stream = open.start(from);
  open.screen.show(state.tab === 'screen');
}

function closeOpen() {
  if (!state.open) return;
  const { stream, conversation, composer, prompt, screen } = state.open;
  for (const part of [stream, conversation, composer, prompt, screen]) part?.close();
  state.open = null;
  state.streaming = true;
}

function receive(open, name, data) {
  switch (name) {
    case 'output':
      open.conversation.output(marked(data).lines);
      open.screen.changed();
      break;
    case 'gap':
      open.conversation.gap(data);
      break;
    case 'live':
      open.conversation.live(data);
      open.screen.changed();
      break;
    case 'prompt':
      open.prompt.show(data);
      break;
    case 'state':
      state.sessions = state.sessions.map((s) => (s.id === data.session ? data.summary : s));
      draw();
      break;
    case 'turn':
      if (data.complete) open.conversation.askTurns();
      break;
    default: // exit shows in the state
  }
}

// passWaiting says whether this device was let in meanwhile.
async function passWaiting() {
  const how = await askWhetherIn().catch(() => 'waiting');
  if (how === 'declined') shut('declined');
  return how === 'in';
}

async function poll() {
  if (state.shut === 'waiting') {
    if (!await passWaiting()) return;
  } else if (state.shut !== '' && !(await loadKey().catch(() => false) && known())) return;
  try {
    if (!rolesKnown()) await learnRoles();
    const [{ sessions, ended }, adapters] = await Promise.all([
      listSessions(state.mostEnded, idInAddress() || (state.open?.id ?? '')), listAdapters().catch(() => null),
    ]);
    state.sessions = sessions;
    state.ended = ended;
    if (adapters) drawChats(adapters);
    const back = state.problem !== '';
    state.problem = '';
    state.seenAt = new Date();
    state.known = true;
    shut('');
    if (!state.streaming) state.open?.stream?.now();
    if (back) state.open?.screen.changed();
    follow();
    draw();
  } catch (error) {
    if (error.status === 401) shut('refused');
    else state.problem = isAway(error) || error.name === 'TimeoutError' ? 'panebridge isn’t reachable. Is it running?' : `panebridge has a problem: ${error.message}`;
    drawConnection();
  }
}

// shut closes the page for a browser that isn't let in, or opens it again: another tab may
// have let the browser in.
function shut(why) {
  if (state.shut === why) return;
  state.shut = why;
  if (why) empty();
  showGate(why);
}

// empty leaves nothing of the sessions in the page.
function empty() {
  closeOpen();
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
  state.sessions = [];
  state.known = false;
  state.ended = 0;
  forgetRoles();
  drawChats([]);
  draw();
}

function drawChats(adapters) {
  drawDelivery(adapters);
  showAccess(adapters.length > 0);
}

async function pollForever() {
  for (;;) {
    await poll();
    await new Promise((resolve) => { setTimeout(resolve, pollEvery); });
  }
}

function draw() {
  drawList(state.sessions, state.open?.id, choose);
  drawOlder();
  drawHead(current());
  drawConnection();
}

// drawOlder offers the sessions that have ended and aren't shown.
function drawOlder() {
  const more = state.ended - state.sessions.filter((s) => s.state === 'ended').length;
  byId('older').hidden = more <= 0;
  byId('older').textContent = `${more} more have ended…`;
}

function showOlder() {
  state.mostEnded += endedAtOnce;
  poll();
}

function drawHead(session) {
  byId('name').textContent = session?.name ?? 'panebridge';
  byId('no-sessions').hidden = Boolean(session) || !state.known;
  for (const part of ['tabs', 'close', 'views']) byId(part).hidden = !session;
  byId('about').textContent = session ? about(session) : '';
  drawUnshown(session);
  byId('main').dataset.state = session?.state ?? '';
  byId('close').disabled = !session || session.state === 'ended';
  byId('foot').hidden = !session;
  const ended = session?.state === 'ended';
  byId('ended').hidden = !ended;
  for (const part of ['composer', 'below']) byId(part).hidden = ended;
  state.open?.composer.enable(!ended);
  if (session) state.open?.prompt.expect(session.prompt);
  const waiting = state.sessions.some(needsYou);
  document.title = `${waiting ? '(!) ' : ''}${session ? `${session.name} – ` : ''}panebridge`;
}

function about(session) {
  const parts = [session.state, session.agent, session.cwd];
  if (session.state !== 'working' && session.last_output_at) parts.push(`last line ${ago(session.last_output_at)}`);
  if (session.reason) parts[0] += ` (${session.reason})`;
  return parts.filter(Boolean).join(' · ');
}

// drawUnshown says which chats don't show a session as they should, and why.
function drawUnshown(session) {
  const lacks = [];
  for (const b of session && session.state !== 'ended' ? session.bindings : []) {
    if (b.disabled) lacks.push(`Not shown in ${b.to}: ${b.disabled}`);
    else if (b.problem) lacks.push(`Not shown as it should be in ${b.to}: ${b.problem}`);
  }
  const note = byId('unshown');
  const text = lacks.join('\n');
  note.hidden = text === '';
  if (note.textContent !== text) note.textContent = text; // what's the same isn't read out again
}

function drawConnection() {
  const bar = byId('connection');
  bar.hidden = state.shut !== '' || !state.problem && state.streaming;
  const since = state.seenAt && state.known ? ` What’s here is from ${state.seenAt.toLocaleTimeString()}.` : '';
  const text = state.problem ? `${state.problem}${since} Trying again…` : 'Reconnecting…';
  if (bar.textContent !== text) bar.textContent = text; // what's the same isn't read out again
}

function drawer(open) {
  document.body.classList.toggle('drawer-open', open);
  byId('veil').hidden = !open;
  byId('menu').setAttribute('aria-expanded', String(open));
}

function showTab(name, focus) {
  state.tab = name;
  for (const other of ['conversation', 'screen']) {
    const tab = byId(`tab-${other}`);
    tab.setAttribute('aria-selected', String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    byId(other).hidden = other !== name;
  }
  if (focus) byId(`tab-${name}`).focus();
  state.open?.screen.show(name === 'screen');
}

// A hidden page gives its connection back after a while: a browser has few of
// them for one server, and a phone's radio may sleep.
let hiddenTimer = 0;

function visibility() {
  clearTimeout(hiddenTimer);
  const { open } = state;
  if (document.hidden) {
    hiddenTimer = setTimeout(() => {
      state.open?.stream?.close();
      if (state.open) state.open.paused = true;
    }, hiddenGrace);
    return;
  }
  if (open?.paused) {
    open.paused = false;
    open.stream = open.start(open.stream.from);
  }
  poll();
}

async function start() {
  for (const name of ['conversation', 'screen']) {
    const tab = byId(`tab-${name}`);
    tab.addEventListener('click', () => showTab(name));
    tab.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') showTab(name === 'screen' ? 'conversation' : 'screen', true);
    });
  }
  byId('menu').addEventListener('click', () => drawer(!document.body.classList.contains('drawer-open')));
  byId('veil').addEventListener('click', () => drawer(false));
  addEventListener('keydown', (event) => { if (event.key === 'Escape') drawer(false); });
  byId('older').addEventListener('click', showOlder);
  addEventListener('hashchange', () => { if (idInAddress() && !chosenByAddress()) poll(); else follow(); });
  document.addEventListener('visibilitychange', visibility);
  newDialog(async (session) => {
    await poll();
    choose(session.id);
  });
  closeDialog(current, poll);
  accessDialog();
  shut(await passGate());
  pollForever();
}

start();
