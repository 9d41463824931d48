'use strict';

import { byId, toast } from './dom.js';
import { accessDialog, showAccess } from './access.js';
import { drawBadge } from './badge.js';
import { isAway, listAdapters, listSessions, marked } from './api.js';
import { passGate, showGate } from './gate.js';
import { askWhetherIn, known, loadKey } from './key.js';
import { Commands } from './commands.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { drawDelivery } from './delivery.js';
import { DevicesDialog } from './devices.js';
import { closeDialog, newDialog } from './dialogs.js';
import { forgetDrafts, moveDraft } from './drafts.js';
import { changesDialog } from './changes.js';
import { drawExhibit, exhibitsDialog } from './exhibits.js';
import { getFileDialog } from './getfile.js';
import { groupsOf } from './groups.js';
import { Inbox } from './inbox.js';
import { drawList } from './list.js';
import { closeNotifications, isAnswered, NotifyDialog } from './notify.js';
import { forgetLooked, keepLooked, lookedThrough, noteLooked } from './looked.js';
import { MailDialog } from './mail.js';
import { Menu } from './menu.js';
import { MirrorDialog } from './mirror.js';
import { drawMute, forgetMuted, isMuted, offerMute } from './mute.js';
import { forgetOutgoing, resumeOutgoing, retryOutgoing } from './outgoing.js';
import { Palette } from './palette.js';
import { PromptPanel } from './prompt.js';
import { renameDialog } from './rename.js';
import { forgetRoles, learnRoles, rolesKnown } from './roles.js';
import { Screen } from './screen.js';
import { SearchView, searchAddress } from './search.js';
import { Shortcuts } from './shortcuts.js';
import { drawStranded } from './stranded.js';
import { Stream } from './stream.js';
import { forgetTools } from './tools.js';
import { holdMistakenKeys } from './typing.js';
import { forgetUploads } from './upload.js';
import { drawUsage, offerUsage } from './usage.js';
import { noteSeen } from './seen.js';
import { offerWork, onWork } from './work.js';
import { machineWords, needsYou, outcome, stateWords } from './words.js';

// The page: a list of sessions, which is polled, and either the inbox or one session
// that's open, which has an event stream. A stream per session would soon use up the six
// connections that a browser opens to one server.

const pollEvery = 2000; // milliseconds
const firstLines = 500; // of a session that's opened
const endedAtOnce = 50; // sessions that have ended and are shown, and so many more when asked for
const shortSilence = 4000; // milliseconds
const mostSilence = 40000; // the daemon writes something every 15 s
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
  returns: 0, // how often somebody came back to the page
  shut: null, // why the browser isn't let in; '': it is; null: that isn't known yet
};

const passing = passGate(); // while the page's parts are made

holdMistakenKeys();
const inbox = new Inbox();
inbox.onLooked = () => draw();
const mirror = new MirrorDialog(current, poll);
offerWork();
onWork(() => state.open?.conversation.showWork());
const devices = new DevicesDialog(poll);
const search = new SearchView({ current });
const notify = new NotifyDialog();

function current() {
  return state.sessions.find((s) => s.id === state.open?.id);
}

// idInAddress is the session's id that the address has; '': it's the inbox's, or the search's.
function idInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1).split('/')[0]);
  } catch {
    return ''; // it's none that the page has written
  }
}

// lineInAddress is the number of the line that the address has; 0: none.
const lineInAddress = () => (idInAddress() && Number(/\/(\d{1,15})$/.exec(location.hash)?.[1])) || 0;

const chosenByAddress = () => state.sessions.find((s) => s.id === idInAddress());

// choose opens a session through the address, so that going back works.
function choose(id) {
  drawer(false);
  if (idInAddress() === id) follow();
  else location.hash = id;
}

// toInbox leaves the session that's open.
function toInbox() {
  drawer(false);
  location.hash = '';
}

// goBack leaves the session that's open for where it was chosen: the inbox, or the lines that a search found.
function goBack() {
  if (search.hasLedHere()) history.back();
  else toInbox();
}

