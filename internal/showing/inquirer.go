package showing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

const (
	// maxOpenInquiries bounds a session's inquiries that are open at a time.
	maxOpenInquiries = 4
	// maxPerMinute bounds what the programs of a session ask, and what they show, in a minute each.
	maxPerMinute = 120
	// abandonedAfter is how long an inquiry stays open for which nobody waits: who lost the connection
	// comes again within a second.
	abandonedAfter = 15 * time.Second
	// returnWithin is the same after a start of the daemon: who waited looks for it.
	returnWithin = time.Minute
	// storeAgain is after how long it's tried again to store what came of an inquiry.
	storeAgain = 5 * time.Second
)

// InquiryStore keeps inquiries. Methods do disk I/O; after an error nothing was written.
type InquiryStore interface {
	// Inquiry returns one by its id; sessions.ErrUnknown: there's none (any more).
	Inquiry(ctx context.Context, id string) (sessions.Inquiry, error)
	// OpenInquiries returns those that aren't final, the oldest first.
	OpenInquiries(ctx context.Context) ([]sessions.Inquiry, error)
	// PutInquiry inserts or replaces one.
	PutInquiry(ctx context.Context, q sessions.Inquiry) error
}

// InquirerOptions are an Inquirer's parts. All but Logger are needed.
type InquirerOptions struct {
	Store InquiryStore
	// Get finds a session by id. It does no I/O.
	Get func(id string) (sessions.Session, error)
	// Reaches reports whether anybody can see what a session asks. It does no I/O.
	Reaches func(id sessions.ID) bool
	// Publish hears how each inquiry stands, in order. It must not block.
	Publish func(p sessions.Prompt)
	Logger  *slog.Logger
}

// Inquirer puts inquiries to people, and has whoever asked wait for the answer. Its methods may be called by any
// goroutine; call Load first, then Run.
type Inquirer struct {
	opt  InquirerOptions
	wake chan struct{}

	// changing is held by what changes an inquiry, also during I/O: of two answers one counts.
	changing sync.Mutex

	mu    sync.Mutex // guards what's below; never held during I/O
	open  map[string]*openInquiry
	pace  pace
	until time.Time // nobody is missed before
}

// openInquiry is an inquiry that waits for its answer.
type openInquiry struct {
	sessions.Inquiry

	waiters int
	left    time.Time     // when the last waiter left, or it was asked
	settled chan struct{} // closed when it's final, and stored so
}

// NewInquirer makes one. It starts nothing.
func NewInquirer(opt InquirerOptions) *Inquirer {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Inquirer{opt: opt, wake: make(chan struct{}, 1), open: map[string]*openInquiry{}, pace: pace{}}
}

