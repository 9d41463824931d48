package continuing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	// lookEvery is how often it's looked at least whether something is due: clocks are set, and machines
	// sleep, while a timer goes on as if nothing had happened.
	lookEvery = 30 * time.Second
	// settleFor is how long nothing is sent behind a start: what was written in a terminal while no daemon
	// ran is read by then.
	settleFor = 15 * time.Second
	// watchEvery is how often it's looked how far a text that was sent has got.
	watchEvery = time.Second
	// heldFor is how long a text that was sent may be held by something else than a dialog.
	heldFor = 10 * time.Second
)

// Sessions are the registry, and the way into sessions: sessions.Manager.
type Sessions interface {
	Get(idOrName string) (sessions.Session, error)
	// Waiting returns a session's inputs that aren't done, in their order.
	Waiting(id sessions.ID) []sessions.Receipt
	// PromptOf returns the question that's open in a session.
	PromptOf(id sessions.ID) (sessions.Prompt, bool)
	// Input stores a text that's then typed: the same key gives the same receipt. It does disk I/O.
	Input(ctx context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error)
	Receipt(ctx context.Context, id string) (sessions.Receipt, error)
	// Cancel takes an input back; sessions.ErrConflict: it's typed already.
	Cancel(ctx context.Context, id string) (sessions.Receipt, error)
	// Note writes a notice into a session's log.
	Note(ctx context.Context, id sessions.ID, text string) error
}

// Store keeps what waits. After an error nothing was written.
type Store interface {
	Continuations(ctx context.Context) ([]sessions.Continuation, error)
	// PutContinuation keeps the one of a session, in place of another.
	PutContinuation(ctx context.Context, c sessions.Continuation) error
	DropContinuation(ctx context.Context, id sessions.ID) error
	// ReceiptByKey returns the input of a key; sessions.ErrUnknown: there's none.
	ReceiptByKey(ctx context.Context, key string) (sessions.Receipt, error)
	// HasReceiptSince reports whether a session has an input that came at a time or later, of another key than but.
	HasReceiptSince(ctx context.Context, id sessions.ID, since time.Time, but string) (bool, error)
}

// Options are a Continuer's parts. All but Logger are needed.
type Options struct {
	Sessions Sessions
	Store    Store
	// Text is what's sent. It returns at once, and something else after a reload.
	Text func() string
	// Changed is told when a session has another continuation than before. It must not block.
	Changed func(s sessions.Session)
	Logger  *slog.Logger
}

// Continuer sends texts when limits are over. Its methods may be called by any goroutine; call Load first,
// then Run.
type Continuer struct {
	opt  Options
	wake chan struct{}

	// changing is held by what changes one, and may be held during I/O: they're changed one after the other.
	changing sync.Mutex

	mu      sync.Mutex // guards what's below; never held during I/O
	waiting map[sessions.ID]sessions.Continuation
	// spoken are those of waiting, by when they were asked for, behind which somebody wrote.
	spoken map[sessions.ID]time.Time
}

// New makes one. It starts nothing.
func New(opt Options) *Continuer {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Continuer{opt: opt, wake: make(chan struct{}, 1), waiting: map[sessions.ID]sessions.Continuation{}, spoken: map[sessions.ID]time.Time{}}
}

// Load reads what waits. A text that was sent right before the daemon was ended is known by its key, and what somebody wrote
// before anybody looked by its receipt.
func (c *Continuer) Load(ctx context.Context) error {
	all, err := c.opt.Store.Continuations(ctx)
	if err != nil {
		return fmt.Errorf("load which sessions go on by themselves: %w", err)
	}
	for _, one := range all {
		if one.Receipt == "" {
			r, err := c.opt.Store.ReceiptByKey(ctx, keyOf(one))
			if err != nil && !errors.Is(err, sessions.ErrUnknown) {
				return fmt.Errorf("load which sessions go on by themselves: %w", err)
			}
			one.Receipt = r.ID
		}
		spoken, err := c.opt.Store.HasReceiptSince(ctx, one.Session, one.CreatedAt, keyOf(one))
		if err != nil {
			return fmt.Errorf("load which sessions go on by themselves: %w", err)
		}
		c.keep(one)
		if spoken {
			c.noteSpoken(one)
		}
	}
	return nil
}

