'use strict';

import { getMe } from './api.js';

// What this device may do, by the roles that it was let in with. The server refuses the rest; what's
// refused isn't offered.

const given = { viewer: ['viewer'], operator: ['viewer', 'operator'], approver: ['viewer', 'approver'], admin: ['viewer', 'operator', 'approver', 'admin'] };

let me = '';
let myID = '';

// isMe says whether something is from this device.
export const isMe = (author) => author === me;

const people = { web: 'the owner’s browser', cli: 'the command line' };

const personOf = (author) => (isMe(author) ? 'this page' : people[author] ?? '');

// authorWords is what an author is called within a sentence: name is what people call them, '': nobody has said.
export const authorWords = (author, name = '') => name || personOf(author) || author || '';

// authorBegins is the same where a sentence begins.
export const authorBegins = (author, name = '') => name || personOf(author).replace(/^./, (letter) => letter.toUpperCase()) || author || '';

// isMyID says whether this is the id of this device.
export const isMyID = (id) => id === myID;

export const mayDo = (role) => (document.body.dataset.may ?? '').split(' ').includes(role);

// learnRoles asks what this device may do.
export async function learnRoles() {
  const { roles, id, name } = await getMe();
  myID = id;
  me = name ? `web:${id}` : 'web'; // as what's typed has its author
  document.body.dataset.may = [...new Set(roles.flatMap((role) => given[role] ?? []))].join(' ');
}

export const forgetRoles = () => { delete document.body.dataset.may; };

export const rolesKnown = () => 'may' in document.body.dataset;
