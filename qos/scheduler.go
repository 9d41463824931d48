package qos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of the methods.
var (
	// ErrDraining says that the scheduler takes nothing new, because it ends.
	ErrDraining = errors.New("the scheduler is draining")
	// ErrStopped says that the scheduler has ended.
	ErrStopped = errors.New("the scheduler has ended")
)

const (
	// stopGrace is how long calls under way may take to finish when Run ends.
	stopGrace = 5 * time.Second
	// drainedGrace is the same behind a Drain that has used its time up: calls that began at its end may
	// be answered still.
	drainedGrace = time.Second
)

// OutputQoSScheduler decides when which call is made to one bot's platform; see
// the package comment. Make one per bot (adapter). Its methods may be called from
// any goroutine, before, while and after Run runs; none but Status and Drain
// waits for the scheduler.
type OutputQoSScheduler struct {
	deliverer Deliverer
	budget    Budget
	box       *letterbox
	done      chan struct{} // closed when Run has ended

	// Owned by Run's goroutine.
	engine  *SlotEngine
	batch   []openedLetter
	calls   sync.WaitGroup
	drains  []*drain
	summary summary

	drainsUntil time.Time // the deadline of the last Drain; zero: none

	trace  TraceSink // nil: nobody is told
	chosen bool      // calls were chosen since the last step of the trace
	made   uint64    // calls

	left     atomic.Int64 // what waits, while somebody drains
	draining atomic.Bool  // requests are refused
}

// New returns a scheduler that makes its calls through deliverer and takes their
// slots from budget, which it configures and runs. The error joins an
// *OptionError for every option that can't be.
func New(opt Options, deliverer Deliverer, budget Budget) (*OutputQoSScheduler, error) {
	s := &OutputQoSScheduler{
		deliverer: deliverer, budget: budget, box: newLetterbox(), done: make(chan struct{}),
	}
	s.trace = opt.Trace
	if opt.Seed == 0 {
		opt.Seed = rand.Uint64()
	}
	tell := opt.OnEvent
	opt.OnEvent = func(ev SchedulerEvent) {
		switch ev.Kind {
		case DocClosed, DocStopped, DocAbandoned:
			s.box.forgetDocument(ev.Doc)
		default:
		}
		if tell != nil {
			tell(ev)
		}
	}
	engine, err := NewSlotEngine(opt, budget, func(do func(now time.Time)) { s.box.sendTask(do) })
	if err != nil {
		return nil, fmt.Errorf("make a scheduler: %w", err)
	}
	engine.moved = func(d *document) { s.box.setDelivered(d.id, d.delivered, d.dirty) }
	s.engine = engine
	return s, nil
}

// Run schedules until ctx ends, or the budget does, and returns when all it started
// has ended. Calls under way then get up to 5 s to finish; behind a Drain what's left of
// its time, and a second at least. It's called once.
func (s *OutputQoSScheduler) Run(ctx context.Context) error {
	defer close(s.done)
	defer s.box.endBox()
	rest := context.WithoutCancel(ctx)
	ctx, stop := context.WithCancel(ctx)
	s.record(time.Now(), TraceStep{Kind: TraceStarted, Options: s.engine.opt})
	budgetCtx, stopBudget := context.WithCancel(rest)
	budgetErr := make(chan error, 1)
	go func() {
		defer stop()
		budgetErr <- s.budget.Run(budgetCtx, func(p Penalty) {
			s.box.sendTask(func(now time.Time) {
				s.record(now, TraceStep{Kind: TracePenalized, Penalty: p})
				s.engine.TakePenalty(now, p)
			})
		}, func(c ChatKey) {
			s.box.sendTask(func(now time.Time) {
				s.record(now, TraceStep{Kind: TraceFreed, Scope: Scope{Chat: c}})
				s.engine.ReaskBudget(now, c)
			})
		})
	}()
	callCtx, stopCalls := context.WithCancel(rest)
	defer stopCalls()

	s.loop(ctx, callCtx, stopCalls)
	s.calls.Wait()
	stopBudget()
	if err := <-budgetErr; err != nil {
		return fmt.Errorf("run the budget: %w", err)
	}
	return nil
}