// keyOf is the key of a continuation's input.
func keyOf(one sessions.Continuation) string {
	return fmt.Sprintf("continue %s %d", one.Session, one.CreatedAt.UnixNano())
}

// Follow subscribes to what may cancel what waits.
func (c *Continuer) Follow(feed *sessions.Feed) {
	feed.OnSession(func(s sessions.Session) { c.noteChange(s.ID) })
	feed.OnReceipt(c.noteReceipt)
	feed.OnPrompt(func(p sessions.Prompt) { c.noteChange(p.Session) })
}

// noteReceipt takes in that a text came, or how far one got. One that's typed at once may leave no other trace.
func (c *Continuer) noteReceipt(r sessions.Receipt) {
	one, ok := c.ContinuationOf(r.Session)
	if !ok {
		return
	}
	if r.Key != keyOf(one) && !r.CreatedAt.Before(one.CreatedAt) {
		c.noteSpoken(one)
	}
	c.lookNow()
}

// noteSpoken takes in that somebody wrote behind the time at which one was asked for.
func (c *Continuer) noteSpoken(one sessions.Continuation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spoken[one.Session] = one.CreatedAt
}

// hasSpoken reports whether somebody wrote behind the time at which one was asked for.
func (c *Continuer) hasSpoken(one sessions.Continuation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.spoken[one.Session]
	return ok && at.Equal(one.CreatedAt)
}

func (c *Continuer) noteChange(id sessions.ID) {
	if _, ok := c.ContinuationOf(id); ok {
		c.lookNow()
	}
}

func (c *Continuer) lookNow() {
	select {
	case c.wake <- struct{}{}:
	default: // it will be looked
	}
}

// ContinuationOf returns what waits in a session.
func (c *Continuer) ContinuationOf(id sessions.ID) (sessions.Continuation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.waiting[id]
	return one, ok
}

func (c *Continuer) keep(one sessions.Continuation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[one.Session] = one
}

// Schedule has a session go on when its agent's limit is over: author asks for it, whom people call name.
// One that's scheduled already stays as it is. sessions.ErrConflict: it isn't limited, or nobody knows until
// when. It does disk I/O.
func (c *Continuer) Schedule(ctx context.Context, id sessions.ID, author, name string) (sessions.Continuation, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	s, err := c.opt.Sessions.Get(string(id))
	if err != nil {
		return sessions.Continuation{}, err
	}
	if one, ok := c.ContinuationOf(s.ID); ok {
		return one, nil
	}
	now := time.Now()
	l := s.Usage.LimitAt(now)
	switch {
	case s.State == sessions.StateEnded:
		return sessions.Continuation{}, fmt.Errorf("%s: %w", s.Name, sessions.ErrEnded)
	case l == nil:
		return sessions.Continuation{}, sessions.Refuse("no limit of %s is known that's still to pass", s.Name)
	case s.Usage.Agent != "" && s.Source.Program != s.Usage.Agent:
		return sessions.Continuation{}, sessions.Refuse("%s, whose limit it is, isn't in %s any more", s.Usage.Agent, s.Name)
	case l.Until.IsZero():
		return sessions.Continuation{}, sessions.Refuse("the agent in %s didn't say until when its limit holds", s.Name)
	}
	one := sessions.Continuation{
		Session: s.ID, Due: dueOf(*l), LimitAt: l.At, Turn: s.Turn.Number, Agent: s.Usage.Agent, Conversation: s.Source.Conversation, Text: c.opt.Text(), Author: author, Name: name, CreatedAt: now,
	}
	if err := c.opt.Store.PutContinuation(ctx, one); err != nil {
		return sessions.Continuation{}, fmt.Errorf("store that %s goes on by itself: %w", s.Name, err)
	}
	c.keep(one)
	c.opt.Changed(s)
	c.lookNow()
	return one, nil
}

