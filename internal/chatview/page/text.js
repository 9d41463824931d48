import { h } from './dom.js';

// JavaScript counts text in UTF-16 units as Telegram does, so offsets fit.

const inline = { bold: 'strong', italic: 'em', underline: 'u', strikethrough: 's', code: 'code' };
const blocks = new Set(['pre', 'blockquote', 'expandable_blockquote', 'heading1', 'heading2', 'heading3']);

// formatted returns the nodes of a text with its entities, which are sorted outer
// before inner and never cross.
export function formatted(text, entities, command) {
  return range(text, entities ?? [], 0, text.length, command);
}

function range(text, entities, from, to, command) {
  const nodes = [];
  let at = from;
  for (let i = 0; i < entities.length;) {
    const entity = entities[i];
    const end = entity.offset + entity.length;
    let next = i + 1;
    while (next < entities.length && entities[next].offset < end) next++;
    const block = blocks.has(entity.type);
    // A block stands on lines of its own; the newlines that made it one would be
    // empty lines beside it.
    const before = block && text[entity.offset - 1] === '\n' ? entity.offset - 1 : entity.offset;
    if (before > at) nodes.push(text.slice(at, before));
    const inside = range(text, entities.slice(i + 1, next), entity.offset, end, command);
    nodes.push(element(entity, text.slice(entity.offset, end), inside, command));
    at = block && text[end] === '\n' ? end + 1 : end;
    i = next;
  }
  if (to > at) nodes.push(text.slice(at, to));
  return nodes;
}

function element(entity, own, inside, command) {
  if (inline[entity.type]) return h(inline[entity.type], {}, ...inside);
  switch (entity.type) {
    case 'pre':
      return h('pre', { 'data-language': entity.language || undefined }, h('code', {}, ...inside));
    case 'blockquote':
      return h('blockquote', {}, ...inside);
    case 'expandable_blockquote':
      return h('blockquote', { class: 'expandable', tabindex: '0', onclick: toggle, onkeydown: onEnter(toggle) }, ...inside);
    case 'heading1':
    case 'heading2':
    case 'heading3':
      return h(`h${Number(entity.type.at(-1)) + 2}`, {}, ...inside);
    case 'subtext':
      return h('small', {}, ...inside);
    case 'spoiler':
      return h('span', { class: 'spoiler', tabindex: '0', role: 'button', 'aria-label': 'Spoiler', onclick: toggle, onkeydown: onEnter(toggle) }, ...inside);
    case 'text_link':
    case 'url':
      return link(entity.url ?? own, inside);
    case 'bot_command':
      return h('button', { type: 'button', class: 'command', onclick: () => command(own) }, ...inside);
    case 'custom_emoji':
      return h('span', {}, ...inside);
    default:
      return h('span', { class: 'mention' }, ...inside);
  }
}

function toggle(event) {
  event.currentTarget.classList.toggle('open');
}

const onEnter = (f) => (event) => { if (event.key === 'Enter') f(event); };

// link makes a link of web addresses only; anything else stays text.
export function link(address, inside, properties = {}) {
  if (!/^https?:\/\//i.test(address)) return h('span', { class: 'mention', title: address }, ...inside);
  return h('a', { href: address, title: address, target: '_blank', rel: 'noopener noreferrer', ...properties }, ...inside);
}
