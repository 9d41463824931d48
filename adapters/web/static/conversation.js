'use strict';

import { byId, element } from './dom.js';
import { answerLine, drawAnswers } from './answers.js';
import { getFailures, getOutput } from './api.js';
import { withSecrets } from './secrets.js';

// The Conversation keeps a window of the output log in the document: lines
// top … bottom and the gaps between them, at most maxLines lines. Older ones
// are loaded when the reader scrolls up. When the reader is further up than the
// window reaches down, new lines aren't added: the window is detached from the
// newest line, and grows downwards again as the reader scrolls down. Turns that failed
// are asked for when one has ended or other lines are shown, and stand where they ended.

const maxLines = 5000;
const pageSize = 500;
const near = 40; // pixels from an end that count as being there

export class Conversation {
  constructor(session) {
    this.session = session;
    this.scroller = byId('scroller');
    this.list = byId('lines');
    this.clear();
    this.newest = 0; // number of the newest line that was heard of
    this.unseen = 0; // lines that came while the reader was elsewhere
    this.failures = []; // turns that failed and ended in the window, or behind it
    this.queue = [];
    this.frame = 0;
    this.loading = false;
    this.stuck = true; // the reader is at the bottom and stays there
    this.height = this.scroller.clientHeight; // as it was when the scroller was last looked at
    this.onScroll = () => this.scrolled();
    this.scroller.addEventListener('scroll', this.onScroll, { passive: true });
    this.button = byId('newest');
    this.onButton = () => this.jump();
    this.button.addEventListener('click', this.onButton);
    this.resizes = new ResizeObserver(() => this.resized());
    this.resizes.observe(this.scroller);
    this.showButton();
  }

  close() {
    this.closed = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.resizes.disconnect();
    this.scroller.removeEventListener('scroll', this.onScroll);
    this.button.removeEventListener('click', this.onButton);
    this.clear();
    this.live(null);
  }

  clear() {
    this.list.replaceChildren();
    this.top = 0; // number of the first line in the document; 0: there's none
    this.bottom = 0;
    this.count = 0;
    this.detached = false;
  }

  // output takes lines in order; those it has had are left out, so that a
  // connection that goes on too early doubles nothing.
  output(lines) {
    for (const line of lines) {
      if (line.n <= this.newest) continue;
      this.newest = line.n;
      if (this.detached) this.missed = true;
      else this.queue.push({ line });
      if (!this.stuck) this.unseen++;
    }
    this.schedule();
  }

  // gap takes a gap; it comes behind the line that it stands behind, unless that
  // part of the log was loaded already.
  gap(gap) {
    if (gap.after < this.newest) return;
    if (this.detached) this.missed = true;
    else this.queue.push({ gap });
    this.schedule();
  }

  live(live) {
    const rows = (live?.known ? [...(live.writing ?? []), live.status ?? ''] : live?.rows) ?? [];
    byId('live').hidden = rows.every((row) => row.trim() === '');
    byId('live').classList.toggle('alternate', Boolean(live?.alternate && !live.known));
    byId('live').classList.toggle('known', Boolean(live?.known));
    byId('live-rows').textContent = rows.join('\n').replace(/\n$/, '');
    if (this.stuck) this.toBottom();
  }

  // schedule draws what's queued with the next frame: however many events come,
  // the document changes once per frame. A hidden page has no frames.
  schedule() {
    if (this.pending) return;
    this.pending = true;
    const draw = () => {
      this.pending = false;
      if (!this.closed) this.draw();
    };
    if (document.hidden) this.timer = setTimeout(draw, 200);
    else this.frame = requestAnimationFrame(draw);
  }

  draw() {
    const items = this.queue.splice(0);
    if (!this.stuck && this.count + items.length > maxLines) {
      this.detached = this.detached || items.some((item) => item.line);
    }
    if (!this.detached) {
      this.append(items);
      this.trimTop();
      this.placeFailures();
      this.drawAnswers();
    }
    if (this.stuck) this.toBottom();
    this.showButton();
  }

  // askFailures asks which turns failed, one time after the other.
  async askFailures() {
    this.unasked = true;
    if (this.asking) return;
    this.asking = true;
    try {
      while (this.unasked && !this.closed) {
        this.unasked = false;
        this.failures = await getFailures(this.session, Math.max(0, this.top - 1), this.detached ? this.bottom : 0);
        if (!this.closed) this.placeFailures();
      }
    } catch {
      // The server is away. They're asked for when it's back.
    } finally {
      this.asking = false;
    }
  }

