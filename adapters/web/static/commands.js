'use strict';

import { plainText, setTheme, stepText } from './appearance.js';
import { byId } from './dom.js';
import { isMuted } from './mute.js';
import { mayDo } from './roles.js';

// What can be done in the page, in one table: the palette finds it, the keyboard does it, and the list of keys is
// made of it. Each has words; keys, if there are some; the role that it takes; and whether it's there now.

export class Commands {
  // page has current(), which is the session that's open, if one is, toInbox() and showTab(name).
  constructor(page) {
    const living = () => Boolean(page.current()) && page.current().state !== 'ended';
    const click = (id) => () => byId(id).click();
    const shown = (id) => () => !byId(id).hidden;
    this.all = [
      { words: 'Find a session or a command', keys: ['Ctrl+K'], run: click('find') },
      { words: 'Search the lines of all sessions…', keys: ['/'], run: click('search-open') },
      { words: 'Search the lines of the session…', when: () => Boolean(page.current()), run: click('search-here') },
      { words: 'Inbox', keys: ['g i'], run: () => page.toInbox() },
      { words: 'The next in the inbox', keys: ['j'], when: () => !page.current(), run: () => step(1) },
      { words: 'The one before', keys: ['k'], when: () => !page.current(), run: () => step(-1) },
      { words: 'New session…', keys: ['n'], role: 'operator', run: click('new') },
      { words: 'Write to the session', keys: ['i'], role: 'operator', when: living, run: () => byId('text').focus() },
      { words: 'Show its lines', keys: ['g l'], when: () => Boolean(page.current()), run: () => page.showTab('conversation') },
      { words: 'Show its screen', keys: ['g s'], when: () => Boolean(page.current()), run: () => page.showTab('screen') },
      { words: 'Type straight into the session', role: 'operator', when: living, run: () => { page.showTab('screen'); byId('screen-type').click(); } },
      { words: 'Next turn', keys: ['j'], when: () => Boolean(page.current()), run: click('turn-next') },
      { words: 'Turn before', keys: ['k'], when: () => Boolean(page.current()), run: click('turn-before') },
      { words: 'All turns…', keys: ['t'], when: () => Boolean(page.current()), run: click('turn-list') },
      { words: 'Newest line', keys: ['G'], when: () => Boolean(page.current()), run: click('newest') },
      { words: 'Interrupt the session (Ctrl-C)', role: 'operator', when: living, run: click('stop') },
      { words: 'Go on when the limit is over, or don’t', role: 'operator', when: () => living() && shown('limit')() && shown('go-on')(), run: click('go-on') },
      { words: 'Mute the session on this device', when: () => living() && !isMuted(page.current()), run: click('mute') },
      { words: 'Mute the session no longer', when: () => living() && isMuted(page.current()), run: click('mute') },
      { words: 'Rename the session…', role: 'operator', when: living, run: click('rename') },
      { words: 'What the session has changed…', keys: ['d'], when: () => Boolean(page.current()), run: click('diff') },
      { words: 'What the session has shown…', when: () => Boolean(page.current()), run: click('exhibits') },
      { words: 'Get a file from its folder…', role: 'operator', when: () => Boolean(page.current()), run: click('get') },
      { words: 'Start the session’s program anew…', role: 'operator', when: () => Boolean(page.current()) && shown('restart')(), run: click('restart') },
      { words: 'How much of the work to see…', when: () => Boolean(page.current()), run: click('work') },
      { words: 'Mirror the session to a chat…', role: 'operator', when: shown('mirror'), run: click('mirror') },
      { words: 'Close the session…', role: 'operator', when: living, run: click('close') },
      { words: 'Remove the session…', role: 'operator', when: () => page.current()?.state === 'ended', run: click('remove') },
      { words: 'Note that all that’s done was looked at', when: () => Boolean(document.querySelector('[data-group="done"]:not([hidden]) #looked-all')) && !page.current(), run: click('looked-all') },
      { words: 'Mail and fleets…', run: click('mail') },
      { words: 'Notifications on this device…', run: click('notify') },
      { words: 'Who may do what in chats…', role: 'admin', when: shown('access-foot'), run: click('access') },
      { words: 'Devices that use the page…', role: 'admin', run: click('devices') },
      { words: 'Larger text', keys: ['+'], run: () => stepText(1) },
      { words: 'Smaller text', keys: ['-'], run: () => stepText(-1) },
      { words: 'Text of the usual size', run: plainText },
      { words: 'Dark', run: () => setTheme('dark') },
      { words: 'Light', run: () => setTheme('light') },
      { words: 'Dark or light as the system is', run: () => setTheme('') },
      { words: 'Keys', keys: ['?'], run: () => byId('keys-dialog').showModal() },
      { words: 'Back', keys: ['Escape'], run: () => back(page) },
    ];
  }

  // offered are those that this device may do now.
  offered() {
    return this.all.filter(({ role, when }) => (!role || mayDo(role)) && (!when || when()));
  }
}

// step goes to the next session in the inbox, or the one before.
function step(by) {
  const links = [...document.querySelectorAll('#inbox .card-link')];
  const at = links.indexOf(document.activeElement.closest('.card')?.querySelector('.card-link'));
  (links[at + by] ?? links[by > 0 ? 0 : links.length - 1])?.focus();
}

// back leaves what's open: the list, a field, or the session.
function back(page) {
  const { activeElement } = document;
  if (document.body.classList.contains('drawer-open')) byId('veil').click();
  else if (activeElement?.matches('textarea, input')) activeElement.blur();
  else if (page.current()) page.goBack();
}

// What other parts of the page do with keys, for the list of them.
export const otherKeys = [
  { words: 'Answer the open question', keys: ['1', '…', '9'] },
  { words: 'Send what’s written', keys: ['Enter'] },
  { words: 'A new line in it', keys: ['Shift+Enter'] },
  { words: 'Type into the screen no longer', keys: ['Shift+Escape'] },
];
