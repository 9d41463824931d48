package cards

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// ToldProgress is how far a text has got, as its writer was told.
type ToldProgress string

// What a writer is told. Reactions stand on the message itself; held and failed are
// said in words, because something is to be done.
const (
	ToldNothing   ToldProgress = ""
	ToldStored    ToldProgress = "stored"
	ToldTyped     ToldProgress = "typed"
	ToldHeld      ToldProgress = "held"
	ToldSubmitted ToldProgress = "submitted"
	ToldQueued    ToldProgress = "queued" // by its agent, which is at work
	ToldAnswered  ToldProgress = "answered"
	ToldPassed    ToldProgress = "passed" // its agent's turn has ended, and it's not known whether it was taken up
	ToldFailed    ToldProgress = "failed"
	ToldAsked     ToldProgress = "asked" // whether it's still to be typed
	ToldTakenBack ToldProgress = "taken back"
)

// reactions are among those that Telegram lets bots use
// (core.telegram.org/bots/api#reactiontypeemoji).
func reaction(p ToldProgress, unverified bool) string {
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

// InputOrigin is the message that an input came from.
type InputOrigin struct {
	Key     string // of the input
	Place   adapters.Target
	Message string // the platform's id
	Person  string
	Session sessions.ID
	At      time.Time // when it was written
	Receipt string    // its id; "": not known yet
	Told    ToldProgress
	Shows   string // what the message says that it's held: see shownOf
	Reply   string // the platform's id of the message that said it's held; "": none
	Done    bool   // nothing more will be told
}

// OriginStore keeps origins.
type OriginStore interface {
	// AddOrigin keeps one, unless there's one of its key.
	AddOrigin(ctx context.Context, o InputOrigin) error
	// PutOrigin replaces Receipt, Told, Shows, Reply and Done of the one of the same key.
	PutOrigin(ctx context.Context, o InputOrigin) error
	DropOrigin(ctx context.Context, key string) error
	// Origin returns one; sessions.ErrUnknown if there's none of this key.
	Origin(ctx context.Context, key string) (InputOrigin, error)
	// OpenOrigins returns those that aren't done, the oldest first.
	OpenOrigins(ctx context.Context) ([]InputOrigin, error)
	// TellEdited says whether a message is some origin's and its writer wasn't told yet
	// about edits, and takes them as told.
	TellEdited(ctx context.Context, place adapters.Target, message string) (bool, error)
	// TellEditsAgain has TellEdited return true for the message once more.
	TellEditsAgain(ctx context.Context, place adapters.Target, message string) error
}

const (
	// cosmeticAfter is how long a state that's mostly passed through must last until
	// it's shown.
	cosmeticAfter = time.Second
	// answerFor is how long an input may wait for a turn to end that answers it.
	answerFor = 24 * time.Hour
)

// receiptCards tell writers how far their texts have got. One goroutine does: run.
// Others only leave word of what has changed.
type receiptCards struct {
	rounds

	clerk *Clerk

	// Guarded by mu.
	changed []sessions.Receipt
	told    []toldResult
	moves   []adapters.Move

	// Owned by run's goroutine.
	open  map[string]*trackedInput         // by key
	plain map[adapters.Target]signRefusals // of reactions, by chat
}

// signRefusals are how many reactions a chat has refused in a row, and when it did last.
type signRefusals struct {
	times int
	last  time.Time
}

// areEnough says that nothing but refusals is to be expected: one may have been for a message
// that's gone.
func (r signRefusals) areEnough(now time.Time) bool {
	return r.times >= 2 && now.Sub(r.last) < plainFor
}

// plainFor is for how long a chat that takes no reactions isn't asked to take one again.
const plainFor = time.Hour

// toldResult is what came of a post.
type toldResult struct {
	key     string
	what    ToldProgress
	message string // of a text
	sign    bool   // it was a reaction
	err     error
}

// trackedInput is an input whose writer isn't told all yet.
type trackedInput struct {
	InputOrigin
	receipt sessions.Receipt
	since   time.Time    // when the receipt came into its state
	posted  ToldProgress // what's on its way, or was cosmetic
	words   bool         // a reaction was refused: what must be known is said in words
	doubted bool         // it was told last that nobody saw the text taken
	retry   time.Time
	reacted bool      // the reaction says that it's answered
	again   time.Time // when the reaction that says that it's answered is tried again
	offered time.Time // when the button "Send anyway" was posted
	stale   bool      // it was taken back because it waited for too long
}

func newReceiptCards(k *Clerk) *receiptCards {
	return &receiptCards{clerk: k, rounds: newRounds(), open: map[string]*trackedInput{}, plain: map[adapters.Target]signRefusals{}}
}

// HandleReceipt takes in how far an input is. It returns at once.
func (k *Clerk) HandleReceipt(r sessions.Receipt) {
	if r.Key != "" {
		k.receipts.leaveWord(func() { k.receipts.changed = append(k.receipts.changed, r) })
	}
}

// run tells writers until ctx ends.
func (rs *receiptCards) run(ctx context.Context) {
	rs.rounds.run(ctx, rs.clerk, "load what writers weren't told yet", rs.loadOrigins, rs.runRound)
}

// loadOrigins takes up what the last run left.
func (rs *receiptCards) loadOrigins(ctx context.Context) error {
	list, err := rs.clerk.Store.OpenOrigins(ctx)
	if err != nil {
		return err
	}
	for _, o := range list {
		t := &trackedInput{InputOrigin: o}
		if o.Receipt == "" {
			rs.open[o.Key] = t // its event comes again
			continue
		}
		t.receipt, err = rs.clerk.Sessions.Receipt(ctx, o.Receipt)
		if errors.Is(err, sessions.ErrUnknown) {
			t.Done = true
			rs.keepOrigin(ctx, t)
			continue
		}
		if err != nil {
			return err
		}
		t.since, t.doubted = t.receipt.UpdatedAt, t.Told == ToldSubmitted && t.receipt.Unverified()
		rs.open[o.Key] = t
	}
	return nil
}

// runRound takes in what was left, tells what's to be told, and returns when it's needed
// again.
func (rs *receiptCards) runRound(ctx context.Context, now time.Time) time.Time {
	rs.mu.Lock()
	changed, said, moves := rs.changed, rs.told, rs.moves
	rs.changed, rs.told, rs.moves = nil, nil, nil
	rs.mu.Unlock()
	for _, m := range moves {
		for _, t := range rs.open {
			t.followMove(m)
		}
	}
	for _, r := range changed {
		rs.noteReceipt(ctx, r)
	}
	for _, s := range said {
		if t := rs.open[s.key]; t != nil {
			rs.confirmTold(ctx, t, s)
		}
	}
	next := now.Add(time.Hour)
	for _, t := range rs.open {
		if due := rs.advanceInput(ctx, t, now); !due.IsZero() && due.Before(next) {
			next = due
		}
		if t.Done {
			delete(rs.open, t.Key)
		}
	}
	return next
}

// followMove has what's told of an input follow its chat to another id, where messages have other numbers.
// What's told of a text that's held is told anew: what can be done about it stands below that.
func (t *trackedInput) followMove(m adapters.Move) {
	if t.Place.Adapter != m.Adapter || t.Place.Chat != m.From {
		return
	}
	t.Place.Chat, t.Message, t.Reply, t.posted = m.To, "", "", ToldNothing
	if t.Told == ToldHeld {
		t.Told = ToldNothing
	}
}

// noteReceipt takes in a receipt.
func (rs *receiptCards) noteReceipt(ctx context.Context, r sessions.Receipt) {
	t := rs.open[r.Key]
	if t == nil {
		o, err := rs.clerk.Store.Origin(ctx, r.Key)
		if err != nil {
			if !errors.Is(err, sessions.ErrUnknown) {
				rs.clerk.Log.Error("look for the message of an input", "receipt", r.ID, "err", err)
			}
			return
		}
		if o.Done && (o.Told != ToldFailed || !r.Submitted()) {
			return
		}
		o.Done = false // it was delivered after all
		t = &trackedInput{InputOrigin: o}
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
		rs.keepOrigin(ctx, t)
	}
}

// confirmTold takes in that something was told, or can't be.
func (rs *receiptCards) confirmTold(ctx context.Context, t *trackedInput, s toldResult) {
	if errors.Is(s.err, adapters.ErrReplaced) {
		return
	}
	if t.posted == s.what || s.message != "" && t.Reply == "" {
		t.posted = ToldNothing // what's said next goes into the message that's there now
	}
	t.reacted = t.reacted || s.err == nil && s.sign && s.what == ToldAnswered
	if s.err == nil && s.sign {
		delete(rs.plain, t.Place.WholeChat())
	}
	if s.err != nil && s.sign {
		chat := t.Place.WholeChat()
		rs.plain[chat] = signRefusals{rs.plain[chat].times + 1, time.Now()}
		t.words, t.posted = true, ToldNothing
		return
	}
	if s.err != nil {
		rs.clerk.Log.Warn("a writer can't be told how far a text is", "receipt", t.Receipt, "state", s.what, "err", s.err)
	}
	t.Told = s.what // refused for good counts as told
	if s.message != "" {
		t.Reply = s.message
	}
	rs.keepOrigin(ctx, t)
}

// keepOrigin stores an origin. If that fails, something may be told once more after a
// restart.
func (rs *receiptCards) keepOrigin(ctx context.Context, t *trackedInput) {
	if err := rs.clerk.Store.PutOrigin(ctx, t.InputOrigin); err != nil {
		rs.clerk.Log.Error("keep what a writer was told", "receipt", t.Receipt, "err", err)
	}
}

// wantedProgress is what the writer is to know now.
func (t *trackedInput) wantedProgress() ToldProgress {
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
		switch {
		case t.receipt.Cause == sessions.CausePassed:
			return ToldPassed
		case t.receipt.Queued():
			return ToldQueued
		}
		return ToldSubmitted
	case sessions.ReceiptAnswered:
		return ToldAnswered
	case sessions.ReceiptFailed:
		return ToldFailed
	case sessions.ReceiptCancelled:
		return ToldTakenBack
	case sessions.ReceiptTyping:
		return t.Told
	}
	return t.Told // there's no receipt yet
}

