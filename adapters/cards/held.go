package cards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// anywayEvery is how often the button "Send anyway" is posted anew, for a screen that
// goes on changing.
const anywayEvery = 20 * time.Second

// anywayDue is when a held text's message is to be told the screen on which it could be
// sent anyway; zero: it knows.
func (t *trackedInput) anywayDue() time.Time {
	if t.wantedProgress() != ToldHeld || t.Told != ToldHeld || t.posted != ToldNothing || t.receipt.Quoted == "" || t.receipt.Quoted == t.Shows {
		return time.Time{}
	}
	return t.offered.Add(anywayEvery)
}

// heldButtons are those below a message that says a text is held.
func (rs *receiptCards) heldButtons(ctx context.Context, t *trackedInput) [][]adapters.Button {
	var row []adapters.Button
	add := func(label string, o Offer) {
		b, err := rs.clerk.MakeOffer(ctx, t.Place, label, o)
		if err != nil {
			rs.clerk.Log.Warn("offer what to do about a held input", "receipt", t.Receipt, "do", o.Do, "err", err)
			return
		}
		row = append(row, b)
	}
	if q := t.receipt.Quoted; q != "" {
		args := t.Receipt + " " + q
		for _, way := range t.receipt.Revivals {
			add(revivalLabels[way], Offer{Do: "revive", Session: t.Session, Args: args + " " + string(way), Role: access.Approver, Single: true, Group: "anyway " + args})
		}
		label := "Send anyway"
		if front := t.receipt.Front; front != "" {
			label = "Type it into " + front + " all the same"
		}
		add(label, Offer{Do: "send-anyway", Session: t.Session, Args: args, Role: access.Approver, Single: true, Group: "anyway " + args})
	}
	if t.receipt.State == sessions.ReceiptHeld {
		add("Take back", Offer{Do: "take-back", Session: t.Session, Args: t.Receipt, Role: access.Operator, Single: true})
	}
	if row == nil {
		return nil
	}
	if t.receipt.Front == "" {
		return [][]adapters.Button{row}
	}
	var rows [][]adapters.Button // these labels are long
	for _, b := range row {
		rows = append(rows, []adapters.Button{b})
	}
	return rows
}

// revivalLabels are the buttons by which an agent is begun again.
var revivalLabels = map[sessions.Revival]string{ //nolint:gochecknoglobals // a constant table
	sessions.ReviveNew:    "Start it again",
	sessions.ReviveResume: "Go on with its conversation",
}

// staleKey is the key with which a text is typed that waited too long.
func staleKey(key string) string { return key + " later" }

