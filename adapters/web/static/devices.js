'use strict';

import { byId, element, smallButton, toast, whenClosed } from './dom.js';
import { getPage, revokeBrowser } from './api.js';
import { attempt } from './dialogs.js';
import { isMyID, mayDo, rolesKnown } from './roles.js';
import { agoWords } from './words.js';

// Which devices may use the page, and which wait to be let in: the dialog in which an admin sees them and revokes them.
// Letting one in isn't done here: the number that it shows is compared at the machine, or by an admin in a chat.

const askEvery = 10000; // milliseconds, while the dialog isn't open
const askOften = 2000; // milliseconds, while it is; and between looks whether this is an admin's device, until that's known

export class DevicesDialog {
  // onRevokedSelf is called when this device has revoked itself.
  constructor(onRevokedSelf) {
    this.onRevokedSelf = onRevokedSelf;
    this.dialog = byId('devices-dialog');
    byId('devices').addEventListener('click', () => this.open());
    byId('devices-close').addEventListener('click', () => this.dialog.close());
    whenClosed(this.dialog, () => this.clear());
    document.addEventListener('visibilitychange', () => this.ask());
    this.forget();
  }

  open() {
    this.clear();
    this.dialog.showModal();
    attempt('devices-close', 'devices-error', () => this.load()).then(() => this.askLater());
  }

  clear() {
    this.asking = ''; // the id of a device of which it's asked whether it shall be revoked
    this.drawn = '';
    for (const id of ['devices-list', 'devices-waiting-list']) byId(id).replaceChildren();
    for (const id of ['devices-said', 'devices-error']) byId(id).textContent = '';
    byId('devices-waiting').hidden = true;
  }

  // forget forgets all devices: this one isn't let in any more.
  forget() {
    this.heard = new Set(); // ids of those that wait, as far as somebody was told of them
    this.page = null;
    this.clear();
    this.showCount(0);
    this.askLater();
  }

  // ask looks whether another device waits, on the page of an admin that's looked at.
  async ask() {
    if (!document.hidden && mayDo('admin')) await this.load().catch(() => {}); // the bar at the top says if there's no connection
    this.askLater();
  }

  askLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), this.dialog.open || !rolesKnown() ? askOften : askEvery);
  }

  async load() {
    const page = await getPage();
    if (!mayDo('admin')) return; // it was shut meanwhile
    this.page = page;
    const news = page.waiting.filter(({ id }) => !this.heard.has(id));
    this.heard = new Set(page.waiting.map(({ id }) => id));
    this.showCount(page.waiting.length);
    if (this.dialog.open) this.draw();
    else if (news.length > 0) toast(news.length === 1 ? `${nameOf(news[0])} waits to be let in. See Devices…` : `${news.length} devices wait to be let in. See Devices…`);
  }

  showCount(waiting) {
    byId('devices-count').textContent = waiting > 0 ? `${waiting} wait${waiting === 1 ? 's' : ''}` : '';
  }

  draw() {
    const { browsers, waiting } = this.page;
    const drawn = JSON.stringify([this.asking, waiting, browsers.map((b) => [b.id, aboutKnown(b)])]);
    if (drawn === this.drawn) return; // what's the same keeps its focus
    this.drawn = drawn;
    const focused = document.activeElement?.id;
    byId('devices-waiting').hidden = waiting.length === 0;
    byId('devices-waiting-list').replaceChildren(...waiting.map((one) => this.entry(one, aboutWaiting(one), true)));
    byId('devices-list').replaceChildren(...browsers.map((one) => this.entry(one, aboutKnown(one), false)));
    if (focused && this.dialog.contains(byId(focused))) byId(focused).focus();
    else if (!this.dialog.contains(document.activeElement)) byId('devices-close').focus();
  }

  entry(one, about, waits) {
    const item = element('li', 'access-entry device');
    const head = element('p', 'access-head');
    head.append(element('strong', '', nameOf(one)));
    for (const role of one.roles) head.append(element('span', 'access-role', role));
    if (isMyID(one.id)) head.append(element('span', 'device-own', 'this device'));
    item.append(head);
    if (waits) item.append(element('p', 'device-number', one.number));
    for (const text of about) item.append(element('p', 'access-about', text));
    if (waits) {
      const how = element('p', 'access-about');
      how.append(element('code', '', `panebridge page confirm ${one.id}`));
      item.append(how);
    }
    if (this.asking === one.id) item.append(this.question(one, waits));
    else item.append(this.button(`device-ask-${one.id}`, waits ? 'Refuse…' : 'Revoke…', `${waits ? 'Refuse' : 'Revoke'} ${nameOf(one)}`, () => this.askAbout(one.id)));
    return item;
  }

  // question asks whether a device shall be revoked.
  question(one, waits) {
    const box = element('div', 'device-question');
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', `${waits ? 'Refuse' : 'Revoke'} ${nameOf(one)}?`);
    let text = 'All it has open ends within a second. It needs another code to come back.';
    if (waits) text = 'It isn’t let in, and needs another code.';
    else if (isMyID(one.id)) text = 'It’s the device that you look at: the page shuts, and it needs another code to come back.';
    const revoke = this.button(`device-revoke-${one.id}`, waits ? 'Refuse' : 'Revoke', '', () => this.revoke(one, waits));
    revoke.classList.add('danger');
    const buttons = element('div', 'device-buttons');
    buttons.append(this.button(`device-keep-${one.id}`, waits ? 'Not now' : 'Keep it', '', () => this.askAbout('')), revoke);
    box.append(element('p', '', text), buttons);
    return box;
  }

  button(id, text, label, fn) {
    const button = smallButton(text, fn);
    button.id = id;
    if (label) button.setAttribute('aria-label', label);
    return button;
  }

  askAbout(id) {
    const before = this.asking;
    this.asking = id;
    this.draw();
    byId(id ? `device-keep-${id}` : `device-ask-${before}`)?.focus();
  }

  revoke(one, waits) {
    byId('devices-said').textContent = '';
    return attempt(`device-revoke-${one.id}`, 'devices-error', async () => {
      await revokeBrowser(one.id);
      if (isMyID(one.id)) {
        this.onRevokedSelf();
        return;
      }
      this.asking = '';
      byId('devices-said').textContent = `${nameOf(one)} ${waits ? 'is refused' : 'may use the page no longer'}.`;
      await this.load();
    });
  }
}

const nameOf = ({ name, label }) => name || label;

const day = (iso) => new Date(iso).toLocaleDateString([], { day: 'numeric', month: 'long' });

function aboutKnown({ name, label, address, created_at: created, used_at: used, expires_at: expires }) {
  return [
    [name && label, `at ${address}`].filter(Boolean).join(', '),
    `Last seen ${agoWords(used)} · let in ${agoWords(created)} · until ${day(expires)}`,
  ];
}

const aboutWaiting = ({ name, label, from, until }) => [
  [name && label !== name && label, `from ${from}`, `until ${new Date(until).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}`].filter(Boolean).join(', '),
];
