package adapters

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	// fileAfter is how many messages a backlog may take before it's attached as a file.
	fileAfter = 3
	// lateAfter is how old a stream's first line is in a chat that has more to show than
	// calls: a file takes one, whatever there is. Where there's room, it's seconds.
	lateAfter = 30 * time.Second
)

// minFile is below what attaching files makes no sense, in bytes.
const minFile = 4096

// plannedCall is a planned call.
type plannedCall struct {
	op     *Op      // nil: no call is needed
	before Document // the document when the call begins, with its intent
	more   bool     // another call follows, as far as is known
	// until is when it's to be planned again, since what's new can wait; zero: when there's news.
	until time.Time
}

// planCall decides on the one call that brings the chat nearest to the log.
func planCall(s situation) plannedCall {
	if in := s.doc.Intent; in != nil {
		if again, ok := s.planAgain(*in); ok {
			return again
		}
		s.doc = s.doc.unresolved()
	}
	if s.rest.is {
		return plannedCall{until: s.rest.until}
	}
	s.tidyDocument()
	st := s.planShow()
	if st.op == nil && s.leavesThread() {
		return s.completePlan(Op{Kind: KindClose}, Intent{Kind: KindClose}, false)
	}
	return st
}

// planShow brings the chat nearer to the log.
func (s *situation) planShow() plannedCall {
	switch {
	case s.needsThread():
		if !s.fillsThread() {
			return plannedCall{}
		}
		return s.completePlan(Op{Kind: KindThread, Text: threadTitle(s.session)}, Intent{Kind: KindThread}, true)
	case s.doc.Stale != nil && !s.announcesEnd():
		return s.planStrip()
	case s.binding.View == ViewScreen:
		return s.planScreen()
	case s.withheld() == FormNotice && !s.hasNothing():
		return s.planNotice()
	case s.withheld() == FormFile && !s.hasNothing() && !allBlank(s.pending()):
		return s.planFile()
	case s.hasNothing() && s.beginsWriting() && s.doc.Tail != nil && s.doc.Tail.Live:
		return s.planEndTail()
	case s.hasNothing() && s.beginsWriting():
		return s.planWriting()
	case s.hasNothing():
		return s.planExtend(nil)
	case s.concludesTail():
		return s.planConclusion()
	case s.fitsTail():
		return s.planExtend(s.pending())
	case len(s.leadingWork()) > 0:
		st := s.planExtend(s.leadingWork())
		st.more = true
		return st
	case s.writes():
		return s.planSettled()
	case s.tooMuch():
		return s.planFile()
	default:
		return s.planSend()
	}
}

// tidyDocument drops from the document what can't be used any more: messages that show
// lines which the log has dropped, or that another view or a call in doubt has
// made part of the past.
func (s *situation) tidyDocument() {
	if t := s.doc.Tail; t != nil && !s.log.hasFrom(t.From) {
		s.doc.Tail = nil
	}
	if t := s.doc.Tail; t != nil && (t.View != s.binding.View || t.Work != s.binding.Work || s.doc.doubtful()) {
		s.doc = s.doc.leaveTail()
	}
	if m := s.doc.Stale; m != nil && (!s.log.hasFrom(m.From) || m.View == ViewScreen) {
		s.doc.Stale = nil
	}
}

// message is a message that shows a page, or is at a place if the page has no
// lines.
func (s *situation) message(p Page, at Position) Message {
	m := Message{View: s.binding.View, Work: s.binding.Work, From: at, To: at, Astray: p.Astray, Double: p.Double, Cut: p.Cut, Dropped: p.Dropped, Live: p.live(), Writing: len(p.Writing) > 0}
	if n := len(p.Pieces); n > 0 {
		m.From, m.To = p.Pieces[0].start(), p.Pieces[n-1].end()
	}
	return m
}

// hash tells apart what pages look like. An ending doesn't count: it's said once, and
// the same screen isn't shown again without it.
func (s *situation) hash(p Page) string {
	p.Ending = nil
	sum := sha256.Sum256([]byte(s.shape.Look(p)))
	return hex.EncodeToString(sum[:8])
}

