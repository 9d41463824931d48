'use strict';

import { loadKept, saveKept } from './kept.js';

// How the page looks on this device: dark, light or as the system has it, and the size of its text.

const key = 'panebridge.appearance';
const sizes = ['small', '', 'large', 'largest'];
const themes = ['', 'light', 'dark'];

function read() {
  const { theme = '', text = '' } = loadKept(key) ?? {};
  return { theme: themes.includes(theme) ? theme : '', text: sizes.includes(text) ? text : '' };
}

function change(to) {
  const now = { ...read(), ...to };
  saveKept(key, now.theme || now.text ? now : null);
  apply(now);
}

function apply({ theme, text }) {
  Object.assign(document.documentElement.dataset, { theme, text });
}

export const setTheme = (theme) => change({ theme });

// stepText makes the text larger by a step, or with -1 smaller.
export const stepText = (by) => change({ text: sizes[Math.min(Math.max(sizes.indexOf(read().text) + by, 0), sizes.length - 1)] });

export const plainText = () => change({ text: '' });

addEventListener('storage', (event) => { if (event.key === key) apply(read()); });
apply(read());
