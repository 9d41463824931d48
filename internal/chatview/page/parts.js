import { h, icon } from './dom.js';
import { link } from './text.js';

// parts returns the rows of buttons and menus below a message.
export function parts(m, presses, on) {
  const waits = (data) => presses.some((p) => p.message === m.id && p.data === data && !p.done);
  return h('div', { class: 'keyboard' }, ...m.rows.map((row) => h('div', { class: 'row' }, ...row.map((p) => {
    if (p.menu) return menu(m, p, waits(p.data), on);
    if (p.url) return link(p.url, [`${p.text} ↗`], { class: 'key', 'data-style': p.style });
    const run = p.copy ? () => on.copy(p.copy) : () => on.press(m.id, p.data);
    return h('button', { type: 'button', class: `key${waits(p.data) ? ' waiting' : ''}`, 'data-style': p.style, disabled: p.disabled, onclick: run },
      p.copy ? `${p.text} ⧉` : p.text);
  }))));
}

// menu is a list that opens. Of one that takes one option, the option is sent when it's
// chosen; of one that takes several, all are sent when the list is closed, if others are
// chosen than before.
function menu(m, p, waiting, on) {
  const before = p.options.filter((o) => o.chosen).map((o) => o.value);
  const several = p.most > 1;
  const shown = p.options.filter((o) => o.chosen).map((o) => o.label);
  const box = h('details', { class: `menu${waiting ? ' waiting' : ''}` },
    h('summary', { 'aria-label': p.text, 'aria-disabled': p.disabled }, h('span', { class: shown.length ? 'some' : 'hint' }, shown.length ? shown.join(', ') : p.text), icon('down')),
    h('ul', {}, ...p.options.map((o) => h('li', {}, option(m, p, o, several, () => { if (!several) box.open = false; }, on)))));
  if (p.disabled) box.addEventListener('click', (event) => event.preventDefault());
  box.addEventListener('toggle', () => {
    if (box.open) { box.scrollIntoView({ block: 'nearest' }); return; }
    if (!several) return;
    const values = [...box.querySelectorAll('input:checked')].map((e) => e.value);
    const same = values.length === before.length && values.every((v) => before.includes(v));
    if (!same && values.length >= p.least && values.length <= p.most) on.choose(m.id, p.data, values);
  });
  return box;
}

function option(m, p, o, several, close, on) {
  const text = h('span', {}, h('strong', {}, o.label), o.detail ? h('small', {}, o.detail) : null);
  if (several) return h('label', {}, text, h('input', { type: 'checkbox', value: o.value, checked: o.chosen }));
  return h('button', { type: 'button', 'aria-pressed': String(o.chosen ?? false), onclick: () => { close(); on.choose(m.id, p.data, [o.value]); } }, text);
}

// A click anywhere else closes a list that's open.
document.addEventListener('click', (event) => {
  for (const box of document.querySelectorAll('details.menu[open]')) {
    if (!box.contains(event.target)) box.open = false;
  }
});
