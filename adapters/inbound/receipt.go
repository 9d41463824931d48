package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Progress is how far a text has got, as its writer was told.
type Progress string

// What a writer is told. Reactions stand on the message itself; held and failed are
// said in words, because something is to be done.
const (
	ToldNothing   Progress = ""
	ToldStored    Progress = "stored"
	ToldTyped     Progress = "typed"
	ToldHeld      Progress = "held"
	ToldSubmitted Progress = "submitted"
	ToldAnswered  Progress = "answered"
	ToldFailed    Progress = "failed"
	ToldAsked     Progress = "asked" // whether it's still to be typed
	ToldTakenBack Progress = "taken back"
)

// reactions are among those that Telegram lets bots use
// (core.telegram.org/bots/api#reactiontypeemoji).
func reaction(p Progress, unverified bool) string {
	switch {
	case p == ToldSubmitted && unverified:
		return "🤔"
	case p == ToldSubmitted:
		return "👍"
	case p == ToldStored:
		return "👀"
	case p == ToldTyped:
		return "✍"
	case p == ToldAnswered:
		return "👌"
	default:
		return ""
	}
}

// Origin is the message that an input came from.
type Origin struct {
	Key     string // of the input
	Place   adapters.Target
	Message string // the platform's id
	Person  string
	Session sessions.ID
	At      time.Time // when it was written
	Receipt string    // its id; "": not known yet
	Told    Progress
	Reply   string // the platform's id of the message that said it's held; "": none
	Done    bool   // nothing more will be told
}

// OriginStore keeps origins.
type OriginStore interface {
	// AddOrigin keeps one, unless there's one of its key.
	AddOrigin(ctx context.Context, o Origin) error
	// PutOrigin replaces Receipt, Told, Reply and Done of the one of the same key.
	PutOrigin(ctx context.Context, o Origin) error
	DropOrigin(ctx context.Context, key string) error
	// Origin returns one; sessions.ErrUnknown if there's none of this key.
	Origin(ctx context.Context, key string) (Origin, error)
	// OpenOrigins returns those that aren't done, the oldest first.
	OpenOrigins(ctx context.Context) ([]Origin, error)
	// TellEdited says whether a message is some origin's and its writer wasn't told yet
	// about edits, and takes them as told.
	TellEdited(ctx context.Context, place adapters.Target, message string) (bool, error)
}

const (
	// cosmeticAfter is how long a state that's mostly passed through must last until
	// it's shown.
	cosmeticAfter = time.Second
	// tellAgain is how long after a failure it's tried again to tell or keep something.
	tellAgain = 30 * time.Second
	// answerFor is how long an input may wait for a turn to end that answers it.
	answerFor = 24 * time.Hour
)

// receipts tells writers how far their texts have got. One goroutine does: run.
// Others only leave word of what has changed.
type receipts struct {
	in   *Inbound
	wake chan struct{}

	mu      sync.Mutex
	changed []sessions.Receipt
	ended   []endedTurn
	told    []told

	// Owned by run's goroutine.
	open map[string]*tracked // by key
}

type endedTurn struct {
	session sessions.ID
	at      time.Time
}

// told is what came of a post.
type told struct {
	key     string
	what    Progress
	message string // of a text
	err     error
}

// tracked is an input whose writer isn't told all yet.
type tracked struct {
	Origin
	receipt  sessions.Receipt
	since    time.Time // when the receipt came into its state
	answered bool
	posted   Progress // what's on its way, or was cosmetic
	retry    time.Time
}

func newReceipts(in *Inbound) *receipts {
	return &receipts{in: in, wake: make(chan struct{}, 1), open: map[string]*tracked{}}
}

// ReceiptChanged takes in how far an input is. It returns at once.
func (in *Inbound) ReceiptChanged(r sessions.Receipt) {
	if r.Key != "" {
		in.receipts.leave(func(rs *receipts) { rs.changed = append(rs.changed, r) })
	}
}

// output takes in that turns end. It returns at once.
func (rs *receipts) output(ev sessions.OutputEvent) {
	if ev.Complete {
		rs.leave(func(rs *receipts) { rs.ended = append(rs.ended, endedTurn{ev.Session, time.Now()}) })
	}
}

// leave leaves word for run.
func (rs *receipts) leave(word func(*receipts)) {
	rs.mu.Lock()
	word(rs)
	rs.mu.Unlock()
	select {
	case rs.wake <- struct{}{}:
	default:
	}
}