// dueOf is when something may be sent behind a limit. Claude Code and Codex cut the seconds off when they say until
// when it holds (2.1.329, 0.169.0): what's sent in that minute may hit the limit once more.
func dueOf(l sessions.UsageLimit) time.Time {
	if l.Until.Equal(l.Until.Truncate(time.Minute)) {
		return l.Until.Add(time.Minute)
	}
	return l.Until
}

// Cancel has a session not go on by itself. sessions.ErrUnknown: it isn't to; sessions.ErrConflict: its text
// is sent already. It does disk I/O.
func (c *Continuer) Cancel(ctx context.Context, id sessions.ID) (sessions.Continuation, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	one, ok := c.ContinuationOf(id)
	if !ok {
		return one, fmt.Errorf("%w text that waits for a limit of %s", sessions.ErrUnknown, id)
	}
	if one.Receipt != "" {
		if _, err := c.opt.Sessions.Cancel(ctx, one.Receipt); err != nil {
			return one, err
		}
	}
	return one, c.drop(ctx, one)
}

// drop forgets one that waits. changing is held.
func (c *Continuer) drop(ctx context.Context, one sessions.Continuation) error {
	if err := c.opt.Store.DropContinuation(context.WithoutCancel(ctx), one.Session); err != nil {
		return fmt.Errorf("store that a session doesn't go on by itself: %w", err)
	}
	c.mu.Lock()
	delete(c.waiting, one.Session)
	delete(c.spoken, one.Session)
	c.mu.Unlock()
	if s, err := c.opt.Sessions.Get(string(one.Session)); err == nil {
		c.opt.Changed(s)
	}
	return nil
}

// Run sends what's due until ctx ends, and returns nil.
func (c *Continuer) Run(ctx context.Context) error {
	settled := time.Now().Add(settleFor)
	timer := time.NewTimer(settleFor)
	defer timer.Stop()
	for {
		now := time.Now()
		next := settled
		if !now.Before(settled) {
			next = c.lookAt(ctx, now)
		}
		timer.Reset(max(min(next.Sub(now), lookEvery), 10*time.Millisecond))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-c.wake:
		}
	}
}

// lookAt looks at all that waits, and returns when to look again.
func (c *Continuer) lookAt(ctx context.Context, now time.Time) time.Time {
	next := now.Add(lookEvery)
	c.mu.Lock()
	ids := slices.Sorted(maps.Keys(c.waiting))
	c.mu.Unlock()
	for _, id := range ids {
		at, err := c.lookAtOne(ctx, id, now)
		if err != nil && ctx.Err() == nil {
			c.opt.Logger.Warn("a session that goes on by itself; it's tried again", "session", id, "err", err)
		}
		if err == nil && at.After(now) && at.Before(next) {
			next = at
		}
	}
	return next
}

// lookAtOne does what's due of one, and returns when the next is; zero: nothing is.
func (c *Continuer) lookAtOne(ctx context.Context, id sessions.ID, now time.Time) (next time.Time, err error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	one, ok := c.ContinuationOf(id)
	if !ok {
		return time.Time{}, nil
	}
	s, err := c.opt.Sessions.Get(string(id))
	if errors.Is(err, sessions.ErrUnknown) || err == nil && s.State == sessions.StateEnded {
		return time.Time{}, c.drop(ctx, one)
	}
	if err != nil {
		return time.Time{}, err
	}
	if one.Receipt != "" {
		return c.watchText(ctx, one, now)
	}
	if why := c.whyNot(s, one, now); why != "" {
		return time.Time{}, c.giveUp(ctx, one, why)
	}
	if l := s.Usage.Limit; !l.At.Equal(one.LimitAt) && !l.Until.IsZero() { // the agent has said it once more
		one.LimitAt, one.Due = l.At, dueOf(*l)
		c.keep(one)
		c.opt.Changed(s)
		return one.Due, c.opt.Store.PutContinuation(ctx, one)
	}
	if now.Before(one.Due) {
		return one.Due, nil
	}
	if s.State == sessions.StateStarting { // nobody has looked at its screen yet
		return now.Add(watchEvery), nil
	}
	return now.Add(watchEvery), c.send(ctx, one)
}

