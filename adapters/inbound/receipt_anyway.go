package inbound

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// anywayEvery is how often the button "Send anyway" is posted anew, for a screen that
// goes on changing.
const anywayEvery = 20 * time.Second

// anywayDue is when a held text's message is to be told the screen on which it could be
// sent anyway; zero: it knows.
func (t *tracked) anywayDue() time.Time {
	if t.wanted() != ToldHeld || t.Told != ToldHeld || t.posted != ToldNothing || t.receipt.Quoted == "" || t.receipt.Quoted == t.quoted {
		return time.Time{}
	}
	return t.offered.Add(anywayEvery)
}

// heldButtons are those below a message that says a text is held.
func (rs *receipts) heldButtons(ctx context.Context, t *tracked) [][]adapters.Button {
	var row []adapters.Button
	add := func(label string, o offer) {
		b, err := rs.in.offer(ctx, t.Place, label, o)
		if err != nil {
			rs.in.log.Warn("offer what to do about a held input", "receipt", t.Receipt, "do", o.Do, "err", err)
			return
		}
		row = append(row, b)
	}
	if q := t.receipt.Quoted; q != "" {
		args := t.Receipt + " " + q
		add("Send anyway", offer{Do: "send-anyway", Session: t.Session, Args: args, Role: Approver, Single: true, Group: "anyway " + args})
	}
	if t.receipt.State == sessions.ReceiptHeld {
		add("Take back", offer{Do: "take-back", Session: t.Session, Args: t.Receipt, Role: Operator, Single: true})
	}
	if row == nil {
		return nil
	}
	return [][]adapters.Button{row}
}

// sendAnyway sends a text that only a dialog's words hold, on the screen that the button
// is for.
func sendAnyway(a *ask) error {
	receipt, quoted, ok := strings.Cut(a.offered.Args, " ")
	if !ok {
		return errors.New("this button says no screen")
	}
	_, err := a.in.opt.Sessions.SendAnyway(a.ctx, receipt, quoted, a.event.Person.ID)
	if errors.Is(err, sessions.ErrConflict) {
		return errors.New(strings.TrimPrefix(err.Error(), sessions.ErrConflict.Error()+": "))
	}
	if err != nil {
		return err
	}
	return a.answer("Sent anyway.")
}
