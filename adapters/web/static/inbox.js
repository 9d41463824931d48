'use strict';

import { byId, element } from './dom.js';
import { listPrompts } from './api.js';
import { GroupedList } from './groups.js';
import { lookedThrough } from './looked.js';
import { PromptPanel } from './prompt.js';
import { machineWords, needsYou, outcome, stateWords, well } from './words.js';

// The inbox is what the page opens with: all sessions, those that need somebody first, with the question that
// each asks, to be answered right there; what works, what's done and not looked at, and the rest.

export class Inbox {
  constructor() {
    this.box = byId('inbox');
    this.panels = new Map(); // of questions, by the item that they're in
    this.done = []; // the sessions of that group
    this.list = new GroupedList(byId('inbox-groups'), 'h2', {
      make: makeCard, draw: (card, session, group) => this.drawCard(card, session, group), gone: (card) => this.forget(card),
    });
    document.addEventListener('keydown', (event) => { if (!this.box.hidden) this.panelOfKeys()?.key(event); });
    const all = element('button', 'button small', 'Looked at all');
    all.type = 'button';
    all.id = 'looked-all';
    all.addEventListener('click', () => {
      for (const session of this.done) lookedThrough(session);
      this.onLooked();
    });
    this.list.lists.get('done').head.append(all);
  }

  onLooked() {}

  // draw shows the sessions' groups; null: another view is open, and nothing of them stands here, too.
  draw(groups) {
    if (!groups) {
      if (!this.box.hidden) this.scrolled = this.box.scrollTop;
      this.list.draw([]);
      this.box.hidden = true;
      return;
    }
    this.done = groups.find((group) => group.name === 'done').sessions;
    this.list.draw(groups);
    if (this.box.hidden) {
      this.box.hidden = false;
      this.box.scrollTop = this.scrolled ?? 0;
    }
    byId('inbox-quiet').hidden = groups.some(({ name, sessions }) => ['waits', 'done'].includes(name) && sessions.length > 0);
    if (groups.some(({ sessions }) => sessions.some((s) => s.prompt))) this.ask();
  }

  // ask asks for all open questions at once.
  async ask() {
    if (this.asking) return;
    this.asking = true;
    try {
      const prompts = await listPrompts();
      if (this.box.hidden) return;
      for (const prompt of prompts) this.panelFor(this.list.items.get(prompt.session), prompt.session)?.show(prompt);
    } catch {
      // the bar at the top says that there's no connection
    } finally {
      this.asking = false;
    }
  }

  panelFor(card, session) {
    if (!card) return null;
    if (!this.panels.has(card)) {
      this.panels.set(card, new PromptPanel(session, {
        around: [byId('inbox-groups')],
        box: card.querySelector('.prompt'), digits: false, level: 'h3', below: 'Open the session to write to it.',
      }));
    }
    return this.panels.get(card);
  }

  forget(card) {
    this.panels.get(card)?.close();
    this.panels.delete(card);
  }

  // panelOfKeys is whose question digits answer: the one in whose card the focus is, or else the only one, unless it's
  // muted. It's none that isn't in view.
  panelOfKeys() {
    const focused = document.activeElement?.closest('.card');
    const asking = [...this.panels].filter(([card, panel]) => panel.isOpen() && (focused ? card === focused : card.dataset.muted !== 'true'));
    return asking.length === 1 && asking[0][1].isInView() ? asking[0][1] : undefined;
  }

  drawCard(card, session, group) {
    card.dataset.state = session.state;
    card.dataset.group = group;
    card.dataset.muted = String(group === 'muted');
    const link = card.querySelector('.card-link');
    link.title = machineWords(session);
    set(card, '.card-name', session.name);
    set(card, '.card-about', [session.agent, session.cwd].filter(Boolean).join(' · '));
    set(card, '.card-state', stateWords(session));
    const came = outcome(session);
    set(card, '.card-outcome', came);
    card.querySelector('.card-outcome').dataset.well = String(well(session));
    set(card, '.card-says', (session.state === 'working' && session.doing) || session.last_line || '');
    this.panels.get(card)?.expect(needsYou(session) ? session.prompt : '');
  }
}

function set(card, selector, text) {
  const part = card.querySelector(selector);
  if (part.textContent !== text) part.textContent = text; // what's the same isn't read out again
  part.hidden = text === '';
}

function makeCard({ id }) {
  const card = element('li', 'card');
  const link = element('a', 'card-link');
  link.href = `#${encodeURIComponent(id)}`;
  const head = element('span', 'card-head');
  head.append(element('span', 'dot'), element('span', 'card-name'), element('span', 'card-about'), element('span', 'card-state'));
  const says = element('span', 'card-line');
  says.append(element('span', 'card-outcome'), element('span', 'card-says'));
  link.append(head, says);
  const prompt = element('div', 'prompt card-prompt');
  prompt.setAttribute('role', 'group');
  prompt.hidden = true;
  prompt.setAttribute('aria-live', 'polite');
  prompt.setAttribute('aria-label', 'The session asks');
  card.append(link, prompt);
  return card;
}