// planExtend edits the tail to show what's pending too, and the live region.
func (s *situation) planExtend(pending []Piece) plannedCall {
	t := s.doc.Tail
	if t == nil {
		return plannedCall{}
	}
	to := t.To
	if pieces := withoutBlankEnd(pending); len(pieces) > 0 {
		to = pieces[len(pieces)-1].end()
	}
	p := s.pageOf(*t).plus(s.log.between(t.From, to))
	if !s.interrupted() {
		p = s.withRegion(p)
	}
	return s.planEdit(*t, p)
}

// planStrip takes the live region of its time from a message that's not the tail.
func (s *situation) planStrip() plannedCall {
	m := *s.doc.Stale
	return s.planEdit(m, s.pageOf(m).plus(s.log.showing(m.Work).between(m.From, m.To)))
}

func (s *situation) planEdit(m Message, p Page) plannedCall {
	p.Unfinished = s.unfinished(m, p)
	after := s.message(p, m.From)
	after.Work = m.Work
	if after.ID, after.Hash = m.ID, s.hash(p); after.Hash == m.Hash {
		return plannedCall{}
	}
	return s.completePlan(Op{Kind: KindEdit, Message: m.ID, Page: p}, Intent{Kind: KindEdit, Message: after, Shown: after.To}, false)
}

// planSend begins a new message. It shows no live region: if it's never answered,
// nobody knows where to take that away.
func (s *situation) planSend() plannedCall {
	pending := s.pending()
	p := s.shape.fill(s.page(), pending)
	left := remainingPieces(pending, p)
	complete := s.hasAll() && allBlank(left)
	if ended := s.concluded(p); complete && s.shape.fits(ended) {
		p = ended
	} else if s.announcesEnd() {
		complete = false // the end of the turn is the next message
	}
	if complete && s.announcesEnd() && len(p.Pieces) == 0 {
		p.Double = p.Double || s.doc.Doubt.Turn > 0 && s.doc.Doubt.Turn >= s.progress.Turn
	}
	ring := complete && (s.announcesEnd() || s.hasEnded())
	m := s.message(p, s.start())
	m.Hash = s.hash(p)
	m.Sealed = ring || s.binding.View == ViewFinal || m.To.Byte > 0
	in := Intent{Kind: KindSend, Message: m, Shown: m.To, Ring: ring}
	return s.completePlan(Op{Kind: KindSend, Page: p}, s.announcing(in), !complete)
}

// announcing adds the end of the turn to a call that rings.
func (s *situation) announcing(in Intent) Intent {
	if in.Ring && s.announcesEnd() {
		in.Turn, in.Announced = max(s.doc.Turn, s.progress.Turn), s.turnEnd()
	}
	return in
}

// tooMuch says whether what's pending is to be attached as a file.
func (s *situation) tooMuch() bool {
	if s.shape.MaxFile < minFile {
		return false
	}
	most := fileAfter
	if s.binding.View == ViewStream && s.lag() > lateAfter && s.shape.MaxCaption > 0 {
		most = 1
	}
	return !s.hasAll() || s.shape.messages(s.page(), s.pending(), most+1) > most
}

// planFile attaches what's pending. Where nothing can stand beside a file, the next message
// has its end.
func (s *situation) planFile() plannedCall {
	pending := s.pending()
	inFile := pending
	if s.hasAll() && s.shape.MaxCaption == 0 && s.withheld() == "" {
		inFile = pending[:len(pending)-s.shape.most(len(pending), func(n int) bool {
			return s.shape.fits(Page{}.plus(pending[len(pending)-n:]))
		})]
	}
	head := s.page()
	content := fileOf(Page{Cut: head.Cut, Dropped: head.Dropped}, inFile, s.shape.MaxFile)
	complete := s.hasAll() && allBlank(remainingPieces(pending, content))
	m := s.message(content, s.doc.Shown)
	m.Astray, m.Double, m.Sealed = head.Astray, head.Double, true
	beside := Page{Astray: head.Astray, Double: head.Double, folding: head.folding}
	if complete {
		beside = s.concluded(beside)
	}
	in := Intent{Kind: KindFile, Message: m, Shown: m.To, Ring: complete && (s.announcesEnd() || s.hasEnded())}
	return s.completePlan(s.attachFile(content, beside, complete), s.announcing(in), !complete)
}

