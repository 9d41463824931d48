'use strict';

import { signedFetch } from './key.js';

// The calls of the HTTP API that the page makes. A refusal is thrown as an
// APIError, and so is that nobody answers: its code is 'away', its status 0.

export class APIError extends Error {
  constructor(status, code, message, prompt) {
    super(message);
    this.prompt = prompt; // that couldn't be answered, as it is now
    this.status = status;
    this.code = code;
  }
}

const base = '/api/v1/';
const patience = 10000; // milliseconds for which what the page asks by itself is waited for
const searchPatience = 20000; // the daemon gives a search up before that
const keysPatience = 4000; // of keys: later they'd be pressed at something else
const partPatience = 120000; // of a part of a file that's sent
const filePatience = 600000; // of a file that's got
const sessionPath = (id, rest = '') => `sessions/${encodeURIComponent(id)}${rest}`;

// query writes parameters with their question mark; what's undefined is left out. One without
// parameters is signed otherwise than it's sent.
function query(params) {
  const text = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== undefined)).toString();
  return text && `?${text}`;
}

async function call(method, path, body, signal) {
  const response = await signedFetch(base + path, { method, signal, body: body && JSON.stringify(body) }).catch((error) => { throw away(error); });
  if (!response.ok) throw await refusal(response);
  return response;
}

// away is what's thrown for an error of fetch, which says "Failed to fetch" when nobody
// answers, or breaks off, or that it was waited for in vain.
const away = (error) => (error instanceof TypeError || error.name === 'TimeoutError' ? unreachable() : error);

const unreachable = () => new APIError(0, 'away', 'panebridge isn’t reachable. The page goes on by itself when it is.');

export const isAway = (error) => error.code === 'away';

// refusal is the error that the server answered. A proxy with nobody behind it says so in
// words of its own.
export async function refusal(response) {
  try {
    const { error } = await response.json();
    if (typeof error.code !== 'string') throw new TypeError('what answers isn’t panebridge');
    return new APIError(response.status, error.code, error.message, error.prompt);
  } catch {
    if ([502, 503, 504].includes(response.status)) return unreachable();
    return new APIError(response.status, 'http', `the server answered ${response.status}`);
  }
}

// marked gives each line the secrets that stand in it.
export function marked(data) {
  const byNumber = new Map(data.lines.map((line) => [line.n, line]));
  for (const secret of data.secrets ?? []) {
    const line = byNumber.get(secret.n);
    if (line) (line.secrets ??= []).push(secret);
  }
  return data;
}

const json = async (...args) => {
  const response = await call(...args);
  return response.json().catch((error) => { throw away(error); });
};