// loop takes in what comes, makes the calls the engine decides on, and sleeps
// until something comes or is due. After ctx ends it makes no new call, and waits
// for those under way, which stopCalls interrupts when their time is over.
func (s *OutputQoSScheduler) loop(ctx, callCtx context.Context, stopCalls func()) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	stop := ctx.Done()
	var grace <-chan time.Time
	for {
		more := s.readLetters()
		now := time.Now()
		s.chosen = true
		for _, c := range s.engine.Advance(now) {
			s.makeCall(callCtx, c)
		}
		s.answerDrains()
		s.summary.log(now, s.engine)
		if stop == nil && s.engine.isIdle(grace == nil) {
			return
		}
		if more {
			continue
		}
		timer.Reset(s.sleepTime(now))
		select {
		case <-s.box.wake:
		case <-timer.C:
		case <-stop:
			stop, grace = nil, time.After(s.graceTime())
			s.record(time.Now(), TraceStep{Kind: TraceStopped})
			s.engine.stopCalls()
		case <-grace:
			grace = nil
			stopCalls()
		}
	}
}

// graceTime is how long calls under way may take from now on, as Run ends.
func (s *OutputQoSScheduler) graceTime() time.Duration {
	if s.drainsUntil.IsZero() {
		return stopGrace
	}
	return min(max(time.Until(s.drainsUntil), drainedGrace), stopGrace)
}

// sleepTime is how long nothing is due.
func (s *OutputQoSScheduler) sleepTime(now time.Time) time.Duration {
	wait := time.Hour
	for _, at := range [...]time.Time{s.engine.NextLook(), s.summary.at} {
		if !at.IsZero() {
			wait = min(wait, at.Sub(now))
		}
	}
	return max(wait, 0)
}

// readLetters opens a batch of the mail. It returns whether there's more.
func (s *OutputQoSScheduler) readLetters() bool {
	batch, more := s.box.takeLetters(s.batch[:0])
	now := time.Now()
	for _, m := range batch {
		if m.do != nil {
			m.do(now)
		} else {
			s.recordNews(now, m.id, m.news)
			s.engine.updateDocument(now, m.id, m.news)
		}
	}
	clear(batch)
	s.batch = batch
	return more
}

// makeCall makes one call in its own goroutine.
func (s *OutputQoSScheduler) makeCall(ctx context.Context, c *Started) {
	s.made++
	number := s.made
	s.record(c.began, TraceStep{Kind: TraceCalled, Number: number, Call: c.Call})
	s.calls.Go(func() {
		ctx, cancel := context.WithDeadline(ctx, c.Deadline)
		defer cancel()
		r := s.deliverer.Deliver(ctx, c.Call)
		answered := time.Now()
		s.box.sendTask(func(now time.Time) {
			s.record(now, TraceStep{Kind: TraceAnswered, Number: number, Result: r, Answered: answered})
			s.engine.Finish(now, c, r, answered)
		})
	})
}

// Open makes a document known. If it's known already, it takes the session and
// chat given, its numbers are raised, and a Flush under way is taken back. The
// error is about an empty ID or chat.
func (s *OutputQoSScheduler) Open(doc Doc) error {
	if doc.ID == "" || doc.Chat == "" {
		return fmt.Errorf("open document %q in chat %q: neither may be empty", doc.ID, doc.Chat)
	}
	s.box.openDocument(doc, func(now time.Time) {
		s.record(now, TraceStep{Kind: TraceOpened, Doc: doc})
		s.engine.Open(now, doc)
		s.box.noteOpened(doc.ID)
	})
	return nil
}

// Want says that lines up to wanted should reach the document's chat, and with
// final, that a turn ended there. Lower numbers than before change nothing: telling
// twice is harmless. It never blocks and doesn't allocate. It returns false if
// the document isn't open.
func (s *OutputQoSScheduler) Want(doc DocID, wanted int64, final bool) bool {
	n := docNews{wanted: wanted, count: 1}
	if final {
		n.final = wanted
	}
	return s.box.putNews(doc, n)
}

