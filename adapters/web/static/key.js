'use strict';

// The browser's key, by which the daemon knows it. The private half can't be read, by this
// page neither, and is kept where only this address reaches it: another port is another
// address. Each request is signed with it, for one start of the daemon and once, so that
// whoever receives it in the daemon's place can do nothing with it. The form is that of
// RFC 9421; the daemon takes no other (internal/browsers/signature.go).

const startPath = '/api/v1/page/start';
const keysPath = '/api/v1/page/keys';
const mePath = '/api/v1/page/me';
const changeEvery = 7 * 24 * 3600 * 1000; // milliseconds
const patience = 60000; // milliseconds for which an answer is waited for: a chat or a program may have a part in it
const startPatience = 10000; // the same of the daemon's start
const tries = 3; // of a request that's signed for another start, or with a key that was changed meanwhile
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

let browser = null; // {id, key, changeAt}; null: it isn't let in
let waiting = null; // {id, key, number, until}: a device that somebody has to let in; null: it isn't one
let start = null; // {name, ahead}: of the daemon, whose clock is ahead by milliseconds; null: not known

// supported says whether the browser has what's needed, which it hides from pages that
// anybody on the way could have changed.
export const supported = () => Boolean(globalThis.isSecureContext && crypto.subtle && globalThis.indexedDB && navigator.locks);

export const known = () => Boolean(browser);

// browserID is what the daemon knows this browser by; '': it isn't let in.
export const browserID = () => browser?.id ?? '';

// waits is what the person compares while somebody has to let this device in; '': nobody has to.
export const waits = () => (waiting && Date.now() < waiting.until ? waiting.number : '');

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

