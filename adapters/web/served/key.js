// Made by `make generate` from adapters/web/static: change the sources.

// key.js
var startPath = "/api/v1/page/start";
var keysPath = "/api/v1/page/keys";
var mePath = "/api/v1/page/me";
var changeEvery = 7 * 24 * 3600 * 1e3;
var patience = 6e4;
var startPatience = 1e4;
var tries = 3;
var algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
var browser = null;
var waiting = null;
var start = null;
var supported = () => Boolean(globalThis.isSecureContext && crypto.subtle && globalThis.indexedDB && navigator.locks);
var known = () => Boolean(browser);
var browserID = () => browser?.id ?? "";
var waits = () => waiting && Date.now() < waiting.until ? waiting.number : "";
var done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
function openStore() {
  const opening = indexedDB.open("panebridge", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
  return done(opening);
}
var opened = null;
async function withStore(mode, fn) {
  const store = opened ?? openStore();
  opened = null;
  const db = await store;
  try {
    return await fn(db.transaction("keys", mode).objectStore("keys"));
  } finally {
    db.close();
  }
}
async function loadKey() {
  const was = browser;
  const [itsKey, waitingKey] = await withStore("readonly", (store) => Promise.all([done(store.get("browser")), done(store.get("waiting"))]));
  browser = itsKey ?? null;
  waiting = waitingKey ?? null;
  return browser?.id !== was?.id || browser?.changeAt !== was?.changeAt;
}
var enter = (token) => navigator.locks.request("panebridge-key", async () => {
  await loadKey();
  return changeKey(token);
});
async function changeKey(token) {
  const pair = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const key = base64(await crypto.subtle.exportKey("raw", pair.publicKey));
  const response = await signedFetch(keysPath, { method: "POST", body: JSON.stringify({ token, key }) });
  if (!response.ok) return response;
  const answer = await response.clone().json();
  learn(answer);
  if (response.status === 202) {
    waiting = { id: answer.id, key: pair.privateKey, number: answer.number, until: Date.now() + Date.parse(answer.expires) - answer.now * 1e3 };
    await withStore("readwrite", (store) => done(store.put(waiting, "waiting")));
    return response;
  }
  browser = { id: answer.id, key: pair.privateKey, changeAt: Date.now() + changeEvery };
  await withStore("readwrite", (store) => done(store.put(browser, "browser")));
  return response;
}
async function isLetIn() {
  await loadKey();
  return known() && (await signedFetch(mePath, {})).ok;
}
var askWhetherIn = () => navigator.locks.request("panebridge-key", async () => {
  await loadKey();
  if (!waiting) return known() ? "in" : "declined";
  const response = await signedFetch(mePath, { as: waiting });
  if (response.status === 401) {
    const { error } = await response.json().catch(() => ({}));
    if (error?.code === "waiting") return "waiting";
  }
  if (!response.ok && response.status !== 401) return "waiting";
  if (response.ok) browser = { id: waiting.id, key: waiting.key, changeAt: Date.now() + changeEvery };
  await withStore("readwrite", (store) => {
    if (response.ok) store.put(browser, "browser");
    return done(store.delete("waiting"));
  });
  waiting = null;
  return response.ok ? "in" : "declined";
});
function changeInTime() {
  if (Date.now() < browser.changeAt) return;
  navigator.locks.request("panebridge-key", { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    await loadKey();
    if (browser && Date.now() >= browser.changeAt) await changeKey("");
  }).catch(() => {
  });
}
async function signedFetch(path, options) {
  for (let n = 1; ; n += 1) {
    const response = await send(path, options);
    if (response.status !== 401 || n === tries) return response;
    const { error } = await response.clone().json().catch(() => ({}));
    if (error?.code === "stale") learn(error);
    else if (error?.code === "replayed") {
      if ((options?.method ?? "GET") !== "GET") throw new TypeError("the answer was lost");
    } else if (options.as) return response;
    else if (path === keysPath || !await loadKey() || !browser) return response;
  }
}
async function send(path, { method = "GET", body = "", signal = AbortSignal.timeout(patience), as = browser }) {
  try {
    while (!start) {
      const answer = await askStart();
      if (!answer.ok) return answer.clone();
    }
    const of = start;
    const isText = typeof body === "string";
    const headers = body ? { "Content-Type": isText ? "application/json" : "application/octet-stream" } : {};
    const bytes = isText ? new TextEncoder().encode(body) : body;
    if (as) Object.assign(headers, await sign(as, of, method, path, bytes));
    const response = await fetch(path, { ...bare, method, headers, signal, body: body ? bytes : void 0 });
    if (response.ok && browser && as === browser && path !== keysPath) changeInTime();
    return response;
  } catch (error) {
    if (error.name !== "AbortError") forgetStart();
    throw error;
  }
}
var askingStart = null;
var askStart = () => {
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
function forgetStart() {
  start = null;
}
var bare = { credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" };
function learn(said) {
  if (typeof said?.start !== "string" || typeof said.now !== "number") throw new TypeError("what answers isn’t panebridge");
  start = { name: said.start, ahead: said.now * 1e3 - Date.now() };
}
async function sign(signer, of, method, path, body) {
  const digest = `sha-256=:${base64(await crypto.subtle.digest("SHA-256", body))}:`;
  const url = new URL(path, location.origin);
  const created = Math.floor((Date.now() + of.ahead) / 1e3);
  const nonce = base64(crypto.getRandomValues(new Uint8Array(18))).replace(/\+/g, "-").replace(/\//g, "_");
  const params = `("@method" "@authority" "@request-target" "content-digest" "panebridge-start");created=${created};nonce="${nonce}";keyid="${signer.id}";alg="ecdsa-p256-sha256";tag="panebridge-page"`;
  const signed = [
    `"@method": ${method}`,
    `"@authority": ${location.host}`,
    `"@request-target": ${url.pathname}${url.search}`,
    `"content-digest": ${digest}`,
    `"panebridge-start": ${of.name}`,
    `"@signature-params": ${params}`
  ].join("\n");
  const signature = await crypto.subtle.sign(algorithm, signer.key, new TextEncoder().encode(signed));
  return {
    "Content-Digest": digest,
    "Panebridge-Start": of.name,
    "Signature-Input": `sig=${params}`,
    Signature: `sig=:${base64(signature)}:`
  };
}
var base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
if (supported()) {
  opened = openStore();
  for (const promise of [opened, askStart()]) promise.catch(() => {
  });
}
export {
  askWhetherIn,
  browserID,
  enter,
  forgetStart,
  isLetIn,
  known,
  loadKey,
  signedFetch,
  supported,
  waits
};