// Touch says that the document's live region was redrawn, and nothing else. The
// document becomes due at most every Options.LiveEvery for that. It returns false
// if the document isn't open.
func (s *OutputQoSScheduler) Touch(doc DocID) bool {
	return s.box.putNews(doc, docNews{live: redrawn, count: 1})
}

// Grow says that a document's live region has more text that will be lines: the
// document becomes due as for a line. It returns false if the document isn't open.
func (s *OutputQoSScheduler) Grow(doc DocID) bool {
	return s.box.putNews(doc, docNews{live: written, count: 1})
}

// Pressure says how far a document lags behind. It returns false if the document
// isn't open.
func (s *OutputQoSScheduler) Pressure(doc DocID) (Pressure, bool) {
	return s.box.pressure(time.Now(), doc)
}

// FocusSession says that somebody just spoke to a session: it counts double for two
// minutes.
func (s *OutputQoSScheduler) FocusSession(session SessionKey) {
	s.box.sendTask(func(now time.Time) {
		s.record(now, TraceStep{Kind: TraceFocused, Doc: Doc{Session: session}})
		s.engine.FocusSession(now, session)
	})
}

// Close closes one document; see CloseMode. DocClosed (or another event) follows
// when it's gone.
func (s *OutputQoSScheduler) Close(doc DocID, mode CloseMode) {
	s.box.sendTask(func(now time.Time) {
		s.record(now, TraceStep{Kind: TraceClosed, Doc: Doc{ID: doc}, Mode: mode})
		s.engine.Close(now, doc, mode)
	})
}

// CloseSession closes all documents of a session. Cancel also drops its requests.
func (s *OutputQoSScheduler) CloseSession(session SessionKey, mode CloseMode) {
	s.box.sendTask(func(now time.Time) {
		s.record(now, TraceStep{Kind: TraceSessionClosed, Doc: Doc{Session: session}, Mode: mode})
		s.engine.CloseSession(now, session, mode)
	})
}

// PostRequest queues a request of class Interactive, Final or Stream. It's kept until
// it's delivered, dropped with an event, or the process ends. The error is
// ErrDraining, ErrStopped, or about a field that can't be.
func (s *OutputQoSScheduler) PostRequest(r Request) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("post a request: %w", err)
	}
	if s.draining.Load() {
		return ErrDraining
	}
	// What comes after draining has begun isn't sent; the caller knew it was late.
	if !s.box.sendTask(func(now time.Time) {
		s.record(now, TraceStep{Kind: TracePosted, Request: r})
		_ = s.engine.PostRequest(now, r)
	}) {
		return ErrStopped
	}
	return nil
}

// TryRequest makes a cosmetic call if it can be made right now: every budget is free, the chat has
// nothing else waiting, and is under no penalty. Else the request is forgotten. An "is typing" (FamilyTyping) is also left out for 5 s
// after any stream, draft or typing call in its chat. The class of the request is
// ignored.
func (s *OutputQoSScheduler) TryRequest(r Request) {
	s.box.sendTask(func(now time.Time) {
		s.record(now, TraceStep{Kind: TraceTried, Request: r})
		s.engine.TryRequest(now, r)
	})
}

// Learn narrows a scope by what a response said about it; see Budget.Learn.
func (s *OutputQoSScheduler) Learn(scope Scope, learned Learned) {
	s.box.sendTask(func(now time.Time) {
		s.record(now, TraceStep{Kind: TraceLearned, Scope: scope, Learned: learned})
		s.engine.Learn(now, scope, learned)
	})
}

// Reconfigure changes the options while running. Slots that are taken stay taken,
// penalties stay, nothing that waits is lost. With an error nothing is changed.
// Seed, OnEvent, Meter, Trace and Logger stay as they were.
func (s *OutputQoSScheduler) Reconfigure(opt Options) error {
	if err := opt.Validate(); err != nil {
		return fmt.Errorf("reconfigure the scheduler: %w", err)
	}
	// Validated, so it can't fail.
	if !s.box.sendTask(func(now time.Time) {
		_ = s.engine.Reconfigure(now, opt)
		s.record(now, TraceStep{Kind: TraceTuned, Options: s.engine.opt})
	}) {
		return ErrStopped
	}
	return nil
}

