'use strict';

import { sendInput } from './api.js';
import { toast } from './dom.js';
import { draftOf, keepDraft } from './drafts.js';
import { loadKept, saveKept } from './kept.js';

// Texts on their way to sessions: what was sent is out of the field at once, and goes to the server one after the other,
// whatever is open meanwhile. What doesn't get there stands in the field again. Until it's there it's part of the draft,
// and it has a key, by which the server knows a text that's sent again because its answer was lost: it's typed once.

const keysAt = 'panebridge.sent'; // the key outlasts a reload, as the draft does

const queues = new Map(); // by session: the texts that are on their way, the oldest first
const fields = new Map(); // by session: what stands in its field while some are
const composers = new Map(); // by session: the one that's open
const sentTexts = new Map(); // by receipt: what was sent by this page
const mostSent = 200;

// joined are texts as one, each on lines of its own.
const joined = (texts) => texts.filter((text) => text !== '').join('\n');

// outgoing are the texts that are on their way to a session.
export const outgoing = (session) => queues.get(session) ?? [];

// keepWritten keeps what stands in the field of a session.
export function keepWritten(session, text) {
  if (queues.has(session)) fields.set(session, text);
  keepDraft(session, joined([...outgoing(session), text]));
}

// writtenTo is what was written to a session and isn't on its way.
export const writtenTo = (session) => (queues.has(session) ? fields.get(session) ?? '' : draftOf(session));

// watchOutgoing has the composer of a session told what comes of its texts: by drawOutgoing(), follow(receipt) and
// write(text). It returns what ends that.
export function watchOutgoing(session, composer) {
  composers.set(session, composer);
  return () => { if (composers.get(session) === composer) composers.delete(session); };
}

// sendText sends a text to a session, behind what's on its way: at once for who calls it.
export async function sendText(session, text) {
  const queue = outgoing(session);
  queue.push(text);
  queues.set(session, queue);
  fields.set(session, '');
  composers.get(session)?.drawOutgoing();
  keepWritten(session, writtenTo(session));
  if (queue.length > 1) return;
  while (queue.length > 0) {
    await sendNext(session, queue);
    composers.get(session)?.drawOutgoing();
  }
  if (queues.get(session) !== queue) return; // all was forgotten
  queues.delete(session);
  fields.delete(session);
}

async function sendNext(session, queue) {
  const sent = { text: queue[0], key: keyOf(session, queue[0]) };
  keepKey(session, sent);
  try {
    const receipt = await sendInput(session, sent.text, sent.key);
    if (queue.length === 0) return; // all was forgotten
    queue.shift();
    sentTexts.set(receipt.id, sent.text);
    if (sentTexts.size > mostSent) sentTexts.delete(sentTexts.keys().next().value);
    keepKey(session, null);
    keepWritten(session, writtenTo(session));
    composers.get(session)?.follow(receipt);
  } catch (error) {
    toast(`Not sent: ${error.message}`);
    if (error.status >= 400 && error.status < 500) keepKey(session, null); // it was refused; else nobody knows
    writeBack(session, joined(queue.splice(0)));
  }
}

// textSent is a text as it was sent by this page; undefined: it wasn't.
export const textSent = (receipt) => sentTexts.get(receipt);

// writeBack has a text stand in a session's field again, before what stands there.
export function writeBack(session, text) {
  const all = joined([text, writtenTo(session)]);
  if (composers.has(session)) composers.get(session).write(all);
  else keepWritten(session, all);
}

// forgetOutgoing forgets all texts.
export function forgetOutgoing() {
  for (const queue of queues.values()) queue.length = 0;
  queues.clear();
  fields.clear();
  sentTexts.clear();
  saveKept(keysAt, null, 'sessionStorage');
}

// keyOf is the key of a text: that of before, if nobody knows what came of it.
function keyOf(session, text) {
  const before = keptKeys()[session];
  return before?.text === text ? before.key : crypto.randomUUID();
}

function keptKeys() {
  const all = loadKept(keysAt, 'sessionStorage');
  return all && typeof all === 'object' ? all : {};
}

// keepKey keeps the text that's on its way to a session, and its key; null: there's none.
function keepKey(session, sent) {
  const all = keptKeys();
  if (sent) all[session] = sent;
  else delete all[session];
  saveKept(keysAt, all, 'sessionStorage'); // where it can't be kept, what's sent again after a reload is another text
}
