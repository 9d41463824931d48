'use strict';

import { sendInput, withdrawInput } from './api.js';
import { toast } from './dom.js';
import { draftOf, keepDraft } from './drafts.js';
import { keptKeys, loadKept, saveKept } from './kept.js';

// Texts that this page sent to sessions, until it's known what became of them. Each has a key, by which the server knows it:
// it's typed once, however often it's sent, and it can be taken back without knowing whether it came. What gets no answer is
// sent again for two minutes. After that it's taken back if it hasn't come, since its time may be over. What isn't sent stands
// above the field until somebody writes it again or dismisses it.
//
// The browser keeps them, each page's under a key of its own. What a page has left that's gone, another takes up. It sends
// nothing of it: another server that had the port may have written it. It takes it back in the same way.

const prefix = 'panebridge.outgoing.';
const patience = 120000; // milliseconds for which a text is sent again
const firstPause = 1000; // milliseconds between two tries, twice as long each time up to
const mostPause = 10000;
const slowAfter = 1500; // milliseconds after which it's said that there's no answer yet
const most = 200; // texts that are kept of which the receipt is known

// A page holds a lock as long as it's there, by which the others know that it sends its texts itself.
const page = crypto.randomUUID();
const lockOf = (id) => `panebridge-page ${id}`;
navigator.locks?.request(lockOf(page), () => new Promise(() => {}));

// The texts of this page, oldest first: {session, text, key, at}. tried is when it was sent last, slow says that the answer
// takes long, unsure that nobody has answered, back that it's to be taken back, receipt is the id of its receipt, and unsent
// why it wasn't sent.
let texts = [];
let keeps = true; // the browser keeps them
const written = new Map(); // by key: when a text was written to this page, by a clock that nobody puts back
const wanted = new Set(); // keys of the texts that somebody takes back here
const composers = new Map(); // by session: the one that's open
const pausing = new Map(); // by key: what ends the pause before it's tried again
const senders = new Set(); // sessions whose texts are being sent
const withdrawing = new Map(); // by key: the promise that it's known what became of a text that's taken back
const returned = new Map(); // by session: what came back into its field
let resuming = null; // the promise that what others have left is taken up

const find = (key) => texts.find((t) => t.key === key);

function save() {
  const known = texts.filter((t) => t.receipt);
  const old = new Set(known.slice(0, Math.max(0, known.length - most)));
  texts = texts.filter((t) => !old.has(t));
  const isKept = saveKept(prefix + page, texts.length > 0 ? texts : null);
  if (!isKept && keeps) toast('The browser has no room left: what isn’t sent yet is lost if you close or reload the page.');
  keeps = isKept;
}

// Before the page is closed the browser asks, if a text would be lost with it.
window.addEventListener('beforeunload', (event) => { if (!keeps && texts.some((t) => !t.receipt)) event.preventDefault(); });

function change(one, values) {
  Object.assign(one, values);
  save();
}

// drop forgets a text. It says whether it was there.
function drop(one) {
  const isThere = texts.includes(one);
  texts = texts.filter((t) => t !== one);
  save();
  return isThere;
}

// outgoing are the texts to a session that are on their way, in their order.
export const outgoing = (session) => texts.filter((t) => t.session === session && !t.receipt && t.unsent === undefined);

// unsent are the texts to a session that weren't sent.
export const unsent = (session) => texts.filter((t) => t.session === session && t.unsent !== undefined);

// stranded are the texts that weren't sent to sessions that are gone: isThere says of an id whether there's such a session.
export const stranded = (isThere) => texts.filter((t) => t.unsent !== undefined && !isThere(t.session));

// receiptsOf are the ids of the receipts of texts to a session, of which it's not known what became of them.
export const receiptsOf = (session) => texts.filter((t) => t.session === session && t.receipt).map((t) => t.receipt);

const byReceipt = (id) => texts.find((t) => t.receipt === id);

// noteReceipt notes that a text has come, of which that wasn't known.
export function noteReceipt(receipt) {
  const one = receipt.key && find(receipt.key);
  if (one && !one.receipt && one.unsent === undefined) take(one, receipt);
}

// textSent is a text as this page sent it; undefined: it didn't.
export const textSent = (receipt) => byReceipt(receipt)?.text;

// keyOf returns the key by which a text can be taken back that has come; undefined: this page doesn't have it. It waits for what
// another page has left.
export async function keyOf(receipt) {
  await resuming;
  const one = byReceipt(receipt.id) ?? find(receipt.key);
  return one?.unsent === undefined ? one?.key : undefined;
}

