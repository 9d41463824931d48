package sessions_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
)

// starting is a pane whose terminal still makes lines, for a program that loads and will
// draw an input box.
type starting struct {
	*boxed

	drawn  bool // the program has the terminal, and draws
	unread int
}

func (p *starting) Snapshot(ctx context.Context, pane string, w sessions.RowWindow) (sessions.Snapshot, error) {
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
	o.Hands.Box = func(id sessions.ID, s *sessions.Snapshot) sessions.InputBox {
		p.mu.Lock()
		drawn := p.drawn
		p.mu.Unlock()
		if !drawn {
			return sessions.InputBox{}
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

// loading is a pane in which an agent starts whose input box can be read: it draws that
// before or behind it works keys in, draws its screen anew a few times, and may empty its
// box when it's done.
type loading struct {
	*pane

	began  time.Time
	draws  time.Duration // behind its beginning: its box is there
	reads  time.Duration // it works in what it reads
	early  string        // what becomes of what it was sent before: "waits", "dropped", or "joined" as one text
	clears time.Duration // it empties its box; 0: never
	away   [][2]time.Duration
	prints []time.Duration
	shows  bool          // what it's asked stands on its screen
	lag    time.Duration // from a key to its effect

	unread []string
	done   int // of what happens by itself
}

func drawLoading(r *rand.Rand) *loading {
	ms := func(n int) time.Duration { return time.Duration(r.IntN(n)) * time.Millisecond }
	p := &loading{pane: &pane{}, draws: ms(8000), early: []string{"waits", "dropped", "joined"}[r.IntN(3)], shows: r.IntN(4) > 0, lag: ms(150)}
	if r.IntN(4) == 0 {
		p.draws += ms(40_000)
	}
	p.reads = max(0, p.draws+ms(4000)-2*time.Second)
	if r.IntN(2) == 0 {
		p.clears = p.reads + ms(3000)
	}
	for range r.IntN(4) {
		from := p.draws + ms(5000)
		p.away = append(p.away, [2]time.Duration{from, from + ms([]int{60, 400, 3000}[r.IntN(3)])})
	}
	for range r.IntN(5) {
		p.prints = append(p.prints, p.draws+ms(6000))
	}
	slices.Sort(p.prints)
	return p
}

func (p *loading) String() string {
	return fmt.Sprintf("draws %s, reads %s, what comes before is %s, clears %s, away %v, prints %v, shows %t, lag %s", p.draws, p.reads, p.early, p.clears, p.away, p.prints, p.shows, p.lag)
}

// happen does what's due; the pane is locked.
func (p *loading) happen() {
	now := time.Since(p.began)
	for len(p.prints) > 0 && now >= p.prints[0] {
		p.sent, p.prints = append(p.sent, "● a notice"), p.prints[1:]
	}
	if p.done == 0 && now >= p.reads {
		p.done = 1
		early := p.unread
		p.unread = nil
		switch p.early {
		case "waits":
			for _, typed := range early {
				p.take(typed)
			}
		case "joined":
			p.box += strings.ReplaceAll(strings.Join(early, ""), "\r", "\n")
		}
	}
	if p.done == 1 && p.clears > 0 && now >= p.clears {
		p.done, p.box = 2, ""
	}
}

// take works one typed thing in.
func (p *loading) take(typed string) {
	switch {
	case typed != "\r":
		p.box += typed
	case p.box != "":
		p.asked(p.box)
		p.box = ""
	}
}

func (p *loading) asked(text string) {
	p.sent = append(p.sent, "asked "+text)
}

// typed has a key or a text come to the program.
func (p *loading) typed(what string) {
	time.AfterFunc(p.lag, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.happen(); p.done == 0 {
			p.unread = append(p.unread, what)
		} else {
			p.take(what)
		}
	})
}

func (p *loading) Terminal(string) (sessions.Terminal, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.happen(); p.early == "waits" {
		return sessions.Terminal{Unread: len(strings.Join(p.unread, ""))}, nil
	}
	return sessions.Terminal{}, nil
}

func (p *loading) Snapshot(context.Context, string, sessions.RowWindow) (sessions.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.look(), nil
}

func (p *loading) look() sessions.Snapshot {
	p.happen()
	s := sessions.Snapshot{Server: run, Pane: "%1", Width: 80, Height: 40}
	now := time.Since(p.began)
	for _, row := range p.sent {
		if text, asked := strings.CutPrefix(row, "asked "); !asked {
			s.Rows = append(s.Rows, row)
		} else if p.shows {
			s.Rows = append(s.Rows, "  "+text)
		}
	}
	away := slices.ContainsFunc(p.away, func(a [2]time.Duration) bool { return now >= a[0] && now < a[1] })
	if now >= p.draws && !away {
		s.Rows = append(s.Rows, "> "+p.box)
		s.CursorX, s.CursorY = 2+len(p.box), len(s.Rows)-1
	}
	return s
}

func (p *loading) guarded(g sessions.PaneGuard, what string) (sessions.GuardOutcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.look(); sessionstest.Check(g, &now) != sessions.Done {
		return sessions.Moved, nil
	}
	p.typed(what)
	return sessions.Done, nil
}

func (p *loading) Paste(_ context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	return p.guarded(g, text)
}

func (p *loading) Press(_ context.Context, g sessions.PaneGuard, _ ...string) (sessions.GuardOutcome, error) {
	return p.guarded(g, "\r")
}

func (p *loading) options(o *options) {
	o.Hands.Box = func(_ sessions.ID, s *sessions.Snapshot) sessions.InputBox {
		b := sessions.InputBox{Known: true}
		if n := len(s.Rows); n > 0 {
			if b.Text, b.Open = strings.CutPrefix(s.Rows[n-1], "> "); b.Open {
				b.Text, b.Rows = strings.TrimSpace(b.Text), []int{n - 1}
			} else {
				b.Text = ""
			}
		}
		return b
	}
	o.Hands.Front = func(*sessions.Snapshot) sessions.Program {
		return sessions.Program{Kind: sessions.ProgramAgent, Name: "agent", Run: "1", Started: p.began, Own: true}
	}
	p.began = time.Now()
}

// Texts are written at drawn moments to agents that start in drawn ways: what's said to be
// submitted was, once, and what was submitted isn't said to have failed.
func TestTextsForAgentsThatLoad(t *testing.T) {
	n := 300
	if drawtest.Stressed() {
		n = 20_000
	}
	count := map[string]int{}
	var wrong []string
	for seed := range drawtest.Seeds(t, n) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := drawLoading(r)
		withPane(t, p.pane, p, p.options, func(b *bed) {
			b.pass(time.Duration(r.IntN(12_000)) * time.Millisecond)
			var all []sessions.Receipt
			for n := range 1 + r.IntN(2) {
				in, err := b.input(fmt.Sprint("look at README, number ", n), "")
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, in)
				b.pass(time.Duration(r.IntN(3000)) * time.Millisecond)
			}
			b.pass(3 * time.Minute)
			for _, in := range all {
				in = b.receipt(in.ID)
				got := 0
				for _, row := range p.sent {
					got += strings.Count(row, in.Text)
				}
				sure := in.State == sessions.ReceiptSubmitted && in.Reason == ""
				count[fmt.Sprintf("%s %.12s %d", in.State, in.Reason, got)]++
				lost := got == 0 && strings.Contains(in.Reason, "doesn't show") // it was typed before there was a box
				if sure && got != 1 || got > 1 || got == 1 && in.State == sessions.ReceiptFailed || lost {
					wrong = append(wrong, fmt.Sprintf("seed %d: %q came %d times, and is %s %q; it %s; screen %q, box %q", seed, in.Text, got, in.State, in.Reason, p, p.sent, p.box))
				}
			}
		})
	}
	t.Log(count)
	for _, w := range wrong[:min(20, len(wrong))] {
		t.Error(w)
	}
}

// asking is a pane whose program draws its box, asks something when a text stands there, and begins
// anew when that's answered.
type asking struct {
	*boxed
	times int    // that it asks
	leave string // what stands on the screen afterwards
}

func (p *asking) Paste(ctx context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
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
