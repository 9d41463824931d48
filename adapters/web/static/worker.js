'use strict';

import { lastAlert, noteAlert } from './alerts.js';
import { lastSeen, noteSeen } from './seen.js';

// The service worker: it shows the alerts that the daemon pushes (internal/push), and a word when the daemon can't be
// reached. It keeps no file and no text: all that it answers by itself is made here, and every visit asks the daemon. A proxy
// may have other sites beside the page: what isn't the page's is left alone.

const icon = '/icon-192.png';
const badge = '/badge-96.png';
const answerTime = 1000; // milliseconds, for a tab to say how it stands

addEventListener('install', () => skipWaiting());

addEventListener('activate', (event) => event.waitUntil(takeOver()));

// takeOver ends what another worker has left: a stranger's server may have had this address, and its files be kept. Tabs
// that such a one has filled are loaded anew.
async function takeOver() {
  for (const name of await caches.keys()) await caches.delete(name);
  await registration.navigationPreload?.enable();
  const before = await clients.matchAll({ type: 'window' }); // those that the one before has served
  await clients.claim();
  for (const tab of before) tab.navigate(tab.url).catch(() => {}); // it isn't waited for: what it asks for waits for this
}

addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate' && isPage(event.request.url)) event.respondWith(visit(event));
});

// isPage says whether the page is at an address: at the root, or where it lets a browser in (gate.js).
function isPage(address) {
  const { pathname } = new URL(address);
  return pathname === '/' || pathname.startsWith('/new/');
}

// openTabs are those with the page, the one that was looked at last first.
const openTabs = async () => (await clients.matchAll({ type: 'window', includeUncontrolled: true })).filter((tab) => isPage(tab.url));

const nobody = [502, 503, 504]; // a proxy with nobody behind it

// visit asks the daemon for the page.
async function visit(event) {
  try {
    const response = await event.preloadResponse ?? await fetch(event.request);
    if (!nobody.includes(response.status)) {
      event.waitUntil(noteSeen());
      return response;
    }
  } catch {
    // nobody answers
  }
  return unreachable();
}

