'use strict';

import { withTimes } from './seen.js';

// What came last of each session's alert, for the worker: messages may come twice, or in another order, and an alert that
// somebody has dismissed can't be asked any more what it was. No text is kept.

const keptFor = 2 * 24 * 3600 * 1000; // milliseconds; a push service keeps a message for one day (internal/push)

const patience = 2000; // milliseconds; an alert is shown in any case

const inTime = (doing) => Promise.race([doing, new Promise((resolve) => { setTimeout(resolve, patience); })]).catch(() => {});

const load = async () => await inTime(withTimes('readonly', (store) => store.get('alerts'))) ?? {};

// lastAlert is {sent, key, over, at} of what came last with a tag; undefined: nothing did, or not for long.
export const lastAlert = async (tag) => (await load())[tag];

// noteAlert notes what came last with a tag. Where nothing can be kept, nothing is.
export async function noteAlert(tag, { sent, key, over }) {
  const now = Date.now();
  const all = Object.entries(await load()).filter(([, { at }]) => Math.abs(now - at) < keptFor);
  const kept = { ...Object.fromEntries(all), [tag]: { sent, key, over: Boolean(over), at: now } };
  await inTime(withTimes('readwrite', (store) => store.put(kept, 'alerts')));
}

// forgetAlerts forgets all of them.
export const forgetAlerts = () => inTime(withTimes('readwrite', (store) => store.delete('alerts')));