function openStore() {
  const opening = indexedDB.open('panebridge', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
  return done(opening);
}

let opened = null; // a promise of the store that was opened before somebody needs it

async function withStore(mode, fn) {
  const store = opened ?? openStore();
  opened = null;
  const db = await store;
  try {
    return await fn(db.transaction('keys', mode).objectStore('keys'));
  } finally {
    db.close();
  }
}

// loadKey reads the key, and says whether it's another than before: another tab may have
// changed it, or let the browser in.
export async function loadKey() {
  const was = browser;
  const [itsKey, waitingKey] = await withStore('readonly', (store) => Promise.all([done(store.get('browser')), done(store.get('waiting'))]));
  browser = itsKey ?? null;
  waiting = waitingKey ?? null;
  return browser?.id !== was?.id || browser?.changeAt !== was?.changeAt;
}

// enter has the browser let in by the token of an address. One that's let in already gets
// another key.
export const enter = (token) => navigator.locks.request('panebridge-key', async () => {
  await loadKey();
  return changeKey(token);
});

// changeKey makes a new key and keeps it when the daemon knows it. It returns what the
// daemon answered.
async function changeKey(token) {
  const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  const key = base64(await crypto.subtle.exportKey('raw', pair.publicKey));
  const response = await signedFetch(keysPath, { method: 'POST', body: JSON.stringify({ token, key }) });
  if (!response.ok) return response;
  const answer = await response.clone().json();
  learn(answer);
  if (response.status === 202) {
    waiting = { id: answer.id, key: pair.privateKey, number: answer.number, until: Date.now() + Date.parse(answer.expires) - answer.now * 1000 };
    await withStore('readwrite', (store) => done(store.put(waiting, 'waiting')));
    return response;
  }
  browser = { id: answer.id, key: pair.privateKey, changeAt: Date.now() + changeEvery };
  await withStore('readwrite', (store) => done(store.put(browser, 'browser')));
  return response;
}

// isLetIn asks whether the daemon knows this browser.
export async function isLetIn() {
  await loadKey();
  return known() && (await signedFetch(mePath, {})).ok;
}

// askWhetherIn says whether this device was let in: 'in', 'waiting' or 'declined'.
export const askWhetherIn = () => navigator.locks.request('panebridge-key', async () => {
  await loadKey();
  if (!waiting) return known() ? 'in' : 'declined';
  const response = await signedFetch(mePath, { as: waiting });
  if (response.status === 401) {
    const { error } = await response.json().catch(() => ({}));
    if (error?.code === 'waiting') return 'waiting';
  }
  if (!response.ok && response.status !== 401) return 'waiting'; // it's asked again
  if (response.ok) browser = { id: waiting.id, key: waiting.key, changeAt: Date.now() + changeEvery };
  await withStore('readwrite', (store) => {
    if (response.ok) store.put(browser, 'browser');
    return done(store.delete('waiting'));
  });
  waiting = null;
  return response.ok ? 'in' : 'declined';
});

// changeInTime changes the key when it's old enough. If that fails, the next one does.
function changeInTime() {
  if (Date.now() < browser.changeAt) return;
  navigator.locks.request('panebridge-key', { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    await loadKey();
    if (browser && Date.now() >= browser.changeAt) await changeKey('');
  }).catch(() => {});
}

// signedFetch is fetch for a path of the daemon, signed.
export async function signedFetch(path, options) {
  for (let n = 1; ; n += 1) {
    const response = await send(path, options);
    if (response.status !== 401 || n === tries) return response;
    const { error } = await response.clone().json().catch(() => ({}));
    if (error?.code === 'stale') learn(error);
    else if (error?.code === 'replayed') { // the browser has sent it again by itself, since its connection broke before the answer
      if ((options?.method ?? 'GET') !== 'GET') throw new TypeError('the answer was lost');
    } else if (options.as) return response;
    else if (path === keysPath || !await loadKey() || !browser) return response;
  }
}

// send waits for an answer no longer than patience, unless signal says else: a connection can die without a word, as when a
// phone changes its network.
async function send(path, { method = 'GET', body = '', signal = AbortSignal.timeout(patience), as = browser }) {
  try {
    while (!start) {
      const answer = await askStart();
      if (!answer.ok) return answer.clone(); // a refusal, or a proxy's word that nobody answers it
    }
    const of = start; // another request may forget it while this one is signed
    const isText = typeof body === 'string';
    const headers = body ? { 'Content-Type': isText ? 'application/json' : 'application/octet-stream' } : {};
    const bytes = isText ? new TextEncoder().encode(body) : body;
    if (as) Object.assign(headers, await sign(as, of, method, path, bytes));
    const response = await fetch(path, { ...bare, method, headers, signal, body: body ? bytes : undefined });
    if (response.ok && browser && as === browser && path !== keysPath) changeInTime();
    return response;
  } catch (error) {
    if (error.name !== 'AbortError') forgetStart(); // who gave it up knows nothing of the daemon
    throw error;
  }
}

let askingStart = null;

// askStart learns of the daemon's start, once for all who need it, and returns what was answered.
const askStart = () => {
  askingStart ??= (async () => {
    try {
      const answer = await fetch(startPath, { ...bare, signal: AbortSignal.timeout(startPatience) });
      if (answer.ok) learn(await answer.json().catch(() => null));
      return answer;
    } finally {
      askingStart = null;
    }
  })();
  return askingStart;
};

// forgetStart is called when a connection broke: another start of the daemon may be the
// next to answer.
export function forgetStart() {
  start = null;
}

// bare is for requests that carry nothing but what's in them, and go nowhere else.
const bare = { credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer' };

function learn(said) {
  if (typeof said?.start !== 'string' || typeof said.now !== 'number') throw new TypeError('what answers isn’t panebridge');
  start = { name: said.start, ahead: said.now * 1000 - Date.now() };
}

async function sign(signer, of, method, path, body) {
  const digest = `sha-256=:${base64(await crypto.subtle.digest('SHA-256', body))}:`;
  const url = new URL(path, location.origin);
  const created = Math.floor((Date.now() + of.ahead) / 1000);
  const nonce = base64(crypto.getRandomValues(new Uint8Array(18))).replace(/\+/g, '-').replace(/\//g, '_');
  const params = '("@method" "@authority" "@request-target" "content-digest" "panebridge-start")'
    + `;created=${created};nonce="${nonce}";keyid="${signer.id}";alg="ecdsa-p256-sha256";tag="panebridge-page"`;
  const signed = [
    `"@method": ${method}`,
    `"@authority": ${location.host}`,
    `"@request-target": ${url.pathname}${url.search}`,
    `"content-digest": ${digest}`,
    `"panebridge-start": ${of.name}`,
    `"@signature-params": ${params}`,
  ].join('\n');
  const signature = await crypto.subtle.sign(algorithm, signer.key, new TextEncoder().encode(signed));
  return {
    'Content-Digest': digest,
    'Panebridge-Start': of.name,
    'Signature-Input': `sig=${params}`,
    Signature: `sig=:${base64(signature)}:`,
  };
}

const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

// This module is a file of its own, which comes before the others: what takes long is begun here,
// while they're on their way. Whoever needs it then hears of what went wrong.
if (supported()) {
  opened = openStore();
  for (const promise of [opened, askStart()]) promise.catch(() => {});
}
