package sessions_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// asking is a pane whose program draws its box, asks something when a text stands there, and begins
// anew when that's answered.
type asking struct {
	*boxed
	times int    // that it asks
	leave string // what stands on the screen afterwards
}

func (p *asking) Paste(ctx context.Context, g sessions.Guard, text string) (sessions.Outcome, error) {
	out, err := p.boxed.Paste(ctx, g, text)
	if out != sessions.Done || p.times == 0 {
		return out, err
	}
	p.times--
	time.AfterFunc(300*time.Millisecond, func() {
		p.do(func() { p.sent, p.hidden = append(p.sent, "do you want to proceed"), true })
	})
	time.AfterFunc(20*time.Second+13*time.Millisecond, func() {
		p.do(func() { p.sent, p.box = p.sent[:len(p.sent)-1], "" })
	})
	time.AfterFunc(22*time.Second, func() {
		p.do(func() {
			if p.hidden = false; p.leave != "" {
				p.sent = append(p.sent, p.leave)
			}
		})
	})
	return out, err
}

// A program that asks something as it starts, and begins anew with an empty box, gets the text once
// more, which it never got: Gemini CLI asks so whether to trust the folder. It gets it no third time,
// and no second where something of it is to be seen, or the program runs since long: somebody at the
// pane may have sent it, or taken it away.
func TestATextThatAStartingProgramForgetsIsTypedAgain(t *testing.T) {
	for _, c := range []struct {
		age    time.Duration // of the program
		times  int
		leave  string
		want   string
		enters int
	}{
		{2 * time.Second, 1, "", "submitted", 1},
		{time.Hour, 1, "", "failed: it was typed, but is no longer in the session's input box", 0},
		{2 * time.Second, 2, "", "failed: it was typed, but is no longer in the session's input box", 0},
		{2 * time.Second, 1, "you: look at README", "failed: it was typed, but is no longer in the session's input box", 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := &asking{boxed: &boxed{pane: &pane{}}, times: c.times, leave: c.leave}
			options := func(o *options) {
				p.options(o)
				began := time.Now().Add(-c.age)
				o.Hands.Front = func(*sessions.Snapshot) sessions.Program {
					return sessions.Program{Kind: sessions.ProgramAgent, Name: "gemini", Run: "1", Started: began}
				}
			}
			withPane(t, p.pane, p, options, func(b *bed) {
				r, err := b.input("look at README", "")
				if err != nil {
					b.Fatal(err)
				}
				b.pass(10 * time.Second)
				b.wantReceipt(r.ID, "typed: a dialog has opened")
				b.pass(3 * time.Minute)
				b.wantReceipt(r.ID, c.want)
				if p.enters != c.enters {
					b.Errorf("%d Enters were pressed, want %d", p.enters, c.enters)
				}
			})
		})
	}
}
