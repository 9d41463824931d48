'use strict';

import { searchLines } from './api.js';
import { byId, clock, element } from './dom.js';
import { authorWords } from './roles.js';
import { soughtNodes, textsOf } from './sought.js';
import { composes, endTyping } from './typing.js';

// The search over the lines of all sessions. What was sought and found stays in the page while it's open, so that one comes
// back to it; it's in no address and nothing that the browser keeps.

export const searchAddress = '#/search';

const pauseBefore = 250; // milliseconds after a letter before the daemon is asked
const atOnce = 50; // lines
const mostLines = 1000; // that the daemon searches for

const hint = 'Lines of all sessions, the newest first. A word is found from its beginning on; what’s between quotation marks, with its spaces.';

const kinds = { answer: 'answer', tool: 'tool', thought: 'thought', notice: 'panebridge' };
const kindWords = ({ kind, author }) => (kind === 'user' ? authorWords(author) || 'you' : kinds[kind] ?? '');

const keyOf = ({ session, n }) => `${session} ${n}`;

export class SearchView {
  // page has current() and sessions().
  constructor(page) {
    this.page = page;
    this.box = byId('search');
    this.field = byId('search-field');
    this.only = byId('search-only');
    this.list = byId('search-hits');
    this.more = byId('search-more');
    this.forget();
    byId('search-open').addEventListener('click', () => this.open());
    byId('search-here').addEventListener('click', () => this.open(true));
    this.field.addEventListener('input', () => this.askSoon());
    this.only.addEventListener('change', () => this.ask());
    this.more.addEventListener('click', () => this.ask(this.hits.length));
    byId('search-form').addEventListener('submit', (event) => event.preventDefault());
    this.box.addEventListener('keydown', (event) => this.key(event));
    this.list.addEventListener('click', (event) => {
      const link = event.target.closest('.hit-link');
      if (link) this.chosen = link;
    });
  }

  // forget leaves nothing of what was sought and found.
  forget() {
    this.stop();
    this.field.value = '';
    this.only.checked = false;
    this.session = null; // {id, name} that the search can be restricted to
    this.chosen = null; // the link that was followed
    this.scrolled = 0;
    this.clear();
    this.say('');
    byId('search-note').textContent = hint;
  }

  // clear leaves nothing of what was found.
  clear() {
    this.hits = [];
    this.known = new Set();
    this.asked = ''; // what the hits were found by
    this.list.replaceChildren();
    this.more.hidden = true;
    byId('search-note').textContent = '';
  }

  say(text) {
    const status = byId('search-status');
    if (status.textContent !== text) status.textContent = text;
  }

  // open goes to the search. With here it's restricted to the session that's open.
  open(here = false) {
    const session = this.page.current();
    if (session) this.session = { id: session.id, name: session.name };
    const was = this.only.checked;
    this.only.checked = here && Boolean(this.session);
    this.chosen = null;
    this.scrolled = 0;
    if (location.hash === searchAddress) this.show();
    else {
      this.hasCome = true;
      location.hash = searchAddress;
    }
    if (this.field.value !== '' && (was !== this.only.checked || this.only.checked)) this.ask();
  }

  // show shows the search, as it was left.
  show() {
    byId('search-only-row').hidden = !this.session;
    byId('search-only-name').textContent = this.session?.name ?? '';
    const came = this.box.hidden;
    this.box.hidden = false;
    if (came) this.box.scrollTop = this.scrolled;
    if (this.chosen?.isConnected) {
      this.chosen.focus({ preventScroll: true });
      return;
    }
    this.field.focus();
    this.field.select();
  }

  hide() {
    if (this.box.hidden) return;
    this.scrolled = this.box.scrollTop;
    this.stop();
    this.box.hidden = true;
  }

  // hasLedHere says that a line that was found was chosen, and is open.
  hasLedHere() { return Boolean(this.chosen) && this.chosen.hash === location.hash; }

  get isShown() { return !this.box.hidden; }

  // leave goes back to where one came from.
  leave() {
    if (this.hasCome) history.back();
    else location.hash = '';
    this.hasCome = false;
  }

  askSoon() {
    this.stop();
    this.timer = setTimeout(() => this.ask(), pauseBefore);
  }

