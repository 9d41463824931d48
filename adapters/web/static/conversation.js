'use strict';

import { byId, painted, toast } from './dom.js';
import { AnsweredMarks } from './answered.js';
import { drawAnswers } from './answers.js';
import { getOutput } from './api.js';
import { FoundLine } from './found.js';
import { firstNumber, gapAmong, gapNode, isMark, lineAt, lineNode, markNode, mergedNodes, nodeInView, numberOf } from './lines.js';
import { showLive } from './live.js';
import { lookedAt, turnsDone } from './looked.js';
import { BubbleReceipts } from './receipts.js';
import { drawTools } from './tools.js';
import { nextTurn, TurnList, TurnMarks } from './turns.js';
import { workShown } from './work.js';

// The Conversation keeps a window of the output log in the document: lines
// top … bottom and the marks between them, at most maxLines lines. Above and below stands
// empty room for the lines that aren't in it, so that the scroll bar reaches all of the log:
// what's near is loaded to the window as the reader scrolls, and elsewhere a new window begins.
// When the reader is further up than the window reaches down, new lines aren't added: the
// window is detached from the newest line, and grows downwards again as the reader scrolls down.

const maxLines = 5000;
const pageSize = 500;
const atFirst = 120; // lines are drawn first of a session that's opened: they fill a screen
const near = 40; // pixels from an end that count as being there
const mostRoom = 8e6; // pixels above or below: browsers have a bound on heights
const margin = 12; // pixels above a line that's jumped to

export class Conversation {
  // session is as the API lists it, when it's opened; line is where it begins, 0: at its end.
  constructor(session, line = 0) {
    this.session = session.id;
    this.scroller = byId('scroller');
    this.list = byId('lines');
    this.found = new FoundLine(this.list, this.scroller);
    this.marks = new TurnMarks(session.id, this.list);
    this.answered = new AnsweredMarks(session.id, this.list);
    this.receipts = new BubbleReceipts(session.id, session.agent, this.list, (change) => this.keepEnd(change));
    this.turnList = new TurnList(session.id, (line) => this.showLine(line));
    this.looked = lookedAt(session.id);
    this.head = session.lines; // number of the newest line then
    this.unreadWords = wordsOfUnread(turnsDone(session) - (this.looked?.turn ?? 0));
    this.oldest = 1; // number of the oldest line that's kept
    this.rowHeight = 20; // pixels, of a line that isn't in the window
    this.clear();
    this.newest = 0; // number of the newest line that was heard of
    this.unseen = 0; // lines that came while the reader was elsewhere
    this.queue = [];
    this.frame = 0;
    this.loading = null; // a promise while something is loaded
    this.stuck = true; // the reader is at the bottom and stays there
    this.bottomAt = 0; // pixels, where the scroller was put for that
    this.height = this.scroller.clientHeight; // as it was when the scroller was last looked at
    this.width = this.scroller.clientWidth;
    this.place = null; // what the reader looked at then, and where it stood
    this.listeners = [
      [this.scroller, 'scroll', () => this.scrolled()],
      [this.list, 'toggle', (event) => this.cardOpened(event.target)],
      [byId('newest'), 'click', () => this.jump()],
      [byId('unread'), 'click', () => this.showUnread()],
      [byId('turn-before'), 'click', () => this.jumpTurn(-1)],
      [byId('turn-next'), 'click', () => this.jumpTurn(1)],
      [byId('turn-list'), 'click', () => this.turnList.open().catch(() => {})],
    ];
    for (const [node, name, listener] of this.listeners) node.addEventListener(name, listener, { passive: true, capture: name === 'toggle' });
    this.resizes = new ResizeObserver(() => this.resized());
    this.resizes.observe(this.scroller);
    if (line > 0) this.beginAt(line);
    this.showButtons();
  }

  // beginAt begins with a window around a line.
  beginAt(line) {
    this.begun = true;
    this.newest = this.head;
    this.detached = true;
    this.showFound(line);
  }

