// Made by `make generate` from adapters/web/static: change the sources.

// dom.js
var byId = (id) => document.getElementById(id);
function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== void 0) e.textContent = text;
  return e;
}
function smallButton(text, fn, role = "") {
  const button2 = element("button", `button small ${role}`.trim(), text);
  button2.type = "button";
  button2.addEventListener("click", fn);
  return button2;
}
function whenClosed(dialog, fn) {
  dialog.addEventListener("close", () => {
    if (!dialog.open) fn();
  });
}
function copyButton(text) {
  const button2 = element("button", "copy", "Copy");
  button2.type = "button";
  button2.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button2.textContent = "Copied";
    } catch {
      toast("The browser doesn’t let the page copy. Select the text instead.");
      return;
    }
    setTimeout(() => {
      button2.textContent = "Copy";
    }, 2e3);
  });
  return button2;
}
var toastTimer = 0;
function toast(text) {
  const box = byId("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    box.hidden = true;
  }, 6e3);
}
function clock(iso, now = /* @__PURE__ */ new Date()) {
  const at = new Date(iso);
  if (!iso || Number.isNaN(at.getTime())) return "";
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.toLocaleDateString([], { day: "numeric", month: "short", year: at.getFullYear() === now.getFullYear() ? void 0 : "numeric" })} ${time}`;
}
var painted = () => new Promise((resolve) => {
  if (document.hidden) setTimeout(resolve);
  else requestAnimationFrame(() => setTimeout(resolve));
});

// api.js
import { signedFetch } from "./key.js";
var APIError = class extends Error {
  constructor(status, code, message, prompt) {
    super(message);
    this.prompt = prompt;
    this.status = status;
    this.code = code;
  }
};
var base = "/api/v1/";
var patience = 1e4;
var searchPatience = 2e4;
var keysPatience = 4e3;
var partPatience = 12e4;
var filePatience = 6e5;
var sessionPath = (id, rest = "") => `sessions/${encodeURIComponent(id)}${rest}`;
function query(params) {
  const text = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== void 0)).toString();
  return text && `?${text}`;
}
async function call(method, path, body, signal) {
  const response = await signedFetch(base + path, { method, signal, body: body && JSON.stringify(body) }).catch((error) => {
    throw away(error);
  });
  if (!response.ok) throw await refusal(response);
  return response;
}
var away = (error) => error instanceof TypeError || error.name === "TimeoutError" ? unreachable() : error;
var unreachable = () => new APIError(0, "away", "panebridge isn’t reachable. The page goes on by itself when it is.");
var isAway = (error) => error.code === "away";
async function refusal(response) {
  try {
    const { error } = await response.json();
    if (typeof error.code !== "string") throw new TypeError("what answers isn’t panebridge");
    return new APIError(response.status, error.code, error.message, error.prompt);
  } catch {
    if ([502, 503, 504].includes(response.status)) return unreachable();
    return new APIError(response.status, "http", `the server answered ${response.status}`);
  }
}
function marked(data) {
  const byNumber = new Map(data.lines.map((line) => [line.n, line]));
  for (const secret of data.secrets ?? []) {
    const line = byNumber.get(secret.n);
    if (line) (line.secrets ??= []).push(secret);
  }
  return data;
}
var json = async (...args) => {
  const response = await call(...args);
  return response.json().catch((error) => {
    throw away(error);
  });
};
async function getMarkdown(blocks) {
  const response = await signedFetch("/markdown", { method: "POST", body: JSON.stringify({ blocks }) });
  if (!response.ok) throw await refusal(response);
  return response.json();
}
var getMe = () => json("GET", "page/me", void 0, AbortSignal.timeout(patience));
var getPage = () => json("GET", "page");
var revokeBrowser = (id) => call("DELETE", `page/browsers/${encodeURIComponent(id)}`);
var getPush = () => json("GET", "page/push", void 0, AbortSignal.timeout(patience));
var putPush = (subscription2) => json("POST", "page/push", subscription2);
var dropPush = () => call("DELETE", "page/push");
var listAdapters = () => json("GET", "adapters", void 0, AbortSignal.timeout(patience));
var listAccess = () => json("GET", "access");
var grantAccess = (person, role) => call("POST", "access", { person, role });
var revokeAccess = (person, role) => json("DELETE", `access/${encodeURIComponent(person)}?role=${encodeURIComponent(role)}`);
async function listSessions(most7, id) {
  const response = await call("GET", `sessions?ended=${most7}&with=${encodeURIComponent(id)}`, void 0, AbortSignal.timeout(patience));
  const count = response.headers.get("Panebridge-Ended");
  if (count === null) throw unreachable();
  return { sessions: await response.json().catch((error) => {
    throw away(error);
  }), ended: Number(count) };
}
var listAgents = () => json("GET", "agents");
var listConversations = (agent, folder) => json("GET", `agents/${encodeURIComponent(agent)}/conversations?folder=${encodeURIComponent(folder)}`);
var createSession = (body) => json("POST", "sessions", body);
var closeSession = (id) => call("DELETE", sessionPath(id, "?state=living"));
var forgetSession = (id) => call("DELETE", sessionPath(id, "?state=ended"));
var restartSession = (id) => call("POST", sessionPath(id, "/restart"));
var renameSession = (id, name) => json("POST", sessionPath(id, "/name"), { name });
var bindSession = (id, binding) => json("POST", sessionPath(id, "/bindings"), binding);
var unbindSession = (id) => call("DELETE", `bindings/${encodeURIComponent(id)}`);
async function sendFilePart(id, place, bytes, signal) {
  const response = await signedFetch(`${base}${sessionPath(id, "/files")}?${new URLSearchParams(place)}`, { method: "POST", body: bytes, signal: AbortSignal.any([signal, AbortSignal.timeout(partPatience)]) }).catch((error) => {
    throw away(error);
  });
  if (!response.ok) throw await refusal(response);
  return response.json();
}
async function getFile(id, path) {
  const response = await call("GET", sessionPath(id, `/files?path=${encodeURIComponent(path)}`), void 0, AbortSignal.timeout(filePatience));
  return response.blob().catch((error) => {
    throw away(error);
  });
}
var listExhibits = (id) => json("GET", sessionPath(id, "/exhibits"));
async function exhibitContent(id, exhibit) {
  const response = await call("GET", sessionPath(id, `/exhibits/${encodeURIComponent(exhibit)}/content`), void 0, AbortSignal.timeout(filePatience));
  return response.blob().catch((error) => {
    throw away(error);
  });
}
var sendInput = (id, text, key5) => json("POST", sessionPath(id, "/input"), { text, submit: true, key: key5 }, AbortSignal.timeout(patience));
var withdrawInput = (id, text, key5, onlyLate) => json("POST", sessionPath(id, "/input/withdraw"), { text, submit: true, key: key5, only_late: onlyLate }, AbortSignal.timeout(patience));
var pressKeys = (id, keys, frame) => call("POST", sessionPath(id, "/keys"), { keys, frame }, AbortSignal.timeout(keysPatience));
var goOn = (id) => json("POST", sessionPath(id, "/continuation"));
var goOnNot = (id) => call("DELETE", sessionPath(id, "/continuation"));
var getReceipt = (id) => json("GET", `receipts/${encodeURIComponent(id)}`);
var cancelReceipt = (id) => json("DELETE", `receipts/${encodeURIComponent(id)}`);
var openReceipts = (id) => json("GET", sessionPath(id, "/receipts"));
var sendAnyway = (id, quoted, revival) => json("POST", `receipts/${encodeURIComponent(id)}/anyway`, { quoted, revival });
var listPrompts = () => json("GET", "prompts");
var getPrompt = (id) => json("GET", `prompts/${encodeURIComponent(id)}`);
var answerPrompt = (id, body) => json("POST", `prompts/${encodeURIComponent(id)}/answer`, body);
var getOutput = async (id, from, limit) => marked(await json("GET", sessionPath(id, `/output?from=${from}&limit=${limit}`)));
var searchLines = ({ q, session, limit, skip }, signal) => json("GET", `search${query({ q, session, limit, skip })}`, void 0, AbortSignal.any([signal, AbortSignal.timeout(searchPatience)]));
var listFleets = () => json("GET", "fleets");
var listLetters = () => json("GET", "mail");
var sendLetter = (letter) => json("POST", "mail", letter);
var settleLetter = (id) => call("DELETE", `mail/${encodeURIComponent(id)}`);
var getAnswered = (id, { from, to }) => json("GET", sessionPath(id, `/prompts${query({ from, to })}`));
var getProgress = (id, lines) => json("GET", sessionPath(id, `/progress?lines=${lines.join(",")}`));
var getTurns = (id, { from, to, limit, order, notable }) => json("GET", sessionPath(id, `/turns${query({ from, to, limit, order, notable })}`));
var getTool = (id, n, secrets) => json("GET", sessionPath(id, `/tools/${n}?secrets=${secrets}`));
var getDiff = (id, { file, since }) => json("GET", sessionPath(id, `/diff${query({ file: file || void 0, since: since || void 0 })}`));
var getScreen = async (id, secrets) => (await call("GET", sessionPath(id, `/screen?format=html&secrets=${secrets}`))).text();
var openTerminal = (id, secrets, abort) => openStream(sessionPath(id, `/terminal?secrets=${secrets}`), abort);
var openEvents = (id, { from, last: last2 }, abort) => openStream(`events${query({ session: id, from, last: last2 })}`, abort);
async function openStream(path, abort) {
  const timer = setTimeout(() => abort.abort(), patience);
  try {
    return await call("GET", path, void 0, abort.signal);
  } finally {
    clearTimeout(timer);
  }
}

// kept.js
function loadKept(key5) {
  try {
    return JSON.parse(localStorage.getItem(key5));
  } catch {
    return null;
  }
}
function saveKept(key5, value) {
  try {
    if (value === null) {
      localStorage.removeItem(key5);
      return localStorage.getItem(key5) === null;
    }
    const text = JSON.stringify(value);
    localStorage.setItem(key5, text);
    return localStorage.getItem(key5) === text;
  } catch {
    return false;
  }
}
function keptKeys(prefix3) {
  try {
    return Object.keys(localStorage).filter((key5) => key5.startsWith(prefix3));
  } catch {
    return [];
  }
}

// drafts.js
var prefix = "panebridge.draft.";
var most = 50;
var mostCharacters = 2 * 1024 * 1024;
var here = /* @__PURE__ */ new Map();
function load(id) {
  const kept4 = here.get(id) ?? loadKept(prefix + id);
  return typeof kept4?.text === "string" && typeof kept4.at === "number" ? kept4 : null;
}
var ids = () => [.../* @__PURE__ */ new Set([...here.keys(), ...keptKeys(prefix).map((key5) => key5.slice(prefix.length))])];
var draftOf = (id) => load(id)?.text ?? "";
var isForgotten = (id) => load(id) === null;
function keepDraft(id, text) {
  if (!text && isForgotten(id)) return;
  const draft = { text, at: Date.now() };
  if (saveKept(prefix + id, draft)) here.delete(id);
  else here.set(id, draft);
  forgetOldest(id);
}
function forgetOldest(but) {
  const all = ids();
  if (all.length <= most && draftOf(but).length < mostCharacters / most) return;
  const at = new Map(all.map((id) => [id, id === but ? Infinity : load(id)?.at ?? 0]));
  let characters = 0;
  for (const [i, id] of all.sort((a, b) => at.get(b) - at.get(a)).entries()) {
    characters += draftOf(id).length;
    if (i >= most || i > 0 && characters > mostCharacters) forget(id);
  }
}
function forget(id) {
  here.delete(id);
  saveKept(prefix + id, null);
}
function moveDraft(from, to) {
  const text = draftOf(from);
  if (text === "") return;
  keepDraft(to, text);
  keepDraft(from, "");
}
function forgetDrafts(isGone = () => true) {
  for (const id of ids()) if (isGone(id, load(id)?.at ?? 0)) forget(id);
}
function onDraft(id, fn, signal) {
  window.addEventListener("storage", (event) => {
    if (event.key === prefix + id) fn();
  }, { signal });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) fn();
  }, { signal });
}

// outgoing.js
var prefix2 = "panebridge.outgoing.";
var patience2 = 12e4;
var firstPause = 1e3;
var mostPause = 1e4;
var slowAfter = 1500;
var most2 = 200;
var page = crypto.randomUUID();
var lockOf = (id) => `panebridge-page ${id}`;
navigator.locks?.request(lockOf(page), () => new Promise(() => {
}));
var texts = [];
var keeps = true;
var written = /* @__PURE__ */ new Map();
var wanted = /* @__PURE__ */ new Set();
var composers = /* @__PURE__ */ new Map();
var pausing = /* @__PURE__ */ new Map();
var senders = /* @__PURE__ */ new Set();
var withdrawing = /* @__PURE__ */ new Map();
var returned = /* @__PURE__ */ new Map();
var resuming = null;
var find = (key5) => texts.find((t) => t.key === key5);
function save() {
  const known3 = texts.filter((t) => t.receipt);
  const old = new Set(known3.slice(0, Math.max(0, known3.length - most2)));
  texts = texts.filter((t) => !old.has(t));
  const isKept = saveKept(prefix2 + page, texts.length > 0 ? texts : null);
  if (!isKept && keeps) toast("The browser has no room left: what isn’t sent yet is lost if you close or reload the page.");
  keeps = isKept;
}
window.addEventListener("beforeunload", (event) => {
  if (!keeps && texts.some((t) => !t.receipt)) event.preventDefault();
});
function change(one, values) {
  Object.assign(one, values);
  save();
}
function drop(one) {
  const isThere = texts.includes(one);
  texts = texts.filter((t) => t !== one);
  save();
  return isThere;
}
var outgoing = (session) => texts.filter((t) => t.session === session && !t.receipt && t.unsent === void 0);
var unsent = (session) => texts.filter((t) => t.session === session && t.unsent !== void 0);
var stranded = (isThere) => texts.filter((t) => t.unsent !== void 0 && !isThere(t.session));
var receiptsOf = (session) => texts.filter((t) => t.session === session && t.receipt).map((t) => t.receipt);
var byReceipt = (id) => texts.find((t) => t.receipt === id);
function noteReceipt(receipt) {
  const one = receipt.key && find(receipt.key);
  if (one && !one.receipt && one.unsent === void 0) take(one, receipt);
}
var textSent = (receipt) => byReceipt(receipt)?.text;
async function keyOf(receipt) {
  await resuming;
  const one = byReceipt(receipt.id) ?? find(receipt.key);
  return one?.unsent === void 0 ? one?.key : void 0;
}
function keptText(key5) {
  const all = keptKeys(prefix2).flatMap((name) => loadKept(name) ?? []);
  return all.find((t) => key5 && t?.key === key5)?.text;
}
function noteTakenBack(receipt) {
  const one = byReceipt(receipt.id);
  if (!one || one.back) return;
  if (draftOf(one.session).includes(one.text)) drop(one);
  else notSent(one, "it was taken back elsewhere");
}
function settle(receipt) {
  const one = byReceipt(receipt);
  if (one && !one.back) drop(one);
}
function dismiss(key5) {
  const one = find(key5);
  if (one) drop(one);
}
function watchOutgoing(session, composer) {
  composers.set(session, composer);
  return () => {
    if (composers.get(session) === composer) composers.delete(session);
  };
}
var drawn = (session) => composers.get(session)?.drawOutgoing();
function sendText(session, text) {
  const key5 = crypto.randomUUID();
  written.set(key5, performance.now());
  texts.push({ session, text, key: key5, at: Date.now() });
  save();
  drawn(session);
  sendAll(session);
}
function resumeOutgoing() {
  resuming = takeUp();
}
async function takeUp() {
  const isText = (t) => ["session", "text", "key"].every((name) => typeof t?.[name] === "string");
  const others = keptKeys(prefix2).filter((key5) => key5 !== prefix2 + page);
  if (others.length === 0) return;
  await navigator.locks.request("panebridge-left", async () => {
    const { held: held2 } = await navigator.locks.query();
    for (const key5 of others) {
      if (held2.some(({ name }) => name === lockOf(key5.slice(prefix2.length)))) continue;
      const left2 = loadKept(key5);
      for (const { session, text, key: its, at, receipt, back: back2, unsent: why } of Array.isArray(left2) ? left2.filter(isText) : []) {
        if (!find(its)) texts.push({ session, text, key: its, at, tried: at, receipt, back: back2, unsent: why });
      }
      save();
      saveKept(key5, null);
    }
  });
  for (const one of texts) {
    if (one.receipt && one.back) withdraw(one);
    else if (!one.receipt) sendAll(one.session);
    drawn(one.session);
  }
}
function retryOutgoing() {
  for (const end of [...pausing.values()]) end();
}
function takeBack(key5) {
  const one = find(key5);
  if (!one) return;
  wanted.add(key5);
  if (!one.tried) {
    drop(one);
    writeBack(one.session, one.text);
  } else {
    change(one, { back: true });
    if (one.receipt) withdraw(one);
    else pausing.get(key5)?.();
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
var isLate = ({ key: key5, at }) => !written.has(key5) || Math.max(Date.now() - at, performance.now() - written.get(key5)) > patience2;
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
        else await withdraw(one);
        return;
      }
      await pause(one, wait);
    }
  }
}
function withdraw(one) {
  if (!withdrawing.has(one.key)) withdrawing.set(one.key, tryWithdraw(one).finally(() => withdrawing.delete(one.key)));
  return withdrawing.get(one.key);
}
async function tryWithdraw(one) {
  for (let wait = firstPause; texts.includes(one); wait = Math.min(2 * wait, mostPause)) {
    const back2 = Boolean(one.back);
    try {
      const receipt = checkReceipt(await withdrawInput(one.session, one.text, one.key, !back2));
      if (receipt.state === "cancelled") {
        if (!one.back) notSent(one, "nobody answered in time");
        else if (!wanted.has(one.key)) notSent(one, "it was taken back");
        else if (drop(one)) writeBack(one.session, one.text);
        return;
      }
      const isWanted = one.back;
      take(one, receipt);
      if (isWanted && !one.back) toast("It’s typed already.");
      if (back2 || !one.back) return;
    } catch (error) {
      if (isRefused(error)) {
        if (one.receipt) {
          change(one, { back: void 0 });
          toast(error.message);
        } else notSent(one, `nobody knows whether it was; look at the session before you send it again: ${error.message}`);
        return;
      }
      await pause(one, wait);
    }
  }
}
function checkReceipt(answer) {
  if (typeof answer?.id !== "string") throw new TypeError("what answers isn’t panebridge");
  return answer;
}
var isRefused = ({ status, code }) => status >= 400 && status < 500 && code !== "http" && ![408, 425, 429].includes(status);
function take(one, receipt) {
  if (!texts.includes(one)) return;
  if (receipt.state === "cancelled") {
    notSent(one, "it was taken back elsewhere");
    return;
  }
  change(one, { receipt: receipt.id, unsure: void 0, back: receipt.state === "stored" || receipt.state === "held" ? one.back : void 0 });
  drawn(one.session);
  composers.get(one.session)?.follow(receipt);
  if (one.back) withdraw(one);
}
function notSent(one, why) {
  if (!texts.includes(one)) return;
  const queue = outgoing(one.session);
  const behind = queue.slice(queue.indexOf(one) + 1).filter((t) => !t.tried);
  for (const t of queue.includes(one) ? [one, ...behind] : [one]) {
    Object.assign(t, { unsent: t === one ? why : "the one before it wasn’t", receipt: void 0, unsure: void 0, back: void 0 });
  }
  save();
  toast(`Not sent: ${why}`);
  drawn(one.session);
}
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
function writeBack(session, text) {
  const draft = draftOf(session);
  const before2 = returned.get(session);
  const isThere = before2 !== void 0 && (draft === before2 || draft.startsWith(`${before2}
`));
  const back2 = isThere ? `${before2}
${text}` : text;
  const rest = isThere ? draft.slice(before2.length + 1) : draft;
  const whole = rest === "" ? back2 : `${back2}
${rest}`;
  returned.set(session, back2);
  keepDraft(session, whole);
  composers.get(session)?.write(whole);
}
function forgetOutgoing(isGone) {
  const left2 = isGone ? texts.filter((t) => !t.receipt || !isGone(t.session, t.at)) : [];
  if (left2.length < texts.length) {
    texts = left2;
    save();
  }
  if (isGone) return;
  for (const key5 of keptKeys(prefix2)) saveKept(key5, null);
  retryOutgoing();
}
window.addEventListener("online", retryOutgoing);

// words.js
var units = [[86400, "day"], [3600, "hour"], [60, "minute"]];
function agoWords(iso, now = Date.now()) {
  if (!iso) return "";
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1e3));
  for (const [seconds, name] of units) {
    const n = Math.floor(s / seconds);
    if (n > 0) return `${n} ${name}${n === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
function lasting(iso, now = Date.now()) {
  if (!iso) return "";
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1e3));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h${s % 3600 < 60 ? "" : ` ${Math.floor(s % 3600 / 60)} min`}`;
  const days = Math.floor(s / 86400);
  return `${days} day${days === 1 ? "" : "s"}`;
}
function shortAgo(iso, now = Date.now()) {
  if (!iso) return "";
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1e3));
  if (s < 5) return "now";
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 86400) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}
function took(ms) {
  if (!(ms >= 0)) return "";
  const s = ms / 1e3;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
}
var needsYou = (s) => s.state !== "ended" && (s.state === "waiting" || Boolean(s.prompt));
var doneAt = (s) => (s.state === "ended" ? s.ended_at : s.turn?.open ? "" : s.turn?.ended_at) || s.last_output_at || "";
function limitOf(s, now = Date.now()) {
  const limit = s.usage?.limit;
  return limit && !(limit.until && Date.parse(limit.until) <= now) ? limit : null;
}
function limitWords(s, now = Date.now()) {
  const limit = limitOf(s, now);
  if (!limit) return "";
  return limit.until ? `limited until ${clock(limit.until, new Date(now))}` : "limited";
}
function stateWords(s, now = Date.now()) {
  if (needsYou(s)) return join("waits for you", lasting(s.since, now), ", ");
  switch (s.state) {
    case "starting":
      return "starts";
    case "working":
      return join("working", lasting(s.turn?.open ? s.turn.started_at : s.since, now), " for ");
    case "ended":
      return join("ended", agoWords(s.ended_at, now), " ");
    case "error":
      if (limitOf(s, now)) return limitWords(s, now);
      return s.turn?.failed ? join("failed", agoWords(s.turn.ended_at, now), " ") : join("has a problem", s.reason, ": ");
    default:
      if (limitOf(s, now)) return limitWords(s, now);
      if (s.turn?.ended_at) return join(s.turn.failed ? "failed" : "finished", agoWords(s.turn.ended_at, now), " ");
      return join("idle", s.last_output_at && `last line ${agoWords(s.last_output_at, now)}`, ", ");
  }
}
var join = (what, more, between) => more ? what + between + more : what;
function outcome(s) {
  if (s.state === "working" || s.state === "starting") return "";
  if (s.state === "ended" && s.exit) {
    if (s.exit.signal) return `ended by ${s.exit.signal}`;
    if (s.exit.status >= 0) return `exit status ${s.exit.status}`;
  }
  if (s.turn?.failed) return s.turn.failed;
  return Number.isInteger(s.turn?.status) && !s.turn.open ? `exit status ${s.turn.status}` : "";
}
var well = (s) => !s.turn?.failed && !(s.turn?.status > 0) && s.state !== "error" && !(s.exit && (s.exit.status > 0 || s.exit.signal));
var machineWords = (s) => [s.state, s.reason].filter(Boolean).join(": ");
var stepsOf = (agent) => ({ stored: "waiting", held: "held", typing: "being typed", typed: "typed", submitted: `${agent ? "the agent" : "the program"} has it`, answered: agent ? "answered" : "done", failed: "failed", cancelled: "taken back" });
var causes = { queued: "it keeps it until it has time", passed: "whether it was taken up can’t be seen", unverified: "nobody saw it taken" };
var stepWords = (step2, agent) => stepsOf(agent)[step2] ?? step2;
function receiptWords({ state: state2, cause, reason, submit }, agent) {
  if (state2 === "typed" && submit === false) return "typed, without Enter";
  if (state2 === "submitted" && cause === "queued") return join(stepWords("submitted", agent), causes.queued, ": ");
  if (state2 === "submitted" && causes[cause]) return join("sent", causes[cause], ": ");
  const why = ["failed", "held", "stored", "typed"].includes(state2) ? reason : "";
  return join(stepWords(state2, agent), why, ": ");
}

// dialogs.js
function newDialog(created) {
  const dialog = byId("new-dialog");
  for (const button2 of ["new", "inbox-new", "begin"]) {
    byId(button2).addEventListener("click", () => {
      byId("new-error").textContent = "";
      begun = null;
      dialog.showModal();
      byId("new-resume-row").hidden = true;
      offerAgents().then(offerConversations);
    });
  }
  for (const field of ["new-agent", "new-cwd"]) byId(field).addEventListener("change", offerConversations);
  byId("new-cancel").addEventListener("click", () => dialog.close());
  byId("new-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    await attempt("new-create", "new-error", async () => {
      const session = await createSession(keyed(wanted2()));
      begun = null;
      const text = byId("new-text").value;
      byId("new-form").reset();
      dialog.close();
      created(session);
      if (text.trim() !== "") sendText(session.id, text);
    });
  });
}
async function offerAgents() {
  try {
    const { agents, looked_for: names2, looked_in: folders } = await listAgents();
    const list2 = byId("new-agent");
    const chosen2 = list2.value;
    list2.replaceChildren(list2.options[0], ...agents.map((name) => {
      const option = element("option", "", name);
      option.value = name;
      return option;
    }));
    list2.value = agents.includes(chosen2) ? chosen2 : "";
    byId("new-none").hidden = agents.length > 0 || names2.length === 0;
    byId("new-none").textContent = `None of ${names2.join(", ")} is in ${folders.join(", ")}. Another folder’s goes into the configuration, below agents.`;
  } catch (error) {
    byId("new-error").textContent = error.message;
  }
}
async function offerConversations() {
  const [agent, folder] = [byId("new-agent").value, byId("new-cwd").value.trim()];
  const list2 = byId("new-resume");
  list2.value = "";
  byId("new-resume-row").hidden = true;
  if (!agent) return;
  const all = await listConversations(agent, folder).catch(() => []);
  if (byId("new-agent").value !== agent || byId("new-cwd").value.trim() !== folder) return;
  list2.replaceChildren(list2.options[0], ...all.map(({ id, title, changed_at: at, session }) => {
    const option = element("option", "", [title || "(without words)", agoWords(at), session && `it’s ${session}`].filter(Boolean).join(" · "));
    option.value = id;
    option.disabled = Boolean(session);
    return option;
  }));
  byId("new-resume-row").hidden = all.length === 0;
}
var begun = null;
function keyed(request) {
  const text = JSON.stringify(request);
  if (begun?.text !== text) begun = { text, key: crypto.randomUUID() };
  return { ...request, key: begun.key };
}
function wanted2() {
  const value = (id) => byId(id).value.trim();
  return { name: value("new-name"), agent: value("new-agent"), cwd: value("new-cwd"), resume: byId("new-resume-row").hidden ? "" : value("new-resume") };
}
function closeDialog(current3, done2) {
  const dialog = byId("close-dialog");
  let act = async () => {
  };
  const ask = (button2, question) => byId(button2).addEventListener("click", () => {
    const session = current3();
    if (!session) return;
    const { title, text, confirm, call: call2 } = question(session);
    byId("close-title").textContent = title;
    byId("close-text").textContent = text;
    byId("close-confirm").textContent = confirm;
    byId("close-error").textContent = "";
    act = () => call2(session.id);
    dialog.showModal();
    byId("close-cancel").focus();
  });
  ask("close", closing);
  ask("remove", removing);
  ask("restart", restarting);
  byId("close-cancel").addEventListener("click", () => dialog.close());
  byId("close-confirm").addEventListener("click", () => attempt("close-confirm", "close-error", async () => {
    const response = await act();
    dialog.close();
    done2(response.status === 200 ? await response.json() : null);
  }));
}
var closing = ({ name, owned }) => ({
  title: "Close this session?",
  text: owned ? `“${name}” and the program in its pane are ended.` : `“${name}” isn't mirrored any more. Its pane stays as it is.`,
  confirm: "Close",
  call: closeSession
});
var restarting = ({ name, state: state2 }) => ({
  title: state2 === "ended" ? "Begin it again?" : "Start its program anew?",
  text: state2 === "ended" ? `Another session begins with the name “${name}”, with its conversation if the agent can go on with it.` : `The program in the pane of “${name}” is ended and started anew, with its conversation if the agent can go on with it.`,
  confirm: state2 === "ended" ? "Begin" : "Start anew",
  call: restartSession
});
var removing = ({ name }) => ({
  title: "Remove this session?",
  text: `“${name}” and all it printed are removed from here. That can't be undone.`,
  confirm: "Remove",
  call: forgetSession
});
async function attempt(button2, error, fn) {
  byId(button2).disabled = true;
  byId(error).textContent = "";
  try {
    await fn();
  } catch (e) {
    byId(error).textContent = e.message;
  } finally {
    const again = byId(button2);
    if (again) again.disabled = false;
  }
}
function save2(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 6e4);
}

