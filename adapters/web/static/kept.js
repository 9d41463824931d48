'use strict';

// What the browser keeps for the page, as JSON under a key. Its stores may be forbidden or full, and others may have
// written to them: none of it stops the page.

// loadKept returns what's kept under a key; null: nothing is, or nothing that can be read.
export function loadKept(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

// saveKept keeps a value; null removes what's there. It says whether it's kept. What isn't is there as long as the page is.
export function saveKept(key, value) {
  try {
    if (value === null) {
      localStorage.removeItem(key);
      return localStorage.getItem(key) === null;
    }
    const text = JSON.stringify(value);
    localStorage.setItem(key, text);
    return localStorage.getItem(key) === text;
  } catch {
    return false; // it's full, or there's none
  }
}

// keptKeys are the keys that begin with a prefix.
export function keptKeys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}