  // placeFailures shows those that aren't and whose place is in the window.
  placeFailures() {
    const shown = new Set(Array.from(this.list.querySelectorAll('.failure'), (node) => Number(node.dataset.turn)));
    for (const failure of this.failures) {
      if (shown.has(failure.turn) || failure.after > this.bottom || failure.after < this.top - 1) continue;
      const before = lastUpTo(this.list, failure);
      if (before) before.after(failureNode(failure));
      else this.list.prepend(failureNode(failure));
    }
    if (this.stuck) this.toBottom();
  }

  append(items) {
    const fragment = document.createDocumentFragment();
    for (const item of items.slice(-2 * maxLines)) fragment.append(this.node(item));
    this.list.append(fragment);
    const lines = items.slice(-2 * maxLines).filter((item) => item.line);
    if (lines.length === 0) return;
    this.top ||= lines[0].line.n;
    this.bottom = lines.at(-1).line.n;
    this.count += lines.length;
  }

  // drawAnswers has the answers drawn that have changed, one time after the other.
  async drawAnswers() {
    this.undrawn = true;
    if (this.drawing) return;
    this.drawing = true;
    try {
      while (this.undrawn && !this.closed) {
        this.undrawn = false;
        await drawAnswers(this.list, () => { if (this.stuck) this.toBottom(); });
      }
    } catch {
      // The server is away. The lines are there, and are drawn when others come.
    } finally {
      this.drawing = false;
    }
  }

  node({ line, gap }) {
    return line ? lineNode(line) : gapNode(gap);
  }

  // trimTop removes the oldest lines beyond maxLines, with the gaps before them.
  trimTop() {
    if (this.count <= maxLines) return;
    while (this.count > maxLines || isMark(this.list.firstChild)) {
      const first = this.list.firstChild;
      if (first.dataset.n) this.count--;
      first.remove();
    }
    this.top = firstNumber(this.list);
  }

  // trimBottom removes the newest lines beyond maxLines, with the gaps behind them.
  trimBottom() {
    if (this.count <= maxLines) return;
    while (this.count > maxLines || isMark(this.list.lastChild)) {
      const last = this.list.lastChild;
      if (last.dataset.n) this.count--;
      last.remove();
    }
    this.bottom = Number(this.list.lastChild.dataset.n);
    this.detached = true;
  }

  resized() {
    this.height = this.scroller.clientHeight;
    if (this.stuck) this.toBottom();
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    // What's below the scroller has grown, by a receipt for one, since the page
    // itself scrolled to the bottom: the reader hasn't gone up.
    if (this.stuck && clientHeight < this.height) {
      this.resized();
      return;
    }
    this.height = clientHeight;
    const atBottom = scrollHeight - scrollTop - clientHeight < near;
    this.stuck = atBottom && !this.detached;
    if (this.stuck) this.unseen = 0;
    this.showButton();
    if (scrollTop < clientHeight && this.top > 1) this.load(() => this.loadOlder());
    else if (atBottom && this.detached) this.load(() => this.loadNewer());
  }

  async load(how) {
    if (this.loading) return;
    this.loading = true;
    try {
      await how();
    } catch {
      // The connection bar says that the server is away; scrolling tries again.
    } finally {
      this.loading = false;
    }
  }

  async loadOlder() {
    const end = this.top;
    const from = Math.max(1, end - pageSize);
    // One line more than is missing, as the gap before the first comes with it.
    const out = await getOutput(this.session, from, end - from + 1);
    if (this.closed || this.top !== end) return;
    const hasGap = gapAmong(this.list.firstChild, 'nextSibling');
    const lines = out.lines.filter((line) => line.n < end);
    const gaps = out.gaps.filter((gap) => gap.after < end - 1 || (gap.after === end - 1 && !hasGap));
    const before = this.scroller.scrollHeight;
    if (lines.length > 0 || !hasGap) this.list.prepend(this.merged(lines, gaps));
    this.scroller.scrollTop += this.scroller.scrollHeight - before;
    this.top = lines[0]?.n ?? 1; // 1: nothing older is kept
    this.count += lines.length;
    this.trimBottom();
    this.drawAnswers();
    this.askFailures();
  }

