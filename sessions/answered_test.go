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

// deaf is a pane whose program shows nothing of an Enter.
type deaf struct{ *pane }

func (deaf) Press(context.Context, sessions.PaneGuard, ...string) (sessions.GuardOutcome, error) {
	return sessions.Done, nil
}

// withDeaf has a session whose texts are said not to be delivered, and what tells that its
// agent was asked something.
func withDeaf(t *testing.T, test func(b *bed, tell func(sessions.Asked))) {
	t.Helper()
	p := &pane{}
	var all []func(sessions.Asked)
	change := func(o *options) {
		o.Hands.Box = func(_ sessions.ID, s *sessions.Snapshot) sessions.InputBox {
			return sessions.InputBox{Known: true, Open: true, Text: s.Rows[len(s.Rows)-1][2:]}
		}
		o.Asked = func(_ sessions.ID, tell func(sessions.Asked)) func() {
			all = append(all, tell)
			return func() { all = nil }
		}
	}
	withPane(t, p, deaf{p}, change, func(b *bed) {
		test(b, func(a sessions.Asked) {
			for _, tell := range all {
				tell(a)
			}
			b.pass(time.Second)
		})
	})
}

// A text that the agent says it was asked was delivered, whatever its screen showed, and
// also when that was said before. What was asked earlier, or otherwise, proves nothing.
func TestWhatAnAgentWasAskedWasDelivered(t *testing.T) {
	const text = "list the files of this folder"
	for name, c := range map[string]struct {
		asked sessions.Asked
		after time.Duration // the text was written
		want  string
	}{
		"by its transcript, after it failed": {sessions.Asked{Text: text}, 5 * time.Minute, "submitted"},
		"by a hook, after it failed":         {sessions.Asked{Text: text, Hook: true}, 5 * time.Minute, "submitted"},
		"while it's looked for":              {sessions.Asked{Text: text}, 2 * time.Second, "submitted"},
		"wrapped and broken":                 {sessions.Asked{Text: "<pasted>list the files\nof this  folder</pasted>"}, 5 * time.Minute, "submitted"},
		"another text":                       {sessions.Asked{Text: "list the files"}, 5 * time.Minute, "failed"},
		"asked before it was written":        {sessions.Asked{Text: text, At: time.Unix(1, 0)}, 5 * time.Minute, "failed"},
		"an hour later":                      {sessions.Asked{Text: text}, time.Hour, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			withDeaf(t, func(b *bed, tell func(sessions.Asked)) {
				r, _ := b.input(text, "")
				b.pass(c.after)
				if c.after > time.Minute {
					b.wantReceipt(r.ID, "failed: the text is in the session's input box")
				}
				if c.asked.At.IsZero() {
					c.asked.At = time.Now()
				}
				tell(c.asked)
				b.pass(time.Minute)
				b.wantReceipt(r.ID, c.want)
				stored, err := b.store.Receipt(b.Context(), r.ID)
				if err != nil || string(stored.State) != c.want {
					b.Errorf("stored %+v, %v", stored, err)
				}
			})
		})
	}
}

// Of two texts that are the same each is proved by a record of its own; that of the same
// one by a hook and by the transcript proves nothing of the other.
func TestEachTextIsProvedByARecordOfItsOwn(t *testing.T) {
	withDeaf(t, func(b *bed, tell func(sessions.Asked)) {
		one, _ := b.input("go on with it", "")
		b.pass(5 * time.Minute)
		b.pane.clear()
		two, _ := b.input("go on with it", "")
		b.pass(5 * time.Minute)
		b.wantReceipt(one.ID, "failed")
		b.wantReceipt(two.ID, "failed")
		tell(sessions.Asked{Text: "go on with it", At: time.Now(), Hook: true})
		tell(sessions.Asked{Text: "go on with it", At: time.Now()})
		b.wantReceipt(one.ID, "submitted")
		b.wantReceipt(two.ID, "failed")
		tell(sessions.Asked{Text: "go on with it", At: time.Now()})
		b.wantReceipt(two.ID, "submitted")
	})
}

// A text that was said not to be delivered, and was, is answered by its turn like others.
func TestATextThatWasDeliveredAfterAllIsAnswered(t *testing.T) {
	withDeaf(t, func(b *bed, tell func(sessions.Asked)) {
		r, _ := b.input("list the files of this folder", "")
		b.pass(5 * time.Minute)
		tell(sessions.Asked{Text: "list the files of this folder", At: time.Now()})
		b.wantReceipt(r.ID, "submitted")
		turn := sessions.Turn{Number: 1, Open: true, StartedAt: time.Now()}
		b.manager.Output(sessions.OutputEvent{Session: b.id, Turn: turn})
		b.pass(time.Minute)
		turn.Open, turn.EndedAt = false, time.Now()
		b.manager.Output(sessions.OutputEvent{Session: b.id, Turn: turn, Complete: true})
		b.pass(time.Second)
		b.wantReceipt(r.ID, "answered")
	})
}

// A text of which nobody saw that it was taken was, if the agent says that it was asked it:
// before its turn's end or behind it. Its answer isn't in doubt then.
func TestADoubtEndsWithTheAgentsWord(t *testing.T) {
	for _, answered := range []bool{false, true} {
		p := &starting{boxed: &boxed{pane: &pane{sent: []string{"$ sleep 60"}}}}
		var tell func(sessions.Asked)
		options := func(o *options) {
			p.options(o)
			o.Asked = func(_ sessions.ID, to func(sessions.Asked)) func() {
				tell = to
				return func() { tell = func(sessions.Asked) {} }
			}
		}
		withPane(t, p.pane, p, options, func(b *bed) {
			p.do(func() { p.unread = 6 })
			r, err := b.input("hello", "")
			if err != nil {
				b.Fatal(err)
			}
			b.pass(10 * time.Second)
			b.wantReceipt(r.ID, "submitted: unverified")
			turn := sessions.Turn{Number: 1, Open: true, StartedAt: time.Now()}
			b.manager.Output(sessions.OutputEvent{Session: b.id, Turn: turn})
			end := func() {
				turn.Open, turn.EndedAt = false, time.Now()
				b.manager.Output(sessions.OutputEvent{Session: b.id, Turn: turn, Complete: true})
				b.pass(time.Minute)
			}
			want := "submitted"
			if answered {
				end()
				b.wantReceipt(r.ID, "answered: unverified")
				want = "answered"
			}
			tell(sessions.Asked{Text: "hello", At: time.Now()})
			b.pass(time.Second)
			stored, err := b.store.Receipt(b.Context(), r.ID)
			if err != nil || string(stored.State) != want || stored.Reason != "" {
				b.Errorf("stored %+v, %v", stored, err)
			}
			if end(); !answered {
				stored, err = b.store.Receipt(b.Context(), r.ID)
				if err != nil || stored.State != sessions.ReceiptAnswered || stored.Reason != "" {
					b.Errorf("stored %+v, %v", stored, err)
				}
			}
		})
	}
}

// clear takes away what stands in the box.
func (p *pane) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.box = ""
}
