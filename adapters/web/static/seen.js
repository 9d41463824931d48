'use strict';

// When panebridge answered last, for the word that the worker has while it doesn't. The worker can't read what the page
// keeps elsewhere (kept.js), and the page's key is none of its business (key.js), so it's a store of its own.

const noteEvery = 15000; // milliseconds

let noted = 0;

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

// withTimes returns what the request that fn makes of the store returns.
export async function withTimes(mode, fn) {
  const opening = indexedDB.open('panebridge-seen', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('times');
  const db = await done(opening);
  try {
    return await done(fn(db.transaction('times', mode).objectStore('times')));
  } finally {
    db.close();
  }
}

// noteSeen notes that panebridge has answered now. Where nothing can be kept, nothing is.
export async function noteSeen() {
  if (Date.now() - noted < noteEvery) return;
  noted = Date.now();
  await withTimes('readwrite', (store) => store.put(noted, 'seen')).catch(() => {});
}

// lastSeen is when it did, in milliseconds since 1970; 0: that isn't known.
export const lastSeen = () => withTimes('readonly', (store) => store.get('seen')).then((at) => Number(at) || 0, () => 0);
