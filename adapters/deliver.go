package adapters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// keepFor is how long keeping what came of a call may take; its own deadline may
// have passed.
const keepFor = 5 * time.Second

// Deliverer makes the calls of one adapter's documents. For each slot it looks at
// the log, plans one call, keeps the intent, has the adapter make the call, and
// keeps what came of it. It owns the documents while they're open.
//
// It's safe for concurrent use.
type Deliverer struct {
	opt  DelivererOptions
	mask *maskedLog // it's opt.Log, too; nil: nothing is masked

	mu         sync.Mutex
	open       map[qos.DocID]*openDoc
	unwritable unwritable
}

// DelivererOptions are a Deliverer's parts.
type DelivererOptions struct {
	Adapter  Adapter
	Outbox   *Outbox // nil: the adapter can't post
	Store    Store
	Log      Log
	Sessions Sessions
	Screens  Screens // nil: live regions aren't shown
	// Heard returns the number of a session's newest line that was told of no later than
	// its live region. It returns at once. Nil: all were.
	Heard func(id sessions.ID) int64
	// Masker is HubOptions.Masker.
	Masker *redact.Masker
	// Inbound returns the inbound half as it is now. Nil: there's none.
	Inbound func() Inbound
	// EndsTurn is HubOptions.EndsTurn.
	EndsTurn func(line string) bool
	// RingAfter is Settings.RingAfter. Nil: 0.
	RingAfter func() time.Duration
	// Moved is told that a chat has another id, as the platform has said instead of taking a call.
	// It returns at once. Nil: nobody is told.
	Moved func(from, to string)
	// Nonce returns a fresh Op.Nonce. Nil: a random one.
	Nonce func() string
	// Panicked is told that a call panicked. It must not block. Nil: nobody is told.
	Panicked func()
	Logger   *slog.Logger
}

// openDoc is an open document. Its fields belong to the Deliverer's mutex.
type openDoc struct {
	binding Binding
	doc     Document
	busy    bool // a call is under way, and doc changes when it ends
	panics  int  // of its calls, in succession
	failing failingSince
	left    string // id of the message to which nothing is added any more; see EndTailAt
	leave   bool   // that of the call that's under way or in doubt, too
	moved   string // the chat's id since the call that's under way began; "": it has its own
}

// failingSince is since when the calls for a document or a post fail, and why the last one did; zero:
// they don't.
type failingSince struct {
	since time.Time
	why   error
}

// afterResult is what a call's result makes of it.
func (f failingSince) afterResult(r qos.CallResult, now time.Time) failingSince {
	switch r.Outcome {
	case qos.NotSent, qos.Failed, qos.Uncertain, qos.Throttled:
		if f.since.IsZero() {
			f.since = now
		}
		f.why = r.Err
		return f
	case qos.Unchanged:
		return f
	default:
		return failingSince{}
	}
}

// reason is what there's to say about it; "": nothing yet.
func (f failingSince) reason(now time.Time) string {
	if f.since.IsZero() || now.Sub(f.since) < failsFor {
		return ""
	}
	return fmt.Sprintf("its calls fail since %s: %v", f.since.Format(time.TimeOnly), f.why)
}

// failsFor is how long calls must have failed until it's said: what passes by itself is none
// of anybody's business.
const failsFor = 10 * time.Second

// Failing says why an open document's calls have failed for ten seconds or longer; "": they
// haven't.
func (d *Deliverer) Failing(id BindingID) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.open[id.Doc()]; o != nil {
		return o.failing.reason(time.Now())
	}
	return ""
}

// NewDeliverer returns a Deliverer without documents.
func NewDeliverer(opt DelivererOptions) *Deliverer {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Inbound == nil {
		opt.Inbound = func() Inbound { return noInbound{} }
	}
	if opt.RingAfter == nil {
		opt.RingAfter = func() time.Duration { return 0 }
	}
	if opt.Moved == nil {
		opt.Moved = func(string, string) {}
	}
	if opt.Panicked == nil {
		opt.Panicked = func() {}
	}
	if opt.Nonce == nil {
		opt.Nonce = func() string { return randomHex(8) }
	}
	d := &Deliverer{opt: opt, open: map[qos.DocID]*openDoc{}, unwritable: unwritable{}}
	if opt.Masker != nil {
		d.mask = &maskedLog{Log: opt.Log, masker: opt.Masker}
		d.opt.Log = d.mask
	}
	return d
}