// access.js
function accessDialog() {
  const dialog = byId("access-dialog");
  byId("access").addEventListener("click", () => {
    byId("access-said").textContent = "";
    byId("access-error").textContent = "";
    dialog.showModal();
    attempt("access-grant", "access-error", drawEntries);
  });
  byId("access-close").addEventListener("click", () => dialog.close());
  byId("access-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const person = byId("access-person").value.trim();
    const role = byId("access-role").value;
    change2("access-grant", async () => {
      await grantAccess(person, role);
      byId("access-person").value = "";
      return `${person} is ${role} now.`;
    });
  });
}
function showAccess(chats) {
  byId("access-foot").hidden = !chats;
}
function change2(button2, fn) {
  byId("access-said").textContent = "";
  return attempt(button2, "access-error", async () => {
    byId("access-said").textContent = await fn();
    await drawEntries();
  });
}
async function drawEntries() {
  const entries = await listAccess();
  byId("access-none").hidden = entries.length > 0;
  byId("access-list").replaceChildren(...entries.map(drawEntry));
}
function drawEntry(entry) {
  const item = element("li", "access-entry");
  if (entry.void) item.dataset.void = "";
  const head = element("p", "access-head");
  head.append(element("strong", "", entry.name || entry.person), element("span", "access-role", entry.role));
  item.append(head);
  if (entry.name) item.append(element("p", "access-about access-id", entry.person));
  item.append(element("p", "access-about", about(entry)));
  if (entry.void) item.append(element("p", "access-void", `Doesn’t count: ${entry.void}`));
  if (entry.by !== "configuration") item.append(revokeButton(entry));
  return item;
}
var givers = { configuration: "by the configuration", cli: "from the terminal", web: "on this page" };
function about({ by, at, chat, last_used: used }) {
  const given2 = `given ${givers[by] ?? `by ${by}`}${at ? `, ${when(at)}` : ""}`;
  const lastUsed = used ? `last used ${when(used)}` : "never used";
  return [given2, chat && `in ${chat}`, by !== "configuration" && lastUsed].filter(Boolean).join(" · ");
}
function when(iso) {
  const age = shortAgo(iso);
  return age === "now" ? "just now" : `${age} ago`;
}
function revokeButton({ person, role, name }) {
  const button2 = smallButton("Take back", () => change2(button2.id, async () => (await revokeAccess(person, role)).message));
  button2.id = `revoke-${person}-${role}`;
  button2.setAttribute("aria-label", `Take back ${role} from ${name || person}`);
  return button2;
}

// badge.js
var icon = (n) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#167a6b"/>${n === 0 ? '<path d="M4 5l3 3-3 3M8.5 11.5H12" stroke="#fff" stroke-width="1.6" fill="none" stroke-linecap="round" stroke-linejoin="round"/>' : `<circle cx="8" cy="8" r="7" fill="#b3261e"/><text x="8" y="11.6" font-family="sans-serif" font-weight="700" font-size="${n > 9 ? 8.5 : 10.5}" fill="#fff" text-anchor="middle">${n > 99 ? "99" : n}</text>`}</svg>`;
var shown = 0;
function drawBadge(waiting2, name) {
  const title = `${waiting2 > 0 ? `(${waiting2}) ` : ""}${name ? `${name} – ` : ""}panebridge`;
  if (document.title !== title) document.title = title;
  if (shown === waiting2) return;
  shown = waiting2;
  document.querySelector("link[rel=icon]").href = `data:image/svg+xml,${encodeURIComponent(icon(waiting2))}`;
}

// gate.js
import { enter, isLetIn, known, loadKey, supported, waits } from "./key.js";

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

// alerts.js
var keptFor = 2 * 24 * 3600 * 1e3;
var patience3 = 2e3;
var inTime = (doing) => Promise.race([doing, new Promise((resolve) => {
  setTimeout(resolve, patience3);
})]).catch(() => {
});
var forgetAlerts = () => inTime(withTimes("readwrite", (store) => store.delete("alerts")));

// notify.js
import { browserID } from "./key.js";

// mute.js
var key = "panebridge.muted";
var most3 = 500;
var kept = null;
function read() {
  if (kept) return kept;
  const ids2 = loadKept(key);
  kept = new Set(Array.isArray(ids2) ? ids2 : []);
  return kept;
}
var write = () => saveKept(key, kept.size > 0 ? [...kept].slice(-most3) : null);
addEventListener("storage", (event) => {
  if (event.key === key || event.key === null) kept = null;
});
var mutedIDs = () => [...read()].slice(-most3).sort();
var isMuted = (s) => s.state !== "ended" && read().has(s.id);
function offerMute(current3, changed) {
  byId("mute").addEventListener("click", () => {
    const session = current3();
    if (!session) return;
    if (!read().delete(session.id)) read().add(session.id);
    write();
    changed();
  });
}
function drawMute(session) {
  byId("mute").hidden = !session || session.state === "ended";
  byId("mute").textContent = muteWords(session);
}
var muteWords = (session) => session && isMuted(session) ? "Mute it no longer" : "Mute it on this device";
function forgetMuted() {
  kept = /* @__PURE__ */ new Set();
  write();
}

// notify.js
var workerPath = "/service-worker.js";
var texts2 = {
  unsupported: "This browser can’t be notified. On an iPhone or iPad, add the page to the Home Screen and open it there.",
  insecure: "A browser can be notified only by a page that’s on https or on this machine.",
  denied: "The browser doesn’t allow it. Allow notifications for this page in the browser’s settings, and open this again.",
  asking: "One moment…",
  off: "This device isn’t notified.",
  on: "This device is notified, also when no page is open."
};
var kinds = ["questions", "ends", "errors"];
function support() {
  if (!globalThis.isSecureContext) return "insecure";
  if (!navigator.serviceWorker || !globalThis.PushManager || !globalThis.Notification) return "unsupported";
  return Notification.permission === "denied" ? "denied" : "";
}
var bytesOf = (base64) => Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
var base64Of = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
var sameKey = (subscription2, key5) => {
  const own2 = subscription2.options?.applicationServerKey;
  return !own2 || base64Of(own2) === key5;
};
var subscription = async () => await (await registered())?.pushManager?.getSubscription() ?? null;
var alone = (change4) => navigator.locks.request("panebridge-notify", change4);
var registered = () => navigator.serviceWorker?.getRegistration("/").catch(() => void 0);
function beginWorker() {
  return navigator.serviceWorker?.register(workerPath, { scope: "/", updateViaCache: "none" }).catch(() => {
  });
}
async function endWorkers() {
  const list2 = await navigator.serviceWorker?.getRegistrations().catch(() => []);
  for (const one of list2 ?? []) await one.unregister();
}
async function closeNotifications(isOver) {
  const all = await (await registered())?.getNotifications?.().catch(() => []);
  for (const one of all ?? []) if (isOver(one.data ?? {})) one.close();
}
var isAnswered = ({ over }) => Boolean(over);
var wishesKey = "panebridge.notified";
var keepWishes = ({ questions, ends: ends4, errors, quiet }) => saveKept(wishesKey, { browser: browserID(), questions, ends: ends4, errors, quiet });
function keptWishes() {
  const kept4 = loadKept(wishesKey);
  return kept4?.browser === browserID() ? kept4 : null;
}
var kindOf = (key5 = "") => ({ question: "questions", end: "ends", error: "errors" })[key5.split(":")[0]];
var NotifyDialog = class {
  constructor() {
    this.dialog = byId("notify-dialog");
    this.push = null;
    this.changes = 0;
    navigator.serviceWorker?.addEventListener("message", ({ data }) => {
      if (data?.subscription === "changed") this.putRight();
    });
    byId("notify").addEventListener("click", () => this.open());
    byId("notify-close").addEventListener("click", () => this.dialog.close());
    byId("notify-on").addEventListener("change", () => this.turn(byId("notify-on").checked));
    for (const id of [...kinds.map((kind) => `notify-${kind}`), "notify-quiet", "notify-from", "notify-to"]) {
      byId(id).addEventListener("change", () => this.save());
    }
  }
  open() {
    byId("notify-error").textContent = "";
    this.draw();
    this.dialog.showModal();
    const { changes } = this;
    return attempt("notify-close", "notify-error", async () => {
      const push = await getPush();
      if (changes !== this.changes) return;
      this.push = push;
      this.fill(push.subscription);
    }).then(() => this.draw());
  }
  // begin runs the worker when the browser is let in, and puts right what has changed meanwhile: the browser may have lost its
  // subscription, the daemon its word of it, and sessions been muted.
  async begin() {
    await beginWorker();
    await this.putRight();
  }
  putRight() {
    return alone(() => this.putRightAlone());
  }
  async putRightAlone() {
    if (support()) return;
    this.push = await getPush().catch(() => null);
    if (!this.push) return;
    const own2 = await subscription().catch(() => null);
    const { key: key5, subscription: known3 } = this.push;
    const wishes = known3 ?? keptWishes();
    const isWhole2 = known3 && own2 && own2.endpoint === known3.endpoint && sameKey(own2, key5);
    if (known3) keepWishes(known3);
    else await own2?.unsubscribe();
    if (!wishes) return;
    if (Notification.permission === "granted" && !isWhole2) await this.subscribe(wishes).catch(() => {
    });
    else if (known3 && JSON.stringify(known3.muted ?? []) !== JSON.stringify(mutedIDs())) await this.tell(known3).catch(() => {
    });
  }
  // muted tells the daemon that other sessions are muted, if that can be, else the next visit does.
  async muted() {
    closeNotifications(({ session }) => mutedIDs().includes(session));
    if (!this.push) return;
    const push = await getPush().catch(() => null);
    if (push?.subscription) await this.tell(push.subscription).catch(() => {
    });
  }
  // forget ends the browser's subscription: it isn't let in any more.
  async forget() {
    this.push = null;
    this.dialog.close();
    saveKept(wishesKey, null);
    await (await subscription().catch(() => null))?.unsubscribe().catch(() => {
    });
    await closeNotifications(() => true);
    await forgetAlerts();
  }
  turn(on) {
    return attempt("notify-on", "notify-error", async () => {
      if (on) await this.turnOn();
      else await this.turnOff();
    }).then(() => this.draw());
  }
  async turnOn() {
    this.push ??= await getPush();
    if (await Notification.requestPermission() !== "granted") return;
    await alone(() => this.subscribe(this.wishes()));
  }
  turnOff() {
    return alone(() => this.turnOffAlone());
  }
  async turnOffAlone() {
    this.changes += 1;
    await dropPush();
    saveKept(wishesKey, null);
    if (this.push) this.push.subscription = void 0;
    await (await subscription())?.unsubscribe();
    await closeNotifications(() => true);
  }
  // subscribe has the browser subscribe, and the daemon know it.
  async subscribe(wishes) {
    if (!await beginWorker()) throw new Error("The browser doesn’t run the page’s worker. Does it trust the page’s certificate?");
    const { pushManager } = await navigator.serviceWorker.ready;
    let own2 = await pushManager.getSubscription();
    if (own2 && !sameKey(own2, this.push.key)) {
      await own2.unsubscribe();
      own2 = null;
    }
    own2 ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(this.push.key) }).catch((error) => {
      throw new Error(`The browser’s push service gives no subscription: ${error.message}`);
    });
    await this.tell(wishes, { endpoint: own2.endpoint, p256dh: base64Of(own2.getKey("p256dh")), auth: base64Of(own2.getKey("auth")) });
  }
  // tell tells the daemon of what this device wants to be notified.
  async tell({ questions, ends: ends4, errors, quiet }, where = {}) {
    this.changes += 1;
    this.push = await putPush({ questions, ends: ends4, errors, quiet, muted: mutedIDs(), ...where });
    const wanted3 = this.push.subscription;
    keepWishes(wanted3);
    await closeNotifications(({ key: key5, over }) => over || !wanted3[kindOf(key5)]);
  }
  save() {
    if (!this.push?.subscription) return this.draw();
    return attempt("notify-on", "notify-error", () => this.tell(this.wishes())).then(() => this.draw());
  }
  // wishes are what the dialog has.
  wishes() {
    const wishes = Object.fromEntries(kinds.map((kind) => [kind, byId(`notify-${kind}`).checked]));
    if (byId("notify-quiet").checked) {
      wishes.quiet = { from: byId("notify-from").value, to: byId("notify-to").value, zone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? "" };
    }
    return wishes;
  }
  fill(known3) {
    if (!known3) return;
    for (const kind of kinds) byId(`notify-${kind}`).checked = known3[kind];
    byId("notify-quiet").checked = Boolean(known3.quiet);
    if (known3.quiet) {
      byId("notify-from").value = known3.quiet.from;
      byId("notify-to").value = known3.quiet.to;
    }
  }
  draw() {
    const why = support();
    const known3 = this.push?.subscription;
    const state2 = why || (known3 ? "on" : this.push && "off") || "asking";
    byId("notify-state").dataset.state = state2;
    byId("notify-state").textContent = known3?.trouble ? `${texts2[state2]} The last time it failed: ${known3.trouble}.` : texts2[state2];
    byId("notify-on").checked = Boolean(known3);
    byId("notify-on").disabled = Boolean(why) && !known3;
    byId("notify-wishes").disabled = Boolean(why);
    byId("notify-hours").hidden = !byId("notify-quiet").checked;
    const muted = mutedIDs().length;
    byId("notify-muted").hidden = muted === 0;
    byId("notify-muted").textContent = muted === 1 ? "One session is muted on this device: nothing is told of it." : `${muted} sessions are muted on this device: nothing is told of them.`;
  }
};

// gate.js
var enterPath = "/new/";
var tryEvery = 2e3;
var texts3 = {
  "not-in": ["This browser isn’t let in", "The page opens only for browsers that were let in from a terminal."],
  refused: ["This browser isn’t let in any more", "Its access was revoked, or it wasn’t here for thirty days."],
  used: ["This address doesn’t work any more", "It was opened before, is older than ten minutes, or the daemon was started anew since."],
  busy: ["Too many addresses were tried", "None is looked at for ten minutes. Then open a new one."],
  forbidden: ["The page isn’t served here", "panebridge has refused to let a browser in at this address."],
  waiting: ["Waiting to be let in", "Somebody at the machine where panebridge runs has to say that it’s this device. There, the same number is shown:"],
  declined: ["This device wasn’t let in", "Somebody has refused it, or nobody has said a word for ten minutes."],
  unsupported: ["This browser can’t keep a key here", "Open the page as http://127.0.0.1 or by https, in a window that isn’t private."]
};
function showGate(why) {
  const shut2 = why !== "";
  byId("gate").hidden = !shut2;
  byId("layout").hidden = shut2;
  if (!shut2) return;
  const [title, text] = texts3[why];
  byId("gate").dataset.why = why;
  byId("gate-title").textContent = title;
  byId("gate-text").textContent = text;
  byId("gate-how").hidden = why === "unsupported" || why === "waiting";
  byId("gate-number").hidden = why !== "waiting";
  byId("gate-number").textContent = waits();
}
async function passGate() {
  if (!supported()) return "unsupported";
  const token = location.pathname.startsWith(enterPath) ? location.hash.slice(1) : "";
  if (location.pathname !== "/") history.replaceState(null, "", "/");
  try {
    if (token) return await enterBy(token);
    await loadKey();
  } catch {
    return "unsupported";
  }
  return afterLoad();
}
var afterLoad = () => {
  if (waits()) return "waiting";
  return known() ? "" : "not-in";
};
async function enterBy(token) {
  await endWorkers();
  for (; ; ) {
    try {
      const response = await enter(token);
      if (response.status === 202) return "waiting";
      if (response.ok) return "";
      const { status } = await refusal(response);
      if (await isLetIn()) {
        toast(`${texts3[status === 429 ? "busy" : "used"][0]}. This browser is let in already.`);
        return afterLoad();
      }
      if (status === 401) return "used";
      if (status === 429) return "busy";
      if (status === 403) return "forbidden";
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, tryEvery);
    });
  }
}

// app.js
import { askWhetherIn, known as known2, loadKey as loadKey2 } from "./key.js";

// appearance.js
var key2 = "panebridge.appearance";
var sizes = ["small", "", "large", "largest"];
var themes = ["", "light", "dark"];
function read2() {
  const { theme = "", text = "" } = loadKept(key2) ?? {};
  return { theme: themes.includes(theme) ? theme : "", text: sizes.includes(text) ? text : "" };
}
function change3(to) {
  const now = { ...read2(), ...to };
  saveKept(key2, now.theme || now.text ? now : null);
  apply(now);
}
function apply({ theme, text }) {
  Object.assign(document.documentElement.dataset, { theme, text });
}
var setTheme = (theme) => change3({ theme });
var stepText = (by) => change3({ text: sizes[Math.min(Math.max(sizes.indexOf(read2().text) + by, 0), sizes.length - 1)] });
var plainText = () => change3({ text: "" });
addEventListener("storage", (event) => {
  if (event.key === key2) apply(read2());
});
apply(read2());

// roles.js
var given = { viewer: ["viewer"], operator: ["viewer", "operator"], approver: ["viewer", "approver"], admin: ["viewer", "operator", "approver", "admin"] };
var me = "";
var myID = "";
var isMe = (author) => author === me;
var people = { web: "the owner’s browser", cli: "the command line" };
var personOf = (author) => isMe(author) ? "this page" : people[author] ?? "";
var authorWords = (author, name = "") => name || personOf(author) || author || "";
var authorBegins = (author, name = "") => name || personOf(author).replace(/^./, (letter) => letter.toUpperCase()) || author || "";
var isMyID = (id) => id === myID;
var mayDo = (role) => (document.body.dataset.may ?? "").split(" ").includes(role);
async function learnRoles() {
  const { roles, id, name } = await getMe();
  myID = id;
  me = name ? `web:${id}` : "web";
  document.body.dataset.may = [...new Set(roles.flatMap((role) => given[role] ?? []))].join(" ");
}
var forgetRoles = () => {
  delete document.body.dataset.may;
};
var rolesKnown = () => "may" in document.body.dataset;

// commands.js
var Commands = class {
  // page has current(), which is the session that's open, if one is, toInbox() and showTab(name).
  constructor(page2) {
    const living = () => Boolean(page2.current()) && page2.current().state !== "ended";
    const click = (id) => () => byId(id).click();
    const shown3 = (id) => () => !byId(id).hidden;
    this.all = [
      { words: "Find a session or a command", keys: ["Ctrl+K"], run: click("find") },
      { words: "Search the lines of all sessions…", keys: ["/"], run: click("search-open") },
      { words: "Search the lines of the session…", when: () => Boolean(page2.current()), run: click("search-here") },
      { words: "Inbox", keys: ["g i"], run: () => page2.toInbox() },
      { words: "The next in the inbox", keys: ["j"], when: () => !page2.current(), run: () => step(1) },
      { words: "The one before", keys: ["k"], when: () => !page2.current(), run: () => step(-1) },
      { words: "New session…", keys: ["n"], role: "operator", run: click("new") },
      { words: "Write to the session", keys: ["i"], role: "operator", when: living, run: () => byId("text").focus() },
      { words: "Show its lines", keys: ["g l"], when: () => Boolean(page2.current()), run: () => page2.showTab("conversation") },
      { words: "Show its screen", keys: ["g s"], when: () => Boolean(page2.current()), run: () => page2.showTab("screen") },
      { words: "Type straight into the session", role: "operator", when: living, run: () => {
        page2.showTab("screen");
        byId("screen-type").click();
      } },
      { words: "Next turn", keys: ["j"], when: () => Boolean(page2.current()), run: click("turn-next") },
      { words: "Turn before", keys: ["k"], when: () => Boolean(page2.current()), run: click("turn-before") },
      { words: "All turns…", keys: ["t"], when: () => Boolean(page2.current()), run: click("turn-list") },
      { words: "Newest line", keys: ["G"], when: () => Boolean(page2.current()), run: click("newest") },
      { words: "Interrupt the session (Ctrl-C)", role: "operator", when: living, run: click("stop") },
      { words: "Go on when the limit is over, or don’t", role: "operator", when: () => living() && shown3("limit")() && shown3("go-on")(), run: click("go-on") },
      { words: "Mute the session on this device", when: () => living() && !isMuted(page2.current()), run: click("mute") },
      { words: "Mute the session no longer", when: () => living() && isMuted(page2.current()), run: click("mute") },
      { words: "Rename the session…", role: "operator", when: living, run: click("rename") },
      { words: "What the session has changed…", keys: ["d"], when: () => Boolean(page2.current()), run: click("diff") },
      { words: "What the session has shown…", when: () => Boolean(page2.current()), run: click("exhibits") },
      { words: "Get a file from its folder…", role: "operator", when: () => Boolean(page2.current()), run: click("get") },
      { words: "Start the session’s program anew…", role: "operator", when: () => Boolean(page2.current()) && shown3("restart")(), run: click("restart") },
      { words: "How much of the work to see…", when: () => Boolean(page2.current()), run: click("work") },
      { words: "Mirror the session to a chat…", role: "operator", when: shown3("mirror"), run: click("mirror") },
      { words: "Close the session…", role: "operator", when: living, run: click("close") },
      { words: "Remove the session…", role: "operator", when: () => page2.current()?.state === "ended", run: click("remove") },
      { words: "Note that all that’s done was looked at", when: () => Boolean(document.querySelector('[data-group="done"]:not([hidden]) #looked-all')) && !page2.current(), run: click("looked-all") },
      { words: "Mail and fleets…", run: click("mail") },
      { words: "Notifications on this device…", run: click("notify") },
      { words: "Who may do what in chats…", role: "admin", when: shown3("access-foot"), run: click("access") },
      { words: "Devices that use the page…", role: "admin", run: click("devices") },
      { words: "Larger text", keys: ["+"], run: () => stepText(1) },
      { words: "Smaller text", keys: ["-"], run: () => stepText(-1) },
      { words: "Text of the usual size", run: plainText },
      { words: "Dark", run: () => setTheme("dark") },
      { words: "Light", run: () => setTheme("light") },
      { words: "Dark or light as the system is", run: () => setTheme("") },
      { words: "Keys", keys: ["?"], run: () => byId("keys-dialog").showModal() },
      { words: "Back", keys: ["Escape"], run: () => back(page2) }
    ];
  }
  // offered are those that this device may do now.
  offered() {
    return this.all.filter(({ role, when: when2 }) => (!role || mayDo(role)) && (!when2 || when2()));
  }
};
function step(by) {
  const links = [...document.querySelectorAll("#inbox .card-link")];
  const at = links.indexOf(document.activeElement.closest(".card")?.querySelector(".card-link"));
  (links[at + by] ?? links[by > 0 ? 0 : links.length - 1])?.focus();
}
function back(page2) {
  const { activeElement } = document;
  if (document.body.classList.contains("drawer-open")) byId("veil").click();
  else if (activeElement?.matches("textarea, input")) activeElement.blur();
  else if (page2.current()) page2.goBack();
}
var otherKeys = [
  { words: "Answer the open question", keys: ["1", "…", "9"] },
  { words: "Send what’s written", keys: ["Enter"] },
  { words: "A new line in it", keys: ["Shift+Enter"] },
  { words: "Type into the screen no longer", keys: ["Shift+Escape"] }
];

// receipts.js
var askEvery = 1e3;
var askLater = 5e3;
var patience4 = 6e4;
var atOnce = 100;
var followed = 10;
var last = /* @__PURE__ */ new Set(["answered", "failed", "cancelled"]);
var isLast = ({ state: state2, submit }) => last.has(state2) || state2 === "typed" && !submit;
var BubbleReceipts = class {
  // agent is the name of the session's, '': it has none. change makes a change of the list.
  constructor(session, agent, list2, change4) {
    Object.assign(this, { session, agent, list: list2, change: change4 });
    this.known = /* @__PURE__ */ new Map();
    this.timer = 0;
  }
  // look draws what's known, and asks for what isn't.
  look() {
    if (this.closed) return;
    const fresh = [];
    const open = [];
    for (const node of this.list.querySelectorAll(".line.user .bubble-receipt")) {
      const n = Number(node.closest(".line").dataset.n);
      const receipt = this.known.get(n);
      if (receipt) draw(node, receipt, this.agent);
      if (receipt === void 0) fresh.push(n);
      else if (receipt && !isLast(receipt)) open.push(n);
    }
    if (this.asking) return;
    if (fresh.length > 0 && !this.failed) {
      this.since = Date.now();
      this.ask(fresh.slice(-atOnce));
    } else if (fresh.length + open.length > 0 && !this.timer) {
      const isNew = !this.failed && Date.now() - this.since < patience4;
      this.timer = setTimeout(() => this.again([...fresh, ...open.slice(-followed)].slice(-atOnce)), isNew ? askEvery : askLater);
    }
  }
  again(numbers) {
    this.timer = 0;
    if (document.hidden) this.timer = setTimeout(() => this.again(numbers), askLater);
    else this.ask(numbers);
  }
  async ask(numbers) {
    this.asking = true;
    try {
      const told = new Map((await getProgress(this.session, numbers)).map((receipt) => [receipt.line, receipt]));
      for (const n of numbers) this.known.set(n, told.get(n) ?? null);
      this.failed = false;
    } catch {
      this.failed = true;
    } finally {
      this.asking = false;
    }
    if (!this.closed) this.change(() => this.look());
  }
  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }
};
function draw(node, receipt, agent) {
  const text = ` · ${receiptWords(receipt, agent)}`;
  if (node.textContent === text) return;
  node.textContent = text;
  node.dataset.state = receipt.state;
}

// secrets.js
function withSecrets(text, secrets) {
  const nodes = [];
  let at = 0;
  for (const { from, to, name } of secrets ?? []) {
    nodes.push(text.slice(at, from), secretNode(text.slice(from, to), name));
    at = to;
  }
  nodes.push(text.slice(at));
  return nodes;
}
var maskOf = (name) => `[masked: ${name}]`;
var hasMask = (text) => /\[masked: [^\]]*\]/.test(text);
function secretNode(text, name) {
  const node = element("button", "secret", maskOf(name));
  node.type = "button";
  node.title = "Show it here";
  let shown3 = false;
  node.addEventListener("click", () => {
    shown3 = !shown3;
    node.textContent = shown3 ? text : maskOf(name);
    node.title = shown3 ? "Hide it again" : "Show it here";
  });
  return node;
}

