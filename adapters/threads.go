package adapters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Lost is what's known of the threads made for a document that couldn't be written to. What's
// lost once is made anew at once. When the new one can't be written to either, or is lost
// soon after, everything's shown in the chat itself, and a thread is tried again seldom.
type Lost struct {
	At    time.Time `json:"at"`             // when the last one was lost
	Times int       `json:"times"`          // how many were, each soon after the one before
	Again time.Time `json:"again,omitzero"` // no thread is made before; zero: one may be made
	Why   string    `json:"why,omitempty"`  // what the platform said, as a sentence
	// Unmade says that none could be made.
	Unmade bool `json:"unmade,omitempty"`
	// Nowhere says that the chat takes nothing beside its threads: nothing is shown meanwhile.
	Nowhere bool `json:"nowhere,omitempty"`
}

const (
	// soonLost is how long a thread must have been in use to count as a good one.
	soonLost = 10 * time.Minute
	// firstTry is how long after threads couldn't be written to another one is tried, and
	// lastTry the longest that grows to, twice as long each time; four times where none can be
	// made: mostly a person has to change that, which the platform tells.
	firstTry = 10 * time.Minute
	lastTry  = 6 * time.Hour
)

// losesThread is the document when its thread can't be written to.
func (d Document) losesThread(shape Shape, now time.Time, why error) Document {
	l := Lost{At: now, Times: 1, Nowhere: shape.OnlyThreads}
	if why != nil {
		l.Why = reasonOf(why)
	}
	if was := d.Lost; was != nil && (was.Unmade && d.Thread == "" || now.Before(laterTime(was.At, was.Again).Add(soonLost))) {
		l.Times = was.Times + 1
	}
	if !d.Proven || l.Times > 1 {
		l.Again = now.Add(min(firstTry<<min(l.Times-1, 10), lastTry))
	}
	d.Thread, d.Title, d.Proven, d.Tail, d.Stale, d.Lost = "", "", false, nil, nil, &l
	return d
}

// forgetLost is the document when it may get a thread again, if it has lost its own in a certain way.
func (d Document) forgetLost(which func(l Lost) bool) Document {
	if d.Lost != nil && which(*d.Lost) && d.Thread == "" && !d.Lost.Nowhere {
		d.Lost = nil
	}
	return d
}

func (l Lost) isUnmade() bool { return l.Unmade }

// reasonOf is what an error says of why, without what wasn't done, where an adapter's error knows it.
func reasonOf(err error) string {
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		return r.Reason()
	}
	return err.Error()
}

// trouble is what's wrong with a thread.
func (l *Lost) trouble() string {
	if l.Unmade {
		return "can't be made"
	}
	return "can't be written to"
}