// Open makes a binding's document known, and replaces what was known of it. What stands below
// its newest message isn't: nothing is added to that any more.
func (d *Deliverer) Open(b Binding, doc Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := &openDoc{binding: b, doc: doc}
	o.leaveTail()
	d.open[b.ID.Doc()] = o
	if doc.Lost != nil && time.Now().Before(doc.Lost.Again) {
		d.unwritable.learnLost(b.ID, doc.target(b).Chat, Document{}, doc)
	}
}

// Rebind changes the binding of an open document: from its next call on.
func (d *Deliverer) Rebind(b Binding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.open[b.ID.Doc()]; o != nil {
		o.binding = b
	}
}

// Close forgets a document. A call under way ends as it will; what comes of it is
// still kept.
func (d *Deliverer) Close(id BindingID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, id.Doc())
}

// Document returns an open document as it is now.
func (d *Deliverer) Document(id BindingID) (Document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.open[id.Doc()]
	if o == nil {
		return Document{}, false
	}
	return o.doc, true
}

// Deliver implements qos.Deliverer. A call that panics is one of which nobody knows
// whether it was made; a document whose calls go on panicking is given up.
func (d *Deliverer) Deliver(ctx context.Context, call qos.Call) (result qos.CallResult) {
	defer func() {
		if r := recover(); r != nil {
			result = d.reportPanic(call, r)
		}
	}()
	if call.Doc == "" {
		return d.deliverRequest(ctx, call)
	}
	return d.deliverDocument(ctx, call)
}

// deliverDocument makes a document's call.
func (d *Deliverer) deliverDocument(ctx context.Context, call qos.Call) (result qos.CallResult) {
	o, b, doc, left, refused := d.beginCall(call.Doc)
	if o == nil {
		return refused
	}
	chat := doc.target(b).Chat
	d.mu.Lock()
	was, until := d.unwritable.withUnwritable(b.ID, chat, doc, time.Now()), d.unwritable.lostUntil(chat)
	d.mu.Unlock()
	after, result := d.planAndCall(ctx, call, b, was, left, until)
	d.mu.Lock()
	moved := o.moved
	o.moved = ""
	d.mu.Unlock()
	if moved != "" && after.target(b).Chat != moved {
		after = after.movedTo(moved)
		d.keepDocument(ctx, b, after, nil)
		result.Chat = limitKeyOf(d.opt.Adapter, b, after)
	}
	d.mu.Lock()
	if d.unwritable.learnLost(b.ID, chat, was, after) {
		d.forgetLost(chat, func(Lost) bool { return true }) // they can be written to
	}
	o.doc, o.busy, o.panics, o.failing = after, false, 0, o.failing.afterResult(result, time.Now())
	if o.leave {
		o.leaveTail()
	}
	d.mu.Unlock()
	if after.Thread != doc.Thread {
		d.opt.Inbound().HandlePlaced(b.Session)
	}
	return result
}

