'use strict';

import { sendInput, withdrawInput } from './api.js';
import { toast } from './dom.js';
import { draftOf, keepDraft } from './drafts.js';
import { loadKept, saveKept } from './kept.js';

// Texts that this browser sent to sessions, until it's known what became of them. Each has a key, by which the server knows
// it: it's typed once, however often it's sent, and it can be taken back without knowing whether it came. What gets no
// answer is sent again for two minutes. After that it's taken back if it hasn't come, since its time may be over, and stands
// in the field again. They're kept as drafts are, so a reload or a tab that's closed loses none. What a page finds there it
// sends to nobody: another server that had the port may have written it. It's taken back in the same way, and seen.

const keptAt = 'panebridge.outgoing';
const patience = 120000; // milliseconds for which a text is sent again
const firstPause = 1000; // milliseconds between two tries, twice as long each time up to
const mostPause = 10000;
const most = 200; // texts that are kept; of more, those whose receipt is known are forgotten first

// A page holds a lock as long as it's there, by which the others know that it sends its texts itself.
const tab = crypto.randomUUID();
const lockOf = (id) => `panebridge-page ${id}`;
navigator.locks?.request(lockOf(tab), () => new Promise(() => {}));

const written = new Set(); // keys of the texts that were written to this page
let here = null; // the texts, where the browser doesn't keep them
const composers = new Map(); // by session: the one that's open
const pausing = new Map(); // by key: what ends the pause before it's tried again
const senders = new Set(); // sessions whose texts are being sent

// all are the texts, oldest first: {session, text, key, at, tab}; tried is when it was sent last, receipt the id of its
// receipt, back says that it's to be taken back, and unsure that nobody has answered.
function all() {
  const kept = here ?? loadKept(keptAt);
  return Array.isArray(kept) ? kept.filter((t) => ['session', 'text', 'key', 'tab'].every((name) => typeof t?.[name] === 'string')) : [];
}

function save(texts) {
  const bounded = texts.filter((t, i) => !t.receipt || i >= texts.length - most);
  here = saveKept(keptAt, bounded.length > 0 ? bounded : null) ? null : bounded;
}

const find = (key) => all().find((t) => t.key === key);

// change changes a text, if it's still there, and returns whether it is.
function change(key, values) {
  const texts = all();
  const one = texts.find((t) => t.key === key);
  if (one) save(Object.assign(texts, { [texts.indexOf(one)]: { ...one, ...values } }));
  return Boolean(one);
}

// drop forgets a text, and returns it; undefined: it's forgotten already.
function drop(key) {
  const texts = all();
  const one = texts.find((t) => t.key === key);
  if (one) save(texts.filter((t) => t !== one));
  return one;
}

const isMine = (t) => t.tab === tab;

// outgoing are the texts to a session that this page sends, in their order.
export const outgoing = (session) => all().filter((t) => t.session === session && !t.receipt && isMine(t));

// receiptsOf are the ids of the receipts of texts to a session, of which it's not known what became of them.
export const receiptsOf = (session) => all().filter((t) => t.session === session && t.receipt).map((t) => t.receipt);

// noteReceipt notes that a text has come, of which that wasn't known.
export function noteReceipt(receipt) {
  const one = receipt.key && find(receipt.key);
  if (one && !one.receipt) take(one.key, receipt);
}

const byReceipt = (id) => all().find((t) => t.receipt === id);

// textSent is a text as this browser sent it; undefined: it didn't.
export const textSent = (receipt) => byReceipt(receipt)?.text;

// settle says that nothing more becomes of a text, or nobody wants to know. One that's being taken back is settled by that.
export function settle(receipt) {
  const one = byReceipt(receipt);
  if (one && !one.back) drop(one.key);
}

// watchOutgoing has the composer of a session told what comes of its texts: by drawOutgoing(), follow(receipt) and
// write(text). It returns what ends that.
export function watchOutgoing(session, composer) {
  composers.set(session, composer);
  return () => { if (composers.get(session) === composer) composers.delete(session); };
}

// sendText sends a text to a session, behind what's on its way: at once for who calls it.
export function sendText(session, text) {
  const key = crypto.randomUUID();
  written.add(key);
  save([...all(), { session, text, key, at: Date.now(), tab }]);
  composers.get(session)?.drawOutgoing();
  sendAll(session);
}

