package adapters

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Document is how far a binding's target is. It holds no text: what a message
// shows is rendered from the output log, from the places kept here.
type Document struct {
	// Shown is the place before which everything is in the chat.
	Shown Position `json:"shown"`
	// Turn is the number of the newest turn whose end the chat was told of, and
	// Announced the line at which it ended.
	Turn      int64 `json:"turn,omitempty"`
	Announced int64 `json:"announced,omitempty"`
	// Chat and Thread are where the platform has the target now, if that's not what
	// the binding says: the chat has migrated, the thread was made for the document.
	Chat   string `json:"chat,omitempty"`
	Thread string `json:"thread,omitempty"`
	// Title is what Thread is called; "": not known.
	Title string `json:"title,omitempty"`
	// Proven says that a message was accepted in Thread.
	Proven bool `json:"proven,omitempty"`
	// Closed says that Thread was closed, because the session has ended.
	Closed bool `json:"closed,omitempty"`
	// Lost is about threads that were made for the document and couldn't be written to; nil:
	// there were none.
	Lost *Lost `json:"lost,omitempty"`
	// Withheld is about the message that the platform refused last for what it's to show; nil:
	// it has taken one since.
	Withheld *Withheld `json:"withheld,omitempty"`

	// Tail is the newest message, if more lines may be added to it, or if it shows
	// the screen.
	Tail *Message `json:"tail,omitempty"`
	// Stale is a message before Tail that still shows a live region of its time.
	// There's never one while Tail shows a live region too.
	Stale *Message `json:"stale,omitempty"`
	// Doubt is how far the chat might be, because of calls that weren't answered.
	Doubt Doubt `json:"doubt,omitzero"`
	// Intent is the call that's being made, or was made and not answered.
	Intent *Intent `json:"intent,omitempty"`
}

// Message is a message in the chat and what it shows.
type Message struct {
	ID   string `json:"id"`
	View View   `json:"view"`
	// Work is how much of the session's work it shows. At is when it was made or changed last, where that's
	// not all.
	Work    WorkShown `json:"work,omitzero"`
	At      time.Time `json:"at,omitzero"`
	From    Position  `json:"from"`             // its text begins here
	To      Position  `json:"to"`               // and ends here
	Astray  string    `json:"astray,omitempty"` // see Page.Astray
	Double  bool      `json:"double,omitempty"`
	Cut     bool      `json:"cut,omitempty"`
	Dropped int64     `json:"dropped,omitempty"` // see Page.Dropped
	// Withheld takes the place of its lines; see Page.Withheld.
	Withheld string `json:"withheld,omitempty"`
	Live     bool   `json:"live,omitempty"`    // it shows a live region below its lines
	Writing  bool   `json:"writing,omitempty"` // of which a part is text that will be lines
	Sealed   bool   `json:"sealed,omitempty"`  // nothing may be added to it
	Hash     string `json:"hash,omitempty"`    // of what it looks like; "": not known
}

// page is a page that begins as the message does.
func (m Message) page() Page {
	return Page{Astray: m.Astray, Double: m.Double, Cut: m.Cut, Dropped: m.Dropped}
}

// Doubt says what unanswered calls may have shown: everything before To, the end
// of turn Turn, the screen or the live region.
type Doubt struct {
	To     Position `json:"to,omitzero"`
	Turn   int64    `json:"turn,omitempty"`
	Screen bool     `json:"screen,omitempty"`
}

// Intent is a call as it was announced before it was made.
type Intent struct {
	Kind OpKind `json:"kind"`
	// Nonce is the same when the same send is made again.
	Nonce string    `json:"nonce,omitempty"`
	At    time.Time `json:"at"`
	// Message is the message as the call leaves it, without the ID of a new one.
	Message Message `json:"message"`
	// Ring says that the call rings, unless it's quiet there.
	Ring bool `json:"ring,omitempty"`
	// Shown, Turn and Announced are the document's after the call.
	Shown     Position `json:"shown"`
	Turn      int64    `json:"turn,omitempty"`
	Announced int64    `json:"announced,omitempty"`
}

// NewDocument is the document of a binding that begins behind a line of its
// session. Turns that have ended by then aren't announced any more.
func NewDocument(line int64, p LogProgress) Document {
	d := Document{Shown: Position{Line: line + 1}, Turn: p.Turn, Announced: p.TurnEnd}
	if p.TurnEnd > line {
		d.Turn, d.Announced = p.Turn-1, 0
	}
	return d
}

