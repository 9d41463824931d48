'use strict';

import { byId, element, whenClosed } from './dom.js';
import { bindSession, unbindSession } from './api.js';
import { attempt } from './dialogs.js';

// Which chats show the session that's open: the dialog in which that's seen, begun, changed and ended.

const views = { stream: 'lines as they come', final: 'whole turns', screen: 'its screen' };

// How much of an agent's work a chat can show, by kind: what people are told, and what's usual, which isn't said.
const works = ['tools', 'thinking', 'prompts', 'output'];
const workWords = {
  tools: { brief: 'calls of tools are counted in one line', none: 'no calls of tools' },
  thinking: { all: 'what the agent thinks', brief: 'it’s counted how often the agent thinks' },
  prompts: { brief: 'what’s written elsewhere is counted', none: 'nothing of what’s written elsewhere' },
  output: { all: 'each line of long output', 30: '' },
};

// workText is what people are told of how much of a kind is shown: of long output it's a word or a number of rows.
function workText(work, shown) {
  return workWords[work][shown] ?? (work === 'output' && shown && `${shown} rows of a phone of long output`);
}

export class MirrorDialog {
  // current() is the session that's open; done() is told of a change.
  constructor(current, done) {
    Object.assign(this, { current, done });
    this.dialog = byId('mirror-dialog');
    byId('mirror').addEventListener('click', () => this.open());
    whenClosed(this.dialog, () => {
      byId('mirror-list').replaceChildren();
      this.look = '';
    });
    byId('mirror-close').addEventListener('click', () => this.dialog.close());
    byId('mirror-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.change('mirror-begin', async () => {
        const to = byId('mirror-to').value.trim();
        await bindSession(this.current().id, { to, view: byId('mirror-view').value, input: byId('mirror-input').checked, quote_replies: byId('mirror-quotes').checked, ...Object.fromEntries(works.map((work) => [work, byId(`mirror-${work}`).value])) });
        byId('mirror-to').value = '';
        return `${to} shows it now.`;
      });
    });
  }

  // offer takes in which chats are known. Without a chat platform nothing can be mirrored.
  offer(adapters) {
    this.chats = adapters.flatMap(({ name, chats }) => chats.map(({ chat }) => (chat.startsWith(`${name}:`) ? chat : `${name}:${chat}`)));
    this.possible = adapters.length > 0;
  }

  open() {
    if (!this.current()) return;
    byId('mirror-error').textContent = '';
    byId('mirror-said').textContent = '';
    byId('mirror-chats').replaceChildren(...this.chats.map((chat) => {
      const option = element('option');
      option.value = chat;
      return option;
    }));
    this.draw();
    this.dialog.showModal();
  }

  // draw shows the chats of the session that's open, as the list of sessions has them.
  draw() {
    const bindings = this.current()?.bindings ?? [];
    const look = JSON.stringify(bindings.map(({ delivered, behind, ...rest }) => rest));
    byId('mirror-none').hidden = bindings.length > 0;
    if (this.look === look) return;
    this.look = look;
    byId('mirror-list').replaceChildren(...bindings.map((b) => this.entry(b)));
  }

  entry(binding) {
    const { id, to, view, input, quote_replies: quotes, origin, disabled, problem } = binding;
    const item = element('li', 'access-entry');
    item.append(element('p', 'access-head', to));
    const about = [views[view] ?? view, ...works.map((work) => workText(work, binding[work])), input ? 'what’s written there is typed' : 'nothing that’s written there is typed', input && quotes && 'with what a reply replies to', origin === 'rule' && 'by a rule of the configuration'];
    item.append(element('p', 'access-about', about.filter(Boolean).join(' · ')));
    if (disabled || problem) item.append(element('p', 'access-void', disabled || problem));
    const end = element('button', 'button small', 'End');
    end.type = 'button';
    end.id = `unbind-${id}`;
    end.setAttribute('aria-label', `End the mirroring to ${to}`);
    end.addEventListener('click', () => this.change(end.id, async () => {
      await unbindSession(id);
      return `${to} doesn’t show it any more.`;
    }));
    item.append(end);
    return item;
  }

  change(button, fn) {
    byId('mirror-said').textContent = '';
    return attempt(button, 'mirror-error', async () => {
      byId('mirror-said').textContent = await fn();
      await this.done();
      this.draw();
    });
  }
}