// attachFile puts the end of what's attached beside the file if that's all there is, because
// it's what people want to read: one call, so that the end of a turn rings at its first
// slot.
func (s *situation) attachFile(content, beside Page, complete bool) Op {
	first, last := content.Pieces[0].Line.N, content.Pieces[len(content.Pieces)-1].Line.N
	beside.Attached, beside.When = content.shownLines(), s.printedWhen(content.Pieces)
	beside = s.withEnding(beside, beside.Ending)
	if complete && s.shape.MaxCaption > 0 && s.withheld() == "" {
		beside = s.shape.beside(beside, content.Pieces)
	}
	beside = s.withEnding(beside, beside.Ending)
	text := PlainText(content) + "\n"
	if beside.Astray != "" && s.withheld() != "" && s.isAstray() {
		text = s.astrayName() + "\n" + text
	}
	return Op{
		Kind: KindFile, Page: beside,
		File: &File{Name: fmt.Sprintf("lines-%d-%d.txt", first, last), Data: []byte(text)},
	}
}

// planScreen shows the live region alone.
func (s *situation) planScreen() plannedCall {
	d, due := s.doc, s.announcesEnd()
	p := Page{Astray: s.astrayText(), Double: d.Doubt.Screen}
	if due {
		p = s.concluded(p)
	}
	p = s.shape.withLive(p, s.rows, len(s.rows))
	if len(p.Live) == 0 && !due {
		return plannedCall{}
	}
	shown := Position{Line: s.progress.Head + 1}
	t := d.Tail
	kind := KindSend
	if t != nil && !t.Sealed && !due {
		kind, p.Astray, p.Double = KindEdit, t.Astray, t.Double
	}
	m := s.message(p, shown)
	if m.Hash = s.hash(p); t != nil && !due && m.Hash == t.Hash {
		return plannedCall{}
	}
	if kind == KindEdit {
		m.ID = t.ID
	}
	m.Sealed = due
	in := Intent{Kind: kind, Message: m, Shown: shown, Ring: due}
	return s.completePlan(Op{Kind: kind, Message: m.ID, Page: p}, s.announcing(in), false)
}

// planAgain makes a call that wasn't answered once more, as it was, if that can't
// double anything. ok is false if it can't be made so.
func (s *situation) planAgain(in Intent) (_ plannedCall, ok bool) {
	m := in.Message
	switch {
	case in.Kind == KindThread && s.needsThread() && s.fillsThread():
		return s.completePlan(Op{Kind: KindThread, Text: threadTitle(s.session), Again: true}, in, true), true
	case in.Kind == KindEdit && s.knowsMessage(m.ID), (in.Kind == KindSend || in.Kind == KindFile) && s.knowsNonce(in):
	default:
		return plannedCall{}, false
	}
	if !s.log.hasFrom(m.From) || s.loaded() < m.To.Line {
		return plannedCall{}, false
	}
	op, ok := s.sameOp(in)
	if !ok {
		return plannedCall{}, false
	}
	if in.Kind != KindFile {
		in.Message.Live, in.Message.Writing, in.Message.Hash = op.Page.live(), len(op.Page.Writing) > 0, s.hash(op.Page)
	}
	s.nonce = in.Nonce
	at := in.At
	st := s.completePlan(op, in, true)
	st.before.Intent.At = at
	return st, true
}

// sameOp is the call of an intent, made of what the log has now. ok is false if that's
// no message any more.
func (s *situation) sameOp(in Intent) (_ Op, ok bool) {
	m := in.Message
	log := s.log.showing(m.Work)
	p := s.pageOf(m)
	var end *Ending
	last := allBlank(log.between(in.Shown, Position{Line: s.progress.Head + 1}))
	if in.Ring {
		end = s.endingOf(in, last)
	}
	if m.Withheld != "" {
		return Op{Kind: in.Kind, Page: Page{Astray: m.Astray, Withheld: m.Withheld}}, true
	}
	if in.Kind == KindFile {
		p.Astray, p.Double, p.folding = "", false, folding{}
		if p = p.plus(log.between(m.From, m.To)); len(p.Pieces) == 0 || len(PlainText(p)) > s.shape.MaxFile {
			return Op{}, false
		}
		return s.attachFile(p, Page{Astray: m.Astray, Double: m.Double, Ending: end, folding: s.foldingOf(m.Work)}, in.Ring || last), true
	}
	if m.View == ViewScreen {
		p = s.shape.withLive(s.withEnding(p, end), s.rows, len(s.rows))
	} else if p = s.withEnding(p.plus(log.between(m.From, m.To)), end); m.From == m.To && end == nil && !p.Cut {
		if m.Live && (in.Kind != KindEdit || !s.interruptedAt(m)) {
			p = s.withRegion(p)
		}
		p.Unfinished = s.unfinished(m, p)
	}
	shows := len(p.Pieces) > 0 || p.live() || p.Unfinished != "" || p.Ending != nil
	return Op{Kind: in.Kind, Message: m.ID, Page: p}, shows && s.shape.fits(p)
}