// typing.js
var pause2 = 1e3;
var ends = /* @__PURE__ */ new Set(["Enter", "Escape", "Tab"]);
var isField = (node) => node instanceof Element && node.matches("input:not([type=checkbox]), textarea, select") && node.checkVisibility();
var composes = (event) => event.isComposing || event.keyCode === 229;
var typedAt = -Infinity;
var endTyping = () => {
  typedAt = -Infinity;
};
function holdMistakenKeys() {
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.repeat) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (isField(event.target)) {
      typedAt = ends.has(event.key) || event.ctrlKey || event.metaKey ? -Infinity : performance.now();
      return;
    }
    if (performance.now() - typedAt > pause2) return;
    typedAt = performance.now();
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  addEventListener("pointerdown", () => {
    typedAt = -Infinity;
  }, true);
}

// upload.js
var partSize = 1 << 20;
var most4 = 10;
var tries = 5;
var uploads = /* @__PURE__ */ new Map();
var shown2 = /* @__PURE__ */ new Map();
var Uploads = class {
  constructor(session) {
    this.session = session;
    this.files = uploads.get(session) ?? [];
    uploads.set(session, this.files);
    this.list = byId("files");
    this.events = new AbortController();
    const on = (target, name, fn) => target.addEventListener(name, fn, { signal: this.events.signal });
    on(byId("attach"), "click", () => byId("file").click());
    on(byId("file"), "change", () => {
      this.add(byId("file").files);
      byId("file").value = "";
    });
    on(byId("text"), "paste", (event) => this.dropped(event, event.clipboardData));
    const main = byId("main");
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    on(main, "dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      main.classList.add("dropping");
    });
    on(main, "dragleave", (event) => {
      if (!main.contains(event.relatedTarget)) main.classList.remove("dropping");
    });
    on(main, "drop", (event) => {
      main.classList.remove("dropping");
      if (hasFiles(event)) this.dropped(event, event.dataTransfer);
    });
    shown2.set(session, this);
    this.draw();
  }
  close() {
    this.events.abort();
    shown2.delete(this.session);
    byId("main").classList.remove("dropping");
    this.list.replaceChildren();
    if (this.files.length === 0) uploads.delete(this.session);
  }
  // dropped takes the files of what was pasted or dropped; a text stays a text.
  dropped(event, { files }) {
    if (files.length === 0 || byId("attach").disabled) return;
    event.preventDefault();
    this.add(files);
  }
  add(files) {
    for (const file of files) {
      if (this.files.length >= most4) {
        toast(`At most ${most4} files are sent at a time.`);
        break;
      }
      const one = { file, name: file.name || "file", done: 0, path: "", error: "", gone: new AbortController() };
      this.files.push(one);
      this.send(one);
    }
    this.draw();
  }
  // send sends a file in parts, one after the other. One of which nobody answered for a part goes on with that.
  async send(one) {
    if (!one.goesOn) Object.assign(one, { done: 0, upload: crypto.randomUUID() });
    Object.assign(one, { error: "", goesOn: false });
    this.draw();
    const { file } = one;
    try {
      while (!one.path) {
        const bytes = new Uint8Array(await file.slice(one.done, one.done + partSize).arrayBuffer());
        if (bytes.length === 0) throw new Error(file.size === 0 ? "it’s empty" : "it has changed meanwhile");
        const { received, path } = await this.part(one, bytes);
        Object.assign(one, { done: received, path: path ?? "" });
        this.draw();
      }
    } catch (error) {
      if (!one.gone.signal.aborted) Object.assign(one, { error: error.message, goesOn: error.code === "away" });
    }
    this.draw();
  }
  async part(one, bytes) {
    for (let n = 1; ; n += 1) {
      try {
        return await sendFilePart(this.session, { name: one.name, size: one.file.size, offset: one.done, upload: one.upload }, bytes, one.gone.signal);
      } catch (error) {
        if (error.code !== "away" || n === tries || one.gone.signal.aborted) throw error;
        await new Promise((resolve) => {
          setTimeout(resolve, 1e3 * n);
        });
      }
    }
  }
  remove(one) {
    one.gone.abort();
    this.forget(one);
    this.draw();
  }
  forget(one) {
    const at = this.files.indexOf(one);
    if (at >= 0) this.files.splice(at, 1);
  }
  // paths are those of all files; null while one isn't there, with a word why.
  paths() {
    if (this.files.some((one) => one.error)) toast("A file couldn’t be sent. Try it again, or remove it.");
    else if (this.files.some((one) => !one.path)) toast("A file is still on its way.");
    else return this.files.map((one) => one.path);
    return null;
  }
  // clear forgets files whose paths were sent.
  clear(paths) {
    for (const one of this.files.filter((other) => paths.includes(other.path))) this.forget(one);
    this.draw();
  }
  draw() {
    if (this.events.signal.aborted) {
      const now = shown2.get(this.session);
      if (now && now !== this) now.draw();
      return;
    }
    this.list.replaceChildren(...this.files.map((one) => this.entry(one)));
  }
  entry(one) {
    const item = element("li", "file");
    item.dataset.state = one.error ? "failed" : one.path ? "there" : "coming";
    item.append(element("span", "file-name", one.name));
    if (one.error) {
      item.append(element("span", "file-error", one.error), smallButton("Try again", () => this.send(one)));
    } else if (!one.path) {
      const meter = element("progress");
      meter.max = one.file.size;
      meter.value = one.done;
      meter.setAttribute("aria-label", `How much of ${one.name} is sent`);
      item.append(meter);
    }
    const remove = smallButton("✕", () => this.remove(one));
    remove.setAttribute("aria-label", `Remove ${one.name}`);
    item.append(remove);
    return item;
  }
};
function forgetUploads() {
  for (const files of uploads.values()) for (const one of files) one.gone.abort();
  uploads.clear();
}

// composer.js
var final = /* @__PURE__ */ new Set(["answered", "failed", "cancelled"]);
var revivals = { start: "Start it again", resume: "Go on with its conversation" };
var takeable = /* @__PURE__ */ new Set(["stored", "held"]);
var steps = ["stored", "typed", "submitted", "answered"];
var pollEvery = 400;
var patientAfter = 15e3;
var listEvery = 2e3;
var lingers = 5e3;
var answersIn = 6e4;
var waits2 = /* @__PURE__ */ new Set(["stored", "held", "typing"]);
var Composer = class {
  // agent is the name of the session's, '': it has none.
  constructor(session, agent) {
    Object.assign(this, { session, agent });
    this.text = byId("text");
    this.list = byId("receipts");
    this.list.replaceChildren();
    this.shown = /* @__PURE__ */ new Set();
    this.takenBack = /* @__PURE__ */ new Set();
    this.events = new AbortController();
    const on = (target, name, fn) => target.addEventListener(name, fn, { signal: this.events.signal });
    on(byId("composer"), "submit", (event) => {
      event.preventDefault();
      this.send();
    });
    on(this.text, "keydown", (event) => this.key(event));
    on(this.text, "input", () => this.changed());
    for (const button2 of document.querySelectorAll("[data-key]")) {
      on(button2, "click", () => this.press(button2.dataset.key));
    }
    this.uploads = new Uploads(session);
    this.unwatch = watchOutgoing(session, this);
    onDraft(session, () => this.takeDraft(), this.events.signal);
    this.text.value = draftOf(session);
    this.grow();
    this.drawOutgoing();
    this.lookElsewhere();
  }
  close() {
    this.closed = true;
    this.events.abort();
    this.unwatch();
    this.uploads.close();
    this.text.value = "";
    this.list.replaceChildren();
    byId("queue").hidden = true;
  }
  enable(enabled) {
    const was = this.enabled;
    this.enabled = enabled;
    if (enabled !== was) this.drawOutgoing();
    for (const e of [this.text, byId("send"), byId("attach"), ...document.querySelectorAll("[data-key]")]) e.disabled = !enabled;
  }
  key(event) {
    if (event.key !== "Enter" || event.shiftKey || composes(event)) return;
    event.preventDefault();
    this.send();
  }
  // write puts a text into the field, to be changed and sent.
  write(text) {
    this.text.value = text;
    this.changed();
  }
  changed() {
    keepDraft(this.session, this.text.value);
    this.grow();
  }
  // takeDraft shows what another tab has written, or that it has sent it. It says whether there's something new.
  takeDraft() {
    const draft = draftOf(this.session);
    if (draft === this.text.value || isForgotten(this.session)) return false;
    this.text.value = draft;
    this.grow();
    return true;
  }
  grow() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, 180)}px`;
  }
  // send takes what's written out of the field and sends it.
  send() {
    if (this.takeDraft()) return;
    const text = this.text.value;
    if (text.trim() === "" && this.uploads.files.length === 0) return;
    const paths = this.uploads.paths();
    if (!paths) return;
    this.uploads.clear(paths);
    this.text.value = "";
    this.changed();
    sendText(this.session, paths.length > 0 ? [text.trim(), ...paths].filter(Boolean).join(" ") : text);
  }
  // drawOutgoing shows the texts that are on their way to the server, below those that weren't sent.
  drawOutgoing() {
    for (const item of this.list.querySelectorAll(".outgoing, .unsent")) item.remove();
    for (const { key: key5, text, unsent: why } of unsent(this.session)) {
      const item = element("li", "receipt unsent");
      item.dataset.state = "failed";
      item.append(element("span", "progress", "not sent"), element("span", "receipt-text", text));
      this.offerAgain(item, text, () => dismiss(key5));
      item.append(element("span", "receipt-reason", why));
      this.list.append(item);
    }
    if (this.enabled === false) this.drawDraft();
    const texts5 = outgoing(this.session);
    const waits3 = texts5.some(({ slow, unsure }) => slow || unsure);
    for (const { key: key5, text, slow, unsure, back: back2 } of texts5) {
      const item = element("li", "outgoing");
      item.append(element("span", "progress", outgoingWords(slow || unsure, back2)), element("span", "receipt-text", text));
      if (waits3 && !back2) item.append(smallButton("Take back", () => takeBack(key5)));
      this.list.append(item);
    }
  }
  // drawDraft shows what's written to a session that has ended, which has no field for it any more.
  drawDraft() {
    const draft = draftOf(this.session);
    if (draft === "") return;
    const item = element("li", "receipt unsent");
    item.append(element("span", "progress", "written"), element("span", "receipt-text", draft));
    this.offerAgain(item, draft, () => keepDraft(this.session, ""));
    this.list.append(item);
  }
  // press presses keys one after the other: two requests at once may arrive in
  // another order.
  press(key5) {
    this.pressing = (this.pressing ?? Promise.resolve()).then(async () => {
      try {
        await pressKeys(this.session, [key5]);
      } catch (error) {
        toast(`${isAway(error) ? "Nobody knows whether the key was pressed" : "Key not pressed"}: ${error.message}`);
      }
    });
  }
  // lookElsewhere shows what waits for the session, wherever it was written.
  async lookElsewhere() {
    while (!this.closed) {
      if (!document.hidden && this.enabled !== false) {
        try {
          const open = await openReceipts(this.session);
          if (this.closed) return;
          for (const receipt of open) {
            noteReceipt(receipt);
            this.follow(receipt);
          }
          for (const id of receiptsOf(this.session)) await this.followAgain(id);
        } catch {
        }
      }
      await sleep(listEvery);
    }
  }
  // followAgain shows what became of a text that was sent from here before the session was opened, if it isn't well.
  async followAgain(id) {
    if (this.shown.has(id)) return;
    try {
      const receipt = await getReceipt(id);
      if (this.closed) return;
      if (receipt.state === "cancelled") noteTakenBack(receipt);
      if (receipt.state === "failed" || !isDone(receipt)) this.follow(receipt);
      else settle(id);
    } catch (error) {
      if (error.status !== 404) throw error;
      settle(id);
    }
  }
  // follow shows a receipt until its text is answered, or won't be.
  async follow(receipt) {
    if (this.shown.has(receipt.id)) return;
    this.shown.add(receipt.id);
    const began = Date.now();
    const item = element("li", "receipt");
    item.dataset.at = receipt.created_at;
    item.dataset.id = receipt.id;
    const after = [...this.list.children].find((other) => !other.dataset.at || other.dataset.at > receipt.created_at);
    this.list.insertBefore(item, after ?? null);
    let now = receipt;
    let submitted = 0;
    for (; ; ) {
      this.draw(item, now);
      if (now.state === "submitted" && now.cause !== "queued") submitted ||= Date.now();
      if (final.has(now.state) || this.closed || submitted && Date.now() - submitted > answersIn) break;
      await sleep(Date.now() - began < patientAfter ? pollEvery : listEvery);
      try {
        now = await getReceipt(receipt.id);
      } catch (error) {
        if (error.status === 404) now = { ...now, state: "failed", reason: error.message };
        else await sleep(1e3);
      }
    }
    if (this.closed || now.state === "failed") return;
    if (now.state === "cancelled") noteTakenBack(now);
    settle(receipt.id);
    await sleep(lingers);
    item.remove();
    this.number();
  }
  // number says in which order the texts are typed that wait, where it's several.
  number() {
    if (this.closed) return;
    const waiting2 = [...this.list.children].filter((item) => waits2.has(item.dataset.state));
    for (const item of this.list.querySelectorAll("[data-id]")) {
      const place = item.querySelector(".receipt-place");
      place.textContent = waiting2.length > 1 && waiting2.includes(item) ? `${waiting2.indexOf(item) + 1}.` : "";
    }
    byId("queue").hidden = waiting2.length < 2;
    byId("queue").textContent = `${waiting2.length} texts wait. They’re typed in this order:`;
  }
  draw(item, receipt) {
    const look2 = [receipt.state, receipt.reason, receipt.quoted].join("\n");
    if (item.dataset.look === look2) return;
    item.dataset.look = look2;
    item.dataset.state = receipt.state;
    const text = element("span", "receipt-text");
    text.append(...withSecrets(receipt.text, receipt.secrets));
    const far = progress(receipt, this.agent);
    far.prepend(element("span", "receipt-place"));
    item.replaceChildren(far, text);
    const by = authorWords(receipt.author, receipt.by);
    if (by && !isMe(receipt.author)) item.append(element("span", "receipt-author", `by ${by}`));
    for (const way of receipt.revivals ?? []) {
      item.append(smallButton(revivals[way] ?? way, () => this.sendAnyway(receipt, way), "needs-approver"));
    }
    if (receipt.quoted) {
      const label2 = receipt.front ? `Type it into ${receipt.front} all the same` : "Send anyway";
      item.append(smallButton(label2, () => this.sendAnyway(receipt), "needs-approver"));
    }
    if (takeable.has(receipt.state)) item.append(smallButton("Take back", () => this.takeBack(receipt)));
    if (receipt.state === "failed") this.offerAgain(item, textSent(receipt.id), () => settle(receipt.id));
    if (receipt.reason) item.append(element("span", "receipt-reason", receipt.reason));
    this.number();
  }
  // offerAgain offers what can be done about a text that wasn't typed, or of which nobody knows: text is as it was written,
  // undefined: that isn't known.
  offerAgain(item, text, forget2) {
    const end = () => {
      forget2();
      item.remove();
    };
    if (text !== void 0 && this.enabled === false) item.append(copyButton(() => text));
    else if (text !== void 0) {
      item.append(smallButton("Write again", () => {
        end();
        writeBack(this.session, text);
      }));
    }
    item.append(smallButton("Dismiss", end));
  }
  // sendAnyway is for the screen, or the program in front, as it was when the button was
  // drawn.
  async sendAnyway(receipt, revival) {
    try {
      await sendAnyway(receipt.id, receipt.quoted, revival);
    } catch (error) {
      toast(error.message);
    }
  }
  // takeBack has a text of this device's stand in the field again, whatever is open by then: as it was written, which the
  // receipt has only if nothing of it is masked.
  async takeBack(receipt) {
    const key5 = await keyOf(receipt);
    if (key5) {
      takeBack(key5);
      return;
    }
    if (this.takenBack.has(receipt.id)) return;
    this.takenBack.add(receipt.id);
    const whole = keptText(receipt.key) ?? (hasMask(receipt.text) ? void 0 : receipt.text);
    try {
      await cancelReceipt(receipt.id);
    } catch (error) {
      this.takenBack.delete(receipt.id);
      toast(error.message);
      return;
    }
    if (!isMe(receipt.author)) return;
    if (whole === void 0) toast("It’s taken back. It had something secret, which isn’t kept here: write it anew.");
    else writeBack(this.session, whole);
  }
};
var isDone = (receipt) => isLast(receipt) || receipt.state === "submitted";
function outgoingWords(waits3, back2) {
  if (back2) return "being taken back…";
  return waits3 ? "no answer yet; it’s sent again…" : "sending…";
}
function progress({ state: state2 }, agent) {
  const box = element("span", "progress");
  const reached = state2 === "typing" ? 0 : steps.indexOf(state2);
  if (reached < 0 && state2 !== "held") {
    box.append(element("span", `step ${state2}`, stepWords(state2, agent)));
    return box;
  }
  steps.forEach((step2, i) => {
    if (i > 0) box.append(element("span", "arrow", "→"));
    box.append(element("span", i <= reached || state2 === "held" && i === 0 ? "step done" : "step", stepWords(step2, agent)));
    if (i === 0 && state2 === "held") {
      box.append(element("span", "arrow", "→"), element("span", "step held", stepWords("held", agent)));
    }
  });
  return box;
}
var sleep = (ms) => new Promise((resolve) => {
  setTimeout(resolve, ms);
});

// markdown.js
var looks = ["bold", "italic", "strike", "code"];
var aligned = ["left", "right", "center"];
var tokens = ["keyword", "string", "comment", "number", "name", "type", "added", "removed"];
var nodesOf = (blocks) => (blocks ?? []).map(nodeOf);
var makers = {
  paragraph: (block) => withRuns("p", block.runs),
  heading: (block) => withRuns(`h${Math.min(6, Math.max(1, block.level ?? 1) + 1)}`, block.runs),
  plain: (block) => withRuns("p", block.runs, "md-plain"),
  quote: (block) => withBlocks("blockquote", block.blocks),
  rule: () => element("hr"),
  list: listNode,
  code: (block) => codeNode(block.code ?? [], block.language),
  table: tableNode
};
var nodeOf = (block) => (makers[block.kind] ?? makers.plain)(block);
function withBlocks(tag, blocks, className) {
  const node = element(tag, className);
  node.append(...nodesOf(blocks));
  return node;
}
function withRuns(tag, runs, className) {
  const node = element(tag, className);
  node.dir = "auto";
  node.append(...runNodes(runs));
  return node;
}
var runNodes = (runs) => (runs ?? []).map(runNode);
function runNode(run) {
  const link = run.url && /^https?:\/\//i.test(run.url);
  const node = element(link ? "a" : "span", "", run.text);
  if (link) {
    node.href = run.url;
    node.target = "_blank";
    node.rel = "noopener noreferrer";
  }
  for (const look2 of looks) if (run[look2]) node.classList.add(`md-${look2}`);
  return node.nodeName === "SPAN" && node.classList.length === 0 ? document.createTextNode(run.text) : node;
}
function listNode(block) {
  const list2 = element(block.ordered ? "ol" : "ul");
  if (block.ordered) list2.start = block.start ?? 0;
  for (const item of block.blocks ?? []) {
    const node = withBlocks("li", item.blocks);
    node.dir = "auto";
    if (item.task) {
      node.className = "md-task";
      const box = element("span", "md-box", item.done ? "☑ " : "☐ ");
      (node.firstChild?.nodeName === "P" ? node.firstChild : node).prepend(box);
    }
    list2.append(node);
  }
  return list2;
}
function codeNode(code, language) {
  const figure = element("div", "md-code-block");
  const pre = element("pre", "md-pre");
  pre.tabIndex = 0;
  const text = code.map((token) => token.text).join("").replace(/\n$/, "");
  let left2 = text.length;
  for (const token of code) {
    const shown3 = token.text.slice(0, left2);
    left2 -= shown3.length;
    if (tokens.includes(token.as)) pre.append(element("span", `code-${token.as}`, shown3));
    else pre.append(shown3);
  }
  const head = element("div", "md-code-head");
  head.append(element("span", "md-language", language ?? ""), copyButton(() => text));
  if (language) pre.dataset.language = language;
  pre.setAttribute("aria-label", language ? `Code, ${language}` : "Code");
  pre.setAttribute("role", "group");
  figure.append(head, pre);
  return figure;
}
function tableNode(block) {
  const scroll = element("div", "md-table");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", "Table");
  const table = element("table");
  const rowOf = (cells, tag) => {
    const row = element("tr");
    cells.forEach((runs, i) => {
      const cell = withRuns(tag, runs);
      const align = block.align?.[i];
      if (aligned.includes(align)) cell.classList.add(`md-${align}`);
      row.append(cell);
    });
    return row;
  };
  const [head, ...body] = block.rows ?? [];
  if (head) table.createTHead().append(rowOf(head, "th"));
  table.createTBody().append(...body.map((cells) => rowOf(cells, "td")));
  scroll.append(table);
  return scroll;
}

// answers.js
var atOnce2 = 50;
var maxSource = 1 << 20;
var texts4 = /* @__PURE__ */ new WeakMap();
var refused = /* @__PURE__ */ new WeakMap();
function answerLine(node, line) {
  texts4.set(node, line.text);
  if (line.begins) node.dataset.begins = "true";
}
var isAnswer = (node) => Boolean(node) && texts4.has(node);
function blocksOf(list2) {
  const found = [];
  for (let node = list2.firstChild; node; ) {
    if (!isAnswer(node)) {
      node = node.nextSibling;
      continue;
    }
    const lines = [node];
    for (node = node.nextSibling; isAnswer(node) && !node.dataset.begins; node = node.nextSibling) lines.push(node);
    if (!lines[0].dataset.begins || lines.some((line) => line.dataset.secret)) {
      for (const line of lines) line.hidden = false;
      continue;
    }
    const drawn3 = `${lines.length}`;
    if (lines[0].dataset.drawn !== drawn3 && refused.get(lines[0]) !== drawn3) found.push({ lines, drawn: drawn3 });
  }
  return found;
}
async function drawAnswers(list2, change4) {
  for (let blocks = blocksOf(list2); blocks.length > 0; blocks = blocksOf(list2)) {
    const some = [];
    let size = 0;
    for (const block of blocks.slice(0, atOnce2)) {
      block.source = block.lines.map((node) => texts4.get(node)).join("\n");
      if (block.source.length > maxSource) {
        refused.set(block.lines[0], block.drawn);
        continue;
      }
      size += block.source.length;
      if (size > maxSource) break;
      some.push(block);
    }
    if (some.length === 0) continue;
    let trees = null;
    try {
      trees = await getMarkdown(some.map((block) => block.source));
    } catch (error) {
      if (!(error.status >= 400 && error.status < 500 && error.status !== 401)) throw error;
      for (const block of some) refused.set(block.lines[0], block.drawn);
      continue;
    }
    if (change4(() => some.forEach((block, i) => draw2(block, trees[i]))) === false) return;
  }
}
function draw2({ lines, drawn: drawn3 }, tree) {
  const [first, ...rest] = lines;
  if (!first.parentNode) return;
  first.replaceChildren(...nodesOf(tree));
  first.dataset.drawn = drawn3;
  first.hidden = false;
  for (const node of rest) node.hidden = true;
}

// diff.js
var linesAtFirst = 300;
var looks2 = { "+": "added", "-": "removed" };
function diffBox(rows, label2) {
  const numbered = rows.some((row) => row.old || row.new);
  const box = element("div", numbered ? "diff numbered" : "diff");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label2);
  for (const row of rows.slice(0, linesAtFirst)) box.append(diffRow(row, numbered));
  if (rows.length > linesAtFirst) {
    const more = element("button", "button small diff-more", `Show ${rows.length - linesAtFirst} more lines`);
    more.type = "button";
    more.addEventListener("click", () => {
      more.replaceWith(...rows.slice(linesAtFirst).map((row) => diffRow(row, numbered)));
      box.focus({ preventScroll: true });
    });
    box.append(more);
  }
  return box;
}
var unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/gu;
var joinable = /^(?:\p{Extended_Pictographic}|\p{Lo}|\p{M}|\u200c|\u200d)$/u;
function legible(text) {
  return text.replace(unseen, (c, at) => {
    if (c === "	" || "‌‍".includes(c) && joinable.test([...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "")) return c;
    if (c === "\r") return "\\r";
    const n = c.codePointAt(0).toString(16);
    return n.length > 4 ? `\\U${n.padStart(8, "0")}` : `\\u${n.padStart(4, "0")}`;
  });
}
function diffRow(row, numbered) {
  if (row.head !== void 0) return element("div", "diff-head", legible(row.head));
  const node = element("div", `diff-row ${looks2[row.op] ?? ""}`);
  if (numbered) node.append(element("span", "diff-n", row.old ?? ""), element("span", "diff-n", row.new ?? ""));
  node.append(element("span", "diff-sign", row.op === "-" ? "−" : row.op), element("span", "diff-text", legible(row.text) || " "));
  return node;
}
function diffRows(text) {
  const rows = [];
  let [old, now, olds, news] = [0, 0, 0, 0];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const op = line[0];
    if (olds > 0 && (op === "-" || op === " ") || news > 0 && (op === "+" || op === " ")) {
      rows.push({ op, old: op === "+" ? void 0 : old, new: op === "-" ? void 0 : now, text: line.slice(1) });
      if (op !== "+") [old, olds] = [old + 1, olds - 1];
      if (op !== "-") [now, news] = [now + 1, news - 1];
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) [old, olds, now, news] = [Number(hunk[1]), Number(hunk[2] ?? 1), Number(hunk[3]), Number(hunk[4] ?? 1)];
    rows.push({ head: line || " " });
  }
  return rows;
}

// work.js
var key3 = "panebridge.work";
var extents = ["all", "brief", "none"];
function workShown() {
  const { tools, thinking } = loadKept(key3) ?? {};
  return { tools: extents.includes(tools) ? tools : "all", thinking: thinking === "all" ? "all" : "none" };
}
function setWork(change4) {
  saveKept(key3, { ...workShown(), ...change4 });
  dispatchEvent(new Event("work-shown"));
}
function onWork(changed) {
  addEventListener("work-shown", changed);
  addEventListener("storage", (event) => {
    if (event.key === key3) changed();
  });
}
function offerWork() {
  const dialog = byId("work-dialog");
  byId("work").addEventListener("click", () => {
    const now = workShown();
    for (const kind of ["tools", "thinking"]) byId(`work-${kind}`).value = now[kind];
    dialog.showModal();
  });
  for (const kind of ["tools", "thinking"]) byId(`work-${kind}`).addEventListener("change", (event) => setWork({ [kind]: event.target.value }));
}
var phrases = [
  ["read", "read 1 file", (n) => `read ${n} files`],
  ["run", "ran 1 command", (n) => `ran ${n} commands`],
  ["edit", "edited 1 file", (n) => `edited ${n} files`],
  ["search", "searched once", (n) => `searched ${n} times`],
  ["web", "fetched 1 page", (n) => `fetched ${n} pages`],
  ["ask", "asked 1 question", (n) => `asked ${n} questions`],
  ["agent", "began 1 helper", (n) => `began ${n} helpers`],
  ["other", "used 1 other tool", (n) => `used ${n} other tools`]
];
function workText(counts, failed2) {
  const did = phrases.filter(([kind]) => counts[kind]).map(([kind, once, often]) => counts[kind] === 1 ? once : often(counts[kind])).join(", ");
  return [did, failed2 > 0 && `${failed2} failed`].filter(Boolean).join(" · ");
}

// tools.js
var linesOf = /* @__PURE__ */ new WeakMap();
var cards = /* @__PURE__ */ new WeakMap();
var unfolded = /* @__PURE__ */ new Set();
var opened = /* @__PURE__ */ new Set();
var answers = /* @__PURE__ */ new Map();
var kept2 = 30;
var ends2 = ["answer", "user", "turn-end", "failure"];
function forgetTools() {
  opened.clear();
  unfolded.clear();
  answers.clear();
}
function toolLine(node, line) {
  linesOf.set(node, line);
}
function blocksOf2(list2) {
  const found = [];
  let block = null;
  let said = 0;
  for (let node = list2.firstChild; node; node = node.nextSibling) {
    const line = linesOf.get(node);
    if (!line) {
      if (node.dataset.n) block = null;
      if (ends2.some((name) => node.classList.contains(name))) said = found.length;
      continue;
    }
    if (line.begins) {
      block = { nodes: [], lines: [] };
      found.push(block);
    }
    if (!block) node.hidden = false;
    block?.nodes.push(node);
    block?.lines.push(line);
  }
  for (const one of found.slice(0, said)) one.later = true;
  return found;
}
function drawTools(session, list2, atWork = true) {
  const calls = /* @__PURE__ */ new Map();
  const blocks = blocksOf2(list2);
  for (const block of blocks) {
    const { tool } = block.lines[0];
    if (tool?.part !== "result") {
      if (tool?.call) calls.set(tool.call, block);
      continue;
    }
    const call2 = tool.call ? calls.get(tool.call) : null;
    if (!call2 || call2.result) continue;
    call2.result = block;
    block.call = call2;
  }
  for (const block of blocks) {
    const { tool } = block.lines[0];
    const asked = (block.call ?? block).lines[0].tool?.part === "question";
    if (!tool?.detail || asked) showLines(block);
    else if (block.call && block.call.lines[0].tool.detail) for (const node of block.nodes) node.hidden = true;
    else showCard(session, block, atWork);
  }
  showWork(session, list2, blocks);
}
function showWork(session, list2, blocks) {
  const { tools } = workShown();
  for (const head of list2.querySelectorAll(":scope > .counted > .work-line")) if (tools !== "brief") unfold(head.parentNode);
  if (tools === "all") return;
  const blockOf = new Map(blocks.flatMap((block) => block.nodes.map((node) => [node, block])));
  let run = [];
  const end = () => {
    if (run.length > 0 && tools === "brief") foldRun(session, run);
    run = [];
  };
  for (const node of list2.children) {
    const block = blockOf.get(node);
    if (block) {
      if (tools === "none") node.hidden = true;
      run.push({ node, block, first: block.nodes[0] === node });
    } else if (!node.hidden) {
      if (node.classList.contains("counted")) unfold(node);
      end();
    }
  }
  end();
}
function unfold(node) {
  node.classList.remove("counted", "folded");
  node.querySelector(":scope > .work-line")?.remove();
}
function foldRun(session, run) {
  const counts = {};
  let failed2 = 0;
  for (const { block, first } of run) {
    const { tool } = block.lines[0];
    if (!first) continue;
    if (tool?.part === "result") failed2 += tool.failed ? 1 : 0;
    else {
      const kind = tool?.does ?? "other";
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  const [{ node }, ...rest] = run;
  const text = workText(counts, failed2);
  for (const other of rest) unfold(other.node);
  if (!text) {
    unfold(node);
    return;
  }
  const key5 = `${session} ${node.dataset.n}`;
  let head = node.querySelector(":scope > .work-line");
  if (!head) {
    head = element("button", "work-line");
    head.type = "button";
    head.addEventListener("click", () => {
      if (!unfolded.delete(key5)) unfolded.add(key5);
      dispatchEvent(new Event("work-shown"));
    });
    node.prepend(head);
  }
  const open = unfolded.has(key5);
  head.setAttribute("aria-expanded", String(open));
  setText(head, text);
  node.classList.add("counted");
  node.classList.toggle("folded", !open);
  const alone2 = node.hidden;
  node.hidden = false;
  if (alone2) node.classList.add("folded");
  if (!open) for (const other of rest) other.node.hidden = true;
}
function showLines({ nodes, lines }) {
  nodes.forEach((node, i) => {
    node.hidden = false;
    if (!cards.has(node)) return;
    cards.delete(node);
    node.classList.remove("has-card");
    node.replaceChildren(...withSecrets(lines[i].text, lines[i].secrets));
  });
}
function showCard(session, block, atWork) {
  const [first, ...rest] = block.nodes;
  let card = cards.get(first);
  if (!card) {
    card = toolCard(session, block.lines);
    cards.set(first, card);
    first.classList.add("has-card");
    first.replaceChildren(card);
    first.classList.remove("counted", "folded");
  }
  first.hidden = false;
  for (const node of rest) node.hidden = true;
  update(card, block.lines, block.result?.lines ?? null, block.later || !atWork);
}
function toolCard(session, lines) {
  const card = element("details", "tool-card");
  const head = element("summary", "tool-head");
  head.append(element("span", "tool-icon"), element("span", "tool-name"), element("span", "tool-arg"), element("span", "tool-state"));
  head.firstChild.setAttribute("aria-hidden", "true");
  const body = element("div", "tool-body");
  card.append(head, body);
  card.dataset.tool = lines[0].n;
  card.about = { session, n: lines[0].n, lines, result: null, shown: "", known: "", secrets: "mask" };
  update(card, lines, null, false);
  const key5 = `${session} ${lines[0].n}`;
  card.addEventListener("toggle", () => {
    if (!card.open) {
      opened.delete(key5);
      return;
    }
    opened.add(key5);
    if (card.about.failed) card.about.shown = "";
    fill(card);
  });
  if (opened.has(key5)) card.open = true;
  return card;
}
function update(card, lines, result, over) {
  const { tool } = lines[0];
  const its = tool.part === "result" ? lines : result;
  const name = tool.name === "!" ? "shell" : tool.name || "result";
  const said = shownText(lines[0]).replace(/^(⚙|✗) |^ {2}/, "");
  Object.assign(card.about, { lines, result });
  card.dataset.kind = tool.does ?? "other";
  card.dataset.state = stateOf(its, over, card.about.known);
  const [, nameNode, arg, state2] = card.firstChild.children;
  setText(nameNode, name);
  setText(arg, argumentIn(said, name));
  setText(state2, stateText(card.dataset.state, its));
  if (card.open) fill(card);
}
function argumentIn(said, name) {
  if (said === name) return "";
  if (said.startsWith(`${name}: `)) return said.slice(name.length + 2);
  if (said.startsWith(`${name}(`) && said.endsWith(")")) return said.slice(name.length + 1, -1);
  return said;
}
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
function shownText({ text, secrets }) {
  let out = "";
  let at = 0;
  for (const { from, to, name } of secrets ?? []) {
    out += `${text.slice(at, from)}[masked: ${name}]`;
    at = to;
  }
  return out + text.slice(at);
}
function stateOf(ends4, over, known3) {
  if (!ends4) return known3 || (over ? "unknown" : "running");
  return ends4[0].tool.failed ? "failed" : "done";
}
function stateText(state2, ends4) {
  if (state2 === "running") return "running…";
  if (state2 === "unknown") return "";
  if (state2 === "done") return "done";
  return /exit status -?\d+$/.exec(ends4?.[0].text ?? "")?.[0] ?? "failed";
}
async function fill(card) {
  const { about: about3 } = card;
  const wants = `${about3.result?.[0].n ?? 0} ${about3.secrets}`;
  if (about3.shown === wants) return;
  about3.shown = wants;
  about3.failed = false;
  const key5 = `${about3.session} ${about3.n}`;
  const known3 = answers.get(key5);
  if (known3?.wants === wants) {
    draw3(card, known3.use);
    return;
  }
  const body = card.lastChild;
  if (!body.firstChild) body.append(element("p", "tool-note", "Loading…"));
  try {
    const use = await getTool(about3.session, about3.n, about3.secrets);
    if (about3.shown !== wants) return;
    if (about3.secrets === "mask") keep(key5, { wants, use });
    draw3(card, use);
  } catch (error) {
    if (about3.shown !== wants) return;
    about3.failed = true;
    drawLines(card, error.status === 404 ? "All of it isn’t kept any more." : `All of it can’t be shown now: ${error.message}`);
  }
}
function keep(key5, answer) {
  answers.delete(key5);
  answers.set(key5, answer);
  if (answers.size > kept2) answers.delete(answers.keys().next().value);
}
function drawLines(card, why) {
  const { lines, result } = card.about;
  card.lastChild.replaceChildren(
    element("p", "tool-note", why),
    textBox("Lines", [...lines, ...result ?? []].map(shownText).join("\n"))
  );
}
function draw3(card, use) {
  const parts = [];
  if (use.result > 0) card.about.known = use.failed ? "failed" : "done";
  if (use.result > 0 && ["running", "unknown"].includes(card.dataset.state)) {
    card.dataset.state = card.about.known;
    setText(card.firstChild.lastChild, card.about.known);
  }
  for (const { name, text } of use.input) parts.push(inputNode(label(name), text));
  for (const file of use.files ?? []) parts.push(fileNode(file));
  if (use.result > 0) {
    const none = use.output === "";
    const output = section("Output", none ? element("p", "tool-note", noOutput(card, use)) : textBox("Output", use.output));
    if (!none) output.firstChild.append(copyButton(() => use.output));
    parts.push(output);
  } else parts.push(element("p", "tool-note", card.dataset.state === "running" ? "It hasn’t returned yet." : "There’s no result."));
  if (use.masked || card.about.secrets === "show") parts.push(secretsNote(card));
  card.lastChild.replaceChildren(...parts);
}
function noOutput({ about: about3 }, use) {
  const ends4 = about3.result ?? (about3.lines[0].tool.part === "result" ? about3.lines : null);
  if (!ends4) return "No output.";
  const said = ends4.map(shownText).join(" ").replace(/^✗ /, "").trim();
  return use.files?.length > 0 && !use.failed ? said : said || "No output.";
}
function label(name) {
  const words = name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`).trim();
  return words ? words[0].toUpperCase() + words.slice(1) : "Input";
}
function inputNode(name, text) {
  if (text.length > 80 || text.includes("\n")) return section(name, textBox(name, text));
  const node = element("p", "tool-short");
  node.append(element("span", "", name), " ", element("code", "", text));
  return node;
}
function section(title, content) {
  const node = element("section", "tool-part");
  const head = element("div", "tool-part-head");
  head.append(element("span", "", title));
  node.append(head, content);
  return node;
}
function textBox(name, text) {
  const box = element("pre", "tool-text", text);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", name);
  return box;
}
var does = { edit: "edited", write: "written", add: "added", delete: "deleted" };
function fileNode(file) {
  const rows = [];
  for (const [i, hunk] of file.hunks.entries()) {
    if (i > 0 || hunk.head) rows.push({ head: hunk.head || "⋯" });
    rows.push(...hunk.lines);
  }
  const count = (op) => rows.filter((row) => row.op === op).length;
  const box = diffBox(rows, `Changes of ${file.path}`);
  if (file.more) box.append(element("p", "tool-note", `${file.more} more lines aren’t shown.`));
  const node = section(file.path, rows.length > 0 ? box : element("p", "tool-note", "No line of it is told."));
  node.firstChild.firstChild.className = "tool-path";
  const about3 = [does[file.does] ?? "", file.from && `was ${file.from}`].filter(Boolean).join(", ");
  node.firstChild.append(element("span", "tool-does", about3), element("span", "diff-count added", `+${count("+")}`), element("span", "diff-count removed", `−${count("-")}`));
  return node;
}
function secretsNote(card) {
  const { about: about3 } = card;
  const shown3 = about3.secrets === "show";
  const note = element("p", "tool-note", shown3 ? "Secrets are shown. " : "Secrets are masked. ");
  const button2 = element("button", "button small needs-admin", shown3 ? "Mask them" : "Show them");
  button2.type = "button";
  button2.addEventListener("click", () => {
    about3.secrets = shown3 ? "mask" : "show";
    fill(card);
  });
  note.append(button2);
  return note;
}

