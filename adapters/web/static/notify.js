'use strict';

import { forgetAlerts } from './alerts.js';
import { byId } from './dom.js';
import { dropPush, getPush, putPush } from './api.js';
import { attempt } from './dialogs.js';
import { loadKept, saveKept } from './kept.js';
import { browserID } from './key.js';
import { mutedIDs } from './mute.js';

// The service worker and the dialog in which a device is told to be notified by it, though no page is open. The daemon
// keeps of what; the browser keeps the subscription, and whether it allows any.

const workerPath = '/service-worker.js';

const texts = {
  unsupported: 'This browser can’t be notified. On an iPhone or iPad, add the page to the Home Screen and open it there.',
  insecure: 'A browser can be notified only by a page that’s on https or on this machine.',
  denied: 'The browser doesn’t allow it. Allow notifications for this page in the browser’s settings, and open this again.',
  asking: 'One moment…',
  off: 'This device isn’t notified.',
  on: 'This device is notified, also when no page is open.',
};

const kinds = ['questions', 'ends', 'errors'];

// support is why this device can't be notified; '': it can.
function support() {
  if (!globalThis.isSecureContext) return 'insecure';
  if (!navigator.serviceWorker || !globalThis.PushManager || !globalThis.Notification) return 'unsupported';
  return Notification.permission === 'denied' ? 'denied' : '';
}