// knowsNonce says whether the platform surely remembers the nonce of a send. A
// clock that was set back makes it look younger than it is, but not from the
// future.
func (s *situation) knowsNonce(in Intent) bool {
	age := s.now.Sub(in.At)
	return age >= 0 && age < s.shape.NonceFor
}

// knowsMessage says whether a message can still be edited as far as the document knows.
func (s *situation) knowsMessage(id string) bool {
	d := s.doc
	return d.Tail != nil && d.Tail.ID == id || d.Stale != nil && d.Stale.ID == id
}

// completePlan completes a planned call.
func (s *situation) completePlan(op Op, in Intent, more bool) plannedCall {
	op.Target = s.doc.target(s.binding)
	if !op.Kind.aboutThread() {
		op.Text = s.shape.Text(op.Page)
		op.Buttons = s.unfoldButtons(op.Page, in.Message)
		in.Shown = s.behindHidden(in.Shown)
	}
	op.Ring = in.Ring && in.Kind != KindEdit && !s.quiet && (!s.spared || s.hasEnded())
	if op.Kind == KindSend || op.Kind == KindFile {
		op.Nonce, in.Nonce = s.nonce, s.nonce
	}
	in.At = s.now
	d := s.doc
	d.Intent = &in
	return plannedCall{op: &op, before: d, more: more || d.afterIntent(in, "x", false).Stale != nil}
}

// leastWriting is how many rows of a text that's being written are shown at least, where
// there are as many: a message with less room gets none of a next one.
const leastWriting = 3

// withRegion adds what a stream's message shows of the live region.
func (s *situation) withRegion(p Page) Page {
	switch {
	case s.hasEnded() || s.announcesEnd() || s.withheld() != "":
		return p
	case !s.known:
		return s.shape.withLive(p, s.rows, s.shape.LiveRows)
	case s.binding.View != ViewStream || s.shape.LiveRows == 0:
		return p
	default:
		return s.shape.withWriting(p, s.region)
	}
}

// beginsWriting says whether a text is being written that needs a message: the tail has
// no room for it, or there's none.
func (s *situation) beginsWriting() bool {
	if p := s.withRegion(s.page()); len(p.Writing) == 0 {
		return false
	}
	t := s.doc.Tail
	if t == nil || s.interrupted() {
		return true
	}
	p := s.withRegion(s.pageOf(*t).plus(s.log.between(t.From, t.To)))
	return len(p.Pieces) > 0 && len(p.Writing) < min(leastWriting, len(s.writing))
}

// hidesWriting says that a text is being written of which the tail shows nothing yet. Nobody tells
// of it again while it stands still.
func (s *situation) hidesWriting() bool {
	t := s.doc.Tail
	return (t == nil || !t.Writing) && len(s.withRegion(s.page()).Writing) > 0
}

// planEndTail takes the live region from the tail: it goes on in the next message.
func (s *situation) planEndTail() plannedCall {
	t := *s.doc.Tail
	st := s.planEdit(t, s.pageOf(t).plus(s.log.between(t.From, t.To)))
	st.more = true
	return st
}

// unfinished is what a page that shows nothing says of the text that was being written in its message;
// "": it shows something.
func (s *situation) unfinished(m Message, p Page) string {
	switch {
	case m.From != m.To || len(p.Pieces) > 0 || p.live():
		return ""
	case s.interruptedAt(m) && (s.session.State == sessions.StateWorking || len(s.writing) > 0 || slices.ContainsFunc(s.log.between(m.To, s.doc.Shown), Piece.isPrinted)):
		return goesOn
	default:
		return neverCame
	}
}

// isPrinted says that the session has printed the piece.
func (p Piece) isPrinted() bool {
	return !p.blank() && p.Line.Kind != sessions.KindUser && p.Line.Kind != sessions.KindNotice
}

