package inbound

import (
	"context"
	"errors"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

func (rs *receipts) finish(ctx context.Context, t *tracked) time.Time {
	t.Done = true
	rs.keep(ctx, t)
	return time.Time{}
}

// cosmetic puts a reaction to the message, if that costs nobody anything.
func (rs *receipts) cosmetic(t *tracked, what Progress) {
	t.posted = what
	if t.Message == "" || rs.plain[t.Place.WholeChat()].enough(time.Now()) {
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
		t.words = t.words || rs.plain[t.Place.WholeChat()].enough(now)
		unverified := t.receipt.Unverified()
		switch {
		case t.Told == ToldFailed:
			p.Text = "It was delivered after all: the agent has it."
		case t.Told == ToldSubmitted && t.Reply != "":
			p.Text = "Typed and submitted; the agent has it."
		case t.Reply != "" && unverified:
			p.Text = "Typed now; " + wording.Plain(t.receipt.Reason) + "."
		case t.words && unverified:
			p.Text = "Typed; " + wording.Plain(t.receipt.Reason) + "."
		case t.words && t.Reply == "":
			p.Text = "Typed and submitted."
		case t.Reply != "" && t.receipt.Anyway != "":
			p.Text = "Sent anyway by " + wording.Plain(rs.in.NameOf(intake.Person{ID: t.receipt.Anyway})) + ", and submitted now."
		case t.Reply != "":
			p.Text = "Typed and submitted now."
		default:
			p.Reaction = reaction(what, unverified)
		}
		if p.Reaction != "" && t.Message == "" {
			t.Told = what
			return
		}
	case ToldQueued:
		p.Class = qos.Stream
		p.Text = "Waits: " + wording.Plain(t.receipt.Reason) + "."
	case ToldAnswered:
		p.Class = qos.Stream
		p.Text = "Taken up, and answered."
	case ToldHeld:
		p.Text, p.Ring = "Held: "+wording.Plain(t.receipt.Reason)+".", t.Told != ToldHeld || t.behind
		if t.receipt.Behind != "" {
			p.Text, p.Ring = "Waits: "+wording.Plain(t.receipt.Reason)+".", false
			p.Buttons = rs.heldButtons(ctx, t)
			break
		}
		if t.receipt.Quoted != "" && t.receipt.Front == "" {
			p.Text += " /screen shows it."
		}
		if q := rs.in.question(t.Place, t.Session); q != "" {
			p.Text += " " + q
		}
		p.Buttons = rs.heldButtons(ctx, t)
	case ToldFailed:
		p.Text, p.Ring = "Failed: "+wording.Plain(t.receipt.Reason)+".", true
	case ToldTakenBack:
		p.Text = "Taken back."
	case ToldPassed:
		p.Class = qos.Stream
		p.Text = "Typed and submitted, " + wording.Plain(sessions.ReasonPassed) + "."
	default:
		return
	}
	key := t.Key
	text := p.Text != ""
	p.Sent = func(message string, err error) {
		if !text {
			message = ""
		}
		rs.leave(func(rs *receipts) { rs.told = append(rs.told, told{key, what, message, !text, err}) })
	}
	if err := rs.in.opt.Hub.Post(p); err != nil {
		rs.in.log.Warn("a writer couldn't be told how far a text is; it's tried again", "receipt", t.Receipt, "err", err)
		t.retry = now.Add(tellAgain)
		return
	}
	t.posted, t.behind = what, what == ToldHeld && t.receipt.Behind != ""
	t.doubted = what == ToldSubmitted && t.receipt.Unverified()
	if what == ToldHeld && t.receipt.Quoted != "" {
		t.quoted, t.offered = t.receipt.Quoted, now
	}
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