  // stop has nothing of what was asked before come any more.
  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.abort?.abort();
    this.abort = null;
  }

  // ask asks the daemon for the newest lines, or for those behind the first so many.
  async ask(skip = 0) {
    this.stop();
    const query = this.field.value.trim();
    const session = this.only.checked ? this.session.id : undefined;
    if (query === '') {
      this.clear();
      this.say('');
      byId('search-note').textContent = hint;
      return;
    }
    const abort = new AbortController();
    this.abort = abort;
    this.box.setAttribute('aria-busy', 'true');
    try {
      const found = await searchLines({ q: query, session, limit: atOnce, skip: skip || undefined }, abort.signal);
      if (this.abort === abort) this.draw(query, session, found, skip);
    } catch (error) {
      if (this.abort !== abort) return; // another is asked for, or nobody looks
      this.wantsFirst = false;
      if (skip === 0) this.clear();
      this.say(error.message.replace(/^q: (.)/, (_, first) => first.toUpperCase()));
    } finally {
      if (this.abort === abort || !this.abort) this.box.removeAttribute('aria-busy');
      if (this.abort === abort) this.abort = null;
    }
  }

  draw(query, session, found, skip) {
    if (skip === 0) this.clear();
    this.asked = `${session ?? ''} ${query}`;
    const texts = textsOf(query);
    const news = found.hits.filter((hit) => !this.known.has(keyOf(hit))); // lines came meanwhile
    for (const hit of news) this.known.add(keyOf(hit));
    this.hits.push(...found.hits);
    const items = news.map((hit) => hitNode(hit, texts));
    this.list.append(...items);
    if (skip > 0) items[0]?.querySelector('.hit-link').focus();
    const isEnd = !found.more || this.hits.length >= mostLines;
    this.more.hidden = isEnd;
    this.sayFound(found);
    byId('search-note').textContent = found.more && isEnd ? `Older ones aren’t shown: write more words${session ? '' : ', or look in one session'}.` : '';
    if (this.wantsFirst) this.step(1);
    this.wantsFirst = false;
  }

  sayFound({ more, behind }) {
    const n = this.known.size;
    const count = n === 0 ? 'Nothing was found.' : more ? `The newest ${n} lines.` : `${n} ${n === 1 ? 'line' : 'lines'}.`;
    const missing = behind > 0 ? ` ${behind} ${behind === 1 ? 'line' : 'lines'} can’t be found yet: try again soon.` : '';
    this.say(count + missing);
  }

  // step goes to the next line that was found, to the one before, or from the first to the field.
  step(by) {
    const links = [...this.list.querySelectorAll('.hit-link')];
    endTyping();
    const at = links.indexOf(document.activeElement) + by;
    if (at < 0) this.field.focus();
    else (links[at] ?? (this.more.hidden ? links.at(-1) : this.more))?.focus();
  }

  key(event) {
    if (composes(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = document.activeElement === this.field;
    switch (event.key) {
      case 'ArrowDown':
        this.step(1);
        break;
      case 'ArrowUp':
        if (inField) return;
        if (document.activeElement === this.more) [...this.list.querySelectorAll('.hit-link')].at(-1)?.focus();
        else this.step(-1);
        break;
      case 'Enter':
        if (!inField) return;
        this.first();
        break;
      case 'Escape':
        if (inField) this.leave();
        else this.field.focus();
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  // first goes to the newest line that's found by what stands in the field.
  first() {
    const session = this.only.checked ? this.session.id : '';
    if (this.asked === `${session} ${this.field.value.trim()}` && !this.timer && !this.abort) {
      this.step(1);
      return;
    }
    this.wantsFirst = true;
    this.ask();
  }
}

// hitNode is a line that was found. The link leads to its place in the session.
function hitNode(hit, texts) {
  const item = element('li', 'hit');
  item.dataset.kind = hit.kind;
  const id = `hit-${hit.session}-${hit.n}`;
  const link = element('a', 'hit-link');
  link.href = `#${encodeURIComponent(hit.session)}/${hit.n}`;
  link.id = id;
  link.setAttribute('aria-labelledby', `${id} ${id}-line`);
  const time = element('time', 'hit-time', clock(hit.at));
  time.dateTime = hit.at;
  link.append(element('span', 'hit-name', hit.name || 'a session'), ' ', time, ' ', element('span', 'hit-kind', kindWords(hit)));
  const line = element('div', 'hit-line');
  line.id = `${id}-line`;
  line.dir = 'auto';
  line.append(...soughtNodes(hit, texts));
  item.append(link, line);
  return item;
}
