// Made by `make generate` from adapters/web/static: change the sources.
"use strict";
(() => {
  // seen.js
  var noteEvery = 15e3;
  var noted = 0;
  var done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  async function withTimes(mode, fn) {
    const opening = indexedDB.open("panebridge-seen", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("times");
    const db = await done(opening);
    try {
      return await done(fn(db.transaction("times", mode).objectStore("times")));
    } finally {
      db.close();
    }
  }
  async function noteSeen() {
    if (Date.now() - noted < noteEvery) return;
    noted = Date.now();
    await withTimes("readwrite", (store) => store.put(noted, "seen")).catch(() => {
    });
  }
  var lastSeen = () => withTimes("readonly", (store) => store.get("seen")).then((at) => Number(at) || 0, () => 0);

  // alerts.js
  var keptFor = 2 * 24 * 3600 * 1e3;
  var patience = 2e3;
  var inTime = (doing) => Promise.race([doing, new Promise((resolve) => {
    setTimeout(resolve, patience);
  })]).catch(() => {
  });
  var load = async () => await inTime(withTimes("readonly", (store) => store.get("alerts"))) ?? {};
  var lastAlert = async (tag) => (await load())[tag];
  async function noteAlert(tag, { sent, key, over }) {
    const now = Date.now();
    const all = Object.entries(await load()).filter(([, { at }]) => Math.abs(now - at) < keptFor);
    const kept = { ...Object.fromEntries(all), [tag]: { sent, key, over: Boolean(over), at: now } };
    await inTime(withTimes("readwrite", (store) => store.put(kept, "alerts")));
  }

  // worker.js
  var icon = "/icon-192.png";
  var badge = "/badge-96.png";
  var answerTime = 1e3;
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(takeOver()));
  async function takeOver() {
    for (const name of await caches.keys()) await caches.delete(name);
    await registration.navigationPreload?.enable();
    const before = await clients.matchAll({ type: "window" });
    await clients.claim();
    for (const tab of before) tab.navigate(tab.url).catch(() => {
    });
  }
  addEventListener("fetch", (event) => {
    if (event.request.mode === "navigate" && isPage(event.request.url)) event.respondWith(visit(event));
  });
  function isPage(address) {
    const { pathname } = new URL(address);
    return pathname === "/" || pathname.startsWith("/new/");
  }
  var openTabs = async () => (await clients.matchAll({ type: "window", includeUncontrolled: true })).filter((tab) => isPage(tab.url));
  var nobody = [502, 503, 504];
  async function visit(event) {
    try {
      const response = await event.preloadResponse ?? await fetch(event.request);
      if (!nobody.includes(response.status)) {
        event.waitUntil(noteSeen());
        return response;
      }
    } catch {
    }
    return unreachable();
  }
  var dayAndTime = (at) => new Date(at).toLocaleString([], { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" });
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
<p id="since">${at ? `It was reached last on ${dayAndTime(at)}.` : "It isn’t known when it was reached last."}</p>
<p>Is it running, and is this device in its network? The page comes by itself when it’s there.</p>
<button id="again" type="button">Try again</button>
</main>
<script nonce="${nonce}">
const look = () => fetch('/api/v1/page/start', { cache: 'no-store', credentials: 'omit' }).then((answer) => { if (answer.ok) location.reload(); }, () => {});
document.getElementById('again').addEventListener('click', () => location.reload());
setInterval(look, 4000);
navigator.serviceWorker?.addEventListener('message', ({ data }) => { if (typeof data?.open === 'string') location.hash = data.open; });
<\/script>
</body>
</html>
`;
    return new Response(html, {
      status: 503,
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Security-Policy": `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'`
      }
    });
  }
  var showing = Promise.resolve();
  addEventListener("push", (event) => {
    const message = read(event.data);
    showing = showing.then(() => show(message)).catch(() => {
    });
    event.waitUntil(showing);
  });
  function read(data) {
    try {
      const message = data.json();
      if (typeof message.tag === "string") return message;
    } catch {
    }
    return { tag: "news", session: "", title: "panebridge", text: "There’s something new.", key: "", sent: Date.now() };
  }
  async function isLookedAt() {
    const seen = (await openTabs()).filter((tab) => tab.visibilityState === "visible");
    return (await Promise.all(seen.map(isInTouch))).includes(true);
  }
  var isInTouch = (tab) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data === true);
    setTimeout(resolve, answerTime, false);
    tab.postMessage({ asks: "in touch" }, [port2]);
  });
  async function show(message) {
    const [shown] = await registration.getNotifications({ tag: message.tag });
    const last = await lastAlert(message.tag) ?? shown?.data;
    const isLate = last?.sent > message.sent;
    const newest = isLate ? inPlaceOf(message, shown) : message;
    const lookedAt = await isLookedAt();
    const isKnown = last?.key === newest.key && !last.over;
    const isQuiet = lookedAt || isLate || isKnown || Boolean(newest.over);
    await registration.showNotification(newest.title, {
      body: newest.text,
      tag: newest.tag,
      icon,
      badge,
      timestamp: Math.min(newest.sent, Date.now()),
      silent: isQuiet,
      renotify: !isQuiet,
      data: { session: newest.session, key: newest.key, over: Boolean(newest.over), sent: newest.sent }
    });
    if (!isLate) await noteAlert(newest.tag, newest);
    if (newest.over && lookedAt) for (const one of await registration.getNotifications({ tag: newest.tag })) one.close();
  }
  function inPlaceOf(late, shown) {
    if (shown) return { ...shown.data, tag: shown.tag, title: shown.title, text: shown.body };
    return { ...late, over: true, text: "That’s over by now" };
  }
  addEventListener("pushsubscriptionchange", (event) => event.waitUntil(sayChanged()));
  async function sayChanged() {
    if (!await isLookedAt()) {
      await registration.showNotification("panebridge", {
        body: "This device isn’t notified until the page is opened: the browser has changed its subscription.",
        tag: "subscription",
        icon,
        badge,
        data: { session: "", key: "" }
      }).catch(() => {
      });
    }
    for (const tab of await openTabs()) tab.postMessage({ subscription: "changed" });
  }
  addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(open(event.notification.data?.session ?? ""));
  });
  async function open(session) {
    const [tab] = await openTabs();
    if (!tab) {
      await clients.openWindow(`/#${encodeURIComponent(session)}`);
      return;
    }
    tab.postMessage({ open: session });
    await tab.focus().catch(() => {
    });
  }
})();