// whyNot says why a session doesn't go on by itself; "": nothing speaks against it yet.
func (c *Continuer) whyNot(s sessions.Session, one sessions.Continuation, now time.Time) string {
	due := !now.Before(one.Due)
	of := s.Source.Conversation
	_, asks := c.opt.Sessions.PromptOf(s.ID)
	switch {
	case s.Turn.Number != one.Turn || c.hasSpoken(one) || len(c.opt.Sessions.Waiting(s.ID)) > 0:
		return "somebody has written to it meanwhile"
	case s.Usage == nil || s.Usage.Limit == nil:
		return "its agent has answered meanwhile"
	case one.Conversation != "" && of != "" && of != one.Conversation:
		return "its agent has begun another conversation"
	case due && one.Agent != "" && s.Source.Program != one.Agent && s.State != sessions.StateStarting: // a shell would run it
		return one.Agent + " isn't there any more"
	case due && (asks || s.State == sessions.StateWaiting):
		return "a question is open, which is to be answered first"
	case due && (s.Turn.Open || s.State == sessions.StateWorking):
		return "its agent is at work"
	}
	return ""
}

// giveUp forgets one, and says why in the session.
func (c *Continuer) giveUp(ctx context.Context, one sessions.Continuation, why string) error {
	if err := c.drop(ctx, one); err != nil {
		return err
	}
	c.opt.Logger.Info("a session doesn't go on by itself", "session", one.Session, "why", why)
	if err := c.opt.Sessions.Note(ctx, one.Session, fmt.Sprintf("%q isn't sent when the limit is over: %s", one.Text, why)); err != nil {
		c.opt.Logger.Warn("it isn't told that a session doesn't go on by itself", "session", one.Session, "err", err)
	}
	return nil
}

// send sends a text, once: a daemon that's killed in here finds it by its key.
func (c *Continuer) send(ctx context.Context, one sessions.Continuation) error {
	r, err := c.opt.Sessions.Input(ctx, one.Session, sessions.InputRequest{Text: one.Text, Submit: true, Author: one.Author, Name: one.Name, Key: keyOf(one)})
	if err != nil {
		return err
	}
	one.Receipt = r.ID
	c.keep(one)
	c.opt.Logger.Info("a session goes on by itself", "session", one.Session, "receipt", r.ID)
	return c.opt.Store.PutContinuation(context.WithoutCancel(ctx), one)
}

// watchText looks how far a text that was sent has got, and takes it back where something holds it: who
// closes a dialog, or sends what stands in the input box, goes on with something else.
func (c *Continuer) watchText(ctx context.Context, one sessions.Continuation, now time.Time) (time.Time, error) {
	r, err := c.opt.Sessions.Receipt(ctx, one.Receipt)
	if errors.Is(err, sessions.ErrUnknown) || err == nil && (r.Final() || r.State == sessions.ReceiptTyped) {
		return time.Time{}, c.drop(ctx, one)
	}
	if err != nil {
		return time.Time{}, err
	}
	_, asks := c.opt.Sessions.PromptOf(one.Session)
	if r.State != sessions.ReceiptHeld || !asks && now.Before(r.CreatedAt.Add(heldFor)) {
		return now.Add(watchEvery), nil
	}
	if _, err := c.opt.Sessions.Cancel(ctx, r.ID); err != nil {
		if errors.Is(err, sessions.ErrConflict) { // it's being typed
			return now.Add(watchEvery), nil
		}
		return time.Time{}, err
	}
	why := r.Reason
	if asks {
		why = "a question is open, which is to be answered first"
	}
	return time.Time{}, c.giveUp(ctx, one, why)
}