// lines.js
function lineNode(line) {
  const node = element("div", `line ${line.kind}`);
  node.dir = "auto";
  if (line.kind === "user" && line.begins) node.append(authorNode(line));
  node.append(...withSecrets(line.text, line.secrets));
  if (line.secrets?.length > 0) node.dataset.secret = "true";
  if (line.begins) node.dataset.begins = "true";
  if (line.kind === "answer") answerLine(node, line);
  if (line.kind === "tool") toolLine(node, line);
  if (line.kind === "thought") node.hidden = workShown().thinking === "none";
  node.dataset.n = line.n;
  if (line.at) node.dataset.at = Date.parse(line.at);
  return node;
}
function authorNode(line) {
  const node = element("span", "author", authorWords(line.author) || "you");
  const time = element("time", "author-time", clock(line.at));
  time.dateTime = line.at ?? "";
  node.append(" ", time);
  if (line.author) {
    const receipt = element("span", "bubble-receipt");
    receipt.setAttribute("aria-live", "off");
    node.append(receipt);
  }
  return node;
}
function gapNode(gap) {
  const lines = gap.at_least === 1 ? "line" : "lines";
  const what = gap.at_least > 0 ? `at least ${gap.at_least} ${lines} missing` : "lines may be missing";
  const node = markNode("gap", gap.reason ? `${what}: ${gap.reason}` : what);
  node.dataset.after = gap.after;
  return node;
}
function mergedNodes(lines, gaps) {
  const fragment = document.createDocumentFragment();
  let next = 0;
  for (const line of lines) {
    while (next < gaps.length && gaps[next].after < line.n) fragment.append(gapNode(gaps[next++]));
    fragment.append(lineNode(line));
  }
  while (next < gaps.length) fragment.append(gapNode(gaps[next++]));
  return fragment;
}
function markNode(className, text) {
  const node = element("div", className, text);
  node.setAttribute("role", "note");
  return node;
}
var isGap = (node) => Boolean(node?.dataset.after);
var isMark = (node) => Boolean(node) && !node.dataset.n;
function gapAmong(node, way) {
  for (let mark = node; isMark(mark); mark = mark[way]) if (isGap(mark)) return true;
  return false;
}
function numberOf(node) {
  for (let at = node; at; at = at.nextSibling) if (at.dataset.n) return Number(at.dataset.n);
  return 0;
}
function lineAt(list2, n) {
  let low = 0;
  let high = list2.children.length;
  while (low < high) {
    const middle = low + high >> 1;
    const number = numberOf(list2.children[middle]) || Infinity;
    if (number < n) low = middle + 1;
    else high = middle;
  }
  let node = list2.children[low];
  while (node && (isMark(node) || node.hidden)) node = node.nextSibling;
  return node ?? null;
}
function holderOf(list2, n) {
  let node = [...list2.children].find((child) => Number(child.dataset.n) >= n) ?? null;
  while (node && (isMark(node) || node.hidden)) node = node.previousSibling;
  return node ?? lineAt(list2, n);
}
var firstNumber = (list2) => numberOf(list2.firstChild);
function nodeInView(list2, scroller) {
  const box = scroller.getBoundingClientRect();
  for (let y = 14; y < box.height; y += 10) {
    const node = document.elementFromPoint(box.left + box.width / 2, box.top + y)?.closest("#lines > *");
    if (node) return node;
  }
  return list2.getBoundingClientRect().top > box.top ? list2.firstElementChild : list2.lastElementChild;
}

// keyboard.js
var most5 = 100;
var names = {
  Enter: "Enter",
  Escape: "Escape",
  Tab: "Tab",
  Backspace: "BSpace",
  Delete: "DC",
  Insert: "IC",
  " ": "Space",
  ArrowUp: "Up",
  ArrowDown: "Down",
  ArrowLeft: "Left",
  ArrowRight: "Right",
  Home: "Home",
  End: "End",
  PageUp: "PageUp",
  PageDown: "PageDown"
};
for (let n = 1; n <= 12; n += 1) names[`F${n}`] = `F${n}`;
var Keyboard = class {
  // frame() is the number of the frame on the screen, 0: none is there yet; paste(text) takes a text that's pasted.
  constructor(session, field, { frame, paste: paste2 }) {
    Object.assign(this, { session, field, frame, paste: paste2, waiting: [] });
    this.events = new AbortController();
    const on = (name, fn) => field.addEventListener(name, fn, { signal: this.events.signal });
    on("keydown", (event) => {
      this.isTaken = this.key(event);
    });
    on("keypress", (event) => {
      if (this.isTaken) event.preventDefault();
    });
    on("beforeinput", (event) => {
      if (event.inputType === "deleteContentBackward" && field.value === "" && !event.isComposing) this.press("BSpace");
      if (event.inputType !== "insertLineBreak" && event.inputType !== "insertParagraph") return;
      event.preventDefault();
      this.takeText();
      this.press("Enter");
    });
    on("input", (event) => {
      if (!event.isComposing) this.takeText();
    });
    on("compositionend", () => this.takeText());
    on("paste", (event) => {
      event.preventDefault();
      paste2(event.clipboardData.getData("text/plain"));
    });
  }
  // key says whether a key was taken: pressed in the session, or used here.
  key(event) {
    if (event.keyCode === 229 || event.key === "Process" || event.key === "Dead" || event.key === "Unidentified") return false;
    const leaves = event.key === "Escape" && event.shiftKey;
    const key5 = leaves ? "" : keyOf2(event);
    if (key5 === "" && !leaves) return false;
    event.preventDefault();
    event.stopPropagation();
    if (event.isComposing) this.takeText();
    if (leaves) this.field.blur();
    else this.press(key5);
    return true;
  }
  // takeText presses what was written into the field. Several letters with a new line among them were inserted by something
  // else than keys, and are for the field below as what's pasted.
  takeText() {
    const text = this.field.value;
    this.field.value = "";
    if (text.length > 1 && text.includes("\n")) this.paste(text);
    else for (const letter of text) this.press({ "\n": "Enter", "	": "Tab" }[letter] ?? names[letter] ?? letter);
  }
  press(key5) {
    const frame = this.frame();
    if (!frame) {
      toast("Not pressed: the screen isn’t there yet.");
      return;
    }
    this.waiting.push({ key: key5, frame });
    this.pump();
  }
  // pump presses what waits, if nothing is on its way.
  async pump() {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.waiting.length > 0) {
        const keys = this.waiting.splice(0, most5);
        await pressKeys(this.session, keys.map(({ key: key5 }) => key5), keys[0].frame);
      }
    } catch (error) {
      const lost = this.waiting.splice(0).length;
      toast(`${isAway(error) ? "Nobody knows whether the last keys were pressed" : "Not pressed"}: ${error.message}${lost > 0 ? ` What was typed behind that (${lost}) wasn’t pressed.` : ""}`);
    } finally {
      this.busy = false;
    }
  }
  // close takes no more keys. Those that were typed are pressed still, in their session.
  close() {
    this.events.abort();
  }
};
var isMac = /Mac|iP(?:hone|ad|od)/.test(navigator.platform);
var letterOf = ({ key: key5, code }) => /^[ -~]$/.test(key5) ? key5 : /^Key([A-Z])$/.exec(code)?.[1].toLowerCase() ?? "";
function keyOf2(event) {
  const { key: key5, ctrlKey, altKey, metaKey, shiftKey } = event;
  if (metaKey) return "";
  const isText = [...key5].length === 1 && key5 !== " ";
  const plainly = isText && /^[ -~]$/.test(key5) && key5.toLowerCase() === letterOf({ key: "", code: event.code });
  const isLevel = altKey && isText && !plainly && (isMac || ctrlKey || event.getModifierState?.("AltGraph"));
  if (isText && (isLevel || !ctrlKey && !altKey)) return key5;
  if (isText) return withLetter(event, letterOf(event));
  const name = names[key5] ?? "";
  if (name === "" || name === "IC" && (ctrlKey || shiftKey)) return "";
  if (name === "Tab") return shiftKey ? "BTab" : "Tab";
  if (name === "BSpace" || name === "Enter" || name === "Escape") return altKey ? `M-${name}` : name;
  if (name === "Space") return `${ctrlKey ? "C-" : ""}${altKey ? "M-" : ""}${name}`;
  return `${ctrlKey ? "C-" : ""}${altKey ? "M-" : ""}${shiftKey ? "S-" : ""}${name}`;
}
function withLetter({ ctrlKey, altKey, shiftKey }, letter) {
  if (letter === "") return "";
  if (!ctrlKey) return `M-${letter}`;
  const low = letter.toLowerCase();
  if (low === "v" || low === "c" && !getSelection().isCollapsed) return "";
  if (shiftKey && /[a-z]/.test(low)) return "";
  return /[a-z@[\\\]^_]/.test(low) ? `C-${altKey ? "M-" : ""}${low}` : "";
}

// connections.js
var lasting2 = 4;
var turnLength = 400;
var turnPause = 500;
var own = /* @__PURE__ */ new Set();
function isScarce() {
  const [page2] = performance.getEntriesByType("navigation");
  return Boolean(navigator.locks) && !["h2", "h3"].includes(page2?.nextHopProtocol);
}
async function takeConnection(signal, insists) {
  if (!isScarce()) return { pause: 0, opened() {
  }, release() {
  } };
  const names2 = Array.from({ length: lasting2 }, (_, i) => `panebridge-stream-${i}`);
  for (const name of names2) {
    const free = await hold(name, { ifAvailable: true });
    if (free) return free;
  }
  const others = names2.filter((name) => !own.has(name));
  if (insists && others.length > 0) return hold(others[Math.floor(Math.random() * others.length)], { steal: true });
  const turn = await hold("panebridge-stream-turn", { signal });
  turn.pause = turnPause;
  turn.opened = () => {
    turn.timer = setTimeout(() => turn.onOver?.(), turnLength);
  };
  return turn;
}
function hold(name, options) {
  return new Promise((resolve, reject) => {
    let held2 = null;
    navigator.locks.request(name, options, (lock) => lock && new Promise((done2) => {
      own.add(name);
      held2 = {
        pause: 0,
        opened() {
        },
        release() {
          clearTimeout(held2.timer);
          own.delete(name);
          done2();
        }
      };
      resolve(held2);
    })).then(() => resolve(null), (problem) => {
      if (!held2) return reject(problem);
      own.delete(name);
      return held2.onOver?.();
    });
  });
}

