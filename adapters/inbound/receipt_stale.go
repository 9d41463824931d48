package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

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
		Key: staleKey(t.Key), At: t.At, Place: t.Place, Person: intake.Person{ID: t.Person}, Message: t.Message,
		Said: intake.Said{Text: asTyped(t.receipt.Text)}, Session: t.Session,
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
		p, err = rs.in.stalePost(ctx, w, fmt.Sprintf("This couldn't be typed for %s. Run it now?", wording.Age(now.Sub(t.receipt.CreatedAt))))
	}
	if err == nil {
		key := t.Key
		p.Sent = func(_ string, err error) {
			rs.leave(func(rs *receipts) { rs.told = append(rs.told, told{key, ToldAsked, "", false, err}) })
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