// getMarkdown asks how blocks of answers look: a tree for each (markdown.go).
export async function getMarkdown(blocks) {
  const response = await signedFetch('/markdown', { method: 'POST', body: JSON.stringify({ blocks }) });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

export const getMe = () => json('GET', 'page/me', undefined, AbortSignal.timeout(patience));
export const getPage = () => json('GET', 'page');
export const revokeBrowser = (id) => call('DELETE', `page/browsers/${encodeURIComponent(id)}`);
export const getPush = () => json('GET', 'page/push', undefined, AbortSignal.timeout(patience));
export const putPush = (subscription) => json('POST', 'page/push', subscription);
export const dropPush = () => call('DELETE', 'page/push');
export const listAdapters = () => json('GET', 'adapters', undefined, AbortSignal.timeout(patience));
export const listAccess = () => json('GET', 'access');
export const grantAccess = (person, role) => call('POST', 'access', { person, role });
export const revokeAccess = (person, role) => json('DELETE', `access/${encodeURIComponent(person)}?role=${encodeURIComponent(role)}`);
// listSessions are all that live, the newest that have ended, so many at most, and the one of
// that id; ended is how many have.
export async function listSessions(most, id) {
  const response = await call('GET', `sessions?ended=${most}&with=${encodeURIComponent(id)}`, undefined, AbortSignal.timeout(patience));
  const count = response.headers.get('Panebridge-Ended');
  if (count === null) throw unreachable(); // what answers isn't panebridge
  return { sessions: await response.json().catch((error) => { throw away(error); }), ended: Number(count) };
}
export const listAgents = () => json('GET', 'agents');
export const listConversations = (agent, folder) => json('GET', `agents/${encodeURIComponent(agent)}/conversations?folder=${encodeURIComponent(folder)}`);
export const createSession = (body) => json('POST', 'sessions', body);
export const closeSession = (id) => call('DELETE', sessionPath(id, '?state=living'));
export const forgetSession = (id) => call('DELETE', sessionPath(id, '?state=ended'));
export const restartSession = (id) => call('POST', sessionPath(id, '/restart'));
export const renameSession = (id, name) => json('POST', sessionPath(id, '/name'), { name });
export const bindSession = (id, binding) => json('POST', sessionPath(id, '/bindings'), binding);
export const unbindSession = (id) => call('DELETE', `bindings/${encodeURIComponent(id)}`);
// sendFilePart sends bytes of a file; place has its name, size, offset and upload.
export async function sendFilePart(id, place, bytes, signal) {
  const response = await signedFetch(`${base}${sessionPath(id, '/files')}?${new URLSearchParams(place)}`, { method: 'POST', body: bytes, signal: AbortSignal.any([signal, AbortSignal.timeout(partPatience)]) }).catch((error) => { throw away(error); });
  if (!response.ok) throw await refusal(response);
  return response.json();
}
// getFile is a file of a session's folder, as a blob.
export async function getFile(id, path) {
  const response = await call('GET', sessionPath(id, `/files?path=${encodeURIComponent(path)}`), undefined, AbortSignal.timeout(filePatience));
  return response.blob().catch((error) => { throw away(error); });
}
// listExhibits lists what a session's programs have shown, exhibitContent is one of them, as a blob.
export const listExhibits = (id) => json('GET', sessionPath(id, '/exhibits'));
export async function exhibitContent(id, exhibit) {
  const response = await call('GET', sessionPath(id, `/exhibits/${encodeURIComponent(exhibit)}/content`), undefined, AbortSignal.timeout(filePatience));
  return response.blob().catch((error) => { throw away(error); });
}
// sendInput has a text typed. The same text with the same key is typed once, however often it's sent.
export const sendInput = (id, text, key) => json('POST', sessionPath(id, '/input'), { text, submit: true, key }, AbortSignal.timeout(patience));
// withdrawInput takes back a text that was sent with a key, also if it hasn't come, or only then: one that's typed stays.
export const withdrawInput = (id, text, key, onlyLate) => json('POST', sessionPath(id, '/input/withdraw'), { text, submit: true, key, only_late: onlyLate }, AbortSignal.timeout(patience));
// pressKeys presses keys; frame is the number of the frame that was seen then, if one was.
export const pressKeys = (id, keys, frame) => call('POST', sessionPath(id, '/keys'), { keys, frame }, AbortSignal.timeout(keysPatience));
// goOn has a session go on by itself when its limit is over, goOnNot has it not.
export const goOn = (id) => json('POST', sessionPath(id, '/continuation'));
export const goOnNot = (id) => call('DELETE', sessionPath(id, '/continuation'));
export const getReceipt = (id) => json('GET', `receipts/${encodeURIComponent(id)}`);
export const cancelReceipt = (id) => json('DELETE', `receipts/${encodeURIComponent(id)}`);
export const openReceipts = (id) => json('GET', sessionPath(id, '/receipts'));
// sendAnyway types a held text, or with a revival begins the agent again that it's for.
export const sendAnyway = (id, quoted, revival) => json('POST', `receipts/${encodeURIComponent(id)}/anyway`, { quoted, revival });
export const listPrompts = () => json('GET', 'prompts');
export const getPrompt = (id) => json('GET', `prompts/${encodeURIComponent(id)}`);
export const answerPrompt = (id, body) => json('POST', `prompts/${encodeURIComponent(id)}/answer`, body);
export const getOutput = async (id, from, limit) => marked(await json('GET', sessionPath(id, `/output?from=${from}&limit=${limit}`)));
// searchLines finds lines by words, the newest first, in one session or all; skip: without so many of the newest.
export const searchLines = ({ q, session, limit, skip }, signal) => json('GET', `search${query({ q, session, limit, skip })}`, undefined, AbortSignal.any([signal, AbortSignal.timeout(searchPatience)]));
export const listFleets = () => json('GET', 'fleets');
export const listLetters = () => json('GET', 'mail');
export const sendLetter = (letter) => json('POST', 'mail', letter);
export const settleLetter = (id) => call('DELETE', `mail/${encodeURIComponent(id)}`);
// getAnswered lists the questions that were answered between two times, the newest first.
export const getAnswered = (id, { from, to }) => json('GET', sessionPath(id, `/prompts${query({ from, to })}`));
// getProgress says how far the texts got that begin at lines of these numbers.
export const getProgress = (id, lines) => json('GET', sessionPath(id, `/progress?lines=${lines.join(',')}`));
// getTurns lists turns, the newest first unless order is oldest; with notable those alone that failed or took so many seconds.
export const getTurns = (id, { from, to, limit, order, notable }) => json('GET', sessionPath(id, `/turns${query({ from, to, limit, order, notable })}`));
// getTool is what a tool was called with, returned and changed, by the first line of either's block; secrets: mask or show.
export const getTool = (id, n, secrets) => json('GET', sessionPath(id, `/tools/${n}?secrets=${secrets}`));
// getDiff is what a session has changed in its repository: in a file or all, since a commit or since it began.
export const getDiff = (id, { file, since }) => json('GET', sessionPath(id, `/diff${query({ file: file || undefined, since: since || undefined })}`));
export const getScreen = async (id, secrets) => (await call('GET', sessionPath(id, `/screen?format=html&secrets=${secrets}`))).text();
// openTerminal follows a session's screen; secrets: mask or show. abort is as that of openEvents.
export const openTerminal = (id, secrets, abort) => openStream(sessionPath(id, `/terminal?secrets=${secrets}`), abort);
// openEvents follows a session from an event's id on, or from so many lines before the end. abort ends it; that the answer
// begins isn't waited for longer than patience.
export const openEvents = (id, { from, last }, abort) => openStream(`events${query({ session: id, from, last })}`, abort);

async function openStream(path, abort) {
  const timer = setTimeout(() => abort.abort(), patience);
  try {
    return await call('GET', path, undefined, abort.signal);
  } finally {
    clearTimeout(timer);
  }
}