func (rs *receipts) run(ctx context.Context) error {
	for rs.load(ctx) != nil {
		if pause(ctx, tellAgain) != nil {
			return nil
		}
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next := rs.work(ctx)
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			return nil
		case <-rs.wake:
		case <-timer.C:
		}
	}
}

// load takes up what the last run left.
func (rs *receipts) load(ctx context.Context) error {
	list, err := rs.in.opt.Store.OpenOrigins(ctx)
	if err != nil {
		rs.in.log.Error("load what writers weren't told yet", "err", err)
		return err
	}
	for _, o := range list {
		t := &tracked{Origin: o}
		if o.Receipt == "" {
			rs.open[o.Key] = t // its event comes again
			continue
		}
		t.receipt, err = rs.in.opt.Sessions.Receipt(ctx, o.Receipt)
		if errors.Is(err, sessions.ErrUnknown) {
			t.Done = true
			rs.keep(ctx, t)
			continue
		}
		if err != nil {
			rs.in.log.Error("load what writers weren't told yet", "err", err)
			return err
		}
		t.since = t.receipt.UpdatedAt
		if s, err := rs.in.opt.Sessions.Get(string(o.Session)); err == nil && !s.Turn.Open {
			t.answer(s.Turn.EndedAt)
		}
		rs.open[o.Key] = t
	}
	return nil
}

// work takes in what was left, tells what's to be told, and returns when it's needed
// again.
func (rs *receipts) work(ctx context.Context) time.Time {
	rs.mu.Lock()
	changed, ended, said := rs.changed, rs.ended, rs.told
	rs.changed, rs.ended, rs.told = nil, nil, nil
	rs.mu.Unlock()
	for _, r := range changed {
		rs.take(ctx, r)
	}
	for _, e := range ended {
		for _, t := range rs.open {
			if t.Session == e.session {
				t.answer(e.at)
			}
		}
	}
	for _, s := range said {
		if t := rs.open[s.key]; t != nil {
			rs.confirm(ctx, t, s)
		}
	}
	now := time.Now()
	next := now.Add(time.Hour)
	for _, t := range rs.open {
		if due := rs.advance(ctx, t, now); !due.IsZero() && due.Before(next) {
			next = due
		}
		if t.Done {
			delete(rs.open, t.Key)
		}
	}
	return next
}

// take takes in a receipt.
func (rs *receipts) take(ctx context.Context, r sessions.Receipt) {
	t := rs.open[r.Key]
	if t == nil {
		o, err := rs.in.opt.Store.Origin(ctx, r.Key)
		if err != nil {
			if !errors.Is(err, sessions.ErrUnknown) {
				rs.in.log.Error("look for the message of an input", "receipt", r.ID, "err", err)
			}
			return
		}
		if o.Done {
			return
		}
		t = &tracked{Origin: o}
		rs.open[r.Key] = t
	}
	if r.UpdatedAt.Before(t.receipt.UpdatedAt) {
		return
	}
	if r.State != t.receipt.State {
		t.since = time.Now()
	}
	t.receipt = r
	if t.Receipt != r.ID {
		t.Receipt = r.ID
		rs.keep(ctx, t)
	}
}

// answer takes in that a turn has ended. One that ended after the text was submitted
// is taken as its answer.
func (t *tracked) answer(ended time.Time) {
	if t.receipt.State == sessions.ReceiptSubmitted && ended.After(t.receipt.UpdatedAt) {
		t.answered = true
	}
}

// confirm takes in that something was told, or can't be.
func (rs *receipts) confirm(ctx context.Context, t *tracked, s told) {
	if errors.Is(s.err, adapters.ErrReplaced) {
		return
	}
	if t.posted == s.what || s.message != "" && t.Reply == "" {
		t.posted = ToldNothing // what's said next goes into the message that's there now
	}
	if s.err != nil {
		rs.in.log.Warn("a writer can't be told how far a text is", "receipt", t.Receipt, "state", s.what, "err", s.err)
	}
	t.Told = s.what // refused for good counts as told
	if s.message != "" {
		t.Reply = s.message
	}
	rs.keep(ctx, t)
}

// keep stores an origin. If that fails, something may be told once more after a
// restart.
func (rs *receipts) keep(ctx context.Context, t *tracked) {
	if err := rs.in.opt.Store.PutOrigin(ctx, t.Origin); err != nil {
		rs.in.log.Error("keep what a writer was told", "receipt", t.Receipt, "err", err)
	}
}

