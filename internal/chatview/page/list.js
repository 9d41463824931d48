import { h, icon, time } from './dom.js';

const key = (chat, thread) => `${chat}/${thread}`;

// heard is how many rings of a place have been seen.
const heard = new Map();

export function hear(chat, topic) {
  heard.set(key(chat, topic.thread), topic.rings);
}

// list returns the chats with their topics. at is the one that's open.
export function list(chats, at) {
  return chats.map((chat, i) => {
    const topics = chat.topics.map((t) => entry(chat, t, at));
    if (!chat.threads) return h('section', {}, ...topics);
    const under = chat.group && chats[i - 1]?.group === chat.group;
    return h('section', { class: 'forum' },
      under ? null : h('h2', {}, h('span', { class: 'avatar' }, initial(chat.title)), h('span', {}, chat.title), gone(chat)), ...topics);
  });
}

function entry(chat, topic, at) {
  const open = at && at.chat === chat.id && at.thread === topic.thread;
  const fresh = topic.rings - (heard.get(key(chat.id, topic.thread)) ?? 0);
  const inside = topic.thread !== '0';
  const round = chat.threads
    ? h('span', { class: 'icon', 'data-colour': inside ? topic.colour : 'none' }, inside ? initial(topic.name) : '#')
    : h('span', { class: 'avatar' }, initial(chat.title));
  return h('a', { class: `entry${open ? ' open' : ''}${inside ? ' inside' : ''}`, href: `#${chat.id}/${topic.thread}`, 'aria-current': open ? 'page' : undefined },
    round,
    h('span', { class: 'about' },
      h('span', { class: 'line' }, h('strong', {}, topic.name, topic.closed ? icon('lock', 'Closed') : null), h('time', {}, topic.last_at ? time(topic.last_at) : '')),
      h('span', { class: 'line' },
        h('span', { class: `last${topic.doing ? ' doing' : ''}` }, topic.doing ? `${topic.doing.replaceAll('_', ' ')}…` : topic.last),
        fresh > 0 && !open ? h('span', { class: 'badge', title: 'Rang, and not seen' }, icon('bell'), String(fresh)) : null),
      chat.threads ? null : gone(chat)));
}

const gone = (chat) => (chat.gone ? h('small', { class: 'gone' }, chat.gone) : null);
export const initial = (name) => ([...name.trim()][0] ?? '?').toUpperCase();