const bytesOf = (base64) => Uint8Array.from(atob(base64.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const base64Of = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const sameKey = (subscription, key) => {
  const own = subscription.options?.applicationServerKey;
  return !own || base64Of(own) === key;
};

// subscription is the browser's; null: it has none.
const subscription = async () => (await (await registered())?.pushManager?.getSubscription()) ?? null;

// alone changes the subscription while no other tab does.
const alone = (change) => navigator.locks.request('panebridge-notify', change);

const registered = () => navigator.serviceWorker?.getRegistration('/').catch(() => undefined);

// beginWorker has the browser run the page's worker. Without one the page is as it is.
export function beginWorker() {
  return navigator.serviceWorker?.register(workerPath, { scope: '/', updateViaCache: 'none' }).catch(() => {});
}

// endWorkers ends all workers: another server that had this address once may have left one.
export async function endWorkers() {
  const list = await navigator.serviceWorker?.getRegistrations().catch(() => []);
  for (const one of list ?? []) await one.unregister();
}

// closeNotifications closes those of which isOver says so.
export async function closeNotifications(isOver) {
  const all = await (await registered())?.getNotifications?.().catch(() => []);
  for (const one of all ?? []) if (isOver(one.data ?? {})) one.close();
}

export const isAnswered = ({ over }) => Boolean(over);

// What this device wants to be notified of is kept by the browser, too: the daemon forgets it when the push service ends the
// subscription, and a database that's restored may be from before there was one. It counts as long as the browser is let
// in as the same.
const wishesKey = 'panebridge.notified';

const keepWishes = ({ questions, ends, errors, quiet }) => saveKept(wishesKey, { browser: browserID(), questions, ends, errors, quiet });

function keptWishes() {
  const kept = loadKept(wishesKey);
  return kept?.browser === browserID() ? kept : null;
}

// kindOf is what an alert is about, by its key (internal/push).
const kindOf = (key = '') => ({ question: 'questions', end: 'ends', error: 'errors' })[key.split(':')[0]];

export class NotifyDialog {
  constructor() {
    this.dialog = byId('notify-dialog');
    this.push = null; // what the daemon knows
    this.changes = 0; // how often it was told of another wish
    navigator.serviceWorker?.addEventListener('message', ({ data }) => { if (data?.subscription === 'changed') this.putRight(); });
    byId('notify').addEventListener('click', () => this.open());
    byId('notify-close').addEventListener('click', () => this.dialog.close());
    byId('notify-on').addEventListener('change', () => this.turn(byId('notify-on').checked));
    for (const id of [...kinds.map((kind) => `notify-${kind}`), 'notify-quiet', 'notify-from', 'notify-to']) {
      byId(id).addEventListener('change', () => this.save());
    }
  }

  open() {
    byId('notify-error').textContent = '';
    this.draw();
    this.dialog.showModal();
    const { changes } = this;
    return attempt('notify-close', 'notify-error', async () => {
      const push = await getPush();
      if (changes !== this.changes) return; // it's from before somebody changed it
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
    const own = await subscription().catch(() => null);
    const { key, subscription: known } = this.push;
    const wishes = known ?? keptWishes();
    const isWhole = known && own && own.endpoint === known.endpoint && sameKey(own, key);
    if (known) keepWishes(known);
    else await own?.unsubscribe(); // the push service has ended it, or this device was revoked since
    if (!wishes) return;
    if (Notification.permission === 'granted' && !isWhole) await this.subscribe(wishes).catch(() => {});
    else if (known && JSON.stringify(known.muted ?? []) !== JSON.stringify(mutedIDs())) await this.tell(known).catch(() => {});
  }

  // muted tells the daemon that other sessions are muted, if that can be, else the next visit does.
  async muted() {
    closeNotifications(({ session }) => mutedIDs().includes(session));
    if (!this.push) return;
    const push = await getPush().catch(() => null); // another tab may have changed what's wanted
    if (push?.subscription) await this.tell(push.subscription).catch(() => {});
  }

  // forget ends the browser's subscription: it isn't let in any more.
  async forget() {
    this.push = null;
    this.dialog.close();
    saveKept(wishesKey, null);
    await (await subscription().catch(() => null))?.unsubscribe().catch(() => {});
    await closeNotifications(() => true);
    await forgetAlerts();
  }

  turn(on) {
    return attempt('notify-on', 'notify-error', async () => {
      if (on) await this.turnOn();
      else await this.turnOff();
    }).then(() => this.draw());
  }

  async turnOn() {
    this.push ??= await getPush();
    if (await Notification.requestPermission() !== 'granted') return;
    await alone(() => this.subscribe(this.wishes()));
  }

  turnOff() {
    return alone(() => this.turnOffAlone());
  }

  async turnOffAlone() {
    this.changes += 1;
    await dropPush();
    saveKept(wishesKey, null);
    if (this.push) this.push.subscription = undefined;
    await (await subscription())?.unsubscribe();
    await closeNotifications(() => true);
  }

  // subscribe has the browser subscribe, and the daemon know it.
  async subscribe(wishes) {
    if (!await beginWorker()) throw new Error('The browser doesn’t run the page’s worker. Does it trust the page’s certificate?');
    const { pushManager } = await navigator.serviceWorker.ready;
    let own = await pushManager.getSubscription();
    if (own && !sameKey(own, this.push.key)) {
      await own.unsubscribe();
      own = null;
    }
    own ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(this.push.key) })
      .catch((error) => { throw new Error(`The browser’s push service gives no subscription: ${error.message}`); });
    await this.tell(wishes, { endpoint: own.endpoint, p256dh: base64Of(own.getKey('p256dh')), auth: base64Of(own.getKey('auth')) });
  }

  // tell tells the daemon of what this device wants to be notified.
  async tell({ questions, ends, errors, quiet }, where = {}) {
    this.changes += 1;
    this.push = await putPush({ questions, ends, errors, quiet, muted: mutedIDs(), ...where });
    const wanted = this.push.subscription;
    keepWishes(wanted);
    await closeNotifications(({ key, over }) => over || !wanted[kindOf(key)]);
  }

  save() {
    if (!this.push?.subscription) return this.draw();
    return attempt('notify-on', 'notify-error', () => this.tell(this.wishes())).then(() => this.draw());
  }

  // wishes are what the dialog has.
  wishes() {
    const wishes = Object.fromEntries(kinds.map((kind) => [kind, byId(`notify-${kind}`).checked]));
    if (byId('notify-quiet').checked) {
      wishes.quiet = { from: byId('notify-from').value, to: byId('notify-to').value, zone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? '' };
    }
    return wishes;
  }

  fill(known) {
    if (!known) return;
    for (const kind of kinds) byId(`notify-${kind}`).checked = known[kind];
    byId('notify-quiet').checked = Boolean(known.quiet);
    if (known.quiet) {
      byId('notify-from').value = known.quiet.from;
      byId('notify-to').value = known.quiet.to;
    }
  }

  draw() {
    const why = support();
    const known = this.push?.subscription;
    const state = why || (known ? 'on' : this.push && 'off') || 'asking';
    byId('notify-state').dataset.state = state;
    byId('notify-state').textContent = known?.trouble ? `${texts[state]} The last time it failed: ${known.trouble}.` : texts[state];
    byId('notify-on').checked = Boolean(known);
    byId('notify-on').disabled = Boolean(why) && !known;
    byId('notify-wishes').disabled = Boolean(why);
    byId('notify-hours').hidden = !byId('notify-quiet').checked;
    const muted = mutedIDs().length;
    byId('notify-muted').hidden = muted === 0;
    byId('notify-muted').textContent = muted === 1 ? 'One session is muted on this device: nothing is told of it.' : `${muted} sessions are muted on this device: nothing is told of them.`;
  }
}