// Delivered is the number of the last line that's in the chat.
func (d Document) Delivered() int64 { return d.Shown.Line - 1 }

// target is where a binding's calls go.
func (d Document) target(b Binding) Target {
	t := b.Target
	if d.Chat != "" {
		t.Chat = d.Chat
	}
	if d.Thread != "" {
		t.Thread = d.Thread
	}
	return t
}

// afterIntent is the document when the call of an intent was accepted. id is that of the
// new message or thread.
func (d Document) afterIntent(in Intent, id string, existed bool) Document {
	d.Intent = nil
	d.Shown = laterPosition(d.Shown, in.Shown)
	d.Turn, d.Announced = max(d.Turn, in.Turn), max(d.Announced, in.Announced)
	m := in.Message
	if in.Kind == KindSend || in.Kind == KindFile {
		m.ID = id
	}
	if existed {
		m.Hash = "" // it shows what it was first sent with
	}
	if m.Work.foldsTools() {
		m.At = in.At
	}
	switch {
	case in.Kind == KindThread:
		d.Thread, d.Closed, d.Proven = id, false, false
		if d.Lost != nil { // what was said until now stands elsewhere
			d.Tail, d.Stale = nil, nil
		}
	case in.Kind == KindClose:
		d.Closed = true
	case in.Kind == KindEdit && d.Stale != nil && d.Stale.ID == m.ID:
		d.Stale = nil
	default:
		if in.Kind != KindEdit {
			d = d.leaveTail()
			d.Withheld = nil
			d.Proven = d.Thread != ""
		}
		if d.Tail = nil; m.ID != "" && (!m.Sealed || m.View == ViewScreen) {
			d.Tail = &m
		}
		d.Doubt.Screen = false
	}
	d.Doubt = d.Doubt.settled(d)
	return d
}

// leaveTail ends the tail: nothing is added to it any more.
func (d Document) leaveTail() Document {
	if d.Tail != nil && d.Tail.Live && d.Tail.View != ViewScreen {
		d.Stale = d.Tail
	}
	d.Tail = nil
	return d
}

// unresolved is the document when a call that wasn't answered can't be made again
// as it was: whatever it may have shown is in doubt.
func (d Document) unresolved() Document {
	in := d.Intent
	d.Intent = nil
	if in == nil || in.Kind.aboutThread() {
		return d
	}
	if in.Kind == KindEdit {
		d = d.withoutMessage(in.Message.ID)
	}
	d.Doubt = Doubt{
		To: laterPosition(d.Doubt.To, in.Shown), Turn: max(d.Doubt.Turn, in.Turn),
		Screen: d.Doubt.Screen || in.Kind == KindSend && (in.Message.View == ViewScreen || in.Message.Live),
	}.settled(d)
	return d
}

// movedTo is the document when its chat has another id. The messages there have other numbers,
// or are others': none of those that are known may be edited.
func (d Document) movedTo(chat string) Document {
	d = d.unresolved()
	d.Chat, d.Tail, d.Stale = chat, nil, nil
	return d
}

// withoutMessage forgets a message that can't be edited any more.
func (d Document) withoutMessage(id string) Document {
	if d.Tail != nil && d.Tail.ID == id {
		d.Tail = nil
	}
	if d.Stale != nil && d.Stale.ID == id {
		d.Stale = nil
	}
	return d
}

// showsLive says whether a message shows a live region, which may be out of date.
func (d Document) showsLive() bool { return d.Stale != nil || d.Tail != nil && d.Tail.Live }

// doubtful says whether something may be in the chat that Shown and Turn don't
// count.
func (d Document) doubtful() bool { return d.Doubt != (Doubt{}) }

// settled drops doubts that a document has caught up with.
func (u Doubt) settled(d Document) Doubt {
	if !d.Shown.Before(u.To) {
		u.To = Position{}
	}
	if d.Turn >= u.Turn {
		u.Turn = 0
	}
	return u
}

// Position is a place in a session's output log: right before byte Byte of the text
// of line Line. Line numbers count from 1.
type Position struct {
	Line int64 `json:"line"`
	Byte int   `json:"byte,omitempty"`
}

// Before says whether p stands before o.
func (p Position) Before(o Position) bool { return p.compare(o) < 0 }

func (p Position) compare(o Position) int {
	return cmp.Or(cmp.Compare(p.Line, o.Line), cmp.Compare(p.Byte, o.Byte))
}

func laterPosition(a, b Position) Position {
	if a.Before(b) {
		return b
	}
	return a
}