// Load reads what's open.
func (d *Inquirer) Load(ctx context.Context) error {
	all, err := d.opt.Store.OpenInquiries(ctx)
	if err != nil {
		return fmt.Errorf("load what programs ask: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.until = now.Add(returnWithin)
	for _, q := range all {
		d.open[q.ID] = newOpenInquiry(q, now)
	}
	return nil
}

func newOpenInquiry(q sessions.Inquiry, now time.Time) *openInquiry {
	return &openInquiry{Inquiry: q, left: now, settled: make(chan struct{})}
}

// Follow subscribes to the ends of sessions.
func (d *Inquirer) Follow(feed *sessions.Feed) {
	feed.OnSession(func(s sessions.Session) {
		if s.State == sessions.StateEnded {
			d.lookSoon()
		}
	})
}

func (d *Inquirer) lookSoon() {
	select {
	case d.wake <- struct{}{}:
	default: // it will be looked
	}
}

// Ask puts a question to people. The same key of a session asks once: the answer is the inquiry as it stands.
// It's stored when Ask returns. sessions.ErrInvalid: it can't be asked so; sessions.ErrEnded, ErrNobody and
// ErrTooMany: not here, or not now.
func (d *Inquirer) Ask(ctx context.Context, s sessions.Session, r sessions.InquiryRequest) (sessions.Inquiry, error) {
	q, err := newInquiry(s.ID, r, time.Now())
	if err != nil {
		return q, err
	}
	d.changing.Lock()
	defer d.changing.Unlock()
	switch was, err := d.Inquiry(ctx, q.ID); {
	case err == nil && was.Digest != q.Digest:
		return was, fmt.Errorf("%w: another question was asked with this key", sessions.ErrConflict)
	case err == nil:
		return was, nil
	case !errors.Is(err, sessions.ErrUnknown):
		return was, err
	}
	if now, err := d.opt.Get(string(s.ID)); err != nil || now.State == sessions.StateEnded {
		return q, cmp.Or(err, fmt.Errorf("ask in %s: %w", s.Name, sessions.ErrEnded))
	}
	if !d.opt.Reaches(s.ID) {
		return q, fmt.Errorf("%w: no chat shows %s, and the page is off; bind it to a chat, or turn the page on", sessions.ErrNobody, s.Name)
	}
	if err := d.checkPace(s, q.OpenedAt); err != nil {
		return q, err
	}
	if err := d.opt.Store.PutInquiry(ctx, q); err != nil {
		return q, err
	}
	d.mu.Lock()
	d.open[q.ID] = newOpenInquiry(q, time.Now())
	d.pace.note(s.ID, q.OpenedAt)
	d.mu.Unlock()
	d.opt.Publish(q.Prompt)
	d.lookSoon()
	return q, nil
}

// checkPace refuses what's asked too often.
func (d *Inquirer) checkPace(s sessions.Session, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, o := range d.open {
		if o.Session == s.ID {
			n++
		}
	}
	if n >= maxOpenInquiries {
		return fmt.Errorf("%w: %d questions of %s wait for an answer already; wait until one of them is answered", sessions.ErrTooMany, n, s.Name)
	}
	if !d.pace.allows(s.ID, now) {
		return fmt.Errorf("%w: %s has asked %d questions in a minute; wait a minute", sessions.ErrTooMany, s.Name, maxPerMinute)
	}
	return nil
}

// newInquiry makes an inquiry of what's to be asked.
func newInquiry(id sessions.ID, r sessions.InquiryRequest, now time.Time) (sessions.Inquiry, error) {
	r.Text = strings.TrimSpace(strings.ReplaceAll(r.Text, "\r\n", "\n"))
	if err := checkInquiry(&r); err != nil {
		return sessions.Inquiry{}, err
	}
	key := digestOf(string(id), r.Key)
	d := sessions.Dialog{Kind: sessions.PromptInquiry, Title: titleOf(r.Text), Body: r.Text, Note: insideNote, Print: key}
	if r.Outside {
		d.Note = outsideNote
	}
	for _, label := range r.Options {
		d.Options = append(d.Options, sessions.DialogOption{Label: label})
	}
	if d.Options = append(d.Options, sessions.DialogOption{Label: sessions.RefuseInquiry, Refuses: true}); r.TakesText || len(r.Options) == 0 {
		d.Text = "Write an answer…"
	}
	return sessions.Inquiry{
		Prompt:   sessions.Prompt{ID: sessions.InquiryPrefix + key, Session: id, Dialog: d, State: sessions.PromptOpen, OpenedAt: now},
		Digest:   digestOf(append([]string{r.Text, d.Text}, r.Options...)...),
		Deadline: now.Add(r.Timeout), Stays: r.Stays,
	}, nil
}

// Whose words an inquiry has.
const (
	insideNote  = "These are the words of a program in the session, and not panebridge's."
	outsideNote = "These are the words of a program outside of the session's pane, and not panebridge's."
)

const (
	maxTitle  = 200 // runes
	keyDigits = 12
)

// titleOf is the first line of a question.
func titleOf(text string) string {
	first, _, more := strings.Cut(text, "\n")
	runes := []rune(strings.Join(strings.Fields(first), " "))
	if len(runes) >= maxTitle {
		return string(runes[:maxTitle-1]) + "…"
	}
	if more {
		return string(runes) + " …"
	}
	return string(runes)
}

// digestOf is a name for texts.
func digestOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "%d %s\n", len(t), t) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))[:keyDigits]
}

