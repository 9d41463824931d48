package inbound

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
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
		for _, way := range t.receipt.Revivals {
			add(revivalLabels[way], offer{Do: "revive", Session: t.Session, Args: args + " " + string(way), Role: access.Approver, Single: true, Group: "anyway " + args})
		}
		label := "Send anyway"
		if front := t.receipt.Front; front != "" {
			label = "Type it into " + front + " all the same"
		}
		add(label, offer{Do: "send-anyway", Session: t.Session, Args: args, Role: access.Approver, Single: true, Group: "anyway " + args})
	}
	if t.receipt.State == sessions.ReceiptHeld {
		add("Take back", offer{Do: "take-back", Session: t.Session, Args: t.Receipt, Role: access.Operator, Single: true})
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

// reviveAgent begins the agent again that a held text was written to.
func reviveAgent(a *ask) error {
	args := strings.Fields(a.offered.Args)
	if len(args) != 3 {
		return errors.New("this button says no way to begin the agent again")
	}
	_, err := a.in.opt.Sessions.Revive(a.ctx, args[0], args[1], a.event.Person.ID, sessions.Revival(args[2]))
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	if err != nil {
		return err
	}
	return a.answer("It's being started; your text follows when it takes it.")
}

// sendAnyway sends a text that only a dialog's words hold, on the screen that the button
// is for.
func sendAnyway(a *ask) error {
	receipt, quoted, ok := strings.Cut(a.offered.Args, " ")
	if !ok {
		return errors.New("this button says no screen")
	}
	_, err := a.in.opt.Sessions.SendAnyway(a.ctx, receipt, quoted, a.event.Person.ID)
	if refused, ok := errors.AsType[*sessions.RefusedError](err); ok {
		return errors.New(refused.Why)
	}
	if err != nil {
		return err
	}
	return a.answer("Sent anyway.")
}
