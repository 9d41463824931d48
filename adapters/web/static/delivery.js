'use strict';

import { byId, element } from './dom.js';

// What the chat platforms' schedulers do, below the list of sessions: per chat
// how much of its budget is used, when the next call may go, and what waits.
// Hidden while no platform is configured.

export function drawDelivery(adapters, now = Date.now()) {
  const box = byId('delivery');
  box.hidden = adapters.length === 0;
  box.replaceChildren(...adapters.map((a) => drawAdapter(a, now)));
}

function drawAdapter(adapter, now) {
  const section = element('section', 'adapter');
  const head = element('p', 'adapter-head');
  head.append(element('strong', '', adapter.name), ` · ${adapter.mode}`);
  section.append(head);
  const silent = left(adapter.penalty_until, now);
  if (silent) section.append(element('p', 'adapter-held', `Silent for ${silent}, by the platform’s order`));
  if (adapter.error) section.append(element('p', 'adapter-held', `Sends nothing: ${adapter.error}`));
  section.append(...adapter.chats.map((c) => drawChat(c, now)));
  return section;
}

function drawChat(chat, now) {
  const row = element('div', 'chat');
  const [messages] = chat.windows;
  const used = element('span', 'chat-used', messages ? `${messages.used}/${messages.calls}` : '');
  if (messages) used.title = `${messages.used} of ${messages.calls} calls in ${messages.per_s} s`;
  const line = element('p', 'chat-head');
  line.append(element('span', 'chat-name', chat.chat), used);
  row.append(line);
  const meter = element('meter');
  meter.max = messages?.calls ?? 1;
  meter.value = messages?.used ?? 0;
  meter.setAttribute('aria-label', `Calls used in ${chat.chat}`);
  row.append(meter);
  const about = [waiting(chat), held(chat, now)].filter(Boolean).join(' · ');
  if (about) row.append(element('p', 'chat-about', about));
  return row;
}

function waiting(chat) {
  const classes = ['interactive', 'final', 'stream'].filter((c) => chat.waiting[c]?.count);
  if (classes.length === 0) return '';
  const oldest = Math.max(...classes.map((c) => chat.waiting[c].oldest_s));
  return `${classes.map((c) => `${chat.waiting[c].count} ${c}`).join(', ')} waiting, ${Math.round(oldest)} s`;
}

function held(chat, now) {
  const silent = left(chat.penalty_until, now);
  if (silent) return `silent for ${silent}, by the platform’s order`;
  const again = left(chat.backoff_until, now);
  if (again) return `tries again in ${again}`;
  const next = left(chat.next_slot_at, now);
  return next ? `looks again in ${next}` : '';
}

// left is how long it is until a time, or nothing if that's past.
function left(iso, now) {
  const s = iso ? Math.ceil((Date.parse(iso) - now) / 1000) : 0;
  if (s <= 0) return '';
  if (s < 120) return `${s} s`;
  return s < 7200 ? `${Math.ceil(s / 60)} min` : `${Math.ceil(s / 3600)} h`;
}