// keptText is the text with a key that another tab has sent; undefined: none has.
export function keptText(key) {
  const all = keptKeys(prefix).flatMap((name) => loadKept(name) ?? []);
  return all.find((t) => key && t?.key === key)?.text;
}

// noteTakenBack notes that somebody else has taken a text back, which waited. Another tab has put it into the field.
export function noteTakenBack(receipt) {
  const one = byReceipt(receipt.id);
  if (!one || one.back) return;
  if (draftOf(one.session).includes(one.text)) drop(one);
  else notSent(one, 'it was taken back elsewhere');
}

// settle says that nothing more becomes of a text, or nobody wants to know. One that's being taken back is settled by that.
export function settle(receipt) {
  const one = byReceipt(receipt);
  if (one && !one.back) drop(one);
}

// dismiss forgets a text that wasn't sent.
export function dismiss(key) {
  const one = find(key);
  if (one) drop(one);
}

// watchOutgoing has the composer of a session told what comes of its texts: by drawOutgoing(), follow(receipt) and
// write(text). It returns what ends that.
export function watchOutgoing(session, composer) {
  composers.set(session, composer);
  return () => { if (composers.get(session) === composer) composers.delete(session); };
}

const drawn = (session) => composers.get(session)?.drawOutgoing();

// sendText sends a text to a session, behind what's on its way: at once for who calls it.
export function sendText(session, text) {
  const key = crypto.randomUUID();
  written.set(key, performance.now());
  texts.push({ session, text, key, at: Date.now() });
  save();
  drawn(session);
  sendAll(session);
}

// resumeOutgoing takes up what a page has left that's gone: the one before a reload, or another tab's.
export function resumeOutgoing() {
  resuming = takeUp();
}

async function takeUp() {
  const isText = (t) => ['session', 'text', 'key'].every((name) => typeof t?.[name] === 'string');
  const others = keptKeys(prefix).filter((key) => key !== prefix + page);
  if (others.length === 0) return;
  await navigator.locks.request('panebridge-left', async () => {
    const { held } = await navigator.locks.query();
    for (const key of others) {
      if (held.some(({ name }) => name === lockOf(key.slice(prefix.length)))) continue;
      const left = loadKept(key);
      for (const { session, text, key: its, at, receipt, back, unsent: why } of Array.isArray(left) ? left.filter(isText) : []) {
        if (!find(its)) texts.push({ session, text, key: its, at, tried: at, receipt, back, unsent: why });
      }
      save();
      saveKept(key, null);
    }
  });
  for (const one of texts) {
    if (one.receipt && one.back) withdraw(one);
    else if (!one.receipt) sendAll(one.session);
    drawn(one.session);
  }
}

// retryOutgoing tries at once what waits to be sent again: the server answers.
export function retryOutgoing() {
  for (const end of [...pausing.values()]) end();
}

// takeBack has a text not be typed, if it isn't yet, and stand in the field again; also if it hasn't come.
export function takeBack(key) {
  const one = find(key);
  if (!one) return;
  wanted.add(key);
  if (!one.tried) {
    drop(one);
    writeBack(one.session, one.text);
  } else {
    change(one, { back: true });
    if (one.receipt) withdraw(one);
    else pausing.get(key)?.();
  }
  drawn(one.session);
}

async function sendAll(session) {
  if (senders.has(session)) return;
  senders.add(session);
  for (let [next] = outgoing(session); next; [next] = outgoing(session)) {
    await sendNext(next);
    drawn(session);
  }
  senders.delete(session);
}

// isLate says that a text is sent no more: it was written too long ago, by the clock or by the page's own, or not to this page.
const isLate = ({ key, at }) => !written.has(key) || Math.max(Date.now() - at, performance.now() - written.get(key)) > patience;

// sendNext returns when it's known whether a text was taken.
async function sendNext(one) {
  for (let wait = firstPause; texts.includes(one) && !one.receipt; wait = Math.min(2 * wait, mostPause)) {
    if (one.back || isLate(one)) {
      await withdraw(one);
      return;
    }
    change(one, { tried: Date.now() });
    const slow = setTimeout(() => {
      one.slow = true;
      drawn(one.session);
    }, slowAfter);
    try {
      take(one, checkReceipt(await sendInput(one.session, one.text, one.key).finally(() => clearTimeout(slow))));
      return;
    } catch (error) {
      if (isRefused(error)) {
        if (!one.unsure) notSent(one, error.message);
        else await withdraw(one); // an earlier try may have come
        return;
      }
      await pause(one, wait);
    }
  }
}