// checkInquiry says what can't be asked, and completes what wasn't said.
func checkInquiry(r *sessions.InquiryRequest) error {
	if err := checkKey(r.Key); err != nil {
		return err
	}
	if r.Timeout == 0 {
		r.Timeout = sessions.DefaultInquiryTimeout
	}
	switch n := utf8.RuneCountInString(r.Text); {
	case strings.IndexFunc(r.Text, unicode.IsPrint) < 0 || strings.TrimFunc(r.Text, func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }) == "":
		return fmt.Errorf("%w question: there's nothing in it to be read", sessions.ErrInvalid)
	case n > sessions.MaxInquiryRunes:
		return fmt.Errorf("%w question: it has %d characters, and at most %d are asked; show a file besides", sessions.ErrInvalid, n, sessions.MaxInquiryRunes)
	case len(r.Options) > sessions.MaxInquiryOptions:
		return fmt.Errorf("%w question: it has %d options, and at most %d fit below it", sessions.ErrInvalid, len(r.Options), sessions.MaxInquiryOptions)
	case r.Timeout < time.Second || r.Timeout > sessions.MaxInquiryTimeout:
		return fmt.Errorf("%w question: it waits for one second to %s, not for %s", sessions.ErrInvalid, sessions.MaxInquiryTimeout, r.Timeout)
	}
	had := map[string]bool{strings.ToLower(sessions.RefuseInquiry): true}
	for i, o := range r.Options {
		o = strings.Join(strings.Fields(o), " ")
		switch n := utf8.RuneCountInString(o); {
		case o == "":
			return fmt.Errorf("%w question: option %d is empty", sessions.ErrInvalid, i+1)
		case n > sessions.MaxInquiryOption:
			return fmt.Errorf("%w question: option %d has %d characters, and at most %d are shown", sessions.ErrInvalid, i+1, n, sessions.MaxInquiryOption)
		case strings.ContainsFunc(o, unicode.IsControl):
			return fmt.Errorf("%w question: option %d has control characters", sessions.ErrInvalid, i+1)
		case had[strings.ToLower(o)]:
			return fmt.Errorf("%w question: option %d, %q, is there already; %q stands below each question", sessions.ErrInvalid, i+1, o, sessions.RefuseInquiry)
		}
		had[strings.ToLower(o)] = true
		r.Options[i] = o
	}
	return nil
}

// checkKey says what's no key.
func checkKey(key string) error {
	if len(key) < 16 || len(key) > 64 || strings.ContainsFunc(key, func(c rune) bool { return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		return fmt.Errorf("%w key %q: it's 16 to 64 letters and digits, others for each call that isn't a repetition", sessions.ErrInvalid, key)
	}
	return nil
}

// Inquiry returns one by its id; sessions.ErrUnknown: there's none (any more). It may do disk I/O.
func (d *Inquirer) Inquiry(ctx context.Context, id string) (sessions.Inquiry, error) {
	d.mu.Lock()
	o := d.open[id]
	if o != nil {
		defer d.mu.Unlock()
		return o.Inquiry, nil
	}
	d.mu.Unlock()
	return d.opt.Store.Inquiry(ctx, id)
}

// Await returns an inquiry when it's final, or as it stands after that time. Who waits so is missed when ctx
// ends: see sessions.InquiryAbandoned.
func (d *Inquirer) Await(ctx context.Context, id string, within time.Duration) (sessions.Inquiry, error) {
	d.mu.Lock()
	o := d.open[id]
	if o == nil {
		d.mu.Unlock()
		return d.opt.Store.Inquiry(ctx, id)
	}
	o.waiters++
	d.mu.Unlock()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-o.settled:
	case <-timer.C:
	case <-ctx.Done():
	}
	d.mu.Lock()
	if o.waiters--; o.waiters == 0 {
		o.left = time.Now()
	}
	d.mu.Unlock()
	d.lookSoon()
	if err := ctx.Err(); err != nil {
		return sessions.Inquiry{}, err
	}
	return d.Inquiry(ctx, id)
}

