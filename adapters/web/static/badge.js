'use strict';

// The title and the icon of the tab carry how many sessions wait for somebody.

const icon = (n) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#167a6b"/>${n === 0
  ? '<path d="M4 5l3 3-3 3M8.5 11.5H12" stroke="#fff" stroke-width="1.6" fill="none" stroke-linecap="round" stroke-linejoin="round"/>'
  : `<circle cx="8" cy="8" r="7" fill="#b3261e"/><text x="8" y="11.6" font-family="sans-serif" font-weight="700" font-size="${n > 9 ? 8.5 : 10.5}" fill="#fff" text-anchor="middle">${n > 99 ? '99' : n}</text>`}</svg>`;

let shown = 0;

// drawBadge shows how many wait, and what's open; '': the inbox.
export function drawBadge(waiting, name) {
  const title = `${waiting > 0 ? `(${waiting}) ` : ''}${name ? `${name} – ` : ''}panebridge`;
  if (document.title !== title) document.title = title;
  if (shown === waiting) return;
  shown = waiting;
  document.querySelector('link[rel=icon]').href = `data:image/svg+xml,${encodeURIComponent(icon(waiting))}`;
}
