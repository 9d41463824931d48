import { h, icon, size, time } from './dom.js';
import { formatted, link } from './text.js';

const reactions = ['👍', '🎉', '👎'];

// message returns the element of one message. me is who's looking; on has what
// can be done with it.
export function message(m, me, place, presses, on) {
  if (m.service) return h('p', { class: 'service', 'data-id': m.id }, m.service);
  const mine = m.from.id === me;
  return h('article', { class: `message${mine ? ' mine' : ''}${m.from.is_bot ? ' bot' : ''}`, 'data-id': m.id },
    h('div', { class: 'bubble' },
      mine ? null : h('p', { class: 'name', 'data-hue': m.from.id % 6 }, m.from.first_name),
      m.reply ? answered(m.reply, on) : null,
      m.file ? file(m, place) : null,
      m.text ? h('div', { class: 'text', dir: 'auto' }, ...formatted(m.text, m.entities, on.command)) : null,
      m.reactions ? reacted(m, on) : null,
      h('p', { class: 'meta' }, ...meta(m))),
    m.buttons ? keyboard(m, presses, on) : null,
    tools(m, mine, on));
}

function meta(m) {
  const parts = [];
  if (m.pinned) parts.push(icon('pin', 'Pinned'));
  if (m.from.is_bot) {
    parts.push(m.rang ? icon('bell', 'The phone rang', 'rang') : icon('silent', 'Silent', 'silent'));
  }
  if (m.edits) parts.push(h('span', { class: 'edits' }, `edited ${m.edits}×`));
  parts.push(h('time', { datetime: new Date(m.at).toISOString() }, time(m.at)));
  return parts;
}

function answered(reply, on) {
  return h('button', { type: 'button', class: 'reply', onclick: () => on.show(reply.id) },
    h('strong', {}, reply.name), h('span', {}, reply.text));
}

function file(m, place) {
  const address = `media/${place.chat}/${m.id}`;
  if (m.file.kind === 'photo') {
    return h('a', { class: 'photo', href: address, target: '_blank' },
      h('img', { src: address, alt: m.text || 'Photo', width: m.file.width, height: m.file.height }));
  }
  const name = m.file.kind === 'voice' ? `Voice note, ${m.file.seconds} s` : m.file.name;
  return h('a', { class: 'file', href: address, download: m.file.name || 'voice.ogg' },
    h('span', { class: 'icon' }, icon(m.file.kind)),
    h('span', {}, h('strong', {}, name), h('small', {}, size(m.file.size))));
}

function reacted(m, on) {
  return h('div', { class: 'reactions' }, ...m.reactions.map((r) =>
    h('button', { type: 'button', title: r.names.join(', '), onclick: () => on.react(m.id, r.emoji) }, `${r.emoji} ${r.names.length}`)));
}

function keyboard(m, presses, on) {
  return h('div', { class: 'keyboard' }, ...m.buttons.map((row) => h('div', { class: 'row' }, ...row.map((b) => {
    if (b.url) return link(b.url, [`${b.text} ↗`], { class: 'key' });
    if (b.copy) return h('button', { type: 'button', class: 'key', onclick: () => on.copy(b.copy) }, `${b.text} ⧉`);
    const waiting = presses.some((p) => p.message === m.id && p.data === b.data && !p.done);
    return h('button', { type: 'button', class: `key${waiting ? ' waiting' : ''}`, onclick: () => on.press(m.id, b.data) }, b.text);
  }))));
}

// tools appear beside a message that's pointed at, or has the focus.
function tools(m, mine, on) {
  return h('div', { class: 'tools' },
    h('button', { type: 'button', onclick: () => on.reply(m) }, icon('reply', 'Answer')),
    mine ? h('button', { type: 'button', onclick: () => on.edit(m) }, icon('edit', 'Edit')) : null,
    ...reactions.map((emoji) => h('button', { type: 'button', title: `React with ${emoji}`, onclick: () => on.react(m.id, emoji) }, emoji)));
}