// IsUnnamed says that what's told to be written in a chat itself may have been written in any of its threads: the
// platform may leave out in which, and nobody knows whether it does.
func (d *Deliverer) IsUnnamed(place Target) bool {
	if place.Thread != "" || !d.opt.Adapter.Shape(place).HidesThreads {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unwritable.isUnnamed(place.Chat)
}

// RetryThreads lets threads be made again in a chat where making them was refused: what's allowed
// there may have changed. Where threads can be made and can't be written to, it changes nothing: each
// try would leave another.
func (d *Deliverer) RetryThreads(chat string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.unwritable[chat]; known != nil && known.lost.Unmade {
		delete(d.unwritable, chat)
	}
	d.forgetLost(chat, Lost.isUnmade)
}

// forgetLost lets documents of a chat get threads again that have lost theirs in a certain way. mu
// is held.
func (d *Deliverer) forgetLost(chat string, which func(l Lost) bool) {
	for _, o := range d.open {
		if o.doc.target(o.binding).Chat == chat {
			o.doc = o.doc.forgetLost(which)
		}
	}
}

// maxPanics is how many calls of a document may panic in succession until it's given up:
// what it shows is likely to make each of them panic. The same holds for the Hub's tasks.
const maxPanics = 3

// reportPanic says that a call panicked, and what comes of it. What it says has no word
// of a session's: the stack has none, and of the panic only the runtime's own errors are
// kept.
func (d *Deliverer) reportPanic(call qos.Call, r any) qos.CallResult {
	err := sessions.PanicError(r)
	d.opt.Logger.Error("a call panicked", "adapter", d.opt.Adapter.Name(), "doc", call.Doc, "err", err, "stack", string(debug.Stack()))
	d.opt.Panicked()
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.open[call.Doc]; o != nil && call.Doc != "" {
		o.busy = false
		if o.panics++; o.panics >= maxPanics {
			return qos.CallResult{Outcome: qos.Rejected, Err: fmt.Errorf("show the session: %w", err)}
		}
	}
	return qos.CallResult{Outcome: qos.Uncertain, Err: err}
}

func (d *Deliverer) deliverRequest(ctx context.Context, call qos.Call) qos.CallResult {
	if d.opt.Outbox != nil && isPostKey(call.Key) {
		return d.opt.Outbox.deliverPost(ctx, call)
	}
	if result, ok := d.deliverAside(ctx, call); ok {
		return result
	}
	return qos.CallResult{Outcome: qos.Rejected, Err: fmt.Errorf("make request %s: adapter %s makes none", call.Key, d.opt.Adapter.Name())}
}

// errBusy is why a document gets no second call at a time. It can be asked for when
// it has just been moved to another chat.
var errBusy = errors.New("the document's call before is still under way")

// beginCall begins a document's call, or says why there's none.
func (d *Deliverer) beginCall(id qos.DocID) (_ *openDoc, _ Binding, _ Document, left string, refused qos.CallResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.open[id]
	switch {
	case o == nil: // closed in the meantime
		return nil, Binding{}, Document{}, "", qos.CallResult{Outcome: qos.Unchanged}
	case o.busy:
		return nil, Binding{}, Document{}, "", qos.CallResult{Outcome: qos.NotSent, Err: errBusy}
	default:
		o.busy = true
		return o, o.binding, o.doc, o.left, qos.CallResult{}
	}
}

// planAndCall makes a document's call and returns the document after it.
func (d *Deliverer) planAndCall(ctx context.Context, call qos.Call, b Binding, doc Document, left string, unwritableUntil time.Time) (Document, qos.CallResult) {
	s, err := d.gatherSituation(ctx, call, b, doc, left)
	s.unwritableUntil = unwritableUntil
	if errors.Is(err, sessions.ErrUnknown) {
		return doc, qos.CallResult{Outcome: qos.Rejected, Err: fmt.Errorf("render %s: %w", b.Session, err)}
	}
	if err != nil {
		return doc, qos.CallResult{Outcome: qos.NotSent, Err: fmt.Errorf("render %s: %w", b.Session, err)}
	}
	st := planCall(s)
	if st.op == nil {
		return d.passHidden(ctx, s), qos.CallResult{Outcome: qos.Unchanged, Again: earlierTime(s.until, st.until)}
	}
	if err := d.opt.Store.PutDocument(ctx, b.ID, st.before, nil); err != nil {
		return doc, qos.CallResult{Outcome: qos.NotSent, Err: fmt.Errorf("keep the intent to call: %w", err)}
	}
	reply := d.opt.Adapter.Call(ctx, *st.op)
	after, sent, result := settleCall(s, st, reply)
	if k := st.op.Kind; reply.Outcome == qos.Delivered && (k == KindSend || k == KindFile) && st.op.Target.Thread != "" {
		d.mu.Lock()
		d.unwritable.noteNamed(st.op.Target.Chat)
		d.mu.Unlock()
	}
	if key := limitKeyOf(d.opt.Adapter, b, after); key != limitKeyOf(d.opt.Adapter, b, doc) || call.Chat != "" && key != call.Chat {
		result.Chat = key // it's read if the call was delivered, or the chat has migrated
	}
	if after.Intent == st.before.Intent {
		return after, result // nobody knows what came of it, which is what's kept already
	}
	d.keepDocument(ctx, b, after, sent)
	if st.op.Target != after.target(b) {
		d.moveChat(st.op.Target, after.target(b))
	}
	return after, result
}

// passHidden keeps that a document is behind lines that aren't shown: else they'd be read again until one is, and be
// shown if that's asked for meanwhile.
func (d *Deliverer) passHidden(ctx context.Context, s situation) Document {
	if s.doc.Intent != nil || s.binding.View == ViewScreen {
		return s.doc
	}
	to := s.behindHidden(s.doc.Shown)
	if to == s.doc.Shown || s.page().Cut {
		return s.doc
	}
	after := s.doc
	after.Shown = to
	after.Doubt = after.Doubt.settled(after)
	d.keepDocument(ctx, s.binding, after, nil)
	return after
}

// gatherSituation gathers what a plan depends on.
func (d *Deliverer) gatherSituation(ctx context.Context, call qos.Call, b Binding, doc Document, left string) (situation, error) {
	s := situation{
		now: time.Now(), nonce: d.opt.Nonce(), call: call, binding: b, doc: doc, left: left, log: backlog{endsTurn: d.opt.EndsTurn, work: b.Work},
		shape: d.opt.Adapter.Shape(b.Target).withDefaults(),
	}
	s.quiet = d.opt.Inbound().IsQuiet(doc.target(b), b.Session, s.now)
	var err error
	if s.session, err = d.opt.Sessions.Get(string(b.Session)); err != nil {
		return s, err
	}
	if s.progress, err = d.opt.Log.Progress(ctx, b.Session); err != nil {
		return s, err
	}
	if d.opt.Screens != nil && !s.hasEnded() {
		if s.region, err = d.region(ctx, b.Session, s.progress.Head); err != nil {
			return s, err
		}
	}
	if err := d.holdSecrets(ctx, &s); err != nil {
		return s, err
	}
	if s.announcesEnd() {
		s.users = d.opt.Inbound().UsersOf(doc.target(b), s.now)
	}
	if err := s.lookBack(ctx, d.opt.Log, d.opt.RingAfter()); err != nil {
		return s, err
	}
	if b.View == ViewScreen && doc.Intent == nil && doc.Stale == nil && (doc.Tail == nil || doc.Tail.View == ViewScreen) {
		return s, nil // it needs no lines
	}
	if err := s.lookForRest(ctx, d.opt.Log); err != nil || s.rest.is {
		return s, err
	}
	if err := s.loadBacklog(ctx, d.opt.Log); err != nil {
		return s, err
	}
	if linker, ok := d.opt.Adapter.(Linker); ok {
		err = d.linkTurns(ctx, linker, &s)
	}
	return s, err
}

// loadBacklog reads what a message more than those that aren't attached can hold; if
// there's more, what a file can hold.
func (s *situation) loadBacklog(ctx context.Context, log Log) error {
	from, counted := s.doc.Shown.Line, s.doc.Shown.Line-1
	for _, m := range []*Message{s.doc.Tail, s.doc.Stale} {
		if m != nil && s.doc.Shown.Line-m.From.Line <= mostFolded {
			from = min(from, m.From.Line)
		}
	}
	s.log.head, s.log.here = s.progress.Head, s.doc.target(s.binding).String()
	const bytesPerUnit = 3 // at most: a UTF-16 unit's share of UTF-8
	if err := s.log.loadLines(ctx, log, s.binding.Session, from, counted, (fileAfter+1)*bytesPerUnit*s.shape.MaxLen); err != nil {
		return err
	}
	if s.log.all || s.shape.MaxFile < minFile {
		return nil
	}
	return s.log.loadLines(ctx, log, s.binding.Session, from, counted, s.shape.MaxFile)
}

// keepDocument stores a document after its call. If that fails it's kept here, and with the
// next intent: a crash until then makes the call one that wasn't answered.
func (d *Deliverer) keepDocument(ctx context.Context, b Binding, after Document, sent *Message) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepFor)
	defer cancel()
	if err := d.opt.Store.PutDocument(ctx, b.ID, after, sent); err != nil {
		d.opt.Logger.ErrorContext(ctx, "keep what came of a call", "binding", b.ID, "session", b.Session, "err", err)
	}
}

