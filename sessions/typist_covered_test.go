package sessions_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// halfDrawn is how long a screen shows neither a dialog nor the box, and then both in part.
const halfDrawn = 200 * time.Millisecond

// covered is a pane whose program asks something with the first Enter.
type covered struct {
	*boxed
	takes bool // the Enter submits the text, too
	old   bool // what stood in the box is still there, though the box isn't
}

func (p *covered) Snapshot(ctx context.Context, pane string, w sessions.Window) (sessions.Snapshot, error) {
	s, err := p.boxed.Snapshot(ctx, pane, w)
	p.do(func() {
		if p.old {
			s.Rows = append(s.Rows, "| look at README")
		}
	})
	return s, err
}

func (p *covered) Press(ctx context.Context, g sessions.Guard, keys ...string) (sessions.Outcome, error) {
	first := p.enters == 0
	if first {
		p.do(func() { p.deaf = !p.takes })
	}
	out, err := p.boxed.Press(ctx, g, keys...)
	if first {
		p.do(func() { p.hidden, p.deaf = true, false })
		time.AfterFunc(halfDrawn, func() {
			p.do(func() { p.sent, p.old = append(p.sent, "do you want to proceed"), true })
		})
		time.AfterFunc(2*halfDrawn, func() { p.do(func() { p.old = false }) })
	}
	return out, err
}

// A dialog that comes with an Enter hides whether the text was submitted: that shows when
// the dialog has closed, or where the text stands among what was said.
func TestADialogHidesWhatBecameOfAText(t *testing.T) {
	for _, takes := range []bool{false, true} {
		t.Run("submitted at once "+strconv.FormatBool(takes), func(t *testing.T) {
			p := &covered{boxed: &boxed{pane: &pane{}}, takes: takes}
			withPane(t, p.pane, p, p.options, func(b *bed) {
				r, err := b.input("look at README", "")
				if err != nil {
					b.Fatal(err)
				}
				b.pass(time.Minute)
				if takes {
					b.wantReceipt(r.ID, "submitted")
				} else {
					b.wantReceipt(r.ID, "typed: a dialog has opened")
				}
				p.do(func() {
					for i, row := range p.sent {
						if row == "do you want to proceed" {
							p.sent = append(p.sent[:i:i], p.sent[i+1:]...)
							break
						}
					}
				})
				b.pass(halfDrawn)
				p.do(func() { p.hidden = false })
				b.pass(10 * time.Second)
				b.wantReceipt(r.ID, "submitted")
				b.wantSent("look at README")
				if want := map[bool]int{false: 2, true: 1}[takes]; p.enters != want {
					b.Errorf("%d Enters, want %d", p.enters, want)
				}
			})
		})
	}
}
