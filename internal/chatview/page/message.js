import { h, icon, size, time } from './dom.js';
import { initial } from './list.js';
import { parts } from './parts.js';
import { formatted, link } from './text.js';

const reactions = ['👍', '🎉', '👎'];
const hue = (id) => Number(id.slice(-6)) % 6;

// message returns the element of one message. look is the platform's, me who's looking;
// on has what can be done with it.
export function message(m, look, me, presses, on) {
  if (m.service) return h('p', { class: 'service', 'data-id': m.id }, m.service);
  const mine = m.from.id === me;
  const classes = ['message', mine && 'mine', m.from.bot && 'bot', m.follows && 'follows', m.private && 'private'];
  return h('article', { class: classes.filter(Boolean).join(' '), 'data-id': m.id },
    look === 'discord' ? h('span', { class: 'avatar face', 'data-hue': hue(m.from.id), 'aria-hidden': 'true' }, initial(m.from.name)) : null,
    h('div', { class: 'bubble' },
      mine && look !== 'discord' ? null : name(m, look),
      m.reply ? answered(m.reply, on) : null,
      ...(m.files ?? []).map((f) => file(f, m)),
      m.text ? h('div', { class: 'text', dir: 'auto' }, ...formatted(m.text, m.entities, on.command)) : null,
      ...(m.embeds ?? []).map((e) => embed(e, on)),
      m.reactions ? reacted(m, on) : null,
      h('p', { class: 'meta' }, ...meta(m))),
    m.rows ? parts(m, presses, on) : null,
    m.private ? h('p', { class: 'only' }, 'Only you can see this') : null,
    tools(m, mine, on));
}

function name(m, look) {
  const app = look === 'discord' && m.from.bot ? h('small', { class: 'app' }, 'APP') : null;
  return h('p', { class: 'name', 'data-hue': hue(m.from.id) }, m.from.name, app);
}

function meta(m) {
  const shown = [];
  if (m.pinned) shown.push(icon('pin', 'Pinned'));
  if (m.from.bot) {
    shown.push(m.rang ? icon('bell', 'The phone rang', 'rang') : icon('silent', 'Silent', 'silent'));
  }
  if (m.edits) shown.push(h('span', { class: 'edits' }, `edited ${m.edits}×`));
  shown.push(h('time', { datetime: new Date(m.at).toISOString() }, time(m.at)));
  return shown;
}

function answered(reply, on) {
  return h('button', { type: 'button', class: 'reply', onclick: () => on.show(reply.id) },
    h('strong', {}, reply.name), h('span', {}, reply.text));
}

function file(f, m) {
  const address = `media/${f.address}`;
  if (f.kind === 'photo') {
    return h('a', { class: 'photo', href: address, target: '_blank' },
      h('img', { src: address, alt: m.text || 'Photo', width: f.width || undefined, height: f.height || undefined }));
  }
  return h('a', { class: 'file', href: address, download: f.name || 'voice.ogg' },
    h('span', { class: 'icon' }, icon(f.kind)),
    h('span', {}, h('strong', {}, f.kind === 'voice' ? `Voice note, ${f.seconds} s` : f.name), h('small', {}, size(f.size))));
}

function embed(e, on) {
  const text = (t) => formatted(t.text, t.entities, on.command);
  const box = h('div', { class: 'embed' },
    e.author ? h('p', { class: 'author' }, e.author) : null,
    e.title ? h('p', { class: 'title' }, e.url ? link(e.url, [e.title]) : e.title) : null,
    e.body.text ? h('div', { class: 'text' }, ...text(e.body)) : null,
    e.fields ? h('dl', {}, ...e.fields.map((f) => h('div', { class: f.inline ? 'inline' : undefined }, h('dt', {}, f.name), h('dd', { class: 'text' }, ...text(f.value))))) : null,
    e.footer ? h('p', { class: 'footer' }, e.footer) : null);
  if (e.colour) box.style.borderLeftColor = `#${e.colour}`;
  return box;
}

function reacted(m, on) {
  return h('div', { class: 'reactions' }, ...m.reactions.map((r) =>
    h('button', { type: 'button', title: r.names.join(', '), onclick: () => on.react(m.id, r.emoji) }, `${r.emoji} ${r.names.length}`)));
}

// tools appear beside a message that's pointed at, or has the focus.
function tools(m, mine, on) {
  return h('div', { class: 'tools' },
    h('button', { type: 'button', onclick: () => on.reply(m) }, icon('reply', 'Answer')),
    mine ? h('button', { type: 'button', onclick: () => on.edit(m) }, icon('edit', 'Edit')) : null,
    ...reactions.map((emoji) => h('button', { type: 'button', title: `React with ${emoji}`, onclick: () => on.react(m.id, emoji) }, emoji)));
}
