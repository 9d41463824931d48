package sessions_test

import (
	"context"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// deaf is a pane whose program shows nothing of an Enter.
type deaf struct{ *pane }

func (deaf) Press(context.Context, sessions.Guard, ...string) (sessions.Outcome, error) {
	return sessions.Done, nil
}

// withDeaf has a session whose texts are said not to be delivered, and what tells that its
// agent was asked something.
func withDeaf(t *testing.T, test func(b *bed, tell func(sessions.Asked))) {
	t.Helper()
	p := &pane{}
	var all []func(sessions.Asked)
	change := func(o *options) {
		o.Hands.Box = func(_ sessions.ID, s *sessions.Snapshot) sessions.Box {
			return sessions.Box{Known: true, Open: true, Text: s.Rows[len(s.Rows)-1][2:]}
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