// wanted is what the writer is to know now.
func (t *tracked) wanted() Progress {
	switch t.receipt.State {
	case sessions.ReceiptStored:
		return ToldStored
	case sessions.ReceiptHeld:
		return ToldHeld
	case sessions.ReceiptTyped:
		if t.receipt.Reason != "" {
			return ToldHeld
		}
		return ToldTyped
	case sessions.ReceiptSubmitted:
		if t.answered {
			return ToldAnswered
		}
		return ToldSubmitted
	case sessions.ReceiptFailed:
		return ToldFailed
	case sessions.ReceiptCancelled:
		return ToldTakenBack
	case sessions.ReceiptTyping:
		return t.Told
	}
	return t.Told // there's no receipt yet
}

// advance tells a writer what's to be told now. It returns when to look again; zero:
// when something changes.
func (rs *receipts) advance(ctx context.Context, t *tracked, now time.Time) time.Time {
	want := t.wanted()
	switch {
	case now.Before(t.retry):
		return t.retry
	case want == ToldTakenBack && t.Told != ToldAsked:
		return rs.takenBack(ctx, t, now)
	case want == ToldAnswered, want == ToldSubmitted && now.Sub(t.receipt.UpdatedAt) > answerFor:
		if want == ToldAnswered {
			rs.cosmetic(t, want)
		}
		return rs.finish(ctx, t)
	case t.Told == want && (want == ToldFailed || want == ToldTakenBack), t.Told == ToldAsked:
		return rs.finish(ctx, t)
	case want == ToldStored || want == ToldTyped:
		due := t.since.Add(cosmeticAfter)
		if !now.Before(due) && t.posted != want && t.Told == ToldNothing {
			rs.cosmetic(t, want)
		}
		return earlier(due, now, rs.stale(ctx, t, now))
	case want != t.Told && want != t.posted:
		rs.tell(ctx, t, want, now)
	}
	return earlier(t.retry, now, rs.stale(ctx, t, now))
}

// earlier is the first of two times that are still to come; zero: none is.
func earlier(a, now, b time.Time) time.Time {
	if !a.After(now) || b.After(now) && b.Before(a) {
		a = b
	}
	if !a.After(now) {
		return time.Time{}
	}
	return a
}

func (rs *receipts) finish(ctx context.Context, t *tracked) time.Time {
	t.Done = true
	rs.keep(ctx, t)
	return time.Time{}
}

// cosmetic puts a reaction to the message, if that costs nobody anything.
func (rs *receipts) cosmetic(t *tracked, what Progress) {
	t.posted = what
	if t.Message == "" {
		return
	}
	// Nobody misses it.
	_ = rs.in.opt.Hub.Post(adapters.Post{
		To: t.Place, Key: "receipt " + t.Key, Class: qos.Cosmetic, Session: t.Session, ReplyTo: t.Message, Reaction: reaction(what, false),
	})
}

// tell tells a writer something that matters.
func (rs *receipts) tell(ctx context.Context, t *tracked, what Progress, now time.Time) {
	p := adapters.Post{
		To: t.Place, Key: "receipt " + t.Key, Class: qos.Interactive, Session: t.Session, ReplyTo: t.Message, Message: t.Reply,
	}
	switch what {
	case ToldSubmitted:
		p.Class = qos.Stream
		unverified := strings.HasPrefix(t.receipt.Reason, "unverified")
		switch {
		case t.Reply != "" && unverified:
			p.Text = "Typed now; " + plain(t.receipt.Reason) + "."
		case t.Reply != "":
			p.Text = "Typed and submitted now."
		default:
			p.Reaction = reaction(what, unverified)
		}
		if p.Reaction != "" && t.Message == "" {
			t.Told = what
			return
		}
	case ToldHeld:
		p.Text, p.Ring = "Held: "+plain(t.receipt.Reason)+".", true
		if b, err := rs.takeBackButton(ctx, t); err != nil {
			rs.in.log.Warn("offer to take an input back", "receipt", t.Receipt, "err", err)
		} else if t.receipt.State == sessions.ReceiptHeld {
			p.Buttons = [][]adapters.Button{{b}}
		}
	case ToldFailed:
		p.Text, p.Ring = "Failed: "+plain(t.receipt.Reason)+".", true
	case ToldTakenBack:
		p.Text = "Taken back."
	default:
		return
	}
	key := t.Key
	text := p.Text != ""
	p.Sent = func(message string, err error) {
		if !text {
			message = ""
		}
		rs.leave(func(rs *receipts) { rs.told = append(rs.told, told{key, what, message, err}) })
	}
	if err := rs.in.opt.Hub.Post(p); err != nil {
		rs.in.log.Warn("a writer couldn't be told how far a text is; it's tried again", "receipt", t.Receipt, "err", err)
		t.retry = now.Add(tellAgain)
		return
	}
	t.posted = what
}

