'use strict';

import { clock } from './dom.js';

// How people are told of times, and of what a session does: "waits for you", "5 minutes ago". What panebridge
// knows it by, such as a hook, is for titles and details.

const units = [[86400, 'day'], [3600, 'hour'], [60, 'minute']];

// agoWords says how long ago a time was: "just now", "5 minutes ago".
export function agoWords(iso, now = Date.now()) {
  if (!iso) return '';
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  for (const [seconds, name] of units) {
    const n = Math.floor(s / seconds);
    if (n > 0) return `${n} ${name}${n === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}

// lasting says for how long something has gone on since a time: "20 s", "3 min", "2 h 5 min", "4 days".
export function lasting(iso, now = Date.now()) {
  if (!iso) return '';
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h${s % 3600 < 60 ? '' : ` ${Math.floor((s % 3600) / 60)} min`}`;
  const days = Math.floor(s / 86400);
  return `${days} day${days === 1 ? '' : 's'}`;
}

// shortAgo says how long ago a time was, in a few characters: "now", "20s", "5m", "4d".
export function shortAgo(iso, now = Date.now()) {
  if (!iso) return '';
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  if (s < 5) return 'now';
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 86400) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}

// took says how long something took, in milliseconds: "2.5 s", "3 min 20 s".
export function took(ms) {
  if (!(ms >= 0)) return '';
  const s = ms / 1000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

// needsYou says that a session waits for a person.
export const needsYou = (s) => s.state !== 'ended' && (s.state === 'waiting' || Boolean(s.prompt));

// doneAt is when something of a session came to its end; '': nothing has.
export const doneAt = (s) => (s.state === 'ended' ? s.ended_at : s.turn?.open ? '' : s.turn?.ended_at) || s.last_output_at || '';

// limitOf is the limit of a session's agent that still holds; null: none is known to.
export function limitOf(s, now = Date.now()) {
  const limit = s.usage?.limit;
  return limit && !(limit.until && Date.parse(limit.until) <= now) ? limit : null;
}

// limitWords says that an agent may do nothing more, and until when; '': nothing says so.
export function limitWords(s, now = Date.now()) {
  const limit = limitOf(s, now);
  if (!limit) return '';
  return limit.until ? `limited until ${clock(limit.until, new Date(now))}` : 'limited';
}

// stateWords says what a session does, and since when.
export function stateWords(s, now = Date.now()) {
  if (needsYou(s)) return join('waits for you', lasting(s.since, now), ', ');
  switch (s.state) {
    case 'starting':
      return 'starts';
    case 'working':
      return join('working', lasting(s.turn?.open ? s.turn.started_at : s.since, now), ' for ');
    case 'ended':
      return join('ended', agoWords(s.ended_at, now), ' ');
    case 'error':
      if (limitOf(s, now)) return limitWords(s, now);
      return s.turn?.failed ? join('failed', agoWords(s.turn.ended_at, now), ' ') : join('has a problem', s.reason, ': ');
    default:
      if (limitOf(s, now)) return limitWords(s, now);
      if (s.turn?.ended_at) return join(s.turn.failed ? 'failed' : 'finished', agoWords(s.turn.ended_at, now), ' ');
      return join('idle', s.last_output_at && `last line ${agoWords(s.last_output_at, now)}`, ', ');
  }
}

const join = (what, more, between) => (more ? what + between + more : what);

// outcome says how a session's last turn, or its program, ended; '': nothing is to be said.
export function outcome(s) {
  if (s.state === 'working' || s.state === 'starting') return '';
  if (s.state === 'ended' && s.exit) {
    if (s.exit.signal) return `ended by ${s.exit.signal}`;
    if (s.exit.status >= 0) return `exit status ${s.exit.status}`;
  }
  if (s.turn?.failed) return s.turn.failed;
  return Number.isInteger(s.turn?.status) && !s.turn.open ? `exit status ${s.turn.status}` : '';
}

// well says that nothing is known to have failed.
export const well = (s) => !s.turn?.failed && !(s.turn?.status > 0) && s.state !== 'error' && !(s.exit && (s.exit.status > 0 || s.exit.signal));

// machineWords is what panebridge knows it by, for who wants to know.
export const machineWords = (s) => [s.state, s.reason].filter(Boolean).join(': ');

// The steps of a text to a session, as people call them.
const stepsOf = (agent) => ({ stored: 'waiting', held: 'held', typing: 'being typed', typed: 'typed', submitted: `${agent ? 'the agent' : 'the program'} has it`, answered: agent ? 'answered' : 'done', failed: 'failed', cancelled: 'taken back' });

// What's known besides, where Enter was pressed.
const causes = { queued: 'it keeps it until it has time', passed: 'whether it was taken up can’t be seen', unverified: 'nobody saw it taken' };

// stepWords is what a step is called; agent is the name of the session's, '': it has none.
export const stepWords = (step, agent) => stepsOf(agent)[step] ?? step;

// receiptWords says how far a text got. What is known of a failure, or of what keeps it back, is said with it.
export function receiptWords({ state, cause, reason, submit }, agent) {
  if (state === 'typed' && submit === false) return 'typed, without Enter';
  if (state === 'submitted' && cause === 'queued') return join(stepWords('submitted', agent), causes.queued, ': ');
  if (state === 'submitted' && causes[cause]) return join('sent', causes[cause], ': ');
  const why = ['failed', 'held', 'stored', 'typed'].includes(state) ? reason : '';
  return join(stepWords(state, agent), why, ': ');
}