  // connected goes on with what couldn't be asked for while the server was away.
  connected() {
    if (this.count === 0 && this.found.n) this.showFound(this.found.n);
    else this.askMarks();
  }

  // showFound shows a line that a search led to.
  async showFound(n) {
    this.stuck = false;
    this.found.n = n;
    while (this.loading) await this.loading;
    if (this.found.n === n && (n < this.top || n > this.bottom)) await this.loadNext(() => this.loadAround(n));
    if (this.closed || this.found.n !== n || this.count === 0) return;
    this.found.show();
    this.found.focus();
    this.showButtons();
    if (n < this.oldest) toast('That line isn’t kept any more.');
  }

  close() {
    this.closed = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.resizes.disconnect();
    for (const [node, name, listener] of this.listeners) node.removeEventListener(name, listener, { capture: name === 'toggle' });
    this.found.close();
    this.turnList.close();
    this.receipts.close();
    this.list.removeAttribute('aria-busy');
    this.list.setAttribute('aria-live', 'polite');
    this.clear();
    this.newest = 0;
    this.pad();
    showLive(null);
    byId('unread').hidden = true;
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
    this.noticeScroll();
    showLive(live);
    if (this.stuck && (this.count > 0 || !byId('live').hidden)) this.toBottom(); // to ask an empty page how high it is takes time
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
    this.noticeScroll();
    const items = this.queue.splice(0);
    const above = !this.list.firstChild && items.length > atFirst && !this.loading ? items.splice(0, items.length - atFirst) : [];
    if (!this.stuck && this.count + items.length > maxLines) {
      this.detached = this.detached || items.some((item) => item.line);
    }
    if (!this.detached) {
      this.append(items);
      this.trimTop();
      this.placeMarks();
      this.drawTools();
      this.drawAnswers();
    }
    this.pad();
    if (this.stuck) this.toBottom();
    if (above.length > 0) this.load(() => this.drawAbove(above));
    else if (!this.loading) this.beginAtUnread();
    this.showButtons();
  }

  // drawAbove draws what stands above the lines that were drawn first, once those are seen.
  async drawAbove(items) {
    const end = this.top;
    await painted();
    if (this.closed || this.top !== end) return;
    this.keepEnd(() => {
      const fragment = document.createDocumentFragment();
      for (const item of items) fragment.append(this.node(item));
      this.list.prepend(fragment);
      const lines = items.filter((item) => item.line);
      this.top = lines[0]?.line.n ?? end;
      this.count += lines.length;
      this.placeMarks();
      this.drawTools();
    });
    this.drawAnswers();
    this.beginAtUnread();
  }

  // askMarks asks which turns ended in the window, and what was answered, one time after the other.
  async askMarks() {
    this.unasked = true;
    if (this.asking) return;
    this.asking = true;
    try {
      while (this.unasked && !this.closed) {
        this.unasked = false;
        await Promise.all([this.marks.ask(Math.max(0, this.top - 1), this.detached ? this.bottom : 0), this.answered.ask(!this.detached)]);
        if (this.closed) return;
        this.keepEnd(() => {
          this.placeMarks();
          this.drawTools();
        });
        this.drawAnswers(); // those that came while the server was away
      }
    } catch {
      // The server is away. They're asked for when it's back.
    } finally {
      this.asking = false;
    }
  }

