'use strict';

// A browser opens six connections to one server that speaks HTTP/1.1, for all its windows together, and a seventh request
// waits until one is free. Streams last. So all windows together hold no more than so many streams for long; one more
// connection is taken in turns by the others, for a moment each, and the last is for requests. Who holds what is
// known by the browser's locks, which it gives back when a window goes. The window that somebody works in takes a
// stream from another.

const lasting = 4; // streams
const turnLength = 400; // milliseconds, from when its first bytes came
const turnPause = 500; // milliseconds after a turn until its stream queues for the next

const own = new Set(); // the names of the locks that this window holds

// isScarce says whether the server was reached over a connection for one request at a time.
function isScarce() {
  const [page] = performance.getEntriesByType('navigation');
  return Boolean(navigator.locks) && !['h2', 'h3'].includes(page?.nextHopProtocol);
}

// takeConnection waits until a stream may be opened. It returns what the stream has of it: release gives it back;
// opened says that the answer has begun; onOver, if it's set, is called when the stream has to end for another's sake.
// pause is how long it waits then before it asks again. A stream that insists takes another window's if none is free.
// It throws if signal is aborted first.
export async function takeConnection(signal, insists) {
  if (!isScarce()) return { pause: 0, opened() {}, release() {} };
  const names = Array.from({ length: lasting }, (_, i) => `panebridge-stream-${i}`);
  for (const name of names) {
    const free = await hold(name, { ifAvailable: true });
    if (free) return free;
  }
  const others = names.filter((name) => !own.has(name));
  if (insists && others.length > 0) return hold(others[Math.floor(Math.random() * others.length)], { steal: true });
  const turn = await hold('panebridge-stream-turn', { signal });
  turn.pause = turnPause;
  turn.opened = () => { turn.timer = setTimeout(() => turn.onOver?.(), turnLength); };
  return turn;
}

// hold resolves to a lock that's held, or to null where that wasn't to be waited for.
function hold(name, options) {
  return new Promise((resolve, reject) => {
    let held = null;
    navigator.locks.request(name, options, (lock) => lock && new Promise((done) => {
      own.add(name);
      held = {
        pause: 0,
        opened() {},
        release() {
          clearTimeout(held.timer);
          own.delete(name);
          done();
        },
      };
      resolve(held);
    })).then(() => resolve(null), (problem) => {
      if (!held) return reject(problem);
      own.delete(name); // it was taken away
      return held.onOver?.();
    });
  });
}
