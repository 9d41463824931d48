'use strict';

import { byId, element, smallButton, toast } from './dom.js';
import { sendFilePart } from './api.js';

// Files for a session: chosen, dragged in, pasted or taken with a phone's camera. Each goes to the session's folder in
// parts; its path is typed behind the text that's sent next, as that of a file from a chat is.

const partSize = 1 << 20; // bytes
const most = 10; // files at a time
const tries = 5; // of a part, while the connection breaks

const uploads = new Map(); // by session: what was chosen and isn't sent, whatever is open
const shown = new Map(); // by session: what draws its files now

export class Uploads {
  constructor(session) {
    this.session = session;
    this.files = uploads.get(session) ?? [];
    uploads.set(session, this.files);
    this.list = byId('files');
    this.events = new AbortController();
    const on = (target, name, fn) => target.addEventListener(name, fn, { signal: this.events.signal });
    on(byId('attach'), 'click', () => byId('file').click());
    on(byId('file'), 'change', () => {
      this.add(byId('file').files);
      byId('file').value = ''; // so that the same can be chosen again
    });
    on(byId('text'), 'paste', (event) => this.dropped(event, event.clipboardData));
    const main = byId('main');
    const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
    on(main, 'dragover', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      main.classList.add('dropping');
    });
    on(main, 'dragleave', (event) => { if (!main.contains(event.relatedTarget)) main.classList.remove('dropping'); });
    on(main, 'drop', (event) => {
      main.classList.remove('dropping');
      if (hasFiles(event)) this.dropped(event, event.dataTransfer);
    });
    shown.set(session, this);
    this.draw();
  }

  close() {
    this.events.abort();
    shown.delete(this.session);
    byId('main').classList.remove('dropping');
    this.list.replaceChildren();
    if (this.files.length === 0) uploads.delete(this.session);
  }

  // dropped takes the files of what was pasted or dropped; a text stays a text.
  dropped(event, { files }) {
    if (files.length === 0 || byId('attach').disabled) return;
    event.preventDefault();
    this.add(files);
  }

  add(files) {
    for (const file of files) {
      if (this.files.length >= most) {
        toast(`At most ${most} files are sent at a time.`);
        break;
      }
      const one = { file, name: file.name || 'file', done: 0, path: '', error: '', gone: new AbortController() };
      this.files.push(one);
      this.send(one);
    }
    this.draw();
  }

  // send sends a file in parts, one after the other. One of which nobody answered for a part goes on with that.
  async send(one) {
    if (!one.goesOn) Object.assign(one, { done: 0, upload: crypto.randomUUID() });
    Object.assign(one, { error: '', goesOn: false });
    this.draw(); // at once: who tries again by a double click mustn't send it twice
    const { file } = one;
    try {
      while (!one.path) {
        const bytes = new Uint8Array(await file.slice(one.done, one.done + partSize).arrayBuffer());
        if (bytes.length === 0) throw new Error(file.size === 0 ? 'it’s empty' : 'it has changed meanwhile');
        const { received, path } = await this.part(one, bytes);
        Object.assign(one, { done: received, path: path ?? '' });
        this.draw();
      }
    } catch (error) {
      if (!one.gone.signal.aborted) Object.assign(one, { error: error.message, goesOn: error.code === 'away' });
    }
    this.draw();
  }

  async part(one, bytes) {
    for (let n = 1; ; n += 1) {
      try {
        return await sendFilePart(this.session, { name: one.name, size: one.file.size, offset: one.done, upload: one.upload }, bytes, one.gone.signal);
      } catch (error) {
        if (error.code !== 'away' || n === tries || one.gone.signal.aborted) throw error;
        await new Promise((resolve) => { setTimeout(resolve, 1000 * n); });
      }
    }
  }

  remove(one) {
    one.gone.abort();
    this.forget(one);
    this.draw();
  }

  forget(one) {
    const at = this.files.indexOf(one);
    if (at >= 0) this.files.splice(at, 1);
  }

  // paths are those of all files; null while one isn't there, with a word why.
  paths() {
    if (this.files.some((one) => one.error)) toast('A file couldn’t be sent. Try it again, or remove it.');
    else if (this.files.some((one) => !one.path)) toast('A file is still on its way.');
    else return this.files.map((one) => one.path);
    return null;
  }

  // clear forgets files whose paths were sent.
  clear(paths) {
    for (const one of this.files.filter((other) => paths.includes(other.path))) this.forget(one);
    this.draw();
  }

  draw() {
    if (this.events.signal.aborted) { // the session was opened anew, or another
      const now = shown.get(this.session);
      if (now && now !== this) now.draw();
      return;
    }
    this.list.replaceChildren(...this.files.map((one) => this.entry(one)));
  }

  entry(one) {
    const item = element('li', 'file');
    item.dataset.state = one.error ? 'failed' : one.path ? 'there' : 'coming';
    item.append(element('span', 'file-name', one.name));
    if (one.error) {
      item.append(element('span', 'file-error', one.error), smallButton('Try again', () => this.send(one)));
    } else if (!one.path) {
      const meter = element('progress');
      meter.max = one.file.size;
      meter.value = one.done;
      meter.setAttribute('aria-label', `How much of ${one.name} is sent`);
      item.append(meter);
    }
    const remove = smallButton('✕', () => this.remove(one));
    remove.setAttribute('aria-label', `Remove ${one.name}`);
    item.append(remove);
    return item;
  }
}

// forgetUploads forgets what was chosen for all sessions.
export function forgetUploads() {
  for (const files of uploads.values()) for (const one of files) one.gone.abort();
  uploads.clear();
}