  async loadNewer() {
    await this.loadPage();
    if (this.bottom >= this.newest) await this.loadRest();
  }

  // loadRest loads until there's nothing more, and no news came meanwhile: what
  // the stream brings while the window is detached isn't kept.
  async loadRest() {
    for (;;) {
      this.missed = false;
      if (await this.loadPage() > 0) continue;
      if (this.closed) return;
      if (!this.missed) break;
    }
    this.attach();
  }

  // loadPage appends a page, and returns how many lines it had.
  async loadPage() {
    const start = this.bottom;
    const out = await getOutput(this.session, start + 1, pageSize);
    if (this.closed || this.bottom !== start) return 0;
    const hasGap = gapAmong(this.list.lastChild, 'previousSibling');
    const gaps = out.gaps.filter((gap) => gap.after > start || (gap.after === start && !hasGap));
    this.list.append(this.merged(out.lines, gaps));
    this.count += out.lines.length;
    this.top ||= out.lines[0]?.n ?? 0;
    this.bottom = out.lines.at(-1)?.n ?? this.bottom;
    const before = this.scroller.scrollHeight;
    this.trimTop();
    this.scroller.scrollTop -= before - this.scroller.scrollHeight;
    this.drawAnswers();
    this.askFailures();
    return out.lines.length;
  }

  attach() {
    this.newest = this.bottom;
    this.detached = false;
    this.queue.length = 0;
  }

  merged(lines, gaps) {
    const fragment = document.createDocumentFragment();
    let next = 0;
    for (const line of lines) {
      while (next < gaps.length && gaps[next].after < line.n) fragment.append(gapNode(gaps[next++]));
      fragment.append(lineNode(line));
    }
    while (next < gaps.length) fragment.append(gapNode(gaps[next++]));
    return fragment;
  }

  // jump goes to the newest line; a detached window is filled anew.
  async jump() {
    if (this.detached) await this.load(() => this.reload());
    this.stuck = !this.detached; // it stays so when the server is away
    this.unseen = 0;
    this.toBottom();
    this.showButton();
  }

  async reload() {
    this.clear();
    this.detached = true;
    this.bottom = Math.max(0, this.newest - pageSize);
    await this.loadRest();
  }

  toBottom() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  showButton() {
    this.button.hidden = this.stuck;
    this.button.textContent = this.unseen > 0 ? `↓ ${this.unseen} new — jump to newest` : '↓ Jump to newest';
  }
}

function lineNode(line) {
  const node = element('div', `line ${line.kind}`);
  const author = line.kind === 'user' && line.begins ? line.author || 'you' : '';
  if (author) node.append(`${author}: `);
  node.append(...withSecrets(line.text, line.secrets));
  if (line.secrets?.length > 0) node.dataset.secret = 'true';
  if (line.kind === 'answer') answerLine(node, line);
  node.dataset.n = line.n;
  return node;
}

function gapNode(gap) {
  const lines = gap.at_least === 1 ? 'line' : 'lines';
  const what = gap.at_least > 0 ? `at least ${gap.at_least} ${lines} missing` : 'lines may be missing';
  const node = element('div', 'gap', gap.reason ? `${what}: ${gap.reason}` : what);
  node.dataset.after = gap.after;
  node.setAttribute('role', 'note');
  return node;
}

const isGap = (node) => Boolean(node?.dataset.after);
const isMark = (node) => isGap(node) || Boolean(node?.dataset.turn); // what stands between lines

// gapAmong says whether a gap is among the marks that begin with a node and go on that way.
function gapAmong(node, way) {
  for (let mark = node; isMark(mark); mark = mark[way]) if (isGap(mark)) return true;
  return false;
}

function failureNode({ turn, why }) {
  const node = element('div', 'failure', `failed: ${why}`);
  node.dataset.turn = turn;
  node.setAttribute('role', 'note');
  return node;
}

// lastUpTo is the node that a failure stands behind: its turn's last line that's there, or the
// failure of an earlier turn that ended there, too.
function lastUpTo(list, { turn, after }) {
  for (let node = list.lastChild; node; node = node.previousSibling) {
    if (Number(node.dataset.turn) < turn || Number(node.dataset.n) <= after) return node;
  }
  return null;
}

function firstNumber(list) {
  for (const node of list.children) if (node.dataset.n) return Number(node.dataset.n);
  return 0;
}