// Prompts are the inquiries that are open, the oldest first, as prompts.
func (d *Inquirer) Prompts() []sessions.Prompt {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []sessions.Prompt
	for _, o := range d.open {
		out = append(out, o.Prompt)
	}
	slices.SortFunc(out, func(a, b sessions.Prompt) int { return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Answer gives an inquiry its answer; see sessions.Manager.Answer. It's stored when Answer returns nil.
func (d *Inquirer) Answer(ctx context.Context, id string, a sessions.Answer) (sessions.Prompt, error) {
	d.changing.Lock()
	defer d.changing.Unlock()
	q, err := d.Inquiry(ctx, id)
	if err != nil {
		return q.Prompt, err
	}
	if q.Final() {
		return q.Prompt, conflictOf(q.Prompt)
	}
	if err := q.Dialog.Takes(a); err != nil {
		return q.Prompt, err
	}
	q.State, q.Outcome, q.Answer, q.ClosedAt = sessions.PromptAnswered, sessions.InquiryAnswered, &a, time.Now()
	if len(a.Options) == 1 && q.Dialog.Options[a.Options[0]].Refuses {
		q.Outcome = sessions.InquiryRefused
	}
	return q.Prompt, d.settle(ctx, q)
}

// conflictOf says why an inquiry takes no answer any more.
func conflictOf(p sessions.Prompt) error {
	if p.Answer != nil {
		return fmt.Errorf("%w: %s has answered already: %s", sessions.ErrConflict, p.Who(), p.Chosen())
	}
	return fmt.Errorf("%w: the question is closed: %s", sessions.ErrConflict, p.Reason)
}

// Withdraw closes an inquiry that nobody has answered; one that's final stays as it is.
func (d *Inquirer) Withdraw(ctx context.Context, id string) (sessions.Inquiry, error) {
	d.changing.Lock()
	defer d.changing.Unlock()
	q, err := d.Inquiry(ctx, id)
	if err != nil || q.Final() {
		return q, err
	}
	q = closedInquiry(q, sessions.InquiryWithdrawn, "whoever asked took it back")
	return q, d.settle(ctx, q)
}

func closedInquiry(q sessions.Inquiry, o sessions.InquiryOutcome, why string) sessions.Inquiry {
	q.State, q.Outcome, q.Reason, q.ClosedAt = sessions.PromptClosed, o, why, time.Now()
	return q
}

// settle stores what came of an inquiry, and tells whoever waits. changing is held.
func (d *Inquirer) settle(ctx context.Context, q sessions.Inquiry) error {
	if err := d.opt.Store.PutInquiry(context.WithoutCancel(ctx), q); err != nil {
		return err
	}
	d.mu.Lock()
	o := d.open[q.ID]
	delete(d.open, q.ID)
	d.mu.Unlock()
	if o != nil {
		close(o.settled)
	}
	d.opt.Publish(q.Prompt)
	return nil
}

// Run closes what nobody answers, or nobody waits for, until ctx ends, and returns nil.
func (d *Inquirer) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-d.wake:
		}
		next := d.closeDue(ctx, time.Now())
		timer.Reset(max(time.Until(next), 10*time.Millisecond))
	}
}

// closeDue closes what's due, and returns when to look again.
func (d *Inquirer) closeDue(ctx context.Context, now time.Time) time.Time {
	next := now.Add(time.Hour)
	for _, p := range d.Prompts() {
		at, err := d.closeOne(ctx, p.ID, now)
		if err != nil && ctx.Err() == nil {
			d.opt.Logger.Warn("what came of a question couldn't be stored; it's tried again", "session", p.Session, "err", err)
			at = now.Add(storeAgain)
		}
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// closeOne closes an inquiry if that's due, and returns when it will be; zero: it's closed.
func (d *Inquirer) closeOne(ctx context.Context, id string, now time.Time) (time.Time, error) {
	d.changing.Lock()
	defer d.changing.Unlock()
	d.mu.Lock()
	o := d.open[id]
	if o == nil {
		d.mu.Unlock()
		return time.Time{}, nil
	}
	q, waited := o.Inquiry, o.waiters > 0 || o.Stays
	missed := o.left.Add(abandonedAfter)
	if missed.Before(d.until) {
		missed = d.until
	}
	d.mu.Unlock()
	s, err := d.opt.Get(string(q.Session))
	switch {
	case errors.Is(err, sessions.ErrUnknown), err == nil && s.State == sessions.StateEnded:
		return time.Time{}, d.settle(ctx, closedInquiry(q, sessions.InquiryEnded, "the session has ended"))
	case !now.Before(q.Deadline):
		return time.Time{}, d.settle(ctx, closedInquiry(q, sessions.InquiryTimeout, "nobody answered for "+q.Deadline.Sub(q.OpenedAt).Round(time.Second).String()))
	case !waited && !now.Before(missed):
		return time.Time{}, d.settle(ctx, closedInquiry(q, sessions.InquiryAbandoned, "nobody waits for the answer any more"))
	case !waited && missed.Before(q.Deadline):
		return missed, nil
	default:
		return q.Deadline, nil
	}
}