// stream.js
import { forgetStart } from "./key.js";
var firstDelay = 250;
var maxDelay = 8e3;
var Stream = class {
  // place is where it begins: {last}, so many lines before the end, or {from}, at an event's id. request opens the events of a
  // session from a place on.
  constructor(session, place, request = openEvents) {
    this.session = session;
    this.place = place;
    this.request = request;
    this.early = [];
    this.on = (...event) => this.early.push(event);
    this.onStatus = () => {
    };
    this.delay = firstDelay;
    this.focused = () => {
      if (this.waits) this.open(true);
    };
    addEventListener("focus", this.focused);
    this.open(document.hasFocus());
  }
  // listen has on(name, data) called for each event, and onStatus(connected) when that changes.
  listen(on, onStatus) {
    this.on = on;
    this.onStatus = onStatus;
    if (this.isOpen || this.timer) onStatus(Boolean(this.isOpen || this.waits));
    for (const event of this.early.splice(0)) on(...event);
  }
  // open opens a connection; one that insists takes another window's if there's none left.
  async open(insists = false) {
    this.give();
    const connection = new AbortController();
    this.connection = connection;
    let part = null;
    let over = false;
    this.waits = true;
    try {
      part = await takeConnection(connection.signal, insists);
      if (this.connection === connection) this.waits = false;
      part.onOver = () => {
        over = true;
        connection.abort();
      };
      if (this.connection === connection) await this.read(connection, part);
    } catch {
    }
    part?.release();
    if (this.connection !== connection) return;
    if (over) {
      this.waitForTurn(part.pause);
      return;
    }
    forgetStart();
    this.retry();
  }
  // read reads a connection to its end.
  async read(connection, part) {
    const { body } = await this.request(this.session, this.place, connection);
    if (this.connection === connection) this.connected();
    part.opened();
    for await (const event of eventsOf(body, () => {
      this.heard = Date.now();
    })) {
      if (this.connection !== connection) return;
      this.receive(event);
    }
  }
  connected() {
    this.isOpen = true;
    this.heard = Date.now();
    this.delay = firstDelay;
    this.onStatus(true);
  }
  receive({ name, id, data }) {
    if (id) this.place = { from: id };
    this.on(name, JSON.parse(data));
  }
  retry() {
    this.give();
    this.onStatus(false);
    this.timer = setTimeout(() => this.open(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(this.delay * 2, maxDelay);
  }
  // waitForTurn goes on when it may have a connection again. Until then it counts as connected.
  waitForTurn(pause3) {
    this.give();
    this.waits = true;
    this.timer = setTimeout(() => this.open(), pause3);
  }
  // now opens a new connection at once, when there's reason to believe it works.
  now() {
    if (this.closed || this.isOpen || this.waits) return;
    this.delay = firstDelay;
    this.open();
  }
  // silence is for how many milliseconds nothing came over a connection that's open, or seems to be.
  silence() {
    return this.isOpen ? Date.now() - this.heard : 0;
  }
  // renew opens a new connection behind what the one of now has brought.
  renew() {
    if (!this.closed) this.open();
  }
  close() {
    this.closed = true;
    removeEventListener("focus", this.focused);
    this.give();
  }
  // give gives up the connection, or the wait for the next.
  give() {
    clearTimeout(this.timer);
    this.connection?.abort();
    this.connection = null;
    this.isOpen = false;
    this.waits = false;
  }
};
async function* eventsOf(body, heard) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let chunks = [];
  try {
    for (; ; ) {
      const { done: done2, value } = await reader.read();
      if (done2) return;
      heard();
      const text = decoder.decode(value, { stream: true });
      chunks.push(text);
      if (!text.includes("\n")) continue;
      const blocks = chunks.join("").split("\n\n");
      chunks = [blocks.pop()];
      for (const block of blocks) {
        const event = eventOf(block);
        if (event.data) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {
    });
  }
}
function eventOf(block) {
  const fields = Object.fromEntries(block.split("\n").map((line) => {
    const at = line.indexOf(": ");
    return [line.slice(0, at), line.slice(at + 2)];
  }));
  return { name: fields.event, id: fields.id, data: fields.data };
}

// screen.js
var near = 4;
var classPattern = /^(?:[fb]\d{1,3}|w[12]|bold|dim|italic|underline|reverse|hidden|strike|apart|cursor)$/;
var colourPattern = /^#[0-9a-f]{6}$/;
var Screen = class {
  constructor(session) {
    this.session = session;
    this.rows = byId("screen-rows");
    this.rows.replaceChildren();
    this.note = byId("screen-note");
    this.scroller = this.rows.parentElement;
    this.resizes = new ResizeObserver(() => this.toPrompt(this.isAway()));
    this.resizes.observe(this.scroller);
    this.shown = false;
    this.frame = 0;
    this.secrets = byId("screen-secrets");
    this.secrets.checked = false;
    this.events = new AbortController();
    const on = (target, name, fn) => target.addEventListener(name, fn, { signal: this.events.signal });
    on(this.secrets, "change", () => this.follow());
    on(document, "visibilitychange", () => this.follow());
    this.field = byId("screen-keys");
    this.keyboard = new Keyboard(session, this.field, { frame: () => this.frame, paste });
    on(byId("screen-type"), "click", () => this.field.focus());
    on(this.scroller, "click", (event) => {
      if (event.pointerType === "mouse" && mayDo("operator") && getSelection().isCollapsed) this.field.focus({ preventScroll: true });
    });
  }
  show(shown3) {
    this.shown = shown3;
    if (shown3) {
      this.place = null;
      this.toPrompt(false);
    }
    this.follow();
  }
  // follow begins or ends the stream of frames, as is needed now.
  follow() {
    this.stream?.close();
    this.stream = null;
    this.frame = 0;
    if (!this.shown || document.hidden) return;
    const secrets = this.secrets.checked ? "show" : "mask";
    this.stream = new Stream(this.session, {}, (id, place, abort) => openTerminal(id, secrets, abort));
    this.stream.listen((name, data) => this.receive(name, data), (connected) => {
      if (!connected) this.frame = 0;
      if (!connected && this.rows.childElementCount > 0) this.say("Reconnecting…");
    });
  }
  // keepUp opens the stream again that has broken, or was silent for longer than so many milliseconds: the daemon answers.
  keepUp(mostSilence2) {
    this.stream?.now();
    if (this.stream?.silence() > mostSilence2) this.stream.renew();
  }
  receive(name, data) {
    if (name === "frame") this.draw(data);
    else if (name === "unframe") {
      if (data.ended) this.stream?.close();
      this.say(`The screen can’t be seen: ${data.message}`);
    }
  }
  say(text) {
    this.note.textContent = text;
    this.note.hidden = text === "";
  }
  // draw takes in the rows that have changed.
  draw({ n, height, rows, dead }) {
    const away2 = this.isAway();
    while (this.rows.childElementCount > height) this.rows.lastElementChild.remove();
    while (this.rows.childElementCount < height) this.rows.append(element("div"));
    for (const [i, html] of Object.entries(rows)) this.rows.children[i]?.replaceChildren(...rebuild(html), "\n");
    this.frame = n;
    this.say(dead ? "The program has ended." : "");
    this.toPrompt(away2);
  }
  // isAway says that the reader has scrolled away from the prompt.
  isAway() {
    if (this.place === null) return false;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    return Math.abs(scrollTop - Math.min(this.place, scrollHeight - clientHeight)) > near;
  }
  // toPrompt scrolls to the last row that has something, or to the cursor's where that's
  // above; a reader who is away stays where he is.
  toPrompt(away2) {
    if (away2 || !this.shown || this.rows.childElementCount === 0) return;
    const rows = [...this.rows.children];
    const height = this.rows.offsetHeight / rows.length;
    const cursor = this.rows.querySelector(".cursor");
    const last2 = rows.findLastIndex((row) => row.textContent.trim() !== "");
    const at = cursor ? rows.indexOf(cursor.parentElement) : last2;
    const padding = this.rows.offsetTop - this.scroller.offsetTop;
    const bottom = padding + (Math.max(last2, at) + 1) * height + padding;
    this.scroller.scrollTop = Math.min(bottom - this.scroller.clientHeight, padding + at * height);
    this.place = this.scroller.scrollTop;
  }
  close() {
    this.resizes.disconnect();
    this.events.abort();
    this.keyboard.close();
    this.shown = false;
    this.follow();
    this.say("");
    this.rows.replaceChildren();
  }
};
function paste(text) {
  const field = byId("text");
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}
function rebuild(text) {
  const parsed = new DOMParser().parseFromString(`<pre>
${text}</pre>`, "text/html");
  return Array.from(parsed.querySelector("pre").childNodes, rebuildNode);
}
function rebuildNode(node) {
  if (node.nodeName !== "SPAN") return document.createTextNode(node.textContent);
  const span = element("span", "", node.textContent);
  for (const name of node.classList) if (classPattern.test(name)) span.classList.add(name);
  setColour(span, "--fg", node.dataset.fg);
  setColour(span, "--bg", node.dataset.bg);
  return span;
}
function setColour(span, variable, value) {
  if (value && colourPattern.test(value)) span.style.setProperty(variable, value);
}

// prompt.js
var armedAfter = 400;
var stillFor = 300;
var lingers2 = 6e4;
var noteOfKeys = "panebridge doesn’t know this dialog. Each button presses its key, while this very screen stands.";
var noteOfFields = "It asks for something that’s typed there only, a key or a code perhaps. Answer it in the session.";
var noteOfLines = "Its program reads a line.";
var noteOfHidden = "It doesn’t show it: a password, perhaps.";
var offered = (prompt) => prompt.options.filter((option) => option.offered);
var extent = (prompt) => `${Boolean(prompt.unseen)} ${Boolean(prompt.disputed)} ${prompt.note ?? ""} ${prompt.body}`;
var final2 = (prompt) => prompt.state === "answered" || prompt.state === "closed";
var PromptPanel = class {
  // It's shown in box, with a heading of that level, and moves when a part of `around` has another size. With digits, it takes those that are
  // typed anywhere in the page. below says where a line can be written that its program reads.
  constructor(session, { box = byId("prompt"), around = [byId("foot")], digits = true, level = "h2", below = "What you send below is typed there." } = {}) {
    Object.assign(this, { session, box, level, below });
    box.tabIndex = -1;
    this.events = new AbortController();
    if (digits) document.addEventListener("keydown", (event) => this.key(event), { signal: this.events.signal });
    this.moves = new ResizeObserver(() => this.noteMove());
    for (const part of [box, ...around]) this.moves.observe(part);
    box.addEventListener("click", (event) => this.holdClick(event), { capture: true, signal: this.events.signal });
    this.hide();
  }
  // isOpen says that a question can be answered here.
  isOpen() {
    return Boolean(this.prompt) && !final2(this.prompt);
  }
  // isInView says that all choices are seen, and the question's first words as well unless the focus is on it.
  isInView() {
    const seen2 = (node) => {
      const { left: left2, top, width, height } = node.getBoundingClientRect();
      return this.box.contains(document.elementFromPoint(left2 + width / 2, top + height / 2));
    };
    const hasFocus = this.box.contains(document.activeElement);
    return [...this.box.querySelectorAll("[data-digit]")].every(seen2) && (hasFocus || seen2(this.box.firstElementChild));
  }
  close() {
    this.closed = true;
    this.events.abort();
    this.moves.disconnect();
    this.hide();
  }
  hide() {
    clearTimeout(this.timer);
    this.prompt = null;
    this.box.hidden = true;
    this.box.replaceChildren();
  }
  // show takes in how a question is now.
  show(prompt) {
    if (this.closed || prompt.session !== this.session) return;
    const { prompt: was } = this;
    if (was && was.id !== prompt.id && (final2(prompt) || prompt.opened_at < was.opened_at && !final2(was))) return;
    if (was && was.id === prompt.id && (was.state === prompt.state && extent(was) === extent(prompt) || final2(was))) return;
    if (!was && final2(prompt)) return;
    clearTimeout(this.timer);
    this.prompt = prompt;
    this.holdFocus();
    if (was?.id === prompt.id && !final2(prompt) && extent(was) === extent(prompt)) this.state(prompt);
    else if (final2(prompt)) this.done(prompt);
    else this.ask(prompt);
    this.box.hidden = false;
  }
  // holdFocus has the focus stay at the question when what has it there is about to go: no field takes it, so that
  // digits answer the next question, and a phone's keyboard stays away.
  holdFocus() {
    if (this.box.contains(document.activeElement)) this.box.focus({ preventScroll: true });
  }
  // noteMove takes in that it may stand elsewhere now.
  noteMove() {
    this.movedAt = performance.now();
    this.box.dataset.moving = "";
    clearTimeout(this.still);
    this.still = setTimeout(() => {
      delete this.box.dataset.moving;
    }, stillFor);
  }
  // holdClick takes the click of a pointer for what has just come under it. Keys mean what they say.
  holdClick(event) {
    if (event.detail === 0 || performance.now() - this.movedAt >= stillFor) return;
    event.preventDefault();
    event.stopPropagation();
  }
  // expect is told which question is open, as the list of sessions says, which may be
  // older than what's shown, or newer.
  async expect(id) {
    const shown3 = this.prompt && !final2(this.prompt) ? this.prompt.id : "";
    const ask = shown3 || id;
    if (shown3 === (id ?? "") || this.asking || ask === this.prompt?.id && !shown3) return;
    this.asking = true;
    try {
      this.show(await getPrompt(ask));
    } catch (error) {
      if (error.status === 404 && this.prompt?.id === ask) this.hide();
    } finally {
      this.asking = false;
    }
  }
  // key clicks the option of a digit's number; in a field, a digit is text.
  key(event) {
    if (!/^[1-9]$/.test(event.key) || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (document.querySelector("dialog[open]") || event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const choice = this.box.querySelector(`[data-digit="${event.key}"]:enabled`);
    if (!choice) return;
    event.preventDefault();
    choice.click();
  }
  ask(prompt) {
    const unread = prompt.kind === "unread";
    const title = element(this.level, "prompt-title", prompt.title || (unread ? "Its screen looks like a question" : "The session asks"));
    const parts = [title];
    if (prompt.folder) parts.push(element("p", "prompt-note", `In ${prompt.folder}`));
    if (prompt.note) parts.push(element("p", "prompt-note", prompt.note));
    if (prompt.body && prompt.diff) {
      const body = diffBox(diffRows(prompt.body), "What it would change");
      body.classList.add("prompt-diff");
      parts.push(body);
    } else if (prompt.body) {
      const body = element("pre", "prompt-body", (prompt.cut ? "…\n" : "") + prompt.body);
      body.tabIndex = 0;
      body.setAttribute("aria-label", "What it’s about");
      parts.push(body);
      if (unread) this.draw(body, prompt);
    }
    if (prompt.kind === "line") parts.push(element("p", "prompt-note", [noteOfLines, this.below, prompt.hidden && noteOfHidden].filter(Boolean).join(" ")));
    if (unread) parts.push(element("p", "prompt-note", prompt.options.length > 0 ? noteOfKeys : noteOfFields));
    if (prompt.disputed) parts.push(element("p", "prompt-unseen", "What the dialog shows isn’t in the agent’s own record of the call. Only what refuses can be chosen here. Look at it in the session."));
    else if (prompt.unseen) parts.push(element("p", "prompt-unseen", "Not all of what it’s about can be seen, so only what refuses can be chosen here. Look at it in the session."));
    if (!mayDo("approver")) parts.push(element("p", "prompt-note", "This device may not answer: that takes an approver’s."));
    parts.push(prompt.multi && !prompt.unseen ? this.boxes(prompt) : this.buttons(prompt));
    if (prompt.text && !prompt.unseen) parts.push(this.field(prompt));
    this.status = element("p", "prompt-status");
    this.status.setAttribute("role", "alert");
    this.box.replaceChildren(...parts, this.status);
    this.box.dataset.state = "open";
    this.enable(false);
    this.timer = setTimeout(() => this.state(this.prompt), armedAfter);
  }
  // draw shows the screen with its colours, by which alone some dialogs show what's marked.
  async draw(body, prompt) {
    try {
      const text = await getScreen(prompt.session, "mask");
      if (this.prompt?.id === prompt.id && body.isConnected) body.replaceChildren(...rebuild(text));
    } catch {
    }
  }
  buttons(prompt) {
    const keys = prompt.kind === "unread";
    const list2 = element("div", keys ? "prompt-options prompt-keys" : "prompt-options");
    for (const option of offered(prompt)) {
      const button2 = element("button", "button prompt-option");
      button2.type = "button";
      if (!keys) button2.append(element("span", "prompt-n", String(option.n)));
      answersTo(button2, keys ? option.label : option.n);
      button2.append(labelOf(option));
      button2.addEventListener("click", () => this.answer({ option: option.n }));
      list2.append(button2);
    }
    return list2;
  }
  boxes(prompt) {
    const form = element("form", "prompt-options");
    for (const option of prompt.options) {
      const label2 = element("label", "prompt-check");
      const box = element("input");
      box.type = "checkbox";
      box.value = option.n;
      answersTo(box, option.n);
      label2.append(box, element("span", "prompt-n", String(option.n)), labelOf(option));
      form.append(label2);
    }
    form.append(sendButton("Send"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer({ options: [...form.querySelectorAll("input:checked")].map((box) => Number(box.value)) });
    });
    return form;
  }
  field(prompt) {
    const form = element("form", "prompt-text");
    const field = element("input");
    field.autocomplete = "off";
    field.placeholder = prompt.text;
    field.setAttribute("aria-label", prompt.text);
    form.append(field, sendButton("Send text"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (field.value.trim() !== "") this.answer({ text: field.value });
    });
    return form;
  }
  async answer(body) {
    const { prompt } = this;
    this.holdFocus();
    this.enable(false);
    this.say("Answering…");
    try {
      this.show(await answerPrompt(prompt.id, body));
    } catch (error) {
      if (error.prompt) this.show(error.prompt);
      if (this.prompt?.id !== prompt.id || this.box.hidden) return;
      this.state(this.prompt);
      this.say(error.message, true);
    }
  }
  // state shows whether an open question can be answered now.
  state(prompt) {
    if (final2(prompt)) return;
    this.enable(prompt.state === "open");
    this.say(prompt.state === "answering" ? `${who(prompt)} is answering: ${prompt.answer.chosen}` : "");
  }
  done(prompt) {
    const text = prompt.state === "answered" ? `${prompt.title} — ${who(prompt)} answered: ${prompt.answer.chosen || "none of them"}` : `${prompt.title} — closed: ${prompt.reason}`;
    const line = element("p", "prompt-done", text);
    if (this.status?.isConnected && this.status.classList.contains("error")) line.append(element("span", "error", ` ${this.status.textContent}`));
    this.box.replaceChildren(line);
    this.box.dataset.state = prompt.state;
    this.timer = setTimeout(() => this.hide(), lingers2);
  }
  enable(enabled) {
    for (const part of this.box.querySelectorAll("button:not(.diff-more), input")) part.disabled = !enabled || !mayDo("approver");
  }
  say(text, bad) {
    if (!this.status) return;
    this.status.textContent = text;
    this.status.classList.toggle("error", Boolean(bad));
  }
};
function answersTo(control, digit) {
  control.dataset.digit = digit;
  if (/^[1-9]$/.test(digit)) control.setAttribute("aria-keyshortcuts", digit);
}
function labelOf(option) {
  const label2 = element("span", "prompt-label", option.label);
  if (option.detail) label2.append(element("span", "prompt-detail", option.detail));
  return label2;
}
function sendButton(text) {
  const button2 = element("button", "button primary", text);
  button2.type = "submit";
  return button2;
}
var answerer = (answer) => authorBegins(answer?.author, answer?.name) || "Somebody";
var who = ({ answer }) => answerer(answer);

// answered.js
var AnsweredMarks = class {
  constructor(session, list2) {
    this.session = session;
    this.list = list2;
    this.answered = [];
  }
  // ask asks what was answered in the time of the lines in the list, or with open since the first; in a
  // list without lines all.
  async ask(open) {
    const lines = this.list.querySelectorAll("[data-at]");
    const timeOf = (node) => node && new Date(Number(node.dataset.at)).toISOString();
    const to = open ? void 0 : timeOf(lines[lines.length - 1]);
    this.answered = (await getAnswered(this.session, { from: timeOf(lines[0]), to })).reverse();
  }
  // place shows those that aren't, and whose place is in the list; open: it reaches to the newest line.
  place(open) {
    const lines = this.list.querySelectorAll("[data-at]");
    if (lines.length === 0 || this.answered.length === 0) return;
    const shown3 = new Set(Array.from(this.list.querySelectorAll("[data-prompt]"), (node) => node.dataset.prompt));
    for (const prompt of this.answered) {
      const at = Date.parse(prompt.at);
      if (shown3.has(prompt.id) || at < Number(lines[0].dataset.at) || !open && at > Number(lines[lines.length - 1].dataset.at)) continue;
      lastUntil(this.list, at).after(answeredNode(prompt));
    }
  }
};
function lastUntil(list2, at) {
  let node = list2.lastChild;
  while (node.previousSibling && !(Number(node.dataset.at) <= at || Number(node.dataset.answered) <= at)) node = node.previousSibling;
  return node;
}
function answeredNode(prompt) {
  const node = markNode("answered", `${prompt.title} — ${answerer(prompt)} answered: ${prompt.chosen || "none of them"}`);
  node.dir = "auto";
  node.title = clock(prompt.at);
  node.dataset.prompt = prompt.id;
  node.dataset.answered = Date.parse(prompt.at);
  return node;
}

// found.js
var margin = 12;
var scrolls = ["wheel", "touchmove", "keydown", "pointerdown"];
var FoundLine = class {
  constructor(list2, scroller) {
    Object.assign(this, { list: list2, scroller });
    this.n = 0;
    this.hasCome = () => this.list.childElementCount > 0;
    this.letGoIfShown = () => {
      if (this.hasCome()) this.letGo();
    };
    for (const name of scrolls) scroller.addEventListener(name, this.letGoIfShown, { passive: true });
  }
  close() {
    this.letGo();
    for (const name of scrolls) this.scroller.removeEventListener(name, this.letGoIfShown);
  }
  // letGo has the reader be where they like.
  letGo() {
    this.n = 0;
    this.unmark(null);
  }
  unmark(but) {
    for (const node of this.list.querySelectorAll(".found-line")) {
      if (node === but) continue;
      node.classList.remove("found-line");
      node.removeAttribute("tabindex");
    }
  }
  // show marks the line, and scrolls to it. It says whether it's in the list.
  show() {
    const node = holderOf(this.list, this.n);
    this.unmark(node);
    if (!node) return false;
    node.classList.add("found-line");
    node.tabIndex = -1;
    const { top, height } = node.getBoundingClientRect();
    const box = this.scroller.getBoundingClientRect();
    this.scroller.scrollTop += top - box.top - Math.max(margin, (box.height - height) / 3);
    return true;
  }
  focus() {
    this.list.querySelector(".found-line")?.focus({ preventScroll: true });
  }
};

// live.js
function showLive(live) {
  const writing = (live?.known ? live.writing : live?.rows) ?? [];
  const status = live?.known ? live.status ?? "" : "";
  const isEmpty = writing.every((row) => row.trim() === "") && status.trim() === "";
  const box = byId("live");
  box.hidden = isEmpty;
  box.classList.toggle("alternate", Boolean(live?.alternate && !live.known));
  box.classList.toggle("known", Boolean(live?.known));
  byId("live-rows").textContent = writing.join("\n").replace(/\n$/, "");
  byId("live-rows").hidden = writing.length === 0;
  byId("live-status").textContent = status;
  byId("live-status").hidden = status === "";
}

// looked.js
var key4 = "panebridge.looked";
var most6 = 500;
var before = 24 * 3600 * 1e3;
var kept3 = null;
function read3() {
  if (kept3) return kept3;
  kept3 = loadKept(key4);
  if (typeof kept3?.since !== "number" || typeof kept3.sessions !== "object" || !kept3.sessions) kept3 = { since: Date.now() - before, sessions: {} };
  return kept3;
}
var write2 = () => saveKept(key4, kept3);
addEventListener("storage", (event) => {
  if (event.key === key4 || event.key === null) kept3 = null;
});
var lookedAt = (id) => Object.hasOwn(read3().sessions, id) ? read3().sessions[id] : null;
function noteLooked(id, { turn = 0, line = 0, ended = false }) {
  const was = lookedAt(id);
  const now = { turn: Math.max(turn, was?.turn ?? 0), line: Math.max(line, was?.line ?? 0), ended: ended || Boolean(was?.ended) };
  if (was && was.turn === now.turn && was.line === now.line && was.ended === now.ended) return;
  read3().sessions[id] = { ...now, at: Date.now() };
  write2();
}
var turnsDone = (s) => (s.turn?.number ?? 0) - (s.turn?.open ? 1 : 0);
var lookedThrough = (s) => noteLooked(s.id, { turn: turnsDone(s), line: s.lines, ended: s.state === "ended" });
function isNews(s) {
  const seen2 = lookedAt(s.id);
  if (!seen2) {
    const at = Date.parse(s.ended_at ?? s.turn?.ended_at ?? s.last_output_at ?? "");
    return (s.lines > 0 || turnsDone(s) > 0 || Boolean(s.exit)) && at > read3().since;
  }
  if (s.state === "ended" && !seen2.ended) return true;
  return turnsDone(s) > seen2.turn || turnsDone(s) === 0 && s.lines > seen2.line;
}
function keepLooked(sessions) {
  const { sessions: all } = read3();
  const ids2 = Object.keys(all);
  if (ids2.length <= most6) return;
  const listed2 = new Set(sessions.map((s) => s.id));
  ids2.sort((a, b) => listed2.has(a) - listed2.has(b) || all[a].at - all[b].at);
  for (const id of ids2.slice(0, ids2.length - most6)) delete all[id];
  write2();
}
function forgetLooked() {
  kept3 = null;
  saveKept(key4, null);
}

// turns.js
var worthAMark = 5;
var listed = 100;
var lasted = (turn) => Date.parse(turn.ended_at) - Date.parse(turn.started_at);
var failed = (turn) => Boolean(turn.why) || turn.status > 0;
var TurnMarks = class {
  constructor(session, list2) {
    this.session = session;
    this.list = list2;
    this.turns = [];
  }
  // ask asks which turns ended between two lines; to 0: up to the newest.
  async ask(from, to) {
    this.turns = await getTurns(this.session, { from, to: to || void 0, notable: worthAMark });
  }
  // place shows those that aren't and whose place is between the lines top and bottom.
  place(top, bottom) {
    const shown3 = new Set(Array.from(this.list.querySelectorAll("[data-turn]"), (node) => Number(node.dataset.turn)));
    for (const turn of this.turns) {
      if (shown3.has(turn.turn) || turn.after > bottom || turn.after < top - 1) continue;
      const before2 = lastUpTo(this.list, turn);
      if (before2) before2.after(endNode(turn));
      else this.list.prepend(endNode(turn));
    }
  }
};
function endNode(turn) {
  const time = took(lasted(turn));
  const node = failed(turn) ? markNode("failure", turn.why ? `failed: ${turn.why}` : `exit status ${turn.status}`) : markNode("turn-end", `Done in ${time} · ${clock(turn.ended_at)}`);
  if (failed(turn)) node.title = `after ${time}, ${clock(turn.ended_at)}`;
  node.dataset.turn = turn.turn;
  return node;
}
function lastUpTo(list2, { turn, after }) {
  for (let node = list2.lastChild; node; node = node.previousSibling) {
    if (Number(node.dataset.turn) < turn || Number(node.dataset.n) <= after) return node;
  }
  return null;
}
async function nextTurn(session, line, step2) {
  if (step2 < 0 && line <= 1) return 0;
  const turns = step2 > 0 ? await getTurns(session, { from: line + 1, order: "oldest", limit: 3 }) : await getTurns(session, { to: line - 1, limit: 3 });
  return turns.find((turn) => step2 > 0 ? turn.first > line : turn.first < line && turn.first > 0)?.first ?? 0;
}
var TurnList = class {
  constructor(session, choose2) {
    this.session = session;
    this.choose = choose2;
    this.dialog = byId("turns-dialog");
    this.list = byId("turns-list");
    this.more = byId("turns-more");
    this.onMore = () => this.load();
    this.more.addEventListener("click", this.onMore);
  }
  async open() {
    this.list.replaceChildren();
    this.before = void 0;
    byId("turns-none").hidden = true;
    await this.load();
    byId("turns-none").hidden = this.list.firstChild !== null;
    if (!this.closed && !this.dialog.open) this.dialog.showModal();
  }
  // load shows so many turns more.
  async load() {
    const turns = await getTurns(this.session, { to: this.before, limit: listed });
    if (this.closed) return;
    const fresh = turns.filter((turn) => !this.list.querySelector(`[data-turn="${turn.turn}"]`));
    this.list.append(...fresh.map((turn) => this.entry(turn)));
    this.more.hidden = turns.length < listed || fresh.length === 0;
    this.before = turns.at(-1)?.first;
  }
  entry(turn) {
    const row = element("li");
    const button2 = element("button", "turn-entry");
    button2.type = "button";
    button2.dataset.turn = turn.turn;
    const state2 = turn.open ? "at work" : failed(turn) ? "failed" : "done";
    const about3 = turn.open ? `since ${clock(turn.started_at)}` : `${took(lasted(turn))} · ${clock(turn.ended_at)}`;
    const asked = element("span", "turn-asked", turn.asked || `Turn ${turn.turn}`);
    asked.dir = "auto";
    button2.append(asked, element("span", `turn-about ${state2.replace(" ", "-")}`, `${state2} · ${about3}`));
    button2.addEventListener("click", () => {
      this.dialog.close();
      this.choose(turn.first);
    });
    row.append(button2);
    return row;
  }
  close() {
    this.closed = true;
    this.more.removeEventListener("click", this.onMore);
    this.dialog.close();
    this.list.replaceChildren();
  }
};

// conversation.js
var maxLines = 5e3;
var pageSize = 500;
var atFirst = 120;
var near2 = 40;
var mostRoom = 8e6;
var margin2 = 12;
var Conversation = class {
  // session is as the API lists it, when it's opened; line is where it begins, 0: at its end.
  constructor(session, line = 0) {
    this.session = session.id;
    this.scroller = byId("scroller");
    this.list = byId("lines");
    this.found = new FoundLine(this.list, this.scroller);
    this.marks = new TurnMarks(session.id, this.list);
    this.answered = new AnsweredMarks(session.id, this.list);
    this.receipts = new BubbleReceipts(session.id, session.agent, this.list, (change4) => this.keepEnd(change4));
    this.turnList = new TurnList(session.id, (line2) => this.showLine(line2));
    this.looked = lookedAt(session.id);
    this.head = session.lines;
    this.unreadWords = wordsOfUnread(turnsDone(session) - (this.looked?.turn ?? 0));
    this.oldest = 1;
    this.rowHeight = 20;
    this.clear();
    this.newest = 0;
    this.unseen = 0;
    this.queue = [];
    this.frame = 0;
    this.loading = null;
    this.stuck = true;
    this.bottomAt = 0;
    this.height = this.scroller.clientHeight;
    this.width = this.scroller.clientWidth;
    this.place = null;
    this.listeners = [
      [this.scroller, "scroll", () => this.scrolled()],
      [this.list, "toggle", (event) => this.cardOpened(event.target)],
      [byId("newest"), "click", () => this.jump()],
      [byId("unread"), "click", () => this.showUnread()],
      [byId("turn-before"), "click", () => this.jumpTurn(-1)],
      [byId("turn-next"), "click", () => this.jumpTurn(1)],
      [byId("turn-list"), "click", () => this.turnList.open().catch(() => {
      })]
    ];
    for (const [node, name, listener] of this.listeners) node.addEventListener(name, listener, { passive: true, capture: name === "toggle" });
    this.resizes = new ResizeObserver(() => this.resized());
    this.resizes.observe(this.scroller);
    if (line > 0) this.beginAt(line);
    this.showButtons();
  }
  // beginAt begins with a window around a line.
  beginAt(line) {
    this.begun = true;
    this.newest = this.head;
    this.detached = true;
    this.showFound(line);
  }
  // connected goes on with what couldn't be asked for while the server was away.
  connected() {
    if (this.count === 0 && this.found.n) this.showFound(this.found.n);
    else this.askMarks();
  }
  // showFound shows a line that a search led to.
  async showFound(n) {
    this.stuck = false;
    this.found.n = n;
    while (this.loading) await this.loading;
    if (this.found.n === n && (n < this.top || n > this.bottom)) await this.loadNext(() => this.loadAround(n));
    if (this.closed || this.found.n !== n || this.count === 0) return;
    this.found.show();
    this.found.focus();
    this.showButtons();
    if (n < this.oldest) toast("That line isn’t kept any more.");
  }
  close() {
    this.closed = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.resizes.disconnect();
    for (const [node, name, listener] of this.listeners) node.removeEventListener(name, listener, { capture: name === "toggle" });
    this.found.close();
    this.turnList.close();
    this.receipts.close();
    this.list.removeAttribute("aria-busy");
    this.list.setAttribute("aria-live", "polite");
    this.clear();
    this.newest = 0;
    this.pad();
    showLive(null);
    byId("unread").hidden = true;
  }
  clear() {
    this.list.replaceChildren();
    this.top = 0;
    this.bottom = 0;
    this.count = 0;
    this.detached = false;
  }
  // output takes lines in order; those it has had are left out, so that a
  // connection that goes on too early doubles nothing.
  output(lines) {
    for (const line of lines) {
      if (line.n <= this.newest) continue;
      this.newest = line.n;
      if (this.detached) this.missed = true;
      else this.queue.push({ line });
      if (!this.stuck) this.unseen++;
    }
    this.schedule();
  }
  // gap takes a gap; it comes behind the line that it stands behind, unless that
  // part of the log was loaded already.
  gap(gap) {
    if (gap.after < this.newest) return;
    if (this.detached) this.missed = true;
    else this.queue.push({ gap });
    this.schedule();
  }
  live(live) {
    this.noticeScroll();
    showLive(live);
    if (this.stuck && (this.count > 0 || !byId("live").hidden)) this.toBottom();
  }
  // schedule draws what's queued with the next frame: however many events come,
  // the document changes once per frame. A hidden page has no frames.
  schedule() {
    if (this.pending) return;
    this.pending = true;
    const draw6 = () => {
      this.pending = false;
      if (!this.closed) this.draw();
    };
    if (document.hidden) this.timer = setTimeout(draw6, 200);
    else this.frame = requestAnimationFrame(draw6);
  }
  draw() {
    this.noticeScroll();
    const items = this.queue.splice(0);
    const above = !this.list.firstChild && items.length > atFirst && !this.loading ? items.splice(0, items.length - atFirst) : [];
    if (!this.stuck && this.count + items.length > maxLines) {
      this.detached = this.detached || items.some((item) => item.line);
    }
    if (!this.detached) {
      this.append(items);
      this.trimTop();
      this.placeMarks();
      this.drawTools();
      this.drawAnswers();
    }
    this.pad();
    if (this.stuck) this.toBottom();
    if (above.length > 0) this.load(() => this.drawAbove(above));
    else if (!this.loading) this.beginAtUnread();
    this.showButtons();
  }
  // drawAbove draws what stands above the lines that were drawn first, once those are seen.
  async drawAbove(items) {
    const end = this.top;
    await painted();
    if (this.closed || this.top !== end) return;
    this.keepEnd(() => {
      const fragment = document.createDocumentFragment();
      for (const item of items) fragment.append(this.node(item));
      this.list.prepend(fragment);
      const lines = items.filter((item) => item.line);
      this.top = lines[0]?.line.n ?? end;
      this.count += lines.length;
      this.placeMarks();
      this.drawTools();
    });
    this.drawAnswers();
    this.beginAtUnread();
  }
  // askMarks asks which turns ended in the window, and what was answered, one time after the other.
  async askMarks() {
    this.unasked = true;
    if (this.asking) return;
    this.asking = true;
    try {
      while (this.unasked && !this.closed) {
        this.unasked = false;
        await Promise.all([this.marks.ask(Math.max(0, this.top - 1), this.detached ? this.bottom : 0), this.answered.ask(!this.detached)]);
        if (this.closed) return;
        this.keepEnd(() => {
          this.placeMarks();
          this.drawTools();
        });
        this.drawAnswers();
      }
    } catch {
    } finally {
      this.asking = false;
    }
  }
  placeMarks() {
    this.marks.place(this.top, this.bottom);
    this.answered.place(!this.detached);
    this.receipts.look();
  }
  append(items) {
    const fragment = document.createDocumentFragment();
    for (const item of items.slice(-2 * maxLines)) fragment.append(this.node(item));
    this.list.append(fragment);
    const lines = items.slice(-2 * maxLines).filter((item) => item.line);
    if (lines.length === 0) return;
    this.top ||= lines[0].line.n;
    this.bottom = lines.at(-1).line.n;
    this.count += lines.length;
  }
  // drawAnswers has the answers drawn that have changed, one time after the other.
  async drawAnswers() {
    this.undrawn = true;
    if (this.drawing) return;
    this.drawing = true;
    try {
      while (this.undrawn && !this.closed) {
        this.undrawn = false;
        await drawAnswers(this.list, (change4) => {
          if (this.closed) return false;
          this.keepEnd(change4);
          return true;
        });
      }
    } catch {
    } finally {
      this.drawing = false;
    }
  }
  // drawTools has the tools' cards placed. What's below a detached window may have a result.
  drawTools() {
    drawTools(this.session, this.list, !this.detached);
  }
  // showWork shows as much of the work as is to be seen now, and keeps what the reader looks at where it is.
  showWork() {
    if (this.closed) return;
    this.keepEnd(() => {
      const { thinking } = workShown();
      for (const node of this.list.querySelectorAll(":scope > .thought")) node.hidden = thinking === "none";
      this.drawTools();
    });
  }
  node({ line, gap }) {
    return line ? lineNode(line) : gapNode(gap);
  }
  // trimTop removes the oldest lines beyond maxLines, with the marks before them.
  trimTop() {
    if (this.count <= maxLines) return;
    while (this.count > maxLines || isMark(this.list.firstChild)) {
      const first = this.list.firstChild;
      if (first.dataset.n) this.count--;
      first.remove();
    }
    this.top = firstNumber(this.list);
  }
  // trimBottom removes the newest lines beyond maxLines, with the marks behind them.
  trimBottom() {
    if (this.count <= maxLines) return;
    while (this.count > maxLines || isMark(this.list.lastChild)) {
      const last2 = this.list.lastChild;
      if (last2.dataset.n) this.count--;
      last2.remove();
    }
    this.bottom = Number(this.list.lastChild.dataset.n);
    this.detached = true;
  }
  // pad makes the room above and below as high as the lines would be that aren't in the window.
  pad() {
    const above = this.top > this.oldest ? this.top - this.oldest : 0;
    const below = this.detached ? Math.max(0, this.newest - this.bottom) : 0;
    if (this.count > 0) this.rowHeight = Math.min(200, Math.max(10, this.list.offsetHeight / this.count));
    this.scale = Math.min(this.rowHeight, mostRoom / Math.max(1, above, below));
    byId("lines-above").style.height = `${above * this.scale}px`;
    byId("lines-below").style.height = `${below * this.scale}px`;
  }
  // keepPlace changes the document, and keeps what the reader looks at where it is.
  keepPlace(change4) {
    this.noticeScroll();
    if (this.found.n) {
      change4();
      this.pad();
      this.found.show();
      return;
    }
    const anchor = nodeInView(this.list, this.scroller);
    const was = anchor?.getBoundingClientRect().top;
    change4();
    this.pad();
    if (anchor?.isConnected && !anchor.hidden) this.scroller.scrollTop += anchor.getBoundingClientRect().top - was;
  }
  // keepEnd does so, and stays at the end with a reader who is there.
  keepEnd(change4) {
    this.keepPlace(change4);
    if (this.stuck) this.toBottom();
  }
  // cardOpened lets somebody read a card that they have opened at the end.
  cardOpened(card) {
    if (!card.open || !card.contains(document.activeElement)) return;
    this.stuck = false;
    this.showButtons();
  }
  resized() {
    const turned = this.scroller.clientWidth !== this.width;
    this.height = this.scroller.clientHeight;
    this.width = this.scroller.clientWidth;
    if (this.stuck) this.toBottom();
    else if (turned) this.backToPlace();
  }
  // notePlace notes what the reader looks at: a screen that's turned has its lines elsewhere.
  notePlace() {
    const node = this.stuck ? null : nodeInView(this.list, this.scroller);
    if (!node) {
      this.place = null;
      return;
    }
    const { top, height } = node.getBoundingClientRect();
    const above = this.scroller.getBoundingClientRect().top - top;
    this.place = { node, above, part: above / Math.max(1, height) };
  }
  // backToPlace shows what the reader looked at before the scroller got another width.
  backToPlace() {
    const place = this.place;
    if (this.found.n) this.found.show();
    if (this.found.n || !place?.node.isConnected || place.node.hidden) return;
    const above = place.above > 0 ? place.part * place.node.getBoundingClientRect().height : place.above;
    this.scrollToNode(place.node, -above);
  }
  scrolled() {
    if (this.scroller.clientWidth !== this.width) return;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (this.stuck && clientHeight < this.height) {
      this.resized();
      return;
    }
    this.height = clientHeight;
    const atBottom = scrollHeight - scrollTop - clientHeight < near2;
    this.stuck = atBottom && !this.detached && !this.found.n;
    if (this.stuck) this.unseen = 0;
    this.notePlace();
    this.showButtons();
    this.fill();
  }
  // fill loads what's in view, or will be soon.
  fill() {
    if (this.loading || this.count === 0) return;
    const { scrollTop, clientHeight } = this.scroller;
    const start2 = byId("lines-above").offsetHeight;
    const end = start2 + this.list.offsetHeight;
    const below = scrollTop + clientHeight;
    if (below < start2 - clientHeight && this.top > this.oldest) {
      this.load(() => this.loadAround(this.oldest + Math.floor(scrollTop / this.scale)));
    } else if (scrollTop > end + clientHeight && this.detached) {
      this.load(() => this.loadAround(Math.min(this.newest, this.bottom + Math.floor((scrollTop - end) / this.scale))));
    } else if (scrollTop < start2 + clientHeight && this.top > this.oldest) {
      this.load(() => this.loadOlder());
    } else if (below > end - clientHeight && this.detached) {
      this.load(() => this.loadNewer());
    }
  }
  // load loads something, unless it's loading already.
  async load(how) {
    if (this.loading || this.closed) return;
    this.list.setAttribute("aria-busy", "true");
    this.list.setAttribute("aria-live", "off");
    this.loading = how().then(() => true, () => false);
    const done2 = await this.loading;
    this.loading = null;
    if (this.closed) return;
    this.list.removeAttribute("aria-busy");
    requestAnimationFrame(() => {
      if (this.closed) return;
      if (!this.loading) this.list.setAttribute("aria-live", "polite");
      if (done2) this.scrolled();
    });
  }
  // loadNext loads something after what's being loaded.
  async loadNext(how) {
    while (this.loading) await this.loading;
    await this.load(how);
  }
  async loadOlder() {
    const end = this.top;
    const from = Math.max(1, end - pageSize);
    const out = await getOutput(this.session, from, end - from + 1);
    if (this.closed || this.top !== end) return;
    const hasGap = gapAmong(this.list.firstChild, "nextSibling");
    const lines = out.lines.filter((line) => line.n < end);
    const gaps = out.gaps.filter((gap) => gap.after < end - 1 || gap.after === end - 1 && !hasGap);
    this.keepPlace(() => {
      if (lines.length > 0 || !hasGap) this.list.prepend(mergedNodes(lines, gaps));
      this.top = lines[0]?.n ?? end;
      this.oldest = lines.length > 0 ? Math.min(out.oldest ?? 1, this.top) : end;
      this.count += lines.length;
      this.trimBottom();
      this.drawTools();
    });
    this.drawAnswers();
    this.askMarks();
  }
  async loadNewer() {
    await this.loadPage();
    if (this.bottom >= this.newest) await this.loadRest();
  }
  // loadRest loads until there's nothing more, and no news came meanwhile: what
  // the stream brings while the window is detached isn't kept.
  async loadRest() {
    for (; ; ) {
      this.missed = false;
      if (await this.loadPage() > 0) continue;
      if (this.closed) return;
      if (!this.missed) break;
    }
    this.attach();
  }
  // loadPage appends a page, and returns how many lines it had.
  async loadPage() {
    const start2 = this.bottom;
    const out = await getOutput(this.session, start2 + 1, pageSize);
    if (this.closed || this.bottom !== start2) return 0;
    const hasGap = gapAmong(this.list.lastChild, "previousSibling");
    const gaps = out.gaps.filter((gap) => gap.after > start2 || gap.after === start2 && !hasGap);
    this.keepPlace(() => {
      this.list.append(mergedNodes(out.lines, gaps));
      this.count += out.lines.length;
      this.top ||= out.lines[0]?.n ?? 0;
      this.bottom = out.lines.at(-1)?.n ?? this.bottom;
      this.oldest = out.oldest ?? this.oldest;
      this.newest = Math.max(this.newest, this.bottom);
      this.trimTop();
      this.drawTools();
    });
    this.drawAnswers();
    this.askMarks();
    return out.lines.length;
  }
  // loadAround begins a new window around a line, and shows that line first.
  async loadAround(n) {
    const from = Math.max(this.oldest, n - pageSize / 2);
    const out = await getOutput(this.session, from, pageSize);
    if (this.closed) return;
    if (out.lines.length === 0) {
      await this.reload();
      return;
    }
    this.clear();
    this.queue.length = 0;
    this.detached = true;
    this.stuck = false;
    this.list.append(mergedNodes(out.lines, out.gaps));
    this.count = out.lines.length;
    this.top = out.lines[0].n;
    this.bottom = out.lines.at(-1).n;
    this.oldest = out.oldest ?? this.oldest;
    this.newest = Math.max(this.newest, this.bottom);
    this.drawTools();
    this.pad();
    this.scrollToLine(n);
    this.drawAnswers();
    this.askMarks();
    if (this.bottom >= this.newest) await this.loadRest();
  }
  attach() {
    this.newest = this.bottom;
    this.detached = false;
    this.queue.length = 0;
    this.pad();
  }
  // jump goes to the newest line; a detached window is filled anew.
  async jump() {
    this.found.letGo();
    if (this.detached) await this.loadNext(() => this.reload());
    if (this.closed) return;
    this.stuck = !this.detached;
    this.unseen = 0;
    this.toBottom();
    this.showButtons();
  }
  async reload() {
    const from = Math.max(0, this.newest - pageSize);
    const first = await getOutput(this.session, from + 1, 1);
    if (this.closed || first.lines.length === 0 && this.newest > 0) return;
    this.clear();
    this.detached = true;
    this.bottom = from;
    await this.loadRest();
  }
  // showLine shows a line at the top, wherever it is.
  async showLine(n) {
    this.found.letGo();
    this.stuck = false;
    while (this.loading) await this.loading;
    if (n < this.top || n > this.bottom && this.detached) await this.loadNext(() => this.loadAround(n));
    if (this.closed) return;
    this.scrollToLine(n);
    this.showButtons();
    const node = lineAt(this.list, n);
    node?.classList.add("jumped");
    setTimeout(() => node?.classList.remove("jumped"), 1500);
  }
  scrollToLine(n) {
    let node = lineAt(this.list, n);
    while (isMark(node?.previousSibling) && node.previousSibling.classList.contains("unread")) node = node.previousSibling;
    if (node) this.scrollToNode(node, margin2);
  }
  // scrollToNode shows a node so many pixels below the upper edge; negative: so much of it is above that.
  scrollToNode(node, below) {
    this.scroller.scrollTop += node.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top - below;
  }
  // jumpTurn goes to the beginning of the next turn, or of the one before.
  async jumpTurn(step2) {
    if (this.count === 0) return;
    const { scrollTop } = this.scroller;
    const at = this.jumped?.scrollTop === scrollTop ? this.jumped.line : numberOf(nodeInView(this.list, this.scroller));
    const line = await nextTurn(this.session, at, step2).catch(() => 0);
    if (this.closed) return;
    if (line > 0) await this.showLine(line);
    else if (step2 > 0) await this.jump();
    else await this.showLine(this.oldest);
    if (this.closed) return;
    this.jumped = { line: line || at, scrollTop: this.scroller.scrollTop };
  }
  // beginAtUnread marks where what's new begins, once the lines are there with which the
  // session was opened, and begins there if it doesn't fit into the view.
  beginAtUnread() {
    if (this.begun || this.bottom < this.head || this.head === 0) return;
    this.begun = true;
    if (!this.looked || this.looked.line === 0 || this.looked.line >= this.head) return;
    if (this.looked.line + 1 < this.top) return;
    this.placeUnread();
    const mark = this.list.querySelector(".unread");
    if (mark && mark.getBoundingClientRect().top < this.scroller.getBoundingClientRect().top) {
      this.stuck = false;
      this.scrollToLine(this.looked.line + 1);
    }
  }
  // placeUnread puts the mark of what's new before its first line.
  placeUnread() {
    const first = lineAt(this.list, this.looked.line + 1);
    if (first && !this.list.querySelector(".unread")) first.before(markNode("unread", this.unreadWords));
  }
  async showUnread() {
    await this.showLine(this.looked.line + 1);
    if (this.closed) return;
    this.placeUnread();
    this.scrollToLine(this.looked.line + 1);
    this.foundUnread = true;
    this.showButtons();
  }
  toBottom() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.bottomAt = this.scroller.scrollTop;
  }
  // noticeScroll takes in that the reader has gone up, of which the event may be yet to come: or else
  // what's drawn before it would take the reader back to the end.
  noticeScroll() {
    if (this.stuck && this.bottomAt > near2 && this.scroller.scrollTop < this.bottomAt - near2) this.scrolled();
  }
  showButtons() {
    const newest = byId("newest");
    newest.hidden = this.stuck;
    byId("conversation").classList.toggle("at-end", this.stuck);
    newest.textContent = this.unseen > 0 ? `↓ ${this.unseen} new — jump to newest` : "↓ Jump to newest";
    const unread = byId("unread");
    const isFarUp = this.begun && this.looked?.line > 0 && this.looked.line + 1 < this.top && this.looked.line < this.head;
    unread.hidden = !isFarUp || this.foundUnread;
    unread.textContent = `↑ ${this.unreadWords}`;
  }
};
var wordsOfUnread = (turns) => turns > 1 ? `${turns} new turns since you looked` : "New since you looked";

// delivery.js
function drawDelivery(adapters, now = Date.now()) {
  const box = byId("delivery");
  box.hidden = adapters.length === 0;
  box.replaceChildren(...adapters.map((a) => drawAdapter(a, now)));
}
function drawAdapter(adapter, now) {
  const section2 = element("section", "adapter");
  const head = element("p", "adapter-head");
  head.append(element("strong", "", adapter.name), ` · ${adapter.mode}`);
  section2.append(head);
  const silent = left(adapter.penalty_until, now);
  if (silent) section2.append(element("p", "adapter-held", `Silent for ${silent}, by the platform’s order`));
  if (adapter.error) section2.append(element("p", "adapter-held", `Sends nothing: ${adapter.error}`));
  section2.append(...adapter.chats.map((c) => drawChat(c, now)));
  return section2;
}
function drawChat(chat, now) {
  const row = element("div", "chat");
  const [messages] = chat.windows;
  const used = element("span", "chat-used", messages ? `${messages.used}/${messages.calls}` : "");
  if (messages) used.title = `${messages.used} of ${messages.calls} calls in ${messages.per_s} s`;
  const line = element("p", "chat-head");
  line.append(element("span", "chat-name", chat.chat), used);
  row.append(line);
  const meter = element("meter");
  meter.max = messages?.calls ?? 1;
  meter.value = messages?.used ?? 0;
  meter.setAttribute("aria-label", `Calls used in ${chat.chat}`);
  row.append(meter);
  const about3 = [waiting(chat), held(chat, now)].filter(Boolean).join(" · ");
  if (about3) row.append(element("p", "chat-about", about3));
  return row;
}
function waiting(chat) {
  const classes = ["interactive", "final", "stream"].filter((c) => chat.waiting[c]?.count);
  if (classes.length === 0) return "";
  const oldest = Math.max(...classes.map((c) => chat.waiting[c].oldest_s));
  return `${classes.map((c) => `${chat.waiting[c].count} ${c}`).join(", ")} waiting, ${Math.round(oldest)} s`;
}
function held(chat, now) {
  const silent = left(chat.penalty_until, now);
  if (silent) return `silent for ${silent}, by the platform’s order`;
  const again = left(chat.backoff_until, now);
  if (again) return `tries again in ${again}`;
  const next = left(chat.next_slot_at, now);
  return next ? `looks again in ${next}` : "";
}
function left(iso, now) {
  const s = iso ? Math.ceil((Date.parse(iso) - now) / 1e3) : 0;
  if (s <= 0) return "";
  if (s < 120) return `${s} s`;
  return s < 7200 ? `${Math.ceil(s / 60)} min` : `${Math.ceil(s / 3600)} h`;
}

// devices.js
var askEvery2 = 1e4;
var askOften = 2e3;
var DevicesDialog = class {
  // onRevokedSelf is called when this device has revoked itself.
  constructor(onRevokedSelf) {
    this.onRevokedSelf = onRevokedSelf;
    this.dialog = byId("devices-dialog");
    byId("devices").addEventListener("click", () => this.open());
    byId("devices-close").addEventListener("click", () => this.dialog.close());
    whenClosed(this.dialog, () => this.clear());
    document.addEventListener("visibilitychange", () => this.ask());
    this.forget();
  }
  open() {
    this.clear();
    this.dialog.showModal();
    attempt("devices-close", "devices-error", () => this.load()).then(() => this.askLater());
  }
  clear() {
    this.asking = "";
    this.drawn = "";
    for (const id of ["devices-list", "devices-waiting-list"]) byId(id).replaceChildren();
    for (const id of ["devices-said", "devices-error"]) byId(id).textContent = "";
    byId("devices-waiting").hidden = true;
  }
  // forget forgets all devices: this one isn't let in any more.
  forget() {
    this.heard = /* @__PURE__ */ new Set();
    this.page = null;
    this.clear();
    this.showCount(0);
    this.askLater();
  }
  // ask looks whether another device waits, on the page of an admin that's looked at.
  async ask() {
    if (!document.hidden && mayDo("admin")) await this.load().catch(() => {
    });
    this.askLater();
  }
  askLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), this.dialog.open || !rolesKnown() ? askOften : askEvery2);
  }
  async load() {
    const page2 = await getPage();
    if (!mayDo("admin")) return;
    this.page = page2;
    const news = page2.waiting.filter(({ id }) => !this.heard.has(id));
    this.heard = new Set(page2.waiting.map(({ id }) => id));
    this.showCount(page2.waiting.length);
    if (this.dialog.open) this.draw();
    else if (news.length > 0) toast(news.length === 1 ? `${nameOf(news[0])} waits to be let in. See Devices…` : `${news.length} devices wait to be let in. See Devices…`);
  }
  showCount(waiting2) {
    byId("devices-count").textContent = waiting2 > 0 ? `${waiting2} wait${waiting2 === 1 ? "s" : ""}` : "";
  }
  draw() {
    const { browsers, waiting: waiting2 } = this.page;
    const drawn3 = JSON.stringify([this.asking, waiting2, browsers.map((b) => [b.id, aboutKnown(b)])]);
    if (drawn3 === this.drawn) return;
    this.drawn = drawn3;
    const focused = document.activeElement?.id;
    byId("devices-waiting").hidden = waiting2.length === 0;
    byId("devices-waiting-list").replaceChildren(...waiting2.map((one) => this.entry(one, aboutWaiting(one), true)));
    byId("devices-list").replaceChildren(...browsers.map((one) => this.entry(one, aboutKnown(one), false)));
    if (focused && this.dialog.contains(byId(focused))) byId(focused).focus();
    else if (!this.dialog.contains(document.activeElement)) byId("devices-close").focus();
  }
  entry(one, about3, waits3) {
    const item = element("li", "access-entry device");
    const head = element("p", "access-head");
    head.append(element("strong", "", nameOf(one)));
    for (const role of one.roles) head.append(element("span", "access-role", role));
    if (isMyID(one.id)) head.append(element("span", "device-own", "this device"));
    item.append(head);
    if (waits3) item.append(element("p", "device-number", one.number));
    for (const text of about3) item.append(element("p", "access-about", text));
    if (waits3) {
      const how = element("p", "access-about");
      how.append(element("code", "", `panebridge page confirm ${one.id}`));
      item.append(how);
    }
    if (this.asking === one.id) item.append(this.question(one, waits3));
    else item.append(this.button(`device-ask-${one.id}`, waits3 ? "Refuse…" : "Revoke…", `${waits3 ? "Refuse" : "Revoke"} ${nameOf(one)}`, () => this.askAbout(one.id)));
    return item;
  }
  // question asks whether a device shall be revoked.
  question(one, waits3) {
    const box = element("div", "device-question");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${waits3 ? "Refuse" : "Revoke"} ${nameOf(one)}?`);
    let text = "All it has open ends within a second. It needs another code to come back.";
    if (waits3) text = "It isn’t let in, and needs another code.";
    else if (isMyID(one.id)) text = "It’s the device that you look at: the page shuts, and it needs another code to come back.";
    const revoke = this.button(`device-revoke-${one.id}`, waits3 ? "Refuse" : "Revoke", "", () => this.revoke(one, waits3));
    revoke.classList.add("danger");
    const buttons = element("div", "device-buttons");
    buttons.append(this.button(`device-keep-${one.id}`, waits3 ? "Not now" : "Keep it", "", () => this.askAbout("")), revoke);
    box.append(element("p", "", text), buttons);
    return box;
  }
  button(id, text, label2, fn) {
    const button2 = smallButton(text, fn);
    button2.id = id;
    if (label2) button2.setAttribute("aria-label", label2);
    return button2;
  }
  askAbout(id) {
    const before2 = this.asking;
    this.asking = id;
    this.draw();
    byId(id ? `device-keep-${id}` : `device-ask-${before2}`)?.focus();
  }
  revoke(one, waits3) {
    byId("devices-said").textContent = "";
    return attempt(`device-revoke-${one.id}`, "devices-error", async () => {
      await revokeBrowser(one.id);
      if (isMyID(one.id)) {
        this.onRevokedSelf();
        return;
      }
      this.asking = "";
      byId("devices-said").textContent = `${nameOf(one)} ${waits3 ? "is refused" : "may use the page no longer"}.`;
      await this.load();
    });
  }
};
var nameOf = ({ name, label: label2 }) => name || label2;
var day = (iso) => new Date(iso).toLocaleDateString([], { day: "numeric", month: "long" });
function aboutKnown({ name, label: label2, address, created_at: created, used_at: used, expires_at: expires }) {
  return [
    [name && label2, `at ${address}`].filter(Boolean).join(", "),
    `Last seen ${agoWords(used)} · let in ${agoWords(created)} · until ${day(expires)}`
  ];
}
var aboutWaiting = ({ name, label: label2, from, until }) => [
  [name && label2 !== name && label2, `from ${from}`, `until ${new Date(until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`].filter(Boolean).join(", ")
];

// changes.js
function changesDialog(current3) {
  const dialog = byId("diff-dialog");
  let [session, shown3] = [null, null];
  const look2 = () => attempt("diff-do", "diff-error", async () => {
    const asked = session;
    const changes = await getDiff(asked.id, { file: byId("diff-file").value.trim(), since: byId("diff-since").value.trim() }).catch((error) => {
      byId("diff-parts").replaceChildren();
      byId("diff-save").hidden = true;
      throw error;
    });
    if (asked !== session) return;
    shown3 = changes;
    draw4(changes);
  });
  byId("diff").addEventListener("click", () => {
    session = current3();
    if (!session) return;
    byId("diff-error").textContent = "";
    byId("diff-since-row").hidden = !mayDo("operator");
    byId("diff-parts").replaceChildren(element("p", "tool-note", "Loading…"));
    byId("diff-save").hidden = true;
    dialog.showModal();
    look2();
  });
  byId("diff-close").addEventListener("click", () => dialog.close());
  byId("diff-save").addEventListener("click", () => save2(new Blob([shown3.diff], { type: "application/octet-stream" }), `${session.name}.diff`));
  byId("diff-form").addEventListener("submit", (event) => {
    event.preventDefault();
    look2();
  });
  whenClosed(dialog, () => {
    [session, shown3] = [null, null];
    byId("diff-form").reset();
    byId("diff-parts").replaceChildren();
  });
}
function draw4({ root, commit, files, diff, notes }) {
  const many = files === 1 ? "1 file has changed" : `${files || "No"} files have changed`;
  const parts = [element("p", "tool-note", `${many} in ${root} since ${commit.slice(0, 10) || "before its first commit"}.`)];
  for (const note of notes) parts.push(element("p", "tool-note", note));
  if (diff) parts.push(diffBox(diffRows(diff), "What has changed"));
  byId("diff-parts").replaceChildren(...parts);
  byId("diff-save").hidden = !diff;
}

// exhibits.js
var previewed = ["image/png", "image/jpeg", "image/gif", "image/webp"];
var maxPreview = 4 << 20;
var seen = /* @__PURE__ */ new Set();
var current = () => null;
function exhibitsDialog(of) {
  current = of;
  const dialog = byId("exhibits-dialog");
  const open = () => {
    const session = current();
    if (!session) return;
    noteSeen2(session);
    byId("exhibits-error").textContent = "";
    byId("exhibits-list").replaceChildren(element("li", "tool-note", "Loading…"));
    dialog.showModal();
    attempt("exhibits-close", "exhibits-error", async () => {
      const all = await listExhibits(session.id);
      if (dialog.open) byId("exhibits-list").replaceChildren(...drawAll(session.id, all));
    });
  };
  byId("exhibits").addEventListener("click", open);
  byId("exhibit-look").addEventListener("click", open);
  byId("exhibit-later").addEventListener("click", () => noteSeen2(current()));
  byId("exhibits-close").addEventListener("click", () => dialog.close());
  whenClosed(dialog, () => byId("exhibits-list").replaceChildren());
}
function drawExhibit(session) {
  byId("exhibit").hidden = !session?.exhibit || seen.has(session.exhibit);
}
function noteSeen2(session) {
  if (session?.exhibit) seen.add(session.exhibit);
  byId("exhibit").hidden = true;
}
function drawAll(id, all) {
  if (all.length === 0) return [element("li", "tool-note", "Its programs have shown nothing.")];
  return all.map((exhibit) => drawOne(id, exhibit));
}
function drawOne(id, exhibit) {
  const item = element("li", "exhibit-item");
  const words = element("div", "exhibit-words");
  words.append(element("strong", "exhibit-name", exhibit.name));
  words.append(element("span", "exhibit-about", [sizeWords(exhibit.size), agoWords(exhibit.at), exhibit.outside && `from ${exhibit.path}`].filter(Boolean).join(" · ")));
  if (exhibit.caption) words.append(element("p", "exhibit-caption", exhibit.caption));
  const button2 = element("button", "button small", "Save");
  button2.type = "button";
  button2.setAttribute("aria-label", `Save ${exhibit.name}`);
  button2.addEventListener("click", async () => {
    button2.disabled = true;
    try {
      save2(await exhibitContent(id, exhibit.id), exhibit.name);
    } catch (error) {
      byId("exhibits-error").textContent = error.message;
    }
    button2.disabled = false;
  });
  item.append(words, button2);
  if (previewed.includes(exhibit.type) && exhibit.size <= maxPreview) drawPicture(id, exhibit, item);
  return item;
}
async function drawPicture(id, exhibit, item) {
  try {
    const content = await exhibitContent(id, exhibit.id);
    if (!item.isConnected) return;
    const picture = element("img", "exhibit-picture");
    picture.alt = exhibit.caption || exhibit.name;
    picture.src = await asAddress(new Blob([content], { type: exhibit.type }));
    item.append(picture);
  } catch {
  }
}
function asAddress(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}
var sizeWords = (bytes) => bytes < 1e3 ? `${bytes} bytes` : bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

// getfile.js
function getFileDialog(current3) {
  const dialog = byId("get-dialog");
  let id = "";
  byId("get").addEventListener("click", () => {
    const session = current3();
    if (!session) return;
    id = session.id;
    byId("get-error").textContent = "";
    byId("get-folder").textContent = session.cwd;
    dialog.showModal();
    byId("get-path").select();
  });
  byId("get-cancel").addEventListener("click", () => dialog.close());
  byId("get-form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt("get-do", "get-error", async () => {
      const path = byId("get-path").value.trim();
      save2(await getFile(id, path), path.split("/").at(-1));
      dialog.close();
    });
  });
  whenClosed(dialog, () => byId("get-form").reset());
}

// groups.js
var never = "1970-01-01T00:00:00Z";
var titles = { waits: "Waits for you", working: "Working", done: "Done, not looked at", idle: "Idle", muted: "Muted on this device", ended: "Ended" };
function groupOf(s) {
  if (isMuted(s)) return "muted";
  if (needsYou(s)) return "waits";
  if (s.state === "starting" || s.state === "working") return "working";
  if (isNews(s)) return "done";
  return s.state === "ended" ? "ended" : "idle";
}
var byText = (a, b) => (a > b) - (a < b);
var byTime = (a, b) => Date.parse(a) - Date.parse(b) || byText(a.replace("Z", ""), b.replace("Z", ""));
var byAge = (a, b) => byTime(a.created_at, b.created_at) || byText(a.id, b.id);
var newestFirst = (a, b) => Date.parse(doneAt(b) || 0) - Date.parse(doneAt(a) || 0) || byAge(a, b);
var endedLast = (a, b) => byTime(b.ended_at ?? never, a.ended_at ?? never) || byAge(a, b);
var orders = { waits: byAge, working: byAge, done: newestFirst, idle: byAge, muted: byAge, ended: endedLast };
function groupsOf(sessions) {
  const groups = Object.entries(titles).map(([name, title]) => ({ name, title, sessions: [] }));
  const byName = new Map(groups.map((group) => [group.name, group]));
  for (const session of sessions) byName.get(groupOf(session)).sessions.push(session);
  for (const group of groups) group.sessions.sort(orders[group.name]);
  return groups;
}
var GroupedList = class {
  // make makes a session's item, draw(item, session) changes it, gone(item) is told when it's taken away.
  constructor(box, level, { make, draw: draw6, gone = () => {
  } }) {
    Object.assign(this, { box, make, drawItem: draw6, gone });
    this.items = /* @__PURE__ */ new Map();
    this.lists = new Map(Object.entries(titles).map(([name, title]) => [name, makeGroup(box, level, name, title)]));
  }
  draw(groups) {
    const { activeElement } = document;
    const held2 = this.box.contains(activeElement) ? activeElement : null;
    const known3 = new Set(groups.flatMap((group) => group.sessions.map((s) => s.id)));
    for (const [id, item] of this.items) {
      if (known3.has(id)) continue;
      this.gone(item);
      item.remove();
      this.items.delete(id);
    }
    for (const { name, sessions } of groups) {
      const { section: section2, count, list: list2 } = this.lists.get(name);
      section2.hidden = sessions.length === 0;
      if (count.textContent !== String(sessions.length)) count.textContent = sessions.length;
      sessions.forEach((session, i) => {
        const item = this.items.get(session.id) ?? this.add(session);
        this.drawItem(item, session, name);
        if (list2.children[i] !== item) list2.insertBefore(item, list2.children[i] ?? null);
      });
    }
    if (held2?.isConnected && document.activeElement !== held2) held2.focus();
  }
  add(session) {
    const item = this.make(session);
    this.items.set(session.id, item);
    return item;
  }
};
function makeGroup(box, level, name, title) {
  const section2 = document.createElement("div");
  section2.className = "group";
  section2.setAttribute("role", "group");
  section2.dataset.group = name;
  section2.hidden = true;
  const head = document.createElement(level);
  head.id = `${box.id}-${name}`;
  head.className = "group-title";
  const count = document.createElement("span");
  count.className = "group-count";
  head.append(`${title} `, count);
  section2.setAttribute("aria-labelledby", head.id);
  const list2 = document.createElement("ul");
  section2.append(head, list2);
  box.append(section2);
  return { section: section2, count, list: list2, head };
}

// inbox.js
var Inbox = class {
  constructor() {
    this.box = byId("inbox");
    this.panels = /* @__PURE__ */ new Map();
    this.done = [];
    this.list = new GroupedList(byId("inbox-groups"), "h2", {
      make: makeCard,
      draw: (card, session, group) => this.drawCard(card, session, group),
      gone: (card) => this.forget(card)
    });
    document.addEventListener("keydown", (event) => {
      if (!this.box.hidden) this.panelOfKeys()?.key(event);
    });
    const all = element("button", "button small", "Looked at all");
    all.type = "button";
    all.id = "looked-all";
    all.addEventListener("click", () => {
      for (const session of this.done) lookedThrough(session);
      this.onLooked();
    });
    this.list.lists.get("done").head.append(all);
  }
  onLooked() {
  }
  // draw shows the sessions' groups; null: another view is open, and nothing of them stands here, too.
  draw(groups) {
    if (!groups) {
      if (!this.box.hidden) this.scrolled = this.box.scrollTop;
      this.list.draw([]);
      this.box.hidden = true;
      return;
    }
    this.done = groups.find((group) => group.name === "done").sessions;
    this.list.draw(groups);
    if (this.box.hidden) {
      this.box.hidden = false;
      this.box.scrollTop = this.scrolled ?? 0;
    }
    byId("inbox-quiet").hidden = groups.some(({ name, sessions }) => ["waits", "done"].includes(name) && sessions.length > 0);
    if (groups.some(({ sessions }) => sessions.some((s) => s.prompt))) this.ask();
  }
  // ask asks for all open questions at once.
  async ask() {
    if (this.asking) return;
    this.asking = true;
    try {
      const prompts = await listPrompts();
      if (this.box.hidden) return;
      for (const prompt of prompts) this.panelFor(this.list.items.get(prompt.session), prompt.session)?.show(prompt);
    } catch {
    } finally {
      this.asking = false;
    }
  }
  panelFor(card, session) {
    if (!card) return null;
    if (!this.panels.has(card)) {
      this.panels.set(card, new PromptPanel(session, {
        around: [byId("inbox-groups")],
        box: card.querySelector(".prompt"),
        digits: false,
        level: "h3",
        below: "Open the session to write to it."
      }));
    }
    return this.panels.get(card);
  }
  forget(card) {
    this.panels.get(card)?.close();
    this.panels.delete(card);
  }
  // panelOfKeys is whose question digits answer: the one in whose card the focus is, or else the only one, unless it's
  // muted. It's none that isn't in view.
  panelOfKeys() {
    const focused = document.activeElement?.closest(".card");
    const asking = [...this.panels].filter(([card, panel]) => panel.isOpen() && (focused ? card === focused : card.dataset.muted !== "true"));
    return asking.length === 1 && asking[0][1].isInView() ? asking[0][1] : void 0;
  }
  drawCard(card, session, group) {
    card.dataset.state = session.state;
    card.dataset.group = group;
    card.dataset.muted = String(group === "muted");
    const link = card.querySelector(".card-link");
    link.title = machineWords(session);
    set(card, ".card-name", session.name);
    set(card, ".card-about", [session.agent, session.cwd].filter(Boolean).join(" · "));
    set(card, ".card-state", stateWords(session));
    const came = outcome(session);
    set(card, ".card-outcome", came);
    card.querySelector(".card-outcome").dataset.well = String(well(session));
    set(card, ".card-says", session.state === "working" && session.doing || session.last_line || "");
    this.panels.get(card)?.expect(needsYou(session) ? session.prompt : "");
  }
};
function set(card, selector, text) {
  const part = card.querySelector(selector);
  if (part.textContent !== text) part.textContent = text;
  part.hidden = text === "";
}
function makeCard({ id }) {
  const card = element("li", "card");
  const link = element("a", "card-link");
  link.href = `#${encodeURIComponent(id)}`;
  const head = element("span", "card-head");
  head.append(element("span", "dot"), element("span", "card-name"), element("span", "card-about"), element("span", "card-state"));
  const says = element("span", "card-line");
  says.append(element("span", "card-outcome"), element("span", "card-says"));
  link.append(head, says);
  const prompt = element("div", "prompt card-prompt");
  prompt.setAttribute("role", "group");
  prompt.hidden = true;
  prompt.setAttribute("aria-live", "polite");
  prompt.setAttribute("aria-label", "The session asks");
  card.append(link, prompt);
  return card;
}

// list.js
var list = null;
var chosen = "";
function drawList(groups, open, choose2) {
  chosen = open ?? "";
  list ??= new GroupedList(byId("sessions"), "h2", { make: (session) => makeItem(session.id, choose2), draw: drawItem });
  list.draw(groups);
}
function makeItem(id, choose2) {
  const item = element("li");
  const button2 = element("button", "session");
  button2.type = "button";
  button2.addEventListener("click", () => choose2(id));
  const names2 = element("span", "session-names");
  names2.append(element("span", "session-name"), element("span", "session-agent"));
  const side = element("span", "session-side");
  side.append(element("span", "session-needs", "needs you"), element("span", "session-time"));
  button2.append(element("span", "dot"), names2, side);
  item.append(button2);
  return item;
}
function drawItem(item, session) {
  const button2 = item.firstChild;
  button2.dataset.state = session.state;
  if (session.id === chosen) button2.setAttribute("aria-current", "true");
  else button2.removeAttribute("aria-current");
  button2.title = machineWords(session);
  const set3 = (selector, text) => {
    const e = button2.querySelector(selector);
    if (e.textContent !== text) e.textContent = text;
  };
  set3(".session-name", session.name);
  set3(".session-agent", [session.agent, needsYou(session) ? lasting(session.since) : stateWords(session).split(",")[0]].filter(Boolean).join(" · "));
  set3(".session-time", shortAgo(session.last_output_at));
  button2.querySelector(".session-needs").hidden = !needsYou(session) || isMuted(session);
  button2.dataset.muted = String(isMuted(session));
}

// mail.js
var refreshEvery = 5e3;
var MailDialog = class {
  // sessions() are all that are known.
  constructor(sessions) {
    this.sessions = sessions;
    this.dialog = byId("mail-dialog");
    byId("mail").addEventListener("click", () => this.open());
    byId("mail-close").addEventListener("click", () => this.dialog.close());
    byId("mail-new").addEventListener("click", () => this.answer(null));
    whenClosed(this.dialog, () => this.clear());
    for (const field of ["mail-to", "mail-text"]) byId(field).addEventListener("input", () => {
      this.key = "";
    });
    byId("mail-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }
  open() {
    this.clear();
    byId("mail-sessions").replaceChildren(...this.sessions().filter((s) => s.state !== "ended").map(({ name }) => {
      const option = element("option");
      option.value = name;
      return option;
    }));
    this.dialog.showModal();
    this.load();
  }
  clear() {
    clearTimeout(this.timer);
    this.drawn = "";
    for (const id of ["mail-fleets", "mail-letters"]) byId(id).replaceChildren();
    for (const id of ["mail-said", "mail-error"]) byId(id).textContent = "";
    for (const id of ["mail-none", "mail-no-fleets"]) byId(id).hidden = true;
    byId("mail-form").reset();
    this.answer(null);
  }
  async load() {
    clearTimeout(this.timer);
    try {
      const [fleets, letters] = await Promise.all([listFleets(), mayDo("operator") ? listLetters() : []]);
      if (this.dialog.open) this.draw(fleets, letters);
    } catch (error) {
      byId("mail-error").textContent = error.message;
    }
    if (this.dialog.open) this.timer = setTimeout(() => this.load(), refreshEvery);
  }
  draw(fleets, letters) {
    const drawn3 = JSON.stringify([fleets, letters]);
    if (drawn3 === this.drawn) return;
    this.drawn = drawn3;
    const focused = document.activeElement?.id;
    byId("mail-fleets").replaceChildren(...fleets.flatMap(fleetNodes));
    byId("mail-no-fleets").hidden = fleets.length > 0;
    byId("mail-letters").replaceChildren(...letters.map((letter) => this.entry(letter)));
    byId("mail-none").hidden = letters.length > 0;
    if (focused) byId(focused)?.focus();
    if (!this.dialog.contains(document.activeElement)) byId("mail-close").focus();
  }
  entry(letter) {
    const item = element("li", "access-entry");
    const head = element("p", "access-head");
    head.append(element("strong", "", letter.from), element("span", "mail-time", agoWords(letter.at)));
    const text = element("p", "mail-words", letter.text);
    text.dir = "auto";
    const buttons = element("div", "mail-buttons");
    buttons.append(
      button(`mail-answer-${letter.id}`, "Answer", `Answer ${letter.from}`, () => this.answer(letter)),
      button(`mail-done-${letter.id}`, "Done", `It’s done: what ${letter.from} wrote`, () => this.change(`mail-done-${letter.id}`, async () => {
        await settleLetter(letter.id);
        return "Done.";
      }))
    );
    item.append(head, text, buttons);
    return item;
  }
  // answer has what's written next be the answer to a letter; null: a letter of its own.
  answer(letter) {
    this.answers = letter?.id ?? "";
    this.key = "";
    byId("mail-to").value = letter?.from ?? "";
    byId("mail-to").readOnly = Boolean(letter);
    byId("mail-new").hidden = !letter;
    if (letter) byId("mail-text").focus();
  }
  // send sends what's written; the same once, though nobody has heard that it was.
  send() {
    this.key ||= crypto.randomUUID();
    return this.change("mail-send", async () => {
      const to = this.answers ? { answers: this.answers } : { to: byId("mail-to").value.trim() };
      const sent = await sendLetter({ ...to, text: byId("mail-text").value, key: this.key });
      byId("mail-form").reset();
      this.answer(null);
      return sent.untold ? `Stored for ${sent.to}, who wasn’t told of it yet: ${sent.untold}.` : `Sent to ${sent.to}, who was told of it.`;
    });
  }
  change(id, fn) {
    byId("mail-said").textContent = "";
    return attempt(id, "mail-error", async () => {
      byId("mail-said").textContent = await fn();
      await this.load();
    });
  }
};
function fleetNodes({ name, members }) {
  const list2 = element("ul", "access-list");
  list2.append(...members.map((m) => {
    const item = element("li", "access-entry");
    const head = element("p", "access-head");
    head.append(element("strong", "", m.name || m.id));
    if (m.directs) head.append(element("span", "access-role", "director"));
    const received = m.last_received_at ? `received mail ${agoWords(m.last_received_at)}` : "received no mail yet";
    item.append(head, element("p", "access-about", m.name ? `${m.state} · ${received} · ${m.unread} unread` : "gone"));
    return item;
  }));
  return [element("h3", "", name), list2];
}
function button(id, text, label2, fn) {
  const made = smallButton(text, fn);
  made.id = id;
  made.setAttribute("aria-label", label2);
  return made;
}

// menu.js
var Menu = class {
  constructor() {
    this.button = byId("more");
    this.box = byId("more-menu");
    this.button.addEventListener("click", () => this.open(this.box.hidden));
    this.button.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      this.open(true);
    });
    this.box.addEventListener("click", () => this.open(false));
    this.box.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("click", (event) => {
      if (!event.target.closest("#more, #more-menu")) this.open(false);
    });
  }
  open(open) {
    if (this.box.hidden !== open) return;
    this.box.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.items()[0]?.focus();
  }
  items() {
    return [...this.box.querySelectorAll("[role=menuitem]")].filter((item) => item.checkVisibility() && !item.disabled);
  }
  key(event) {
    const items = this.items();
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: (at + 1) % items.length, ArrowUp: (at - 1 + items.length) % items.length, Home: 0, End: items.length - 1 }[event.key];
    if (to !== void 0) {
      event.preventDefault();
      items[to].focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      this.open(false);
      this.button.focus();
    }
  }
};

// mirror.js
var views = { stream: "lines as they come", final: "whole turns", screen: "its screen" };
var works = ["tools", "thinking", "prompts", "output"];
var workWords = {
  tools: { brief: "calls of tools are counted in one line", none: "no calls of tools" },
  thinking: { all: "what the agent thinks", brief: "it’s counted how often the agent thinks" },
  prompts: { brief: "what’s written elsewhere is counted", none: "nothing of what’s written elsewhere" },
  output: { all: "each line of long output", 30: "" }
};
function workText2(work, shown3) {
  return workWords[work][shown3] ?? (work === "output" && shown3 && `${shown3} rows of a phone of long output`);
}
var MirrorDialog = class {
  // current() is the session that's open; done() is told of a change.
  constructor(current3, done2) {
    Object.assign(this, { current: current3, done: done2 });
    this.dialog = byId("mirror-dialog");
    byId("mirror").addEventListener("click", () => this.open());
    whenClosed(this.dialog, () => {
      byId("mirror-list").replaceChildren();
      this.look = "";
    });
    byId("mirror-close").addEventListener("click", () => this.dialog.close());
    byId("mirror-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.change("mirror-begin", async () => {
        const to = byId("mirror-to").value.trim();
        await bindSession(this.current().id, { to, view: byId("mirror-view").value, input: byId("mirror-input").checked, quote_replies: byId("mirror-quotes").checked, ...Object.fromEntries(works.map((work) => [work, byId(`mirror-${work}`).value])) });
        byId("mirror-to").value = "";
        return `${to} shows it now.`;
      });
    });
  }
  // offer takes in which chats are known. Without a chat platform nothing can be mirrored.
  offer(adapters) {
    this.chats = adapters.flatMap(({ name, chats }) => chats.map(({ chat }) => chat.startsWith(`${name}:`) ? chat : `${name}:${chat}`));
    this.possible = adapters.length > 0;
  }
  open() {
    if (!this.current()) return;
    byId("mirror-error").textContent = "";
    byId("mirror-said").textContent = "";
    byId("mirror-chats").replaceChildren(...this.chats.map((chat) => {
      const option = element("option");
      option.value = chat;
      return option;
    }));
    this.draw();
    this.dialog.showModal();
  }
  // draw shows the chats of the session that's open, as the list of sessions has them.
  draw() {
    const bindings = this.current()?.bindings ?? [];
    const look2 = JSON.stringify(bindings.map(({ delivered, behind, ...rest }) => rest));
    byId("mirror-none").hidden = bindings.length > 0;
    if (this.look === look2) return;
    this.look = look2;
    byId("mirror-list").replaceChildren(...bindings.map((b) => this.entry(b)));
  }
  entry(binding) {
    const { id, to, view, input, quote_replies: quotes, origin, disabled, problem } = binding;
    const item = element("li", "access-entry");
    item.append(element("p", "access-head", to));
    const about3 = [views[view] ?? view, ...works.map((work) => workText2(work, binding[work])), input ? "what’s written there is typed" : "nothing that’s written there is typed", input && quotes && "with what a reply replies to", origin === "rule" && "by a rule of the configuration"];
    item.append(element("p", "access-about", about3.filter(Boolean).join(" · ")));
    if (disabled || problem) item.append(element("p", "access-void", disabled || problem));
    const end = element("button", "button small", "End");
    end.type = "button";
    end.id = `unbind-${id}`;
    end.setAttribute("aria-label", `End the mirroring to ${to}`);
    end.addEventListener("click", () => this.change(end.id, async () => {
      await unbindSession(id);
      return `${to} doesn’t show it any more.`;
    }));
    item.append(end);
    return item;
  }
  change(button2, fn) {
    byId("mirror-said").textContent = "";
    return attempt(button2, "mirror-error", async () => {
      byId("mirror-said").textContent = await fn();
      await this.done();
      this.draw();
    });
  }
};