// Status returns the state now. The error is ctx's, or ErrStopped.
func (s *OutputQoSScheduler) Status(ctx context.Context) (SchedulerStatus, error) {
	got := make(chan SchedulerStatus, 1)
	if !s.box.sendTask(func(now time.Time) { got <- s.engine.Status(now) }) {
		return SchedulerStatus{}, ErrStopped
	}
	select {
	case snap := <-got:
		return snap, nil
	case <-ctx.Done():
		return SchedulerStatus{}, ctx.Err()
	case <-s.done:
		return SchedulerStatus{}, ErrStopped
	}
}

// Explain says who gets a chat's next calls, when and why not before; see SlotEngine.Explain. It
// returns false if nothing is known about the chat. The error is ctx's, or ErrStopped.
func (s *OutputQoSScheduler) Explain(ctx context.Context, chat ChatKey) (Explanation, bool, error) {
	type answer struct {
		x     Explanation
		known bool
	}
	got := make(chan answer, 1)
	if !s.box.sendTask(func(now time.Time) {
		x, known := s.engine.Explain(now, chat)
		got <- answer{x, known}
	}) {
		return Explanation{}, false, ErrStopped
	}
	select {
	case a := <-got:
		return a.x, a.known, nil
	case <-ctx.Done():
		return Explanation{}, false, ctx.Err()
	case <-s.done:
		return Explanation{}, false, ErrStopped
	}
}

// letterbox carries what others tell the scheduler to its goroutine. Nobody waits
// here: it's unbounded, but an update of a document that has one in the box
// already is merged with it, so it holds at most one letter per document beside
// the rare other things. Order is kept.
type letterbox struct {
	wake chan struct{}

	mu          sync.Mutex
	docs        map[DocID]*boxDocument
	first, last *boxLetter
	ended       bool
}

// boxLetter is one thing to take in: an update, or something to do.
type boxLetter struct {
	next *boxLetter
	doc  *boxDocument // nil: do
	do   func(now time.Time)
}

// boxDocument is an open document, as seen from outside the scheduler.
type boxDocument struct {
	boxLetter // on its way while queued
	id        DocID
	news      docNews // since the letter was last taken out
	queued    bool
	opening   int       // Opens on their way
	wanted    int64     // the highest ever told
	delivered int64     // as of the last call
	dirty     time.Time // since when something waits, as of the last look
}

// openedLetter is a letter that was taken out.
type openedLetter struct {
	id   DocID
	news docNews
	do   func(now time.Time)
}

func newLetterbox() *letterbox {
	return &letterbox{wake: make(chan struct{}, 1), docs: map[DocID]*boxDocument{}}
}

// putLetter appends a letter; m.mu is held. The goroutine is woken when the box isn't
// empty any more.
func (m *letterbox) putLetter(l *boxLetter) {
	l.next = nil
	if m.last == nil {
		m.first = l
		select {
		case m.wake <- struct{}{}:
		default:
		}
	} else {
		m.last.next = l
	}
	m.last = l
}

// sendTask queues what's to be done on the scheduler's goroutine. It returns false if that
// has ended.
func (m *letterbox) sendTask(do func(now time.Time)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return false
	}
	m.putLetter(&boxLetter{do: do})
	return true
}

// openDocument makes a document known at once, so that updates may follow.
func (m *letterbox) openDocument(doc Doc, do func(now time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	e := m.docs[doc.ID]
	switch {
	case e == nil:
		e = &boxDocument{id: doc.ID}
	case e.queued:
		// Its letter may be on the way ahead of a close, and what's told from now on is
		// about what's opened after that.
		e = &boxDocument{id: doc.ID, opening: e.opening, wanted: e.wanted, delivered: e.delivered, dirty: e.dirty}
	}
	e.doc = e
	m.docs[doc.ID] = e
	e.opening++
	e.wanted = max(e.wanted, doc.Wanted, doc.Final)
	e.delivered = max(e.delivered, doc.Delivered)
	m.putLetter(&boxLetter{do: do})
}

// noteOpened says that an Open has been taken in.
func (m *letterbox) noteOpened(id DocID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.docs[id]; e != nil {
		e.opening--
	}
}

// putNews takes in an update. It returns false if the document isn't open.
func (m *letterbox) putNews(id DocID, n docNews) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.docs[id]
	if e == nil {
		return false
	}
	e.news.add(n)
	e.wanted = max(e.wanted, n.wanted)
	if !e.queued {
		e.queued = true
		m.putLetter(&e.boxLetter)
	}
	return true
}