// withdraw has the server take a text back. It returns when it's known whether it's typed.
function withdraw(one) {
  if (!withdrawing.has(one.key)) withdrawing.set(one.key, tryWithdraw(one).finally(() => withdrawing.delete(one.key)));
  return withdrawing.get(one.key);
}

async function tryWithdraw(one) {
  for (let wait = firstPause; texts.includes(one); wait = Math.min(2 * wait, mostPause)) {
    const back = Boolean(one.back);
    try {
      const receipt = checkReceipt(await withdrawInput(one.session, one.text, one.key, !back));
      if (receipt.state === 'cancelled') {
        if (!one.back) notSent(one, 'nobody answered in time');
        else if (!wanted.has(one.key)) notSent(one, 'it was taken back');
        else if (drop(one)) writeBack(one.session, one.text);
        return;
      }
      const isWanted = one.back;
      take(one, receipt);
      if (isWanted && !one.back) toast('It’s typed already.');
      if (back || !one.back) return; // else somebody took it back meanwhile
    } catch (error) {
      if (isRefused(error)) {
        if (one.receipt) {
          change(one, { back: undefined });
          toast(error.message);
        } else notSent(one, `nobody knows whether it was; look at the session before you send it again: ${error.message}`);
        return;
      }
      await pause(one, wait);
    }
  }
}

// checkReceipt returns what was answered, if it's a receipt: what else answers isn't panebridge.
function checkReceipt(answer) {
  if (typeof answer?.id !== 'string') throw new TypeError('what answers isn’t panebridge');
  return answer;
}

// isRefused says that an error is panebridge's, of what it doesn't do: with any other nobody knows whether it did.
const isRefused = ({ status, code }) => status >= 400 && status < 500 && code !== 'http' && ![408, 425, 429].includes(status);

// take notes the receipt of a text that has come.
function take(one, receipt) {
  if (!texts.includes(one)) return; // all was forgotten
  if (receipt.state === 'cancelled') { // somebody else has taken it back
    notSent(one, 'it was taken back elsewhere');
    return;
  }
  change(one, { receipt: receipt.id, unsure: undefined, back: receipt.state === 'stored' || receipt.state === 'held' ? one.back : undefined });
  drawn(one.session);
  composers.get(one.session)?.follow(receipt);
  if (one.back) withdraw(one);
}

// notSent notes that a text, and those behind it, aren't sent, and why.
function notSent(one, why) {
  if (!texts.includes(one)) return; // all was forgotten
  const queue = outgoing(one.session);
  const behind = queue.slice(queue.indexOf(one) + 1).filter((t) => !t.tried);
  for (const t of queue.includes(one) ? [one, ...behind] : [one]) {
    Object.assign(t, { unsent: t === one ? why : 'the one before it wasn’t', receipt: undefined, unsure: undefined, back: undefined });
  }
  save();
  toast(`Not sent: ${why}`);
  drawn(one.session);
}

// pause notes that nobody has answered, and waits until the text is to be tried again.
async function pause(one, wait) {
  if (!texts.includes(one)) return;
  change(one, { unsure: true });
  drawn(one.session);
  await new Promise((resolve) => {
    pausing.set(one.key, resolve);
    setTimeout(resolve, wait);
  });
  pausing.delete(one.key);
}

// writeBack has a text stand in a session's field again: behind what came back before, and before what else stands there.
export function writeBack(session, text) {
  const draft = draftOf(session);
  const before = returned.get(session);
  const isThere = before !== undefined && (draft === before || draft.startsWith(`${before}\n`));
  const back = isThere ? `${before}\n${text}` : text;
  const rest = isThere ? draft.slice(before.length + 1) : draft;
  const whole = rest === '' ? back : `${back}\n${rest}`;
  returned.set(session, back);
  keepDraft(session, whole);
  composers.get(session)?.write(whole);
}

// forgetOutgoing forgets the texts that came to sessions that are gone: isGone says it of an id and the time when it was written
// to. Without that it forgets all, of other pages, too.
export function forgetOutgoing(isGone) {
  const left = isGone ? texts.filter((t) => !t.receipt || !isGone(t.session, t.at)) : [];
  if (left.length < texts.length) {
    texts = left;
    save();
  }
  if (isGone) return;
  for (const key of keptKeys(prefix)) saveKept(key, null);
  retryOutgoing();
}

window.addEventListener('online', retryOutgoing);