// palette.js
var mostFound = 50;
var Palette = class {
  // page has sessions() and choose(id).
  constructor(page2, commands) {
    Object.assign(this, { page: page2, commands });
    this.dialog = byId("palette");
    this.field = byId("palette-field");
    this.list = byId("palette-list");
    byId("find").addEventListener("click", () => this.open());
    this.field.addEventListener("input", () => this.draw());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    whenClosed(this.dialog, () => {
      this.list.replaceChildren();
      this.field.blur();
    });
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.run([...this.list.children].indexOf(option));
    });
  }
  open() {
    this.field.value = "";
    this.dialog.showModal();
    this.draw();
  }
  key(event) {
    if (!this.dialog.open) return;
    const moves = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + 8, PageUp: this.at - 8 };
    if (event.key in moves) {
      event.preventDefault();
      this.mark(moves[event.key], event.key.startsWith("Arrow"));
    } else if (event.key === "Enter" && !composes(event)) {
      event.preventDefault();
      this.run(this.at);
    } else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.dialog.close();
    }
  }
  draw() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text) => words.every((word) => text.toLowerCase().includes(word));
    const sessions = groupsOf(this.page.sessions()).flatMap((group) => group.sessions).filter((s) => matches([s.name, s.agent, s.cwd, stateWords(s)].join(" "))).map((s) => ({ words: s.name, about: [stateWords(s), s.agent, s.cwd].filter(Boolean).join(" · "), run: () => this.page.choose(s.id) }));
    const commands = this.commands.offered().filter((c) => matches(c.words) && !["Ctrl+K", "Escape", "j", "k"].includes(c.keys?.[0])).map((c) => ({ words: c.words, about: c.keys?.join(" or ") ?? "", run: c.run }));
    this.found = [...sessions.slice(0, words.length > 0 ? mostFound : 8), ...commands];
    this.list.replaceChildren(...this.found.map(({ words: text, about: about3 }, i) => {
      const option = element("li", "palette-option");
      option.id = `palette-${i}`;
      option.setAttribute("role", "option");
      option.append(element("span", "palette-words", text), element("span", "palette-about", about3));
      return option;
    }));
    byId("palette-none").hidden = this.found.length > 0;
    this.mark(0);
  }
  mark(i, round) {
    const { length } = this.found;
    this.at = round ? (i + length) % length : Math.min(Math.max(i, 0), length - 1);
    [...this.list.children].forEach((option, n) => option.setAttribute("aria-selected", String(n === this.at)));
    const marked2 = this.list.children[this.at];
    if (marked2) this.field.setAttribute("aria-activedescendant", marked2.id);
    else this.field.removeAttribute("aria-activedescendant");
    marked2?.scrollIntoView({ block: "nearest" });
  }
  run(i) {
    const chosen2 = this.found[i];
    if (!chosen2) return;
    this.dialog.close();
    chosen2.run();
  }
};