// resumeOutgoing takes up what a page has left that's gone: the one before a reload, or another tab's.
export async function resumeOutgoing() {
  if (all().length === 0) return;
  const { held = [] } = await navigator.locks.query();
  const isLeft = (t) => !isMine(t) && (!t.receipt || t.back) && !held.some(({ name }) => name === lockOf(t.tab));
  const texts = all();
  const left = texts.filter(isLeft);
  if (left.length > 0) save(texts.map((t) => (left.includes(t) ? { ...t, tab } : t)));
  for (const t of all().filter(isMine)) {
    if (t.receipt && t.back) withdraw(t.key);
    else if (!t.receipt) sendAll(t.session);
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
  if (!one.tried && written.has(key)) {
    drop(key);
    writeBack(one.session, one.text);
  } else {
    change(key, { back: true });
    if (one.receipt) withdraw(key);
    else pausing.get(key)?.();
  }
  composers.get(one.session)?.drawOutgoing();
}

// keyOf is the key of the text with a receipt; undefined: this browser didn't send it.
export const keyOf = (receipt) => byReceipt(receipt)?.key;

async function sendAll(session) {
  if (senders.has(session)) return;
  senders.add(session);
  for (let [next] = outgoing(session); next; [next] = outgoing(session)) {
    await sendNext(next.key);
    composers.get(session)?.drawOutgoing();
  }
  senders.delete(session);
}

// sendNext returns when it's known that a text was taken, refused or taken back.
async function sendNext(key) {
  for (let wait = firstPause; ; wait = Math.min(2 * wait, mostPause)) {
    const one = find(key);
    if (!one || one.receipt || !isMine(one)) return; // it was forgotten, or another tab has taken it over
    if (one.back || !written.has(key) || Date.now() - one.at > patience) {
      await withdraw(key);
      return;
    }
    change(key, { tried: Date.now() });
    try {
      take(key, checkReceipt(await sendInput(one.session, one.text, key)));
      return;
    } catch (error) {
      if (isRefused(error)) {
        giveBack(one.session, key, error.message);
        return;
      }
      await unsure(key, wait);
    }
  }
}

const withdrawing = new Map(); // by key: the promise that it's known what became of it

// withdraw has the server take a text back. It returns when it's known whether it's typed.
function withdraw(key) {
  if (!withdrawing.has(key)) withdrawing.set(key, tryWithdraw(key).finally(() => withdrawing.delete(key)));
  return withdrawing.get(key);
}

async function tryWithdraw(key) {
  for (let wait = firstPause; ; wait = Math.min(2 * wait, mostPause)) {
    const one = find(key);
    if (!one || !isMine(one)) return;
    change(key, { tried: Date.now() });
    try {
      const receipt = checkReceipt(await withdrawInput(one.session, one.text, key, !one.back));
      if (receipt.state === 'cancelled') {
        if (!one.back) giveBack(one.session, key, 'nobody answered in time. It stands in the field again.');
        else if (drop(key)) writeBack(one.session, one.text);
      } else {
        if (one.back) toast('It’s typed already.');
        take(key, receipt);
      }
      return;
    } catch (error) {
      if (isRefused(error)) {
        if (one.receipt) {
          change(key, { back: undefined });
          toast(error.message);
        } else giveBack(one.session, key, error.message);
        return;
      }
      await unsure(key, wait);
    }
  }
}

// checkReceipt returns what was answered, if it's a receipt: what else answers isn't panebridge.
function checkReceipt(answer) {
  if (typeof answer?.id !== 'string') throw new TypeError('what answers isn’t panebridge');
  return answer;
}

// isRefused says that an error is the server's, of what it doesn't do: with any other nobody knows whether it did.
const isRefused = ({ status }) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

// take notes the receipt of a text that has come.
function take(key, receipt) {
  const one = find(key);
  if (!one) return; // all was forgotten
  if (receipt.state === 'cancelled') { // it was taken back by another tab
    drop(key);
    return;
  }
  change(key, { receipt: receipt.id, unsure: undefined, back: receipt.state === 'stored' || receipt.state === 'held' ? one.back : undefined });
  composers.get(one.session)?.drawOutgoing();
  composers.get(one.session)?.follow(receipt);
  if (find(key).back) withdraw(key);
}

// giveBack has a text that wasn't taken, and those behind it, stand in the field again.
function giveBack(session, key, why) {
  const first = find(key);
  if (!first) return;
  const behind = outgoing(session).filter((t) => t.key !== key && !t.tried && t.at >= first.at);
  const texts = [first, ...behind].filter((t) => drop(t.key));
  toast(`Not sent: ${why}`);
  writeBack(session, joined(texts.map((t) => t.text)));
}

// unsure notes that nobody has answered, and waits until the text is to be tried again.
async function unsure(key, wait) {
  const one = find(key);
  if (!one) return;
  change(key, { unsure: true });
  composers.get(one.session)?.drawOutgoing();
  await new Promise((resolve) => {
    pausing.set(key, resolve);
    setTimeout(resolve, wait);
  });
  pausing.delete(key);
}

// writeBack has a text stand in a session's field again, before what stands there.
export function writeBack(session, text) {
  const whole = joined([text, draftOf(session)]);
  keepDraft(session, whole);
  composers.get(session)?.write(whole);
}

// joined are texts as one, each on lines of its own.
const joined = (texts) => texts.filter((text) => text !== '').join('\n');

// forgetOutgoing forgets the receipts of sessions that are gone, which isGone says of an id; without that, all texts.
export function forgetOutgoing(isGone) {
  const texts = all();
  const left = isGone ? texts.filter((t) => !t.receipt || !isGone(t.session)) : [];
  if (left.length < texts.length) save(left);
  if (!isGone) retryOutgoing();
}

window.addEventListener('online', retryOutgoing);