// takeBackStale takes a text back that has waited too long, so that its writer can be asked.
// It returns when that's due.
func (rs *receiptCards) takeBackStale(ctx context.Context, t *trackedInput, now time.Time) time.Time {
	if s := t.receipt.State; s != sessions.ReceiptStored && s != sessions.ReceiptHeld {
		return time.Time{}
	}
	due := t.receipt.CreatedAt.Add(rs.clerk.StaleAfter)
	if now.Before(due) {
		return due
	}
	w := DeferredText{
		Key: staleKey(t.Key), At: t.At, Place: t.Place, Person: intake.Person{ID: t.Person}, Message: t.Message,
		Said: intake.Said{Text: asTyped(t.receipt.Text)}, Session: t.Session,
	}
	err := rs.clerk.Store.PutDeferred(ctx, w)
	if err == nil {
		_, err = rs.clerk.Sessions.Cancel(ctx, t.Receipt) // its change comes here
		if errors.Is(err, sessions.ErrConflict) {         // it's being typed
			if err = rs.clerk.Store.DropDeferred(ctx, w.Key); err == nil {
				return time.Time{}
			}
		}
	}
	if err != nil {
		rs.clerk.Log.Warn("take back a text that waited too long; it's tried again", "receipt", t.Receipt, "err", err)
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

// askAboutStale asks about a text that was taken back because it waited too long. Others
// were taken back by a person.
func (rs *receiptCards) askAboutStale(ctx context.Context, t *trackedInput, now time.Time) time.Time {
	w, err := rs.clerk.Store.Deferred(ctx, staleKey(t.Key))
	if errors.Is(err, sessions.ErrUnknown) {
		switch {
		case t.Told == ToldTakenBack, t.Reply == "" && t.posted != ToldHeld:
			return rs.finishOrigin(ctx, t)
		case t.posted != ToldTakenBack:
			rs.tellWriter(ctx, t, ToldTakenBack, now)
		}
		return t.retry
	}
	if t.stale = err == nil; t.stale && t.Told != ToldTakenBack && (t.Reply != "" || t.posted == ToldHeld) {
		if t.posted != ToldTakenBack { // what says that it's held is said no more
			rs.tellWriter(ctx, t, ToldTakenBack, now)
		}
		return t.retry
	}
	if t.posted == ToldAsked {
		return time.Time{}
	}
	var p adapters.Post
	if err == nil {
		p, err = rs.clerk.StalePost(ctx, w, fmt.Sprintf("This couldn't be typed for %s. Run it now?", wording.Age(now.Sub(t.receipt.CreatedAt))))
	}
	if err == nil {
		key := t.Key
		p.Sent = func(_ string, err error) {
			rs.leaveWord(func() { rs.told = append(rs.told, toldResult{key, ToldAsked, "", false, err}) })
		}
		err = rs.clerk.Hub.Post(p)
	}
	if err != nil {
		rs.clerk.Log.Warn("ask about a text that waited too long; it's tried again", "receipt", t.Receipt, "err", err)
		t.retry = now.Add(tellAgain)
		return t.retry
	}
	t.posted = ToldAsked
	return time.Time{}
}

// DeferredText is a message that isn't typed before its writer has said so.
type DeferredText struct {
	// Key is the one it's typed with.
	Key     string
	At      time.Time // when it was written
	Place   adapters.Target
	Private bool
	Person  intake.Person
	Message string
	Said    intake.Said
	Session sessions.ID // it was meant for, if that's known
	// EditKey is the key of the edit that made the text what it is, with which it's typed in place of Key; "": it's no edit.
	EditKey string `json:",omitempty"`
}

// DeferredStore keeps messages that wait, for a week at least.
type DeferredStore interface {
	PutDeferred(ctx context.Context, w DeferredText) error
	// Deferred returns one by its key; sessions.ErrUnknown if there's none.
	Deferred(ctx context.Context, key string) (DeferredText, error)
	DropDeferred(ctx context.Context, key string) error
}

// NewDeferredText makes a DeferredText of a message.
func NewDeferredText(ev intake.Event, s intake.Said) DeferredText {
	return DeferredText{
		Key: ev.Key, At: ev.At, Place: ev.Place, Private: ev.Private, Person: ev.Person, Message: ev.Message, Said: s,
	}
}

// Event is the event that it came with.
func (w DeferredText) Event() intake.Event {
	return intake.Event{
		Key: cmp.Or(w.EditKey, w.Key), At: w.At, Place: w.Place, Private: w.Private, Person: w.Person, Message: w.Message, Action: w.Said,
	}
}

// StalePost makes the post that asks the writer of an old text whether it's still to be typed.
func (k *Clerk) StalePost(ctx context.Context, w DeferredText, text string) (adapters.Post, error) {
	o := Offer{Args: w.Key, Person: w.Person.ID, Single: true, Group: "stale " + w.Key}
	o.Do = "run-stale"
	run, err := k.MakeOffer(ctx, w.Place, "Run", o)
	if err != nil {
		return adapters.Post{}, err
	}
	o.Do = "skip-stale"
	skip, err := k.MakeOffer(ctx, w.Place, "Skip", o)
	if err != nil {
		return adapters.Post{}, err
	}
	return adapters.Post{
		To: w.Place, Key: "stale " + w.Key, Class: qos.Interactive, Session: w.Session, ReplyTo: w.Message, Text: text,
		Buttons: [][]adapters.Button{{run, skip}}, Ring: true,
	}, nil
}