// moveChat takes in that a document's calls go to another place now. If its chat has
// migrated, so have all other documents' of that chat.
func (d *Deliverer) moveChat(was, now Target) {
	if now.Chat == was.Chat {
		return
	}
	d.mu.Lock()
	for _, o := range d.open {
		if o.doc.target(o.binding).Chat == was.Chat {
			o.moveTo(now.Chat)
		}
	}
	d.mu.Unlock()
	d.opt.Moved(was.Chat, now.Chat)
}

// moveTo moves a document to its chat's new id. What a call under way brings is of the chat as
// it was. mu is held.
func (o *openDoc) moveTo(chat string) {
	if o.doc = o.doc.movedTo(chat); o.busy {
		o.moved = chat
	}
}

// FollowChat moves an open document to its chat's new id. It does disk I/O, and returns the document
// as it is then.
func (d *Deliverer) FollowChat(ctx context.Context, id BindingID, chat string) (Document, error) {
	d.mu.Lock()
	o := d.open[id.Doc()]
	if o == nil {
		d.mu.Unlock()
		return Document{}, fmt.Errorf("%w document %s", sessions.ErrUnknown, id)
	}
	if o.doc.target(o.binding).Chat == chat { // the platform said so before
		defer d.mu.Unlock()
		return o.doc, nil
	}
	if o.busy {
		defer d.mu.Unlock()
		o.moveTo(chat)
		return o.doc, nil
	}
	next := o.doc.movedTo(chat)
	o.busy = true
	d.mu.Unlock()
	err := d.opt.Store.PutDocument(ctx, id, next, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	o.busy = false
	if err != nil {
		return Document{}, fmt.Errorf("have the document of %s follow its chat: %w", id, err)
	}
	o.doc = next
	return next, nil
}

// What somebody writes at a place, and what's posted there, ends the message that's open: what
// comes later stands below. A question stands below what led to it.

// EndTailAt says that something else stands below a place's newest message now: nothing is added
// to that any more. A chat stands for all of its threads where it's Unnamed. It returns at once.
func (d *Deliverer) EndTailAt(at Target) {
	unnamed := d.IsUnnamed(at)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.open {
		to := o.doc.target(o.binding)
		if to == at || unnamed && to.Chat == at.Chat {
			o.leaveTail()
		}
	}
}

// leaveTail ends the newest message, and that of a call that's under way or in
// doubt. mu is held.
func (o *openDoc) leaveTail() {
	o.leave = o.busy || o.doc.Intent != nil
	if o.doc.Tail != nil {
		o.left = o.doc.Tail.ID
	}
}

// catchUpDocument brings a session's document at a place nearer to a line by one call, in place of a
// post that's to stand below that. called is false if that line is there, or can't be shown
// now: the document's next call falls under other limits than the post's, say. Where the document
// moves to others with it, its next call of its own says so.
func (d *Deliverer) catchUpDocument(ctx context.Context, chat qos.ChatKey, p Post) (result qos.CallResult, called bool) {
	d.mu.Lock()
	var id qos.DocID
	for key, o := range d.open {
		if o.binding.Session == p.Session && o.doc.target(o.binding) == p.To && o.doc.Delivered() < p.line && limitKeyOf(d.opt.Adapter, o.binding, o.doc) == chat {
			id = key
		}
	}
	d.mu.Unlock()
	if id == "" {
		return result, false
	}
	result = d.deliverDocument(ctx, qos.Call{Chat: chat, Doc: id, Class: qos.Final, Wanted: p.line})
	return result, result.Outcome != qos.Unchanged
}