// earlierTime is the earlier of two times, of which a zero one is none.
func earlierTime(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// isAstray says that the document has no thread of its own because none can be written to:
// it's shown in the chat itself, if anything can.
func (d Document) isAstray(shape Shape, now time.Time) bool {
	return shape.OwnThread && d.Thread == "" && d.Lost != nil && !d.Lost.Nowhere && now.Before(d.Lost.Again)
}

func (s *situation) isAstray() bool { return s.doc.isAstray(s.shape, s.now) }

// placeProblem says what's wrong with where a document is shown, as a sentence; "": nothing is.
func (d Document) placeProblem(shape Shape, now time.Time) string {
	if !shape.OwnThread || d.Thread != "" || d.Lost == nil || d.Lost.Nowhere || d.Lost.Again.IsZero() {
		return ""
	}
	when := "with its next output"
	if d.isAstray(shape, now) {
		when = "at " + d.Lost.Again.Format(time.TimeOnly)
	}
	return fmt.Sprintf("its %s %s (%s), so it's shown in the chat itself; another is tried %s", shape.Threads, d.Lost.trouble(), d.Lost.Why, when)
}

// astrayText is the notice at the top of a message that's shown in the chat itself in place
// of a thread; "": it belongs there.
func (s *situation) astrayText() string {
	switch form := s.withheld(); {
	case !s.isAstray():
		return ""
	case form == FormFile || form == FormNotice: // its name may be what's refused
		return "[a session's " + s.shape.Threads + " " + s.doc.Lost.trouble() + ", so it's shown here]"
	}
	return s.astrayName()
}

// astrayName is the notice with the session's name.
func (s *situation) astrayName() string {
	return "[" + threadTitle(s.session) + ": its " + s.shape.Threads + " " + s.doc.Lost.trouble() + ", so it's shown here]"
}

// unwritable is what's known of the chats in which no thread can be written to: what a document has
// learned holds for all of its chat's. Deliverer.mu guards it.
type unwritable map[string]*unwritableChat

// unwritableChat is a chat in which threads can't be written to.
type unwritableChat struct {
	lost  Lost      // as the document has it that learned it last
	trial BindingID // the one that tries another thread for all; "": none does
	// named says that a message was accepted in another thread since, and its answer named that: so
	// does what tells of what people write.
	named bool
}

// learnLost takes in what became of a document's thread, and reports whether the chat's can be written
// to again.
func (c unwritable) learnLost(id BindingID, chat string, before, after Document) (again bool) {
	known := c[chat]
	lost := after.Lost != nil && (before.Lost == nil || !before.Lost.At.Equal(after.Lost.At))
	if lost && known != nil {
		known.named = false
	}
	switch {
	case after.Proven && !before.Proven:
		delete(c, chat)
		return known != nil
	case !lost || after.Lost.Nowhere || after.Lost.Again.IsZero():
	case known == nil || known.trial == id || known.lost.Again.Before(after.Lost.Again):
		c[chat] = &unwritableChat{lost: *after.Lost}
	}
	return false
}

// withUnwritable is a document with what's known of its chat: while none can be written to there, it
// gets no thread either, and one document tries for all when the time has come.
func (c unwritable) withUnwritable(id BindingID, chat string, doc Document, now time.Time) Document {
	known := c[chat]
	if known == nil || doc.Thread != "" {
		return doc
	}
	if !now.Before(known.lost.Again) {
		known.trial = id
		known.lost.Again = now.Add(min(firstTry<<min(known.lost.Times-1, 10), lastTry))
	}
	lost := known.lost
	if known.trial == id {
		lost.Again = now
	}
	doc.Lost = &lost
	return doc
}

// noteNamed takes in that a message was accepted in a chat's thread, and that the answer named it.
func (c unwritable) noteNamed(chat string) {
	if known := c[chat]; known != nil {
		known.named = true
	}
}

// isUnnamed says that nobody knows whether it's told in which of a chat's threads people write: some
// couldn't be written to, and nothing has shown since that they're named.
func (c unwritable) isUnnamed(chat string) bool {
	known := c[chat]
	return known != nil && !known.named
}

// lostUntil is when threads of a chat are tried again; zero: they can be written to, as far as is
// known.
func (c unwritable) lostUntil(chat string) time.Time {
	if known := c[chat]; known != nil {
		return known.lost.Again
	}
	return time.Time{}
}

// threadTitle is what a session's thread is called.
func threadTitle(s sessions.Session) string {
	return Shorten(strings.Join(strings.Fields(s.Name), " "), maxTitle)
}

// maxTitle is what both Telegram (128) and Discord (100) take, in characters.
const maxTitle = 100

// renameSession takes in that a session has another name: other rules may match it, and the
// threads that were made for it get another title.
func (h *Hub) renameSession(ctx context.Context, s sessions.Session) error {
	h.life.Lock()
	defer h.life.Unlock()
	if err := h.applyRules(ctx, s, -1); err != nil {
		return err
	}
	for _, b := range h.bindingsOf(s.ID) {
		if b.open {
			h.retitleThread(b)
		}
	}
	return nil
}

// retitleThread queues a new title for a binding's thread if that was made for it. Titles are scarce
// calls (Discord takes two in ten minutes): several changes become one, since what
// the title is to be is looked up when the slot comes.
func (h *Hub) retitleThread(b *hubBinding) {
	o := b.outlet
	if !o.adapter.Shape(b.Target).OwnThread {
		return
	}
	doc, _ := o.deliverer.Document(b.ID)
	err := o.scheduler.PostRequest(qos.Request{
		Chat: o.adapter.Chat(doc.target(b.Binding)), Key: renameSlot + string(b.ID), Class: qos.Stream, Family: qos.FamilyRename,
		Session: qos.SessionKey(b.Session),
	})
	if err != nil {
		h.log.Info("a thread keeps its title until the next start", "session", b.Session, "target", b.Target.String(), "err", err)
	}
}

// deliverRename gives a document's thread the title that it should have.
func (d *Deliverer) deliverRename(ctx context.Context, id BindingID) qos.CallResult {
	o, b, doc, _, refused := d.beginCall(id.Doc())
	if o == nil {
		return refused
	}
	after, result := d.renameThread(ctx, b, doc)
	d.mu.Lock()
	defer d.mu.Unlock()
	o.doc, o.busy = after, false
	return result
}

func (d *Deliverer) renameThread(ctx context.Context, b Binding, doc Document) (Document, qos.CallResult) {
	s, err := d.opt.Sessions.Get(string(b.Session))
	if err != nil {
		return doc, qos.CallResult{Outcome: qos.Rejected, Err: fmt.Errorf("rename the thread of %s: %w", b.Session, err)}
	}
	title := threadTitle(d.maskedSession(s))
	if doc.Thread == "" || doc.Title == "" || doc.Title == title {
		return doc, qos.CallResult{Outcome: qos.Unchanged}
	}
	t := doc.target(b)
	result := d.resultAt(t, d.opt.Adapter.Call(ctx, Op{Kind: KindRename, Target: t, Text: title}))
	switch result.Outcome {
	case qos.Delivered:
		doc.Title = title
		d.keepDocument(ctx, b, doc, nil)
	case qos.Rejected:
		d.opt.Logger.WarnContext(ctx, "a thread keeps its title", "session", b.Session, "target", t.String(), "err", result.Err)
	default: // it's made again, or nothing is to be done
	}
	return doc, result
}
