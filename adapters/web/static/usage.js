'use strict';

import { goOn, goOnNot } from './api.js';
import { byId, clock, toast } from './dom.js';
import { authorWords } from './roles.js';
import { limitOf, limitWords } from './words.js';

// What the agents of the session that's open have used, how the account stands, and whether it goes on by itself when
// its limit is over.

// offerUsage has the button work; current is the session that's open, changed is called when it was pressed.
export function offerUsage(current, changed) {
  byId('go-on').addEventListener('click', async () => {
    const session = current();
    if (!session) return;
    byId('go-on').disabled = true;
    try {
      await (session.continuation ? goOnNot : goOn)(session.id);
    } catch (error) {
      toast(error.message);
    }
    byId('go-on').disabled = false;
    changed();
  });
}

// drawUsage shows it.
export function drawUsage(session) {
  const limited = session && session.state !== 'ended' ? limitOf(session) : null;
  const next = session?.continuation;
  byId('limit').hidden = !limited;
  if (limited) {
    set('limit-words', next
      ? `The agent is ${limitWords(session)}. Then “${next.text}” is sent, unless somebody writes before (${authorWords(next.by)}).`
      : `The agent is ${limitWords(session)}.`);
    byId('go-on').hidden = !limited.until;
    set('go-on', next ? 'Don’t go on' : 'Go on then');
  }
  const words = session?.usage ? usageWords(session.usage) : '';
  byId('usage').hidden = words === '';
  set('usage', words);
  byId('usage').title = words;
}

function set(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text; // what's the same isn't read out again
}

// usageWords says what was used, in short; '': nothing is known.
export function usageWords(usage, now = Date.now()) {
  const { tokens, context } = usage;
  const total = tokens.input + tokens.cache_read + tokens.cache_write + tokens.output;
  return [
    context && contextWords(context),
    total > 0 && `${shortCount(total)} tokens`,
    usage.cost_usd > 0 && dollars(usage.cost_usd),
    ...(usage.windows ?? []).filter((w) => !w.resets_at || Date.parse(w.resets_at) > now).map(windowWords),
  ].filter(Boolean).join(' · ');
}

function contextWords({ used, window: size }) {
  if (!used) return 'context emptied';
  if (!size) return `context ${shortCount(used)}`;
  return `context ${Math.min(100, Math.round(100 * used / size))} % full, ${shortCount(Math.max(0, size - used))} left`;
}

function windowWords({ minutes, used_percent: percent, resets_at: until }) {
  const span = !minutes ? 'window' : minutes % 1440 === 0 ? `${minutes / 1440} days` : minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
  return `${Math.round(percent)} % of the account’s ${span}${until ? ` until ${clock(until)}` : ''}`;
}

const dollars = (usd) => (usd < 0.005 ? 'less than $0.01' : `$${usd.toFixed(2)}`);

// shortCount is a number in few letters: "950", "1.4k", "258k", "12M".
function shortCount(n) {
  if (n < 1000) return String(n);
  if (n < 9950) return `${(n / 1e3).toFixed(1)}k`;
  if (n < 999500) return `${(n / 1e3).toFixed(0)}k`;
  return n < 9950000 ? `${(n / 1e6).toFixed(1)}M` : `${(n / 1e6).toFixed(0)}M`;
}