const dayAndTime = (at) => new Date(at).toLocaleString([], { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' });

// unreachable is the page while nobody answers. It looks every few seconds whether somebody does.
async function unreachable() {
  const at = await lastSeen();
  const nonce = crypto.randomUUID();
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>panebridge can’t be reached</title>
<style nonce="${nonce}">
:root { color-scheme: light dark; }
body { display: grid; min-height: 100dvh; margin: 0; place-items: center; background: light-dark(#f6f7f8, #101418); color: light-dark(#1d2329, #dfe4e9); font: 15px/1.45 system-ui, sans-serif; }
main { box-sizing: border-box; width: min(440px, 100%); padding: 24px; }
h1 { margin: 0 0 8px; font-size: 20px; }
p { margin: 0 0 12px; }
button { min-width: 44px; min-height: 44px; padding: 0 16px; border: 1px solid light-dark(#d9dee3, #2c343c); border-radius: 8px; background: light-dark(#ffffff, #171c21); color: inherit; font: inherit; cursor: pointer; }
button:focus-visible { outline: 2px solid light-dark(#12705f, #4cc2ab); outline-offset: 2px; }
</style>
</head>
<body>
<main>
<h1>panebridge can’t be reached</h1>
<p id="since">${at ? `It was reached last on ${dayAndTime(at)}.` : 'It isn’t known when it was reached last.'}</p>
<p>Is it running, and is this device in its network? The page comes by itself when it’s there.</p>
<button id="again" type="button">Try again</button>
</main>
<script nonce="${nonce}">
const look = () => fetch('/api/v1/page/start', { cache: 'no-store', credentials: 'omit' }).then((answer) => { if (answer.ok) location.reload(); }, () => {});
document.getElementById('again').addEventListener('click', () => location.reload());
setInterval(look, 4000);
navigator.serviceWorker?.addEventListener('message', ({ data }) => { if (typeof data?.open === 'string') location.hash = data.open; });
</script>
</body>
</html>
`;
  return new Response(html, {
    status: 503,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'`,
    },
  });
}

let showing = Promise.resolve(); // of one message after the other, since each goes by what's there

addEventListener('push', (event) => {
  const message = read(event.data);
  showing = showing.then(() => show(message)).catch(() => {}); // a browser that shows nothing says so itself
  event.waitUntil(showing);
});

// read reads what was pushed; what can't be read is said to be news, since a browser wants something to be shown.
function read(data) {
  try {
    const message = data.json();
    if (typeof message.tag === 'string') return message;
  } catch {
    // it's none of the daemon's
  }
  return { tag: 'news', session: '', title: 'panebridge', text: 'There’s something new.', key: '', sent: Date.now() };
}

// isLookedAt says whether somebody sees a page that's in touch with the daemon. One that isn't, as the one that says so, doesn't
// show what's pushed.
async function isLookedAt() {
  const seen = (await openTabs()).filter((tab) => tab.visibilityState === 'visible');
  return (await Promise.all(seen.map(isInTouch))).includes(true);
}

// isInTouch asks a tab whether what it shows is so now. One that doesn't answer soon isn't.
const isInTouch = (tab) => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => resolve(data === true);
  setTimeout(resolve, answerTime, false);
  tab.postMessage({ asks: 'in touch' }, [port2]);
});

// show shows an alert in the place of what's shown of its session. Browsers want each push to show something
// (userVisibleOnly), else they say by themselves that the page did something, or send no more: so what holds no longer is
// said without a sound, and goes when the page is looked at.
async function show(message) {
  const [shown] = await registration.getNotifications({ tag: message.tag });
  const last = await lastAlert(message.tag) ?? shown?.data;
  const isLate = last?.sent > message.sent; // they may come in another order
  const newest = isLate ? inPlaceOf(message, shown) : message;
  const lookedAt = await isLookedAt();
  const isKnown = last?.key === newest.key && !last.over; // somebody may have dismissed it
  const isQuiet = lookedAt || isLate || isKnown || Boolean(newest.over);
  await registration.showNotification(newest.title, {
    body: newest.text,
    tag: newest.tag,
    icon,
    badge,
    timestamp: Math.min(newest.sent, Date.now()),
    silent: isQuiet,
    renotify: !isQuiet,
    data: { session: newest.session, key: newest.key, over: Boolean(newest.over), sent: newest.sent },
  });
  if (!isLate) await noteAlert(newest.tag, newest);
  if (newest.over && lookedAt) for (const one of await registration.getNotifications({ tag: newest.tag })) one.close();
}

// inPlaceOf is what's shown for a message that comes too late: what's there, or, if that was closed, that it's over.
function inPlaceOf(late, shown) {
  if (shown) return { ...shown.data, tag: shown.tag, title: shown.title, text: shown.body };
  return { ...late, over: true, text: 'That’s over by now' };
}

// The browser has changed the subscription, or given it up. Only the page can tell the daemon: its key isn't the worker's.
addEventListener('pushsubscriptionchange', (event) => event.waitUntil(sayChanged()));

async function sayChanged() {
  if (!await isLookedAt()) {
    await registration.showNotification('panebridge', {
      body: 'This device isn’t notified until the page is opened: the browser has changed its subscription.', tag: 'subscription', icon, badge, data: { session: '', key: '' },
    }).catch(() => {}); // it isn't allowed any more
  }
  for (const tab of await openTabs()) tab.postMessage({ subscription: 'changed' }); // which closes it when all is right
}

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.session ?? ''));
});

// open shows a session: in a tab that's there, else in a new one.
async function open(session) {
  const [tab] = await openTabs();
  if (!tab) {
    await clients.openWindow(`/#${encodeURIComponent(session)}`);
    return;
  }
  tab.postMessage({ open: session });
  await tab.focus().catch(() => {}); // a browser may not allow it
}
