'use strict';

// What the browser keeps for the page, as JSON under a key. Its stores may be forbidden or full, and others may have
// written to them: none of it stops the page.

// loadKept returns what's kept under a key; null: nothing is, or nothing that can be read.
export function loadKept(key, store = 'localStorage') {
  try {
    return JSON.parse(window[store].getItem(key));
  } catch {
    return null;
  }
}

// saveKept keeps a value; null removes what's there. It says whether it's kept. What isn't is there as long as the page is.
export function saveKept(key, value, store = 'localStorage') {
  try {
    if (value === null) {
      window[store].removeItem(key);
      return window[store].getItem(key) === null;
    }
    const text = JSON.stringify(value);
    window[store].setItem(key, text);
    return window[store].getItem(key) === text;
  } catch {
    return false; // it's full, or there's none
  }
}

// keptKeys are the keys that begin with a prefix.
export function keptKeys(prefix, store = 'localStorage') {
  try {
    return Object.keys(window[store]).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}