// follow opens what the address names, unless it's open: a session, at a line if it names one; the search; or the inbox. It says
// whether it has drawn the page.
function follow() {
  const session = chosenByAddress();
  const searches = location.hash === searchAddress && state.known;
  if (session?.id === state.open?.id && searches === search.isShown) {
    if (session && lineInAddress() && lineInAddress() !== state.open.line) showAddressed();
    return false;
  }
  closeOpen();
  if (session) openSession(session);
  if (searches) search.show();
  else search.hide();
  draw();
  if (!session && !searches && lineInAddress() && state.known) toast('That session isn’t there any more.');
  return true;
}

// showAddressed shows the line that the address names.
function showAddressed() {
  const { open } = state;
  open.line = lineInAddress();
  showTab('conversation');
  open.conversation.showFound(open.line);
}

function openSession(session) {
  const { id } = session;
  closeNotifications((alert) => alert.session === id);
  const open = {
    id,
    line: lineInAddress(), // that it was opened at; 0: its end
    conversation: new Conversation(session, lineInAddress()),
    composer: new Composer(id, session.agent),
    prompt: new PromptPanel(id),
    screen: new Screen(id),
  };
  state.open = open;
  open.start = (stream) => {
    open.stream = stream;
    stream.listen((name, data) => receive(open, name, data), (connected) => {
      state.streaming = connected;
      if (connected) open.conversation.connected();
      drawConnection();
    });
  };
  if (open.line) showTab('conversation');
  open.screen.show(state.tab === 'screen');
  open.start(takeEarly(id) ?? new Stream(id, { last: firstLines }));
}

// The stream of the session that the address names begins while the sessions are listed: so
// its lines are there when they are.
let early = null;

function beginEarly() {
  const id = idInAddress();
  if (id) early = new Stream(id, { last: firstLines });
}

// takeEarly returns that stream if it's of that session, and ends it if it isn't.
function takeEarly(id) {
  const stream = early;
  early = null;
  if (stream?.session === id) return stream;
  stream?.close();
  return null;
}

function closeOpen() {
  if (!state.open) return;
  look();
  const { stream, conversation, composer, prompt, screen } = state.open;
  for (const part of [stream, conversation, composer, prompt, screen]) part?.close();
  state.open = null;
  state.streaming = true;
}

