package sessions_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// starting is a pane whose terminal still makes lines, for a program that loads and will
// draw an input box.
type starting struct {
	*boxed

	drawn  bool // the program has the terminal, and draws
	unread int
}

func (p *starting) Snapshot(ctx context.Context, pane string, w sessions.Window) (sessions.Snapshot, error) {
	s, err := p.boxed.Snapshot(ctx, pane, w)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.drawn {
		s.Rows = slices.Clone(p.sent)
	}
	return s, err
}

func (p *starting) Terminal(string) (sessions.Terminal, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sessions.Terminal{Echo: !p.drawn, Canonical: !p.drawn, MaxLine: 4095, Unread: p.unread}, nil
}

func (p *starting) options(o *options) {
	p.boxed.options(o)
	box := o.Hands.Box
	o.Hands.Box = func(id sessions.ID, s *sessions.Snapshot) sessions.Box {
		p.mu.Lock()
		drawn := p.drawn
		p.mu.Unlock()
		if !drawn {
			return sessions.Box{}
		}
		return box(id, s)
	}
}

// What's written to a session that was just made waits until its program draws: a
// terminal that makes lines would hand it over as text with a line break.
func TestATextWaitsForAProgramThatLoads(t *testing.T) {
	p := &starting{boxed: &boxed{pane: &pane{}}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		r, err := b.input("hello", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(2 * time.Second)
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.State != sessions.ReceiptStored || !strings.Contains(r.Reason, "isn't ready") {
			b.Errorf("before it has drawn anything: %+v, %v", r, err)
		}
		p.do(func() { p.drawn = true })
		b.pass(5 * time.Second)
		b.wantSent("hello")
	})
}

// A line that a program takes as text, because it began to draw before it had read it,
// isn't said to be submitted.
func TestALineThatIsTakenAsText(t *testing.T) {
	p := &starting{boxed: &boxed{pane: &pane{sent: []string{"Loading"}}}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		p.do(func() { p.unread = 6 })
		r, err := b.input("hello", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Second)
		p.do(func() { p.drawn, p.unread = true, 0 })
		b.pass(5 * time.Second)
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.State != sessions.ReceiptFailed || !strings.Contains(r.Reason, "just starting") {
			b.Errorf("%+v, %v", r, err)
		}
	})
}

// A line that's never read, or only by a shell that has taken the terminal over, is said
// to be unverified.
func TestALineThatNobodyIsSeenToRead(t *testing.T) {
	p := &starting{boxed: &boxed{pane: &pane{sent: []string{"$ sleep 60"}}}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		p.do(func() { p.unread = 6 })
		r, err := b.input("hello", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Second)
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.State != sessions.ReceiptSubmitted || !strings.HasPrefix(r.Reason, "unverified: ") {
			b.Errorf("%+v, %v", r, err)
		}
	})
}

// A shell that reads line by line runs the first line of a text as it comes. The Enter
// behind the last waits until that's done.
func TestALineRunsBeforeTheEndOfItsText(t *testing.T) {
	p := &starting{boxed: &boxed{pane: &pane{sent: []string{"$ "}}}}
	done := false
	options := func(o *options) {
		p.options(o)
		o.Hands.Front = func(*sessions.Snapshot) (front sessions.Program) {
			p.do(func() {
				front = sessions.Program{Kind: sessions.ProgramShell, Name: "sh"}
				if p.box != "" && !done {
					front = sessions.Program{Kind: sessions.ProgramOther, Name: "make", Run: "1", Started: time.Now()}
				}
			})
			return front
		}
	}
	withPane(t, p.pane, p, options, func(b *bed) {
		r, err := b.input("make\nmake test", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Second)
		p.do(func() { done = true })
		b.pass(5 * time.Second)
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.State != sessions.ReceiptSubmitted || r.Reason != "" {
			b.Errorf("%+v, %v", r, err)
		}
	})
}
