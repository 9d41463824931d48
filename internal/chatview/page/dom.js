// What every part needs to build the page. Text only ever becomes text nodes.

export const $ = (id) => document.getElementById(id);

// h makes an element: h('a', {class: 'x', onclick: f}, 'text', other).
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'class') element.className = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((c) => c !== null && c !== undefined));
  return element;
}

// icon makes one of the symbols of the page, which need no font.
export function icon(name, title, kind = '') {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', `icon-i ${kind}`);
  const use = document.createElementNS(svg.namespaceURI, 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  if (!title) svg.setAttribute('aria-hidden', 'true');
  else {
    const text = document.createElementNS(svg.namespaceURI, 'title');
    text.textContent = title;
    svg.setAttribute('role', 'img');
    svg.prepend(text);
  }
  return svg;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
export const time = (ms) => clock.format(new Date(ms));

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

let hiding;
export function toast(text) {
  const element = $('toast');
  element.textContent = text;
  element.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { element.hidden = true; }, 4000);
}
