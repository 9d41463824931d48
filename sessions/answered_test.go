package sessions_test

import (
	"context"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Texts behind a held one say that they wait, and why; they're typed in order when it has
// gone on, and the next that's held says why itself.
func TestTextsBehindAHeldOneSayThatTheyWait(t *testing.T) {
	withBed(t, func(b *bed) {
		const why = "held: it waits behind another text: a dialog is open"
		b.pane.hold(true)
		one, _ := b.input("one", "1")
		two, _ := b.input("two", "2")
		b.pass(2 * time.Second)
		three, _ := b.input("three", "3")
		b.wantReceipt(one.ID, "held: a dialog is open")
		b.wantReceipt(two.ID, why)
		b.wantReceipt(three.ID, why)
		for _, r := range b.manager.Waiting(b.id) {
			if want := map[string]string{two.ID: one.ID, three.ID: one.ID}[r.ID]; r.Behind != want {
				b.Errorf("%s waits behind %q, want %q", r.Text, r.Behind, want)
			}
		}
		if _, err := b.manager.Cancel(b.Context(), one.ID); err != nil {
			b.Fatal(err)
		}
		b.pass(2 * time.Second)
		b.wantReceipt(two.ID, "held: a dialog is open")
		b.wantReceipt(three.ID, why)
		b.pane.hold(false)
		b.pass(10 * time.Second)
		b.wantSent("two", "three")
		b.wantReceipt(two.ID, "submitted")
		b.wantReceipt(three.ID, "submitted")
		b.wantReceipt(one.ID, "cancelled")
	})
}

// A receipt says that a text was answered when the turn that it began has ended, and no
// other; also where that came and went before it was seen to be submitted.
func TestATextIsAnsweredByTheEndOfItsTurn(t *testing.T) {
	withBed(t, func(b *bed) {
		turn := sessions.Turn{}
		begins := func() {
			turn = sessions.Turn{Number: turn.Number + 1, Open: true, StartedAt: time.Now()}
			b.manager.Output(sessions.OutputEvent{Session: b.id, Turn: turn})
		}
		ends := func() {
			turn.Open, turn.EndedAt = false, time.Now()
			b.manager.Output(sessions.OutputEvent{Session: b.id, Turn: turn, Complete: true})
			b.pass(time.Second)
		}
		begins()
		ends()
		r, _ := b.input("one", "")
		b.pass(10 * time.Second)
		b.wantReceipt(r.ID, "submitted")
		begins()
		b.pass(time.Hour)
		b.wantReceipt(r.ID, "submitted")
		ends()
		b.wantReceipt(r.ID, "answered")
		stored, err := b.store.Receipt(b.Context(), r.ID)
		if err != nil || stored.State != sessions.ReceiptAnswered {
			b.Errorf("stored %+v, %v", stored, err)
		}

		b.pass(time.Minute)
		r, _ = b.input("fast", "")
		b.pass(700 * time.Millisecond) // Enter is pressed
		begins()
		ends()
		b.pass(10 * time.Second)
		b.wantReceipt(r.ID, "answered")

		b.pass(time.Minute)
		if err := b.manager.Choose(b.id, sessions.Source{Program: "agent"}); err != nil {
			b.Fatal(err)
		}
		begins()
		b.pass(time.Minute)
		r, _ = b.input("as the turn before ends", "")
		b.pass(5 * time.Second)
		ends()
		b.wantReceipt(r.ID, "submitted")
		begins()
		ends()
		b.wantReceipt(r.ID, "answered")

		begins()
		b.pass(time.Minute)
		r, _ = b.input("into the turn", "")
		b.pass(5 * time.Second)
		ends()
		b.wantReceipt(r.ID, "submitted")
		b.pass(10 * time.Second) // no other begins
		b.wantReceipt(r.ID, "answered")
	})
}

// A daemon that was away while a turn ended says so at its next start.
func TestATextIsAnsweredWhileTheDaemonIsAway(t *testing.T) {
	withBed(t, func(b *bed) {
		for _, away := range []bool{false, true} {
			r, _ := b.input("one", "")
			b.pass(10 * time.Second)
			b.wantReceipt(r.ID, "submitted")
			turn := sessions.Turn{Number: 1, Open: !away, StartedAt: time.Now()}
			if away {
				turn.Number, turn.EndedAt = 2, time.Now()
			}
			m := sessions.NewManager(sessions.Options{Servers: nil, Store: ended{b.store, turn}, Pollers: nobody{}, Notes: b})
			if err := m.Load(b.Context()); err != nil {
				b.Fatal(err)
			}
			if !away {
				b.wantReceipt(r.ID, "submitted")
				b.manager.Output(sessions.OutputEvent{Session: b.id, Turn: sessions.Turn{Number: 1}, Complete: true})
				b.pass(time.Minute)
				continue
			}
			stored, err := b.store.Receipt(b.Context(), r.ID)
			if err != nil || stored.State != sessions.ReceiptAnswered {
				b.Errorf("stored %+v, %v", stored, err)
			}
		}
	})
}

// ended is a store whose session has had a turn since.
type ended struct {
	*full
	turn sessions.Turn
}

func (e ended) Sessions(ctx context.Context) ([]sessions.Session, error) {
	all, err := e.full.Sessions(ctx)
	for i := range all {
		all[i].Turn = e.turn
	}
	return all, err
}
