'use strict';

import { byId, toast } from './dom.js';
import { refusal } from './api.js';
import { enter, isLetIn, known, loadKey, supported, waits } from './key.js';
import { endWorkers } from './notify.js';

// The gate stands before the page while the browser isn't let in, and says what to do.

const enterPath = '/new/';
const tryEvery = 2000; // milliseconds between attempts while nobody answers

const texts = {
  'not-in': ['This browser isn’t let in', 'The page opens only for browsers that were let in from a terminal.'],
  refused: ['This browser isn’t let in any more', 'Its access was revoked, or it wasn’t here for thirty days.'],
  used: ['This address doesn’t work any more', 'It was opened before, is older than ten minutes, or the daemon was started anew since.'],
  busy: ['Too many addresses were tried', 'None is looked at for ten minutes. Then open a new one.'],
  forbidden: ['The page isn’t served here', 'panebridge has refused to let a browser in at this address.'],
  waiting: ['Waiting to be let in', 'Somebody at the machine where panebridge runs has to say that it’s this device. There, the same number is shown:'],
  declined: ['This device wasn’t let in', 'Somebody has refused it, or nobody has said a word for ten minutes.'],
  unsupported: ['This browser can’t keep a key here', 'Open the page as http://127.0.0.1 or by https, in a window that isn’t private.'],
};

// showGate shows why the browser isn't let in; with '' it's let in.
export function showGate(why) {
  const shut = why !== '';
  byId('gate').hidden = !shut;
  byId('layout').hidden = shut;
  if (!shut) return;
  const [title, text] = texts[why];
  byId('gate').dataset.why = why;
  byId('gate-title').textContent = title;
  byId('gate-text').textContent = text;
  byId('gate-how').hidden = why === 'unsupported' || why === 'waiting';
  byId('gate-number').hidden = why !== 'waiting';
  byId('gate-number').textContent = waits();
}

// passGate lets the browser in by the address, if it's one that does, and says why it
// isn't in; '' if it may be.
export async function passGate() {
  if (!supported()) return 'unsupported';
  const token = location.pathname.startsWith(enterPath) ? location.hash.slice(1) : '';
  if (location.pathname !== '/') history.replaceState(null, '', '/');
  try {
    if (token) return await enterBy(token);
    await loadKey();
  } catch {
    return 'unsupported'; // a private window may have no store
  }
  return afterLoad();
}

const afterLoad = () => {
  if (waits()) return 'waiting';
  return known() ? '' : 'not-in';
};

async function enterBy(token) {
  await endWorkers();
  for (;;) {
    try {
      const response = await enter(token);
      if (response.status === 202) return 'waiting';
      if (response.ok) return '';
      const { status } = await refusal(response);
      if (await isLetIn()) { // it didn't need the address
        toast(`${texts[status === 429 ? 'busy' : 'used'][0]}. This browser is let in already.`);
        return afterLoad();
      }
      if (status === 401) return 'used';
      if (status === 429) return 'busy';
      if (status === 403) return 'forbidden';
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((resolve) => { setTimeout(resolve, tryEvery); });
  }
}