  placeMarks() {
    this.marks.place(this.top, this.bottom);
    this.answered.place(!this.detached);
    this.receipts.look();
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
        await drawAnswers(this.list, (change) => {
          if (this.closed) return false; // the list is another's
          this.keepEnd(change);
          return true;
        });
      }
    } catch {
      // The server is away. The lines are there, and are drawn when others come.
    } finally {
      this.drawing = false;
    }
  }

  // drawTools has the tools' cards placed. What's below a detached window may have a result.
  drawTools() { drawTools(this.session, this.list, !this.detached); }

  // showWork shows as much of the work as is to be seen now, and keeps what the reader looks at where it is.
  showWork() {
    if (this.closed) return;
    this.keepEnd(() => {
      const { thinking } = workShown();
      for (const node of this.list.querySelectorAll(':scope > .thought')) node.hidden = thinking === 'none';
      this.drawTools();
    });
  }

  node({ line, gap }) {
    return line ? lineNode(line) : gapNode(gap);
  }

  // trimTop removes the oldest lines beyond maxLines, with the marks before them.
  trimTop() {
    if (this.count <= maxLines) return;
    while (this.count > maxLines || isMark(this.list.firstChild)) {
      const first = this.list.firstChild;
      if (first.dataset.n) this.count--;
      first.remove();
    }
    this.top = firstNumber(this.list);
  }

  // trimBottom removes the newest lines beyond maxLines, with the marks behind them.
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

  // pad makes the room above and below as high as the lines would be that aren't in the window.
  pad() {
    const above = this.top > this.oldest ? this.top - this.oldest : 0;
    const below = this.detached ? Math.max(0, this.newest - this.bottom) : 0;
    if (this.count > 0) this.rowHeight = Math.min(200, Math.max(10, this.list.offsetHeight / this.count));
    this.scale = Math.min(this.rowHeight, mostRoom / Math.max(1, above, below));
    byId('lines-above').style.height = `${above * this.scale}px`;
    byId('lines-below').style.height = `${below * this.scale}px`;
  }

  // keepPlace changes the document, and keeps what the reader looks at where it is.
  keepPlace(change) {
    this.noticeScroll();
    if (this.found.n) {
      change();
      this.pad();
      this.found.show();
      return;
    }
    const anchor = nodeInView(this.list, this.scroller);
    const was = anchor?.getBoundingClientRect().top;
    change();
    this.pad();
    if (anchor?.isConnected && !anchor.hidden) this.scroller.scrollTop += anchor.getBoundingClientRect().top - was;
  }

  // keepEnd does so, and stays at the end with a reader who is there.
  keepEnd(change) {
    this.keepPlace(change);
    if (this.stuck) this.toBottom();
  }

  // cardOpened lets somebody read a card that they have opened at the end.
  cardOpened(card) {
    if (!card.open || !card.contains(document.activeElement)) return;
    this.stuck = false;
    this.showButtons();
  }

  resized() {
    const turned = this.scroller.clientWidth !== this.width;
    this.height = this.scroller.clientHeight;
    this.width = this.scroller.clientWidth;
    if (this.stuck) this.toBottom();
    else if (turned) this.backToPlace();
  }

  // notePlace notes what the reader looks at: a screen that's turned has its lines elsewhere.
  notePlace() {
    const node = this.stuck ? null : nodeInView(this.list, this.scroller);
    if (!node) {
      this.place = null;
      return;
    }
    const { top, height } = node.getBoundingClientRect();
    const above = this.scroller.getBoundingClientRect().top - top; // pixels of it that are out of view
    this.place = { node, above, part: above / Math.max(1, height) };
  }

  // backToPlace shows what the reader looked at before the scroller got another width.
  backToPlace() {
    const place = this.place;
    if (this.found.n) this.found.show();
    if (this.found.n || !place?.node.isConnected || place.node.hidden) return;
    const above = place.above > 0 ? place.part * place.node.getBoundingClientRect().height : place.above;
    this.scrollToNode(place.node, -above);
  }

  scrolled() {
    if (this.scroller.clientWidth !== this.width) return; // resized comes
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    // What's below the scroller has grown, by a receipt for one, since the page
    // itself scrolled to the bottom: the reader hasn't gone up.
    if (this.stuck && clientHeight < this.height) {
      this.resized();
      return;
    }
    this.height = clientHeight;
    const atBottom = scrollHeight - scrollTop - clientHeight < near;
    this.stuck = atBottom && !this.detached && !this.found.n;
    if (this.stuck) this.unseen = 0;
    this.notePlace();
    this.showButtons();
    this.fill();
  }

  // fill loads what's in view, or will be soon.
  fill() {
    if (this.loading || this.count === 0) return;
    const { scrollTop, clientHeight } = this.scroller;
    const start = byId('lines-above').offsetHeight; // where the window begins
    const end = start + this.list.offsetHeight;
    const below = scrollTop + clientHeight;
    if (below < start - clientHeight && this.top > this.oldest) {
      this.load(() => this.loadAround(this.oldest + Math.floor(scrollTop / this.scale)));
    } else if (scrollTop > end + clientHeight && this.detached) {
      this.load(() => this.loadAround(Math.min(this.newest, this.bottom + Math.floor((scrollTop - end) / this.scale))));
    } else if (scrollTop < start + clientHeight && this.top > this.oldest) {
      this.load(() => this.loadOlder());
    } else if (below > end - clientHeight && this.detached) {
      this.load(() => this.loadNewer());
    }
  }

  // load loads something, unless it's loading already.
  async load(how) {
    if (this.loading || this.closed) return;
    this.list.setAttribute('aria-busy', 'true');
    this.list.setAttribute('aria-live', 'off'); // what's old isn't read out
    // The connection bar says that the server is away; scrolling tries again.
    this.loading = how().then(() => true, () => false);
    const done = await this.loading;
    this.loading = null;
    if (this.closed) return;
    this.list.removeAttribute('aria-busy');
    requestAnimationFrame(() => {
      if (this.closed) return;
      if (!this.loading) this.list.setAttribute('aria-live', 'polite');
      if (done) this.scrolled();
    });
  }

  // loadNext loads something after what's being loaded.
  async loadNext(how) {
    while (this.loading) await this.loading;
    await this.load(how);
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
    this.keepPlace(() => {
      if (lines.length > 0 || !hasGap) this.list.prepend(mergedNodes(lines, gaps));
      this.top = lines[0]?.n ?? end;
      this.oldest = lines.length > 0 ? Math.min(out.oldest ?? 1, this.top) : end; // nothing older is kept
      this.count += lines.length;
      this.trimBottom();
      this.drawTools();
    });
    this.drawAnswers();
    this.askMarks();
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
    this.keepPlace(() => {
      this.list.append(mergedNodes(out.lines, gaps));
      this.count += out.lines.length;
      this.top ||= out.lines[0]?.n ?? 0;
      this.bottom = out.lines.at(-1)?.n ?? this.bottom;
      this.oldest = out.oldest ?? this.oldest;
      this.newest = Math.max(this.newest, this.bottom);
      this.trimTop();
      this.drawTools();
    });
    this.drawAnswers();
    this.askMarks();
    return out.lines.length;
  }

  // loadAround begins a new window around a line, and shows that line first.
  async loadAround(n) {
    const from = Math.max(this.oldest, n - pageSize / 2);
    const out = await getOutput(this.session, from, pageSize);
    if (this.closed) return;
    if (out.lines.length === 0) {
      await this.reload();
      return;
    }
    this.clear();
    this.queue.length = 0;
    this.detached = true;
    this.stuck = false;
    this.list.append(mergedNodes(out.lines, out.gaps));
    this.count = out.lines.length;
    this.top = out.lines[0].n;
    this.bottom = out.lines.at(-1).n;
    this.oldest = out.oldest ?? this.oldest;
    this.newest = Math.max(this.newest, this.bottom);
    this.drawTools();
    this.pad();
    this.scrollToLine(n);
    this.drawAnswers();
    this.askMarks();
    if (this.bottom >= this.newest) await this.loadRest();
  }

  attach() {
    this.newest = this.bottom;
    this.detached = false;
    this.queue.length = 0;
    this.pad();
  }

  // jump goes to the newest line; a detached window is filled anew.
  async jump() {
    this.found.letGo();
    if (this.detached) await this.loadNext(() => this.reload());
    if (this.closed) return;
    this.stuck = !this.detached; // it stays so when the server is away
    this.unseen = 0;
    this.toBottom();
    this.showButtons();
  }

  async reload() {
    const from = Math.max(0, this.newest - pageSize);
    const first = await getOutput(this.session, from + 1, 1); // whoever is away takes nothing from the page
    if (this.closed || (first.lines.length === 0 && this.newest > 0)) return;
    this.clear();
    this.detached = true;
    this.bottom = from;
    await this.loadRest();
  }

  // showLine shows a line at the top, wherever it is.
  async showLine(n) {
    this.found.letGo();
    this.stuck = false;
    while (this.loading) await this.loading;
    if (n < this.top || (n > this.bottom && this.detached)) await this.loadNext(() => this.loadAround(n));
    if (this.closed) return;
    this.scrollToLine(n);
    this.showButtons();
    const node = lineAt(this.list, n);
    node?.classList.add('jumped');
    setTimeout(() => node?.classList.remove('jumped'), 1500);
  }

  scrollToLine(n) {
    let node = lineAt(this.list, n);
    while (isMark(node?.previousSibling) && node.previousSibling.classList.contains('unread')) node = node.previousSibling;
    if (node) this.scrollToNode(node, margin);
  }

  // scrollToNode shows a node so many pixels below the upper edge; negative: so much of it is above that.
  scrollToNode(node, below) {
    this.scroller.scrollTop += node.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top - below;
  }

  // jumpTurn goes to the beginning of the next turn, or of the one before.
  async jumpTurn(step) {
    if (this.count === 0) return;
    const { scrollTop } = this.scroller;
    const at = this.jumped?.scrollTop === scrollTop ? this.jumped.line : numberOf(nodeInView(this.list, this.scroller));
    const line = await nextTurn(this.session, at, step).catch(() => 0);
    if (this.closed) return;
    if (line > 0) await this.showLine(line);
    else if (step > 0) await this.jump();
    else await this.showLine(this.oldest);
    if (this.closed) return;
    this.jumped = { line: line || at, scrollTop: this.scroller.scrollTop };
  }

  // beginAtUnread marks where what's new begins, once the lines are there with which the
  // session was opened, and begins there if it doesn't fit into the view.
  beginAtUnread() {
    if (this.begun || this.bottom < this.head || this.head === 0) return;
    this.begun = true;
    if (!this.looked || this.looked.line === 0 || this.looked.line >= this.head) return;
    if (this.looked.line + 1 < this.top) return; // the button leads there
    this.placeUnread();
    const mark = this.list.querySelector('.unread');
    if (mark && mark.getBoundingClientRect().top < this.scroller.getBoundingClientRect().top) {
      this.stuck = false;
      this.scrollToLine(this.looked.line + 1);
    }
  }

  // placeUnread puts the mark of what's new before its first line.
  placeUnread() {
    const first = lineAt(this.list, this.looked.line + 1);
    if (first && !this.list.querySelector('.unread')) first.before(markNode('unread', this.unreadWords));
  }

  async showUnread() {
    await this.showLine(this.looked.line + 1);
    if (this.closed) return;
    this.placeUnread();
    this.scrollToLine(this.looked.line + 1);
    this.foundUnread = true;
    this.showButtons();
  }

  toBottom() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.bottomAt = this.scroller.scrollTop;
  }

  // noticeScroll takes in that the reader has gone up, of which the event may be yet to come: or else
  // what's drawn before it would take the reader back to the end.
  noticeScroll() {
    if (this.stuck && this.bottomAt > near && this.scroller.scrollTop < this.bottomAt - near) this.scrolled();
  }

  showButtons() {
    const newest = byId('newest');
    newest.hidden = this.stuck;
    byId('conversation').classList.toggle('at-end', this.stuck);
    newest.textContent = this.unseen > 0 ? `↓ ${this.unseen} new — jump to newest` : '↓ Jump to newest';
    const unread = byId('unread');
    const isFarUp = this.begun && this.looked?.line > 0 && this.looked.line + 1 < this.top && this.looked.line < this.head;
    unread.hidden = !isFarUp || this.foundUnread;
    unread.textContent = `↑ ${this.unreadWords}`;
  }
}

// wordsOfUnread say how much of a session is new.
const wordsOfUnread = (turns) => (turns > 1 ? `${turns} new turns since you looked` : 'New since you looked');