// settleCall works out what a reply means for the document, and what the scheduler is
// told. sent is the message that was sent or changed.
func settleCall(s situation, st plannedCall, r Reply) (after Document, sent *Message, _ qos.CallResult) {
	in := *st.before.Intent
	result := r.result()
	switch {
	case r.Outcome == qos.Delivered:
		after = st.before.afterIntent(in, r.ID, r.Existed)
		if in.Kind == KindThread {
			after.Title = st.op.Text
		}
		return after, messageSent(in, r), s.resultOf(result, after, st.more)
	case r.Outcome == qos.Migrated:
		return s.doc.movedTo(r.Chat), nil, result
	case r.Outcome == qos.Rejected && r.Missing == MissingMessage && in.Kind == KindEdit:
		// What the message shows stays, and the rest goes into the next. If this was
		// a second try, the first one may have been done before.
		if s.doc.Intent != nil {
			after = s.doc.unresolved()
		} else {
			after = st.before.withoutMessage(in.Message.ID)
			after.Intent = nil
		}
		result.Outcome, result.Err = qos.Delivered, nil
		return after, nil, s.resultOf(result, after, true)
	case s.refuses(st, r):
		after, result = s.settleContent(st, r, result)
		return after, nil, result
	case r.Outcome == qos.Rejected && in.Kind == KindThread && !s.shape.OnlyThreads:
		after = s.doc.unresolved().losesThread(s.shape, s.now, r.Err)
		after.Lost.Unmade, after.Lost.Again = true, s.now.Add(min(firstTry<<min(2*(after.Lost.Times-1), 10), lastTry))
		after.Lost.Again = laterTime(after.Lost.Again, s.unwritableUntil)
		result.Outcome, result.Err = qos.Delivered, nil
		return after, nil, s.resultOf(result, after, true)
	case r.Outcome == qos.Rejected && r.Missing == MissingThread && st.before.Thread != "":
		return s.settleLost(st, r, result)
	case r.Outcome == qos.Uncertain || r.Outcome == qos.OutcomeUnknown:
		result.Outcome = qos.Uncertain
		return st.before, nil, result
	case r.Outcome == qos.Unchanged:
		result.Outcome = qos.NotSent // it would count as delivered
		return s.doc, nil, result
	default:
		return s.doc, nil, result // surely not done: all is as it was before
	}
}

// settleLost takes in that a document's thread can't be written to. A message that was made
// all the same, outside of it, counts if that's where the rest is shown.
func (s *situation) settleLost(st plannedCall, r Reply, result qos.CallResult) (after Document, sent *Message, _ qos.CallResult) {
	after = s.doc.unresolved() // a call before may have been done: who says that the thread is gone may be wrong
	after = after.losesThread(s.shape, s.now, r.Err)
	if !s.shape.OnlyThreads && s.now.Before(s.unwritableUntil) { // so is another's in the chat
		after.Lost.Again = laterTime(after.Lost.Again, s.unwritableUntil)
	}
	in := *st.before.Intent
	switch {
	case s.shape.OnlyThreads && !after.Lost.Again.IsZero():
		result.Err = fmt.Errorf("its %ss can't be written to: %w", s.shape.Threads, r.Err)
		return after, nil, result
	case r.ID == "" || in.Kind != KindSend && in.Kind != KindFile:
	case after.isAstray(s.shape, s.now):
		lost := after.Lost
		after = st.before.afterIntent(in, r.ID, false).losesThread(s.shape, s.now, r.Err)
		after.Lost = lost
		sent = messageSent(in, r)
	default: // it's shown again in the next one
		after.Doubt = st.before.unresolved().Doubt
	}
	result.Outcome, result.Err = qos.Delivered, nil
	return after, sent, s.resultOf(result, after, true)
}

// resultOf fills in the numbers that the scheduler goes by.
func (s *situation) resultOf(r qos.CallResult, after Document, more bool) qos.CallResult {
	t := *s
	t.doc, t.waiting = after, nil
	r.Delivered = after.Delivered()
	if s.binding.View == ViewScreen || t.log.all && !t.page().Cut && allBlank(t.log.between(after.Shown, Position{Line: s.progress.Head + 1})) {
		r.Delivered = max(r.Delivered, s.progress.Head)
	}
	if !t.announcesEnd() {
		r.Final = max(s.call.Final, after.Announced)
	}
	r.More = more || after.Shown.Byte > 0 || t.leavesThread() || t.hidesWriting()
	return r
}

