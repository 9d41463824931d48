'use strict';

import { exhibitContent, listExhibits } from './api.js';
import { byId, element, whenClosed } from './dom.js';
import { attempt, save } from './dialogs.js';
import { agoWords } from './words.js';

// What programs of a session have shown people by panebridge: files and pictures, in a dialog, and a line above the
// composer that says that there's a new one.

const previewed = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']; // what browsers draw, and run nothing of
const maxPreview = 4 << 20; // bytes
const seen = new Set(); // ids that were looked at, or closed

let current = () => null;

// exhibitsDialog has the button, and the line, show what the session shows that of() returns.
export function exhibitsDialog(of) {
  current = of;
  const dialog = byId('exhibits-dialog');
  const open = () => {
    const session = current();
    if (!session) return;
    noteSeen(session);
    byId('exhibits-error').textContent = '';
    byId('exhibits-list').replaceChildren(element('li', 'tool-note', 'Loading…'));
    dialog.showModal();
    attempt('exhibits-close', 'exhibits-error', async () => {
      const all = await listExhibits(session.id);
      if (dialog.open) byId('exhibits-list').replaceChildren(...drawAll(session.id, all));
    });
  };
  byId('exhibits').addEventListener('click', open);
  byId('exhibit-look').addEventListener('click', open);
  byId('exhibit-later').addEventListener('click', () => noteSeen(current()));
  byId('exhibits-close').addEventListener('click', () => dialog.close());
  whenClosed(dialog, () => byId('exhibits-list').replaceChildren());
}

// drawExhibit says that the session that's open has shown something that wasn't looked at here.
export function drawExhibit(session) {
  byId('exhibit').hidden = !session?.exhibit || seen.has(session.exhibit);
}

function noteSeen(session) {
  if (session?.exhibit) seen.add(session.exhibit);
  byId('exhibit').hidden = true;
}

function drawAll(id, all) {
  if (all.length === 0) return [element('li', 'tool-note', 'Its programs have shown nothing.')];
  return all.map((exhibit) => drawOne(id, exhibit));
}

function drawOne(id, exhibit) {
  const item = element('li', 'exhibit-item');
  const words = element('div', 'exhibit-words');
  words.append(element('strong', 'exhibit-name', exhibit.name));
  words.append(element('span', 'exhibit-about', [sizeWords(exhibit.size), agoWords(exhibit.at), exhibit.outside && `from ${exhibit.path}`].filter(Boolean).join(' · ')));
  if (exhibit.caption) words.append(element('p', 'exhibit-caption', exhibit.caption));
  const button = element('button', 'button small', 'Save');
  button.type = 'button';
  button.setAttribute('aria-label', `Save ${exhibit.name}`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      save(await exhibitContent(id, exhibit.id), exhibit.name);
    } catch (error) {
      byId('exhibits-error').textContent = error.message;
    }
    button.disabled = false;
  });
  item.append(words, button);
  if (previewed.includes(exhibit.type) && exhibit.size <= maxPreview) drawPicture(id, exhibit, item);
  return item;
}

// drawPicture shows a picture as soon as it's there.
async function drawPicture(id, exhibit, item) {
  try {
    const content = await exhibitContent(id, exhibit.id);
    if (!item.isConnected) return;
    const picture = element('img', 'exhibit-picture');
    picture.alt = exhibit.caption || exhibit.name;
    picture.src = await asAddress(new Blob([content], { type: exhibit.type }));
    item.append(picture);
  } catch {
    // it can be saved
  }
}

function asAddress(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}

const sizeWords = (bytes) => (bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
