'use strict';

// What the other files need of the document. Nothing that a session printed is
// ever parsed as HTML: text goes in by textContent.

export const byId = (id) => document.getElementById(id);

export function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// smallButton calls fn when it's pressed; role is a class of those who may see it.
export function smallButton(text, fn, role = '') {
  const button = element('button', `button small ${role}`.trim(), text);
  button.type = 'button';
  button.addEventListener('click', fn);
  return button;
}

// whenClosed calls fn when a dialog was closed. The browser tells of that later: one that's open anew by then isn't closed.
export function whenClosed(dialog, fn) {
  dialog.addEventListener('close', () => { if (!dialog.open) fn(); });
}

// copyButton copies what text returns when it's pressed, and says so.
export function copyButton(text) {
  const button = element('button', 'copy', 'Copy');
  button.type = 'button';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
    } catch {
      toast('The browser doesn’t let the page copy. Select the text instead.');
      return;
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  return button;
}

let toastTimer = 0;

// toast shows a sentence for a few seconds.
export function toast(text) {
  const box = byId('toast');
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.hidden = true; }, 6000);
}

// clock is the time of a moment as a reader's clock shows it, with the day if that isn't today.
export function clock(iso, now = new Date()) {
  const at = new Date(iso);
  if (!iso || Number.isNaN(at.getTime())) return '';
  const time = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.toLocaleDateString([], { day: 'numeric', month: 'short', year: at.getFullYear() === now.getFullYear() ? undefined : 'numeric' })} ${time}`;
}

// painted waits until what was drawn is seen. A hidden page has no frames.
export const painted = () => new Promise((resolve) => {
  if (document.hidden) setTimeout(resolve);
  else requestAnimationFrame(() => setTimeout(resolve));
});