func messageSent(in Intent, r Reply) *Message {
	m := in.Message
	switch {
	case in.Kind.aboutThread():
		return nil
	case in.Kind == KindEdit:
		return &m
	case r.ID == "":
		return nil
	default:
		m.ID = r.ID
		return &m
	}
}

// Withheld is about a message that the platform refused for what it's to show. It's made in
// other forms, one after the other, until one is taken: then it's forgotten.
type Withheld struct {
	Form WithheldForm `json:"form"`
	Why  string       `json:"why,omitempty"` // what the platform said, as a sentence
}

// WithheldForm is how what was refused is shown.
type WithheldForm string

// The forms, in the order in which they're tried.
const (
	FormLines  WithheldForm = "lines"  // its lines alone, and their end without words: no screen, no text that's being written
	FormFile   WithheldForm = "file"   // its lines as a file
	FormNotice WithheldForm = "notice" // how many lines it had
)

// settleContent takes in that the platform refused what a message was to show. What an edited
// message shows stays, and the rest goes into the next.
func (s *situation) settleContent(st plannedCall, r Reply, result qos.CallResult) (after Document, _ qos.CallResult) {
	in := *st.before.Intent
	if s.doc.Intent != nil { // the first try may have been done
		after = s.doc.unresolved()
	} else {
		after = st.before
		after.Intent = nil
	}
	if in.Kind == KindEdit {
		after = after.withoutMessage(in.Message.ID)
	} else {
		after.Withheld = &Withheld{Form: s.nextForm(*st.op, in)}
		if r.Err != nil {
			after.Withheld.Why = r.Err.Error()
		}
	}
	result.Outcome, result.Err = qos.Delivered, nil
	return after, s.resultOf(result, after, true)
}

// nextForm is the form to be tried when the call of an intent was refused. It may be what stood
// beside a file that was.
func (s *situation) nextForm(op Op, in Intent) WithheldForm {
	p := op.Page
	switch {
	case in.Kind == KindFile && s.doc.Withheld == nil && (len(p.Pieces) > 0 || p.Ending != nil && (p.Ending.Words != "" || len(p.Ending.Begun) > 0)):
		return FormFile
	case in.Message.Writing, in.Message.From == in.Message.To && (s.words != "" || len(s.begun) > 0) && s.doc.Withheld == nil:
		return FormLines
	case in.Kind == KindFile || s.shape.MaxFile < minFile || in.Message.From == in.Message.To:
		return FormNotice
	default:
		return FormFile
	}
}

// refuses reports whether a reply is about what a call was to show, so that another form may be
// taken.
func (s *situation) refuses(st plannedCall, r Reply) bool {
	in := st.before.Intent
	return r.Outcome == qos.Rejected && r.Content && r.Missing == NothingMissing && !in.Kind.aboutThread() &&
		in.Message.View != ViewScreen && in.Message.Withheld == ""
}

// withheld says in which form the next message goes; "": as it is.
func (s *situation) withheld() WithheldForm {
	if s.doc.Withheld == nil || s.binding.View == ViewScreen {
		return ""
	}
	return s.doc.Withheld.Form
}

// planNotice stands in place of the lines that a message would have shown.
func (s *situation) planNotice() plannedCall {
	pending := s.pending()
	shown := s.shape.fill(s.page(), pending)
	left := remainingPieces(pending, shown)
	complete := s.hasAll() && allBlank(left)
	m := s.message(shown, s.start())
	lines := m.To.Line - m.From.Line
	if m.To.Byte > 0 {
		lines++
	}
	p := Page{Astray: shown.Astray, Withheld: withheldText(lines, s.doc.Withheld.Why)}
	m.Withheld, m.Sealed, m.Double, m.Hash = p.Withheld, true, false, s.hash(p)
	in := Intent{Kind: KindSend, Message: m, Shown: m.To, Ring: complete && (s.announcesEnd() || s.hasEnded())}
	return s.completePlan(Op{Kind: KindSend, Page: p}, s.announcing(in), !complete)
}

// withheldText is a notice in place of lines.
func withheldText(lines int64, why string) string {
	what := "an answer’s end isn't"
	switch {
	case lines == 1:
		what = "1 line isn't"
	case lines > 1:
		what = fmt.Sprintf("%d lines aren't", lines)
	}
	return "[" + what + " shown, since it's refused here: " + Shorten(why, maxReason) + "]"
}

// randomHex returns n random bytes as hexadecimal digits.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // documented never to fail
	return hex.EncodeToString(b)
}