// advanceInput tells a writer what's to be told now. It returns when to look again; zero:
// when something changes.
func (rs *receiptCards) advanceInput(ctx context.Context, t *trackedInput, now time.Time) time.Time {
	want := t.wantedProgress()
	anyway := t.anywayDue()
	switch {
	case now.Before(t.retry):
		return t.retry
	case want == ToldTakenBack && t.Told != ToldAsked:
		return rs.askAboutStale(ctx, t, now)
	case want == ToldAnswered && t.Told != ToldQueued && t.Told != ToldFailed && (!t.doubted || t.Reply == "" || t.receipt.Unverified()), (want == ToldSubmitted || want == ToldQueued) && now.Sub(t.receipt.UpdatedAt) > answerFor:
		if want == ToldAnswered && !t.receipt.Unverified() {
			if again := rs.reactAnswered(t, now); !again.IsZero() {
				return again
			}
		}
		return rs.finishOrigin(ctx, t)
	case t.Told == want && (want == ToldFailed || want == ToldTakenBack || want == ToldPassed), t.Told == ToldAsked:
		return rs.finishOrigin(ctx, t)
	case want == ToldStored || want == ToldTyped:
		due := t.since.Add(cosmeticAfter)
		if !now.Before(due) && t.posted != want && t.Told == ToldNothing {
			rs.postReaction(t, want)
		}
		return earlier(due, now, rs.takeBackStale(ctx, t, now))
	case want != t.Told && want != t.posted, want == ToldSubmitted && t.doubted && !t.receipt.Unverified(), want == ToldHeld && t.Shows == showsBehind && t.receipt.Behind == "" && t.receipt.Reason != "", !anyway.IsZero() && !now.Before(anyway):
		rs.tellWriter(ctx, t, want, now)
	}
	return earlier(earlier(t.retry, now, rs.takeBackStale(ctx, t, now)), now, anyway)
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

func (rs *receiptCards) finishOrigin(ctx context.Context, t *trackedInput) time.Time {
	t.Done = true
	rs.keepOrigin(ctx, t)
	return time.Time{}
}

const (
	// answeredFor is for how long it's tried to put the reaction to a message that its text is
	// answered: what the turn ended with goes first.
	answeredFor   = time.Minute
	answeredAgain = 5 * time.Second
)

// reactAnswered puts the reaction to the message that says that the text is answered. It returns
// when that's tried again; zero: it's there, or isn't tried any more.
func (rs *receiptCards) reactAnswered(t *trackedInput, now time.Time) time.Time {
	until := t.receipt.UpdatedAt.Add(answeredFor)
	if t.reacted || t.Message == "" || !now.Before(until) || rs.plain[t.Place.WholeChat()].areEnough(now) {
		return time.Time{}
	}
	if !now.Before(t.again) {
		t.again = now.Add(answeredAgain)
		rs.postReaction(t, ToldAnswered)
	}
	return earlier(t.again, now, until)
}

// postReaction puts a reaction to the message, if that costs nobody anything.
func (rs *receiptCards) postReaction(t *trackedInput, what ToldProgress) {
	t.posted = what
	if t.Message == "" || rs.plain[t.Place.WholeChat()].areEnough(time.Now()) {
		return
	}
	p := adapters.Post{
		To: t.Place, Key: "receipt " + t.Key, Class: qos.Cosmetic, Session: t.Session, ReplyTo: t.Message, Reaction: reaction(what, false),
	}
	if key := t.Key; what == ToldAnswered {
		p.Sent = func(_ string, err error) {
			rs.leaveWord(func() { rs.told = append(rs.told, toldResult{key, what, "", true, err}) })
		}
	}
	_ = rs.clerk.Hub.Post(p) // nobody misses it
}

// showsBehind is what a message shows that says that a text waits behind another.
const showsBehind = "behind"

// shownOf is what a message shows that says that a text is held: showsBehind, or the screen on which its
// button "Send anyway" sends it; "": neither.
func shownOf(r sessions.Receipt) string {
	if r.Behind != "" {
		return showsBehind
	}
	return r.Quoted
}

// receiptCard is how a writer is told something: by a reaction, or by a text. The zero value is for what
// isn't told. words says that reactions are refused; nameOf is what a person is called.
func (t *trackedInput) receiptCard(what ToldProgress, words bool, nameOf func(intake.Person) string) adapters.Post {
	p, reason := adapters.Post{Class: qos.Stream}, wording.Plain(t.receipt.Reason)
	switch what {
	case ToldSubmitted:
		unverified := t.receipt.Unverified()
		switch {
		case t.Told == ToldFailed:
			p.Text = "It was delivered after all: the agent has it."
		case t.Told == ToldSubmitted && t.Reply != "":
			p.Text = "Typed and submitted; the agent has it."
		case t.Reply != "" && unverified:
			p.Text = "Typed now; " + reason + "."
		case words && unverified:
			p.Text = "Typed; " + reason + "."
		case words && t.Reply == "":
			p.Text = "Typed and submitted."
		case t.Reply != "" && t.receipt.Anyway != "":
			p.Text = "Sent anyway by " + wording.Plain(nameOf(intake.Person{ID: t.receipt.Anyway})) + ", and submitted now."
		case t.Reply != "":
			p.Text = "Typed and submitted now."
		default:
			p.Reaction = reaction(what, unverified)
		}
	case ToldQueued:
		p.Text = "Waits: " + reason + "."
	case ToldAnswered:
		p.Text = "Taken up, and answered."
	case ToldPassed:
		p.Text = "Typed and submitted, " + wording.Plain(sessions.ReasonPassed) + "."
	case ToldHeld:
		p.Class = qos.Interactive
		if t.receipt.Behind != "" {
			p.Text = "Waits: " + reason + "."
			break
		}
		if p.Text, p.Ring = "Held: "+reason+".", t.Told != ToldHeld || t.Shows == showsBehind; t.receipt.Quoted != "" && t.receipt.Front == "" {
			p.Text += " /screen shows it."
		}
	case ToldFailed:
		p.Class, p.Text, p.Ring = qos.Interactive, "Failed: "+reason+".", true
	case ToldTakenBack:
		p.Class, p.Text = qos.Interactive, "Taken back."
		if t.stale {
			p.Text = "Taken back: it waited for too long. Below you're asked whether it's still to be typed."
		}
	default:
		return adapters.Post{}
	}
	return p
}

// tellWriter tells a writer something that matters.
func (rs *receiptCards) tellWriter(ctx context.Context, t *trackedInput, what ToldProgress, now time.Time) {
	t.words = t.words || what == ToldSubmitted && rs.plain[t.Place.WholeChat()].areEnough(now)
	p := t.receiptCard(what, t.words, rs.clerk.NameOf)
	sign := p.Text == ""
	switch {
	case sign && p.Reaction == "":
		return
	case sign && t.Message == "":
		t.Told = what
		return
	case what == ToldHeld:
		if t.receipt.Behind == "" {
			p.Text = strings.TrimSpace(p.Text + " " + rs.clerk.pointToQuestion(t.Place, t.Session))
		}
		p.Buttons = rs.heldButtons(ctx, t)
	}
	p.To, p.Key, p.Session, p.ReplyTo, p.Message = t.Place, "receipt "+t.Key, t.Session, t.Message, t.Reply
	key := t.Key
	p.Sent = func(message string, err error) {
		if sign {
			message = ""
		}
		rs.leaveWord(func() { rs.told = append(rs.told, toldResult{key, what, message, sign, err}) })
	}
	if err := rs.clerk.Hub.Post(p); err != nil {
		rs.clerk.Log.Warn("a writer couldn't be told how far a text is; it's tried again", "receipt", t.Receipt, "err", err)
		t.retry = now.Add(tellAgain)
		return
	}
	t.posted, t.Shows = what, ""
	t.doubted = what == ToldSubmitted && t.receipt.Unverified()
	if what == ToldHeld {
		t.Shows = shownOf(t.receipt)
	}
	if what == ToldHeld && t.receipt.Quoted != "" {
		t.offered = now
	}
}