// takeLetters moves some letters into batch and returns it. more says that there are
// others. It takes few at a time, because producers wait meanwhile.
func (m *letterbox) takeLetters(batch []openedLetter) (taken []openedLetter, more bool) {
	const most = 256
	m.mu.Lock()
	defer m.mu.Unlock()
	for l := m.first; l != nil && len(batch) < most; l = m.first {
		m.first = l.next
		l.next = nil
		if e := l.doc; e != nil {
			batch = append(batch, openedLetter{id: e.id, news: e.news})
			e.news, e.queued = docNews{}, false
		} else {
			batch = append(batch, openedLetter{do: l.do})
		}
	}
	if m.first == nil {
		m.last = nil
	}
	return batch, m.first != nil
}

// setDelivered takes in how far a document is.
func (m *letterbox) setDelivered(id DocID, delivered int64, dirty time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.docs[id]; e != nil {
		e.delivered, e.dirty = max(e.delivered, delivered), dirty
	}
}

// pressure says how far a document lags behind.
func (m *letterbox) pressure(now time.Time, id DocID) (Pressure, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.docs[id]
	if e == nil {
		return Pressure{}, false
	}
	p := Pressure{Behind: max(0, e.wanted-e.delivered)}
	if !e.dirty.IsZero() {
		p.Age = max(0, now.Sub(e.dirty))
	}
	return p, true
}

// forgetDocument drops a document that was closed, unless it's being opened again.
func (m *letterbox) forgetDocument(id DocID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.docs[id]; e != nil && e.opening == 0 {
		delete(m.docs, id)
		m.docs = shrunk(m.docs)
	}
}

// endBox refuses everything, and forgets what's in the box.
func (m *letterbox) endBox() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.first, m.last = nil, nil
	m.docs = map[DocID]*boxDocument{}
}

// summaryEvery is how often a line in the log sums up the traffic, if there was
// any.
const summaryEvery = 30 * time.Second

type summary struct {
	at   time.Time // when the next line is due; zero: there's been no traffic
	last Totals
}

// log writes the line when it's due.
func (s *summary) log(now time.Time, e *SlotEngine) {
	t := &e.totals
	if s.at.IsZero() {
		if t.Outcomes != s.last.Outcomes || t.Shed != s.last.Shed {
			s.at = now.Add(summaryEvery)
		}
		return
	}
	if now.Before(s.at) {
		return
	}
	load := e.loadStatus(now)
	attrs := []any{
		"mode", e.opt.Mode.String(), "tick_s", load.Tick.Seconds(), "active_sessions", math.Round(load.ActiveSessions*10) / 10,
		"pace", math.Round(load.Pace*100) / 100, "reserve", load.Reserve,
		"oldest_s", math.Round(load.Oldest.Seconds()*10) / 10, "errors", t.Errors() - s.last.Errors(),
		"updates", t.Updates - s.last.Updates, "coalesced", t.Coalesced - s.last.Coalesced,
		"shed", t.Shed - s.last.Shed, "penalties", t.Penalties - s.last.Penalties,
		"waiting", e.countWaiting(), "documents", len(e.docs),
	}
	for c := range classes {
		attrs = append(attrs, c.String(), t.Calls[c]-s.last.Calls[c])
	}
	for c, w := range load.Waiting {
		if w.Count > 0 {
			name := "waiting_" + Class(c).String()
			attrs = append(attrs, name, w.Count, name+"_s", math.Round(w.Oldest.Seconds()*10)/10)
		}
	}
	for o, n := range t.Outcomes {
		if kind := CallOutcome(o); kind.isError() && n > s.last.Outcomes[o] {
			attrs = append(attrs, kind.String(), n-s.last.Outcomes[o])
		}
	}
	e.opt.Logger.Info("output", attrs...)
	*s = summary{last: *t}
}