func (rs *receipts) takeBackButton(ctx context.Context, t *tracked) (adapters.Button, error) {
	return rs.in.offer(ctx, t.Place, "Take back", offer{Do: "take-back", Session: t.Session, Args: t.Receipt, Role: Operator, Single: true})
}

// takeBack takes an input back that isn't typed yet.
func takeBack(a *ask) error {
	_, err := a.in.opt.Sessions.Cancel(a.ctx, a.offered.Args)
	if errors.Is(err, sessions.ErrConflict) {
		return a.answer("It's too late for that.")
	}
	if err != nil {
		return err
	}
	return a.answer("Taken back.")
}

// staleKey is the key with which a text is typed that waited too long.
func staleKey(key string) string { return key + " later" }

// stale takes a text back that has waited too long, so that its writer can be asked.
// It returns when that's due.
func (rs *receipts) stale(ctx context.Context, t *tracked, now time.Time) time.Time {
	if s := t.receipt.State; s != sessions.ReceiptStored && s != sessions.ReceiptHeld {
		return time.Time{}
	}
	due := t.receipt.CreatedAt.Add(rs.in.opt.StaleAfter)
	if now.Before(due) {
		return due
	}
	w := Waiting{
		Key: staleKey(t.Key), At: t.At, Place: t.Place, Person: Person{ID: t.Person}, Message: t.Message,
		Said: Said{Text: asTyped(t.receipt.Text)}, Session: t.Session,
	}
	err := rs.in.opt.Store.PutWaiting(ctx, w)
	if err == nil {
		_, err = rs.in.opt.Sessions.Cancel(ctx, t.Receipt) // its change comes here
		if errors.Is(err, sessions.ErrConflict) {          // it's being typed
			if err = rs.in.opt.Store.DropWaiting(ctx, w.Key); err == nil {
				return time.Time{}
			}
		}
	}
	if err != nil {
		rs.in.log.Warn("take back a text that waited too long; it's tried again", "receipt", t.Receipt, "err", err)
		t.retry = now.Add(tellAgain)
		return t.retry
	}
	return time.Time{}
}

// asTyped is the message that has a text typed as it is.
func asTyped(text string) string {
	if strings.HasPrefix(text, "/") {
		return "/" + text
	}
	return text
}

// takenBack asks about a text that was taken back because it waited too long. Others
// were taken back by a person.
func (rs *receipts) takenBack(ctx context.Context, t *tracked, now time.Time) time.Time {
	w, err := rs.in.opt.Store.Waiting(ctx, staleKey(t.Key))
	if errors.Is(err, sessions.ErrUnknown) {
		switch {
		case t.Told == ToldTakenBack, t.Reply == "" && t.posted != ToldHeld:
			return rs.finish(ctx, t)
		case t.posted != ToldTakenBack:
			rs.tell(ctx, t, ToldTakenBack, now)
		}
		return t.retry
	}
	if t.posted == ToldAsked {
		return time.Time{}
	}
	var p adapters.Post
	if err == nil {
		p, err = rs.in.stalePost(ctx, w, fmt.Sprintf("This couldn't be typed for %s. Run it now?", age(now.Sub(t.receipt.CreatedAt))))
	}
	if err == nil {
		key := t.Key
		p.Sent = func(_ string, err error) {
			rs.leave(func(rs *receipts) { rs.told = append(rs.told, told{key, ToldAsked, "", err}) })
		}
		err = rs.in.opt.Hub.Post(p)
	}
	if err != nil {
		rs.in.log.Warn("ask about a text that waited too long; it's tried again", "receipt", t.Receipt, "err", err)
		t.retry = now.Add(tellAgain)
		return t.retry
	}
	t.posted = ToldAsked
	return time.Time{}
}