// planWriting begins a message with a text that's being written. Its lines take the text's
// place when they're there.
func (s *situation) planWriting() plannedCall {
	p := s.withRegion(s.page())
	m := s.message(p, s.start())
	m.Hash = s.hash(p)
	return s.completePlan(Op{Kind: KindSend, Page: p}, Intent{Kind: KindSend, Message: m, Shown: m.To}, false)
}

// writes says whether the tail shows text that's to be replaced by the lines that are
// pending: before anything else, so that nobody sees them twice.
func (s *situation) writes() bool {
	t := s.doc.Tail
	return t != nil && t.Writing && !s.interrupted() && !s.page().Cut && !allBlank(s.settling(s.pending()))
}

// settling is what of pieces may come without a ring. A session's last line rings.
func (s *situation) settling(pieces []Piece) []Piece {
	if pieces = withoutBlankEnd(pieces); s.hasEnded() && !s.announcesEnd() && len(pieces) > 0 {
		return pieces[:len(pieces)-1]
	}
	return pieces
}

// planSettled edits the tail to show as many of the pending lines as fit in place of the text
// that was being written.
func (s *situation) planSettled() plannedCall {
	t := s.doc.Tail
	pieces := s.settling(s.log.between(t.From, Position{Line: s.limit() + 1}))
	p := s.shape.fill(s.pageOf(*t), pieces)
	if s.message(p, t.From).To.Before(t.To) { // it goes on with a block that's shown in part
		p = s.shape.fillUp(s.pageOf(*t), pieces)
	}
	m := s.message(p, t.From)
	m.ID, m.Hash, m.Sealed = t.ID, s.hash(p), m.To.Byte > 0
	more := s.announcesEnd() || s.hasEnded() || !s.hasAll() || !allBlank(remainingPieces(pieces, p))
	return s.completePlan(Op{Kind: KindEdit, Message: t.ID, Page: p}, Intent{Kind: KindEdit, Message: m, Shown: m.To}, more)
}

// region is what a session's live region shows that's worth showing.
type region struct {
	rows []string // of its screen
	// known says that the program is, and that what's below says more than rows do.
	known   bool
	writing []string // rows of text that's being written; its lines aren't in the log yet
	status  string   // what the program is doing
}

// showing says whether there's anything to see of it below a stream.
func (r region) showing() bool {
	if r.known {
		return len(r.writing) > 0 || r.status != ""
	}
	return len(r.rows) > 0
}

// alonePage is a page that shows nothing else.
func (r region) alonePage() Page {
	if r.known {
		return Page{Writing: r.writing, Status: r.status}
	}
	return Page{Live: r.rows}
}

func regionOf(l *sessions.Live) region {
	if l == nil {
		return region{}
	}
	return region{rows: trimmedRows(l.Rows), known: l.Known, writing: trimmedRows(l.Writing), status: strings.TrimSpace(l.Status)}
}

// trimmedRows are rows without empty ones at both ends.
func trimmedRows(rows []string) []string {
	for len(rows) > 0 && strings.TrimSpace(rows[0]) == "" {
		rows = rows[1:]
	}
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// region is that of a session whose log ends with line head. While it's older than the
// log, what it shows of a text that's being written may be in the log already, and isn't
// part of it.
func (d *Deliverer) region(ctx context.Context, id sessions.ID, head int64) (region, error) {
	old := d.opt.Heard != nil && d.opt.Heard(id) < head // asked first: the region is as new as that, or newer
	r := regionOf(d.opt.Screens.Live(id))
	if old {
		r.writing = nil
	}
	if d.mask == nil {
		return r, nil
	}
	return d.mask.maskedRegion(ctx, id, head, r)
}

// liveChange is how a live region changed.
type liveChange uint8

const (
	unchanged liveChange = iota
	moved                // it looks as before below a stream: of a known program something else changed
	redrawn              // it looks otherwise
	written              // it has other text that will be lines
)

// glimpse is what's kept of a live region, to see how it changes.
type glimpse struct {
	known           bool
	writing, status string
}

// takeLive takes in a live region.
func (w *watched) takeLive(l *sessions.Live) liveChange {
	if l == nil {
		return unchanged
	}
	now, was := &glimpse{l.Known, strings.Join(l.Writing, "\n"), l.Status}, glimpse{}
	if p := w.seen.Swap(now); p != nil {
		was = *p
	}
	switch {
	case now.known && now.writing != "" && now.writing != was.writing:
		return written
	case !now.known || *now != was:
		return redrawn
	default:
		return moved
	}
}