// rename.js
function renameDialog(current3, done2) {
  const dialog = byId("rename-dialog");
  let id = "";
  byId("rename").addEventListener("click", () => {
    const session = current3();
    if (!session) return;
    id = session.id;
    byId("rename-error").textContent = "";
    byId("rename-name").value = session.name;
    dialog.showModal();
    byId("rename-name").select();
  });
  byId("rename-cancel").addEventListener("click", () => dialog.close());
  byId("rename-form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt("rename-do", "rename-error", async () => {
      await renameSession(id, byId("rename-name").value.trim());
      dialog.close();
      await done2();
    });
  });
}

// sought.js
function textsOf(query2) {
  return query2.split('"').flatMap((part, i) => i % 2 === 0 ? part.split(/\s+/) : [part]).filter((text) => text.trim() !== "");
}
var spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
function classOf(letter) {
  if (letter === void 0) return "other";
  if (spaceless.test(letter)) return "spaceless";
  if (/\p{Lu}/u.test(letter)) return "capital";
  if (/[\p{L}\p{M}]/u.test(letter)) return "small";
  return /\p{Nd}/u.test(letter) ? "digit" : "other";
}
function lettersOf(text) {
  const letters = [];
  for (let from = 0; from < text.length; ) {
    const letter = String.fromCodePoint(text.codePointAt(from));
    const to = from + letter.length;
    const bare = letter < "" ? letter : letter.normalize("NFD").replace(/[\u0300-\u036f]/g, "").normalize("NFC");
    if (bare === "" && letters.length > 0) letters.at(-1).to = to;
    for (const one of bare) letters.push({ from, to, small: one.toLowerCase(), kind: classOf(one) });
    from = to;
  }
  return letters;
}
var kindAt = (letters, at) => letters[at]?.kind ?? "other";
function begins(letters, at) {
  const [was, is] = [kindAt(letters, at - 1), kindAt(letters, at)];
  if (was === "other" || is === "other" || is === "spaceless" || was === "spaceless") return true;
  if (was === "capital" && is === "capital") return kindAt(letters, at + 1) === "small" && kindAt(letters, at + 2) === "small";
  return was === "small" && is === "capital" || was === "digit" !== (is === "digit");
}
function isWhole(sought) {
  const before2 = sought.findLastIndex(({ kind }) => kind === "other" || kind === "spaceless");
  const first = sought[before2 + 1];
  const n = sought.length - before2 - 1;
  return n === 1 || n === 2 && !/\p{Script=Hangul}/u.test(first.small);
}
var ends3 = (letters, at, sought) => !isWhole(sought) || ["other", "spaceless"].includes(kindAt(letters, at));
function soughtIn(line, texts5) {
  const letters = lettersOf(line);
  const found = [];
  for (const sought of texts5.map(lettersOf)) {
    const isThere = (at) => begins(letters, at) && sought.every(({ small }, i) => letters[at + i].small === small) && ends3(letters, at + sought.length, sought);
    for (let at = 0; sought.length > 0 && at + sought.length <= letters.length; at += 1) {
      if (isThere(at)) found.push([letters[at].from, letters[at + sought.length - 1].to]);
    }
  }
  found.sort((a, b) => a[0] - b[0]);
  const joined = [];
  for (const [from, to] of found) {
    const last2 = joined.at(-1);
    if (last2 && from <= last2[1]) last2[1] = Math.max(last2[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
var mostShown = 600;
var shownBefore = 60;
function soughtNodes({ text, secrets = [] }, texts5) {
  const places = soughtIn(text, texts5);
  const first = places[0]?.[0] ?? 0;
  const cut = (at2) => secrets.find(({ from: from2, to: to2 }) => from2 < at2 && at2 < to2)?.from ?? at2;
  const from = first > 2 * shownBefore ? cut(first - shownBefore) : 0;
  const to = cut(Math.min(text.length, from + mostShown));
  const shown3 = text.slice(from, to);
  const within = secrets.filter((one) => one.from >= from && one.to <= to).map((one) => ({ ...one, from: one.from - from, to: one.to - from }));
  const nodes = [];
  let at = from;
  for (const node of withSecrets(shown3, within)) {
    if (typeof node !== "string") {
      nodes.push(node);
      const secret = secrets.find((one) => one.from === at);
      at = secret.to;
      continue;
    }
    nodes.push(...markedNodes(node, at, places));
    at += node.length;
  }
  return [from > 0 ? "…" : "", ...nodes, to < text.length ? "…" : ""];
}
function markedNodes(part, at, places) {
  const nodes = [];
  let done2 = 0;
  for (const [from, to] of places) {
    const begin = Math.max(from - at, done2);
    const end = Math.min(to - at, part.length);
    if (begin >= end) continue;
    nodes.push(part.slice(done2, begin), element("mark", "", part.slice(begin, end)));
    done2 = end;
  }
  nodes.push(part.slice(done2));
  return nodes;
}

// search.js
var searchAddress = "#/search";
var pauseBefore = 250;
var atOnce3 = 50;
var mostLines = 1e3;
var hint = "Lines of all sessions, the newest first. A word is found from its beginning on; what’s between quotation marks, with its spaces.";
var kinds2 = { answer: "answer", tool: "tool", thought: "thought", notice: "panebridge" };
var kindWords = ({ kind, author }) => kind === "user" ? authorWords(author) || "you" : kinds2[kind] ?? "";
var keyOf3 = ({ session, n }) => `${session} ${n}`;
var SearchView = class {
  // page has current() and sessions().
  constructor(page2) {
    this.page = page2;
    this.box = byId("search");
    this.field = byId("search-field");
    this.only = byId("search-only");
    this.list = byId("search-hits");
    this.more = byId("search-more");
    this.forget();
    byId("search-open").addEventListener("click", () => this.open());
    byId("search-here").addEventListener("click", () => this.open(true));
    this.field.addEventListener("input", () => this.askSoon());
    this.only.addEventListener("change", () => this.ask());
    this.more.addEventListener("click", () => this.ask(this.hits.length));
    byId("search-form").addEventListener("submit", (event) => event.preventDefault());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => {
      const link = event.target.closest(".hit-link");
      if (link) this.chosen = link;
    });
  }
  // forget leaves nothing of what was sought and found.
  forget() {
    this.stop();
    this.field.value = "";
    this.only.checked = false;
    this.session = null;
    this.chosen = null;
    this.scrolled = 0;
    this.clear();
    this.say("");
    byId("search-note").textContent = hint;
  }
  // clear leaves nothing of what was found.
  clear() {
    this.hits = [];
    this.known = /* @__PURE__ */ new Set();
    this.asked = "";
    this.list.replaceChildren();
    this.more.hidden = true;
    byId("search-note").textContent = "";
  }
  say(text) {
    const status = byId("search-status");
    if (status.textContent !== text) status.textContent = text;
  }
  // open goes to the search. With here it's restricted to the session that's open.
  open(here2 = false) {
    const session = this.page.current();
    if (session) this.session = { id: session.id, name: session.name };
    const was = this.only.checked;
    this.only.checked = here2 && Boolean(this.session);
    this.chosen = null;
    this.scrolled = 0;
    if (location.hash === searchAddress) this.show();
    else {
      this.hasCome = true;
      location.hash = searchAddress;
    }
    if (this.field.value !== "" && (was !== this.only.checked || this.only.checked)) this.ask();
  }
  // show shows the search, as it was left.
  show() {
    byId("search-only-row").hidden = !this.session;
    byId("search-only-name").textContent = this.session?.name ?? "";
    const came = this.box.hidden;
    this.box.hidden = false;
    if (came) this.box.scrollTop = this.scrolled;
    if (this.chosen?.isConnected) {
      this.chosen.focus({ preventScroll: true });
      return;
    }
    this.field.focus();
    this.field.select();
  }
  hide() {
    if (this.box.hidden) return;
    this.scrolled = this.box.scrollTop;
    this.stop();
    this.box.hidden = true;
  }
  // hasLedHere says that a line that was found was chosen, and is open.
  hasLedHere() {
    return Boolean(this.chosen) && this.chosen.hash === location.hash;
  }
  get isShown() {
    return !this.box.hidden;
  }
  // leave goes back to where one came from.
  leave() {
    if (this.hasCome) history.back();
    else location.hash = "";
    this.hasCome = false;
  }
  askSoon() {
    this.stop();
    this.timer = setTimeout(() => this.ask(), pauseBefore);
  }
  // stop has nothing of what was asked before come any more.
  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.abort?.abort();
    this.abort = null;
  }
  // ask asks the daemon for the newest lines, or for those behind the first so many.
  async ask(skip = 0) {
    this.stop();
    const query2 = this.field.value.trim();
    const session = this.only.checked ? this.session.id : void 0;
    if (query2 === "") {
      this.clear();
      this.say("");
      byId("search-note").textContent = hint;
      return;
    }
    const abort = new AbortController();
    this.abort = abort;
    this.box.setAttribute("aria-busy", "true");
    try {
      const found = await searchLines({ q: query2, session, limit: atOnce3, skip: skip || void 0 }, abort.signal);
      if (this.abort === abort) this.draw(query2, session, found, skip);
    } catch (error) {
      if (this.abort !== abort) return;
      this.wantsFirst = false;
      if (skip === 0) this.clear();
      this.say(error.message.replace(/^q: (.)/, (_, first) => first.toUpperCase()));
    } finally {
      if (this.abort === abort || !this.abort) this.box.removeAttribute("aria-busy");
      if (this.abort === abort) this.abort = null;
    }
  }
  draw(query2, session, found, skip) {
    if (skip === 0) this.clear();
    this.asked = `${session ?? ""} ${query2}`;
    const texts5 = textsOf(query2);
    const news = found.hits.filter((hit) => !this.known.has(keyOf3(hit)));
    for (const hit of news) this.known.add(keyOf3(hit));
    this.hits.push(...found.hits);
    const items = news.map((hit) => hitNode(hit, texts5));
    this.list.append(...items);
    if (skip > 0) items[0]?.querySelector(".hit-link").focus();
    const isEnd = !found.more || this.hits.length >= mostLines;
    this.more.hidden = isEnd;
    this.sayFound(found);
    byId("search-note").textContent = found.more && isEnd ? `Older ones aren’t shown: write more words${session ? "" : ", or look in one session"}.` : "";
    if (this.wantsFirst) this.step(1);
    this.wantsFirst = false;
  }
  sayFound({ more, behind }) {
    const n = this.known.size;
    const count = n === 0 ? "Nothing was found." : more ? `The newest ${n} lines.` : `${n} ${n === 1 ? "line" : "lines"}.`;
    const missing = behind > 0 ? ` ${behind} ${behind === 1 ? "line" : "lines"} can’t be found yet: try again soon.` : "";
    this.say(count + missing);
  }
  // step goes to the next line that was found, to the one before, or from the first to the field.
  step(by) {
    const links = [...this.list.querySelectorAll(".hit-link")];
    endTyping();
    const at = links.indexOf(document.activeElement) + by;
    if (at < 0) this.field.focus();
    else (links[at] ?? (this.more.hidden ? links.at(-1) : this.more))?.focus();
  }
  key(event) {
    if (composes(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = document.activeElement === this.field;
    switch (event.key) {
      case "ArrowDown":
        this.step(1);
        break;
      case "ArrowUp":
        if (inField) return;
        if (document.activeElement === this.more) [...this.list.querySelectorAll(".hit-link")].at(-1)?.focus();
        else this.step(-1);
        break;
      case "Enter":
        if (!inField) return;
        this.first();
        break;
      case "Escape":
        if (inField) this.leave();
        else this.field.focus();
        break;
      default:
        return;
    }
    event.preventDefault();
  }
  // first goes to the newest line that's found by what stands in the field.
  first() {
    const session = this.only.checked ? this.session.id : "";
    if (this.asked === `${session} ${this.field.value.trim()}` && !this.timer && !this.abort) {
      this.step(1);
      return;
    }
    this.wantsFirst = true;
    this.ask();
  }
};
function hitNode(hit, texts5) {
  const item = element("li", "hit");
  item.dataset.kind = hit.kind;
  const id = `hit-${hit.session}-${hit.n}`;
  const link = element("a", "hit-link");
  link.href = `#${encodeURIComponent(hit.session)}/${hit.n}`;
  link.id = id;
  link.setAttribute("aria-labelledby", `${id} ${id}-line`);
  const time = element("time", "hit-time", clock(hit.at));
  time.dateTime = hit.at;
  link.append(element("span", "hit-name", hit.name || "a session"), " ", time, " ", element("span", "hit-kind", kindWords(hit)));
  const line = element("div", "hit-line");
  line.id = `${id}-line`;
  line.dir = "auto";
  line.append(...soughtNodes(hit, texts5));
  item.append(link, line);
  return item;
}

// shortcuts.js
var patience5 = 1e4;
var Shortcuts = class {
  constructor(commands) {
    this.commands = commands;
    this.first = "";
    document.addEventListener("keydown", (event) => this.key(event));
    byId("keys-close").addEventListener("click", () => byId("keys-dialog").close());
    drawKeys(commands.all);
  }
  key(event) {
    if (event.defaultPrevented || event.repeat || event.isComposing) return;
    const pressed = nameOf2(event);
    const command = pressed && this.find(pressed);
    const field = event.target.closest("input:not([type=checkbox]), textarea, select");
    const inField = field?.checkVisibility();
    if (document.querySelector("dialog[open]")) return;
    if (inField && !pressed.startsWith("Ctrl+") && pressed !== "Escape") return;
    if (!command) return;
    event.preventDefault();
    command.run();
  }
  // find returns the command of a key, or of the key before and this one.
  find(pressed) {
    const before2 = this.first;
    this.first = "";
    clearTimeout(this.timer);
    const offered2 = this.commands.offered();
    const has = (keys) => offered2.find((command) => command.keys?.includes(keys));
    const found = before2 && has(`${before2} ${pressed}`) || has(pressed);
    if (found || !offered2.some((command) => command.keys?.some((keys) => keys.startsWith(`${pressed} `)))) return found;
    this.first = pressed;
    this.timer = setTimeout(() => {
      this.first = "";
    }, patience5);
    return void 0;
  }
};
function nameOf2({ key: key5, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey) return key5.length === 1 && !altKey ? `Ctrl+${key5.toUpperCase()}` : "";
  return altKey ? "" : key5;
}
function drawKeys(commands) {
  byId("keys-list").replaceChildren(...[...commands, ...otherKeys].filter(({ keys }) => keys).flatMap(({ words, keys }) => {
    const list2 = element("dd");
    keys.forEach((one, i) => {
      if (i > 0) list2.append(one === "…" || keys[i - 1] === "…" ? " " : " or ");
      if (one === "…") list2.append(one);
      else list2.append(...one.split(" ").flatMap((key5, n) => [n > 0 ? " then " : "", element("kbd", "", key5)]));
    });
    return [element("dt", "", words), list2];
  }));
}

// stranded.js
var drawn2 = "";
function drawStranded(isOpen, isThere) {
  const texts5 = isOpen ? stranded(isThere) : [];
  byId("stranded").hidden = texts5.length === 0;
  const look2 = texts5.map(({ key: key5 }) => key5).join();
  if (look2 === drawn2) return;
  drawn2 = look2;
  byId("stranded-texts").replaceChildren(...texts5.map((one) => {
    const item = element("li", "receipt");
    item.dataset.state = "failed";
    const end = smallButton("Dismiss", () => {
      dismiss(one.key);
      drawStranded(isOpen, isThere);
    });
    item.append(element("span", "stranded-text", one.text), copyButton(() => one.text), end);
    return item;
  }));
}

// usage.js
function offerUsage(current3, changed) {
  byId("go-on").addEventListener("click", async () => {
    const session = current3();
    if (!session) return;
    byId("go-on").disabled = true;
    try {
      await (session.continuation ? goOnNot : goOn)(session.id);
    } catch (error) {
      toast(error.message);
    }
    byId("go-on").disabled = false;
    changed();
  });
}
function drawUsage(session) {
  const limited = session && session.state !== "ended" ? limitOf(session) : null;
  const next = session?.continuation;
  byId("limit").hidden = !limited;
  if (limited) {
    set2("limit-words", next ? `The agent is ${limitWords(session)}. Then “${next.text}” is sent, unless somebody writes before (${authorWords(next.by)}).` : `The agent is ${limitWords(session)}.`);
    byId("go-on").hidden = !limited.until;
    set2("go-on", next ? "Don’t go on" : "Go on then");
  }
  const words = session?.usage ? usageWords(session.usage) : "";
  byId("usage").hidden = words === "";
  set2("usage", words);
  byId("usage").title = words;
}
function set2(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}
function usageWords(usage, now = Date.now()) {
  const { tokens: tokens2, context } = usage;
  const total = tokens2.input + tokens2.cache_read + tokens2.cache_write + tokens2.output;
  return [
    context && contextWords(context),
    total > 0 && `${shortCount(total)} tokens`,
    usage.cost_usd > 0 && dollars(usage.cost_usd),
    ...(usage.windows ?? []).filter((w) => !w.resets_at || Date.parse(w.resets_at) > now).map(windowWords)
  ].filter(Boolean).join(" · ");
}
function contextWords({ used, window: size }) {
  if (!used) return "context emptied";
  if (!size) return `context ${shortCount(used)}`;
  return `context ${Math.min(100, Math.round(100 * used / size))} % full, ${shortCount(Math.max(0, size - used))} left`;
}
function windowWords({ minutes, used_percent: percent, resets_at: until }) {
  const span = !minutes ? "window" : minutes % 1440 === 0 ? `${minutes / 1440} days` : minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
  return `${Math.round(percent)} % of the account’s ${span}${until ? ` until ${clock(until)}` : ""}`;
}
var dollars = (usd) => usd < 5e-3 ? "less than $0.01" : `$${usd.toFixed(2)}`;
function shortCount(n) {
  if (n < 1e3) return String(n);
  if (n < 9950) return `${(n / 1e3).toFixed(1)}k`;
  if (n < 999500) return `${(n / 1e3).toFixed(0)}k`;
  return n < 995e4 ? `${(n / 1e6).toFixed(1)}M` : `${(n / 1e6).toFixed(0)}M`;
}

// app.js
var pollEvery2 = 2e3;
var firstLines = 500;
var endedAtOnce = 50;
var shortSilence = 4e3;
var mostSilence = 4e4;
var hiddenGrace = 3e4;
var state = {
  sessions: [],
  ended: 0,
  // how many have ended
  mostEnded: endedAtOnce,
  // of these are shown
  open: null,
  // {id, conversation, composer, prompt, screen, stream}
  tab: "conversation",
  known: false,
  // the sessions were listed
  problem: "",
  // why the last poll didn't work
  seenAt: null,
  // when the last one did
  streaming: true,
  // the stream is connected
  returns: 0,
  // how often somebody came back to the page
  shut: null
  // why the browser isn't let in; '': it is; null: that isn't known yet
};
var passing = passGate();
holdMistakenKeys();
var inbox = new Inbox();
inbox.onLooked = () => draw5();
var mirror = new MirrorDialog(current2, poll);
offerWork();
onWork(() => state.open?.conversation.showWork());
var devices = new DevicesDialog(poll);
var search = new SearchView({ current: current2 });
var notify = new NotifyDialog();
function current2() {
  return state.sessions.find((s) => s.id === state.open?.id);
}
function idInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1).split("/")[0]);
  } catch {
    return "";
  }
}
var lineInAddress = () => idInAddress() && Number(/\/(\d{1,15})$/.exec(location.hash)?.[1]) || 0;
var chosenByAddress = () => state.sessions.find((s) => s.id === idInAddress());
function choose(id) {
  drawer(false);
  if (idInAddress() === id) follow();
  else location.hash = id;
}
function toInbox() {
  drawer(false);
  location.hash = "";
}
function goBack() {
  if (search.hasLedHere()) history.back();
  else toInbox();
}
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
  draw5();
  if (!session && !searches && lineInAddress() && state.known) toast("That session isn’t there any more.");
  return true;
}
function showAddressed() {
  const { open } = state;
  open.line = lineInAddress();
  showTab("conversation");
  open.conversation.showFound(open.line);
}
function openSession(session) {
  const { id } = session;
  closeNotifications((alert) => alert.session === id);
  const open = {
    id,
    line: lineInAddress(),
    // that it was opened at; 0: its end
    conversation: new Conversation(session, lineInAddress()),
    composer: new Composer(id, session.agent),
    prompt: new PromptPanel(id),
    screen: new Screen(id)
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
  if (open.line) showTab("conversation");
  open.screen.show(state.tab === "screen");
  open.start(takeEarly(id) ?? new Stream(id, { last: firstLines }));
}
var early = null;
function beginEarly() {
  const id = idInAddress();
  if (id) early = new Stream(id, { last: firstLines });
}
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
    case "output":
      open.conversation.output(marked(data).lines);
      break;
    case "gap":
      open.conversation.gap(data);
      break;
    case "live":
      open.conversation.live(data);
      break;
    case "prompt":
      open.prompt.show(data);
      if (data.state === "answered") open.conversation.askMarks();
      break;
    case "state":
      state.sessions = state.sessions.map((s) => s.id === data.session ? { doing: s.doing, last_line: s.last_line, ...data.summary } : s);
      draw5();
      break;
    case "turn":
      if (data.complete) open.conversation.askMarks();
      break;
    default:
  }
}
async function passWaiting() {
  const how = await askWhetherIn().catch(() => "waiting");
  if (how === "declined") shut("declined");
  return how === "in";
}
async function poll() {
  const { returns } = state;
  const asked = Date.now();
  const isOld = () => state.returns !== returns;
  if (state.shut === null) return;
  if (state.shut === "waiting") {
    if (!await passWaiting()) return;
  } else if (state.shut !== "" && !(await loadKey2().catch(() => false) && known2())) return;
  try {
    const [{ sessions, ended }, adapters] = await Promise.all([
      listSessions(state.mostEnded, idInAddress() || (state.open?.id ?? "")),
      listAdapters().catch(() => null),
      rolesKnown() || learnRoles()
    ]);
    if (isOld()) return;
    state.sessions = sessions;
    state.ended = ended;
    if (adapters) drawChats(adapters);
    const back2 = state.problem !== "";
    state.problem = "";
    state.seenAt = /* @__PURE__ */ new Date();
    state.known = true;
    noteSeen();
    if (ended === sessions.filter((s) => s.state === "ended").length) forgetGone(sessions, asked);
    shut("");
    resumeOutgoing();
    if (back2) retryOutgoing();
    if (state.open?.away) comeBack(state.open);
    if (!state.streaming) state.open?.stream?.now();
    if (state.open?.stream) renewSilent(state.open);
    state.open?.screen.keepUp(mostSilence);
    if (!follow()) draw5();
  } catch (error) {
    if (isOld()) return;
    if (error.code === "unauthorized") shut("refused");
    else state.problem = isAway(error) ? "panebridge isn’t reachable. Is it running?" : `panebridge has a problem: ${error.message}`;
    drawConnection();
  } finally {
    takeEarly("");
  }
}
function forgetGone(sessions, asked) {
  const listed2 = new Set(sessions.map((s) => s.id));
  const isGone = (id, at) => !listed2.has(id) && at < asked;
  forgetDrafts(isGone);
  forgetOutgoing(isGone);
}
function renewSilent({ stream, conversation }) {
  const isBehind = conversation.newest < (current2()?.lines ?? 0);
  if (stream.silence() > (isBehind ? shortSilence : mostSilence)) stream.renew();
}
function shut(why) {
  if (state.shut === why) return;
  state.shut = why;
  if (why) empty(why === "refused" || !known2());
  else notify.begin();
  showGate(why);
}
function empty(forgetsTexts) {
  closeOpen();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
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
  draw5();
}
function drawChats(adapters) {
  drawDelivery(adapters);
  mirror.offer(adapters);
  showAccess(adapters.length > 0);
}
async function pollForever() {
  for (; ; ) {
    await poll();
    await new Promise((resolve) => {
      setTimeout(resolve, pollEvery2);
    });
  }
}
function draw5() {
  look();
  const groups = groupsOf(state.sessions);
  drawList(groups, state.open?.id, choose);
  const isInbox = state.known && !state.open && !search.isShown;
  inbox.draw(isInbox && state.sessions.length > 0 ? groups : null);
  drawStranded(isInbox, (id) => state.sessions.some((s) => s.id === id));
  drawOlder();
  drawHead(current2());
  drawConnection();
  const waiting2 = state.sessions.filter((s) => needsYou(s) && !isMuted(s)).length;
  drawBadge(waiting2, search.isShown ? "Search" : current2()?.name ?? "");
  byId("inbox-count").textContent = waiting2 > 0 ? waiting2 : "";
}
function look() {
  const session = current2();
  if (!session || document.hidden || state.open.away) return;
  const { conversation } = state.open;
  const isAtEnd = conversation.stuck && conversation.newest >= session.lines;
  if (state.tab === "screen" || isAtEnd) lookedThrough(session);
  if (isAtEnd) noteLooked(session.id, { line: conversation.newest });
  keepLooked(state.sessions);
}
function drawOlder() {
  const more = state.ended - state.sessions.filter((s) => s.state === "ended").length;
  byId("older").hidden = more <= 0;
  byId("older").textContent = `${more} more have ended…`;
}
function showOlder() {
  state.mostEnded += endedAtOnce;
  poll();
}
function drawHead(session) {
  const searches = search.isShown;
  byId("name").textContent = searches ? "Search" : session?.name ?? "Inbox";
  byId("no-sessions").hidden = state.sessions.length > 0 || !state.known || searches;
  for (const part of ["tabs", "views"]) byId(part).hidden = !session;
  byId("back").hidden = !session && !searches;
  byId("back").setAttribute("aria-label", search.hasLedHere() ? "Back to what was found" : searches ? "Back" : "Back to the inbox");
  byId("close").disabled = !session || session.state === "ended";
  byId("more-box").hidden = !session;
  byId("inbox-new").hidden = Boolean(session) || searches;
  byId("about").textContent = session ? about2(session) : "";
  byId("about").title = session ? machineWords(session) : "";
  document.body.classList.toggle("in-session", Boolean(session));
  document.body.classList.toggle("in-search", searches);
  if (session || searches) byId("to-inbox").removeAttribute("aria-current");
  else byId("to-inbox").setAttribute("aria-current", "page");
  drawMute(session);
  drawUnshown(session);
  drawUsage(session);
  drawExhibit(session);
  byId("main").dataset.state = session?.state ?? "";
  byId("foot").hidden = !session;
  byId("restart").hidden = !session?.owned;
  byId("restart").textContent = session?.state === "ended" ? "Begin it again…" : "Start its program anew…";
  const ended = session?.state === "ended";
  byId("ended").hidden = !ended;
  for (const part of ["composer", "below", "stop", "rename", "close"]) byId(part).hidden = ended;
  byId("mirror").hidden = !session || ended || !mirror.possible;
  state.open?.composer.enable(!ended);
  if (session) state.open?.prompt.expect(session.prompt);
}
var about2 = (session) => [isMuted(session) && "muted", stateWords(session), outcome(session), session.agent, session.cwd].filter(Boolean).join(" · ");
function drawUnshown(session) {
  const lacks = [];
  for (const b of session && session.state !== "ended" ? session.bindings : []) {
    if (b.disabled) lacks.push(`Not shown in ${b.to}: ${b.disabled}`);
    else if (b.problem) lacks.push(`Not shown as it should be in ${b.to}: ${b.problem}`);
  }
  const note = byId("unshown");
  const text = lacks.join("\n");
  note.hidden = text === "";
  if (note.textContent !== text) note.textContent = text;
}
function drawConnection() {
  const bar = byId("connection");
  bar.hidden = state.shut !== "" || !state.problem && state.streaming;
  if (bar.hidden) return;
  const since = state.seenAt && state.known ? ` What’s here is from ${state.seenAt.toLocaleTimeString()}.` : "";
  const text = state.problem ? `${state.problem}${since} Trying again…` : "Reconnecting…";
  if (bar.textContent !== text) bar.textContent = text;
}
function drawer(open) {
  document.body.classList.toggle("drawer-open", open);
  byId("veil").hidden = !open;
  byId("menu").setAttribute("aria-expanded", String(open));
}
function showTab(name, focus) {
  state.tab = name;
  for (const other of ["conversation", "screen"]) {
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    byId(other).hidden = other !== name;
  }
  if (focus) byId(`tab-${name}`).focus();
  state.open?.screen.show(name === "screen");
}
var hiddenTimer = 0;
var hiddenSince = Date.now();
function visibility() {
  clearTimeout(hiddenTimer);
  const { open } = state;
  if (document.hidden) {
    hiddenSince = Date.now();
    hiddenTimer = setTimeout(() => state.open?.stream?.close(), hiddenGrace);
    return;
  }
  if (open && (open.stream.closed || Date.now() - hiddenSince >= hiddenGrace)) {
    open.stream.close();
    open.away = true;
  }
  state.returns++;
  closeNotifications(isAnswered);
  look();
  poll();
}
function comeBack(open) {
  if (open.conversation.stuck && state.tab === "conversation") {
    if (lineInAddress()) history.replaceState(null, "", `#${encodeURIComponent(open.id)}`);
    closeOpen();
    return;
  }
  open.away = false;
  open.start(new Stream(open.id, open.stream.place));
}
async function start() {
  for (const name of ["conversation", "screen"]) {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => showTab(name));
    tab.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") showTab(name === "screen" ? "conversation" : "screen", true);
    });
  }
  byId("menu").addEventListener("click", () => drawer(!document.body.classList.contains("drawer-open")));
  byId("veil").addEventListener("click", () => drawer(false));
  byId("stop").addEventListener("click", () => document.querySelector('.keys [data-key="C-c"]').click());
  byId("back").addEventListener("click", () => search.isShown ? search.leave() : goBack());
  byId("to-inbox").addEventListener("click", (event) => {
    event.preventDefault();
    toInbox();
  });
  byId("older").addEventListener("click", showOlder);
  addEventListener("hashchange", () => {
    if (idInAddress() && !chosenByAddress()) poll();
    else follow();
  });
  document.addEventListener("visibilitychange", visibility);
  addEventListener("pagehide", look);
  newDialog(async (session) => {
    await poll();
    choose(session.id);
  });
  closeDialog(current2, async (session) => {
    const before2 = state.open?.id;
    await poll();
    if (!session) return;
    if (before2 && session.id !== before2) moveDraft(before2, session.id);
    choose(session.id);
  });
  renameDialog(current2, poll);
  getFileDialog(current2);
  exhibitsDialog(current2);
  changesDialog(current2);
  offerUsage(current2, poll);
  offerMute(current2, () => {
    draw5();
    notify.muted();
  });
  navigator.serviceWorker?.addEventListener("message", ({ data, ports }) => {
    if (typeof data?.open === "string") choose(data.open);
    if (data?.asks === "in touch") ports[0].postMessage(state.known && state.problem === "" && state.shut === "");
  });
  accessDialog();
  new MailDialog(() => state.sessions);
  new Menu();
  const page2 = { current: current2, toInbox, goBack, showTab, choose, sessions: () => state.sessions };
  const commands = new Commands(page2);
  new Palette(page2, commands);
  new Shortcuts(commands);
  shut(await passing);
  if (state.shut === "") beginEarly();
  pollForever();
}
start();