function receive(open, name, data) {
  switch (name) {
    case 'output':
      open.conversation.output(marked(data).lines);
      break;
    case 'gap':
      open.conversation.gap(data);
      break;
    case 'live':
      open.conversation.live(data);
      break;
    case 'prompt':
      open.prompt.show(data);
      if (data.state === 'answered') open.conversation.askMarks();
      break;
    case 'state':
      state.sessions = state.sessions.map((s) => (s.id === data.session ? { doing: s.doing, last_line: s.last_line, ...data.summary } : s));
      draw();
      break;
    case 'turn':
      if (data.complete) open.conversation.askMarks();
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
  const { returns } = state;
  const asked = Date.now();
  const isOld = () => state.returns !== returns; // what's answered is from before somebody came back
  if (state.shut === null) return; // the gate may be changing the key
  if (state.shut === 'waiting') {
    if (!await passWaiting()) return;
  } else if (state.shut !== '' && !(await loadKey().catch(() => false) && known())) return;
  try {
    const [{ sessions, ended }, adapters] = await Promise.all([
      listSessions(state.mostEnded, idInAddress() || (state.open?.id ?? '')), listAdapters().catch(() => null),
      rolesKnown() || learnRoles(),
    ]);
    if (isOld()) return;
    state.sessions = sessions;
    state.ended = ended;
    if (adapters) drawChats(adapters);
    const back = state.problem !== '';
    state.problem = '';
    state.seenAt = new Date();
    state.known = true;
    noteSeen();
    if (ended === sessions.filter((s) => s.state === 'ended').length) forgetGone(sessions, asked); // else some aren't listed
    shut('');
    resumeOutgoing();
    if (back) retryOutgoing();
    if (state.open?.away) comeBack(state.open);
    if (!state.streaming) state.open?.stream?.now();
    if (state.open?.stream) renewSilent(state.open);
    state.open?.screen.keepUp(mostSilence);
    if (!follow()) draw();
  } catch (error) {
    if (isOld()) return;
    if (error.code === 'unauthorized') shut('refused');
    else state.problem = isAway(error) ? 'panebridge isn’t reachable. Is it running?' : `panebridge has a problem: ${error.message}`;
    drawConnection();
  } finally {
    takeEarly(''); // nobody has taken it
  }
}

// forgetGone forgets what was written to sessions that aren't listed any more, before they were asked for.
function forgetGone(sessions, asked) {
  const listed = new Set(sessions.map((s) => s.id));
  const isGone = (id, at) => !listed.has(id) && at < asked;
  forgetDrafts(isGone);
  forgetOutgoing(isGone);
}

// renewSilent opens a session's stream anew if nothing came over it for long: its connection may have died without a word.
// It's soon that it does so where the list has lines that didn't come.
function renewSilent({ stream, conversation }) {
  const isBehind = conversation.newest < (current()?.lines ?? 0);
  if (stream.silence() > (isBehind ? shortSilence : mostSilence)) stream.renew();
}

// shut closes the page for a browser that isn't let in, or opens it again: another tab may
// have let the browser in.
function shut(why) {
  if (state.shut === why) return;
  state.shut = why;
  if (why) empty(why === 'refused' || !known());
  else notify.begin();
  showGate(why);
}

// empty leaves nothing of the sessions in the page, and, unless the browser is known still, of what was written to them.
function empty(forgetsTexts) {
  closeOpen();
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
  state.sessions = [];
  state.known = false;
  state.ended = 0;
  forgetRoles();
  forgetLooked();
  forgetMuted();
  if (forgetsTexts) {
    forgetDrafts();
    forgetOutgoing();
    notify.forget();
  }
  forgetUploads();
  forgetTools();
  devices.forget();
  search.hide();
  search.forget();
  drawChats([]);
  draw();
}

function drawChats(adapters) {
  drawDelivery(adapters);
  mirror.offer(adapters);
  showAccess(adapters.length > 0);
}

async function pollForever() {
  for (;;) {
    await poll();
    await new Promise((resolve) => { setTimeout(resolve, pollEvery); });
  }
}

function draw() {
  look();
  const groups = groupsOf(state.sessions);
  drawList(groups, state.open?.id, choose);
  const isInbox = state.known && !state.open && !search.isShown;
  inbox.draw(isInbox && state.sessions.length > 0 ? groups : null);
  drawStranded(isInbox, (id) => state.sessions.some((s) => s.id === id));
  drawOlder();
  drawHead(current());
  drawConnection();
  const waiting = state.sessions.filter((s) => needsYou(s) && !isMuted(s)).length;
  drawBadge(waiting, search.isShown ? 'Search' : current()?.name ?? '');
  byId('inbox-count').textContent = waiting > 0 ? waiting : '';
}

// look notes that what's open is looked at, if it's to its end.
function look() {
  const session = current();
  if (!session || document.hidden || state.open.away) return;
  const { conversation } = state.open;
  const isAtEnd = conversation.stuck && conversation.newest >= session.lines;
  if (state.tab === 'screen' || isAtEnd) lookedThrough(session);
  if (isAtEnd) noteLooked(session.id, { line: conversation.newest }); // the list may be older
  keepLooked(state.sessions);
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
  const searches = search.isShown;
  byId('name').textContent = searches ? 'Search' : session?.name ?? 'Inbox';
  byId('no-sessions').hidden = state.sessions.length > 0 || !state.known || searches;
  for (const part of ['tabs', 'views']) byId(part).hidden = !session;
  byId('back').hidden = !session && !searches;
  byId('back').setAttribute('aria-label', search.hasLedHere() ? 'Back to what was found' : searches ? 'Back' : 'Back to the inbox');
  byId('close').disabled = !session || session.state === 'ended';
  byId('more-box').hidden = !session;
  byId('inbox-new').hidden = Boolean(session) || searches;
  byId('about').textContent = session ? about(session) : '';
  byId('about').title = session ? machineWords(session) : '';
  document.body.classList.toggle('in-session', Boolean(session));
  document.body.classList.toggle('in-search', searches);
  if (session || searches) byId('to-inbox').removeAttribute('aria-current');
  else byId('to-inbox').setAttribute('aria-current', 'page');
  drawMute(session);
  drawUnshown(session);
  drawUsage(session);
  drawExhibit(session);
  byId('main').dataset.state = session?.state ?? '';
  byId('foot').hidden = !session;
  byId('restart').hidden = !session?.owned;
  byId('restart').textContent = session?.state === 'ended' ? 'Begin it again…' : 'Start its program anew…';
  const ended = session?.state === 'ended';
  byId('ended').hidden = !ended;
  for (const part of ['composer', 'below', 'stop', 'rename', 'close']) byId(part).hidden = ended;
  byId('mirror').hidden = !session || ended || !mirror.possible;
  state.open?.composer.enable(!ended);
  if (session) state.open?.prompt.expect(session.prompt);
}

const about = (session) => [isMuted(session) && 'muted', stateWords(session), outcome(session), session.agent, session.cwd].filter(Boolean).join(' · ');

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
  if (bar.hidden) return; // the words for a time take as long as a frame, the first time
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
let hiddenSince = Date.now();

function visibility() {
  clearTimeout(hiddenTimer);
  const { open } = state;
  if (document.hidden) {
    hiddenSince = Date.now();
    hiddenTimer = setTimeout(() => state.open?.stream?.close(), hiddenGrace);
    return;
  }
  if (open && (open.stream.closed || Date.now() - hiddenSince >= hiddenGrace)) {
    // A phone stops what's hidden, timers too. Then the connection of before may be dead without a word.
    open.stream.close();
    open.away = true;
  }
  state.returns++;
  closeNotifications(isAnswered);
  look();
  poll();
}

// comeBack goes on with a session after the page was hidden for long, once the daemon answers. To a reader at the end,
// what came meanwhile is marked as new: the session is opened anew. Another keeps the place.
function comeBack(open) {
  if (open.conversation.stuck && state.tab === 'conversation') {
    if (lineInAddress()) history.replaceState(null, '', `#${encodeURIComponent(open.id)}`); // they've read on from there
    closeOpen();
    return;
  }
  open.away = false;
  open.start(new Stream(open.id, open.stream.place));
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
  byId('stop').addEventListener('click', () => document.querySelector('.keys [data-key="C-c"]').click());
  byId('back').addEventListener('click', () => (search.isShown ? search.leave() : goBack()));
  byId('to-inbox').addEventListener('click', (event) => {
    event.preventDefault();
    toInbox();
  });
  byId('older').addEventListener('click', showOlder);
  addEventListener('hashchange', () => { if (idInAddress() && !chosenByAddress()) poll(); else follow(); });
  document.addEventListener('visibilitychange', visibility);
  addEventListener('pagehide', look);
  newDialog(async (session) => {
    await poll();
    choose(session.id);
  });
  closeDialog(current, async (session) => {
    const before = state.open?.id;
    await poll();
    if (!session) return;
    if (before && session.id !== before) moveDraft(before, session.id); // it's another one if it had ended
    choose(session.id);
  });
  renameDialog(current, poll);
  getFileDialog(current);
  exhibitsDialog(current);
  changesDialog(current);
  offerUsage(current, poll);
  offerMute(current, () => {
    draw();
    notify.muted();
  });
  navigator.serviceWorker?.addEventListener('message', ({ data, ports }) => {
    if (typeof data?.open === 'string') choose(data.open);
    if (data?.asks === 'in touch') ports[0].postMessage(state.known && state.problem === '' && state.shut === '');
  });
  accessDialog();
  new MailDialog(() => state.sessions);
  new Menu();
  const page = { current, toInbox, goBack, showTab, choose, sessions: () => state.sessions };
  const commands = new Commands(page);
  new Palette(page, commands);
  new Shortcuts(commands);
  shut(await passing);
  if (state.shut === '') beginEarly();
  pollForever();
}

start();
