package sessions_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
)

// boxed is a pane whose program has an input box that can be read.
type boxed struct {
	*pane
	hidden   bool   // the box isn't on the screen
	complete bool   // the first Enter takes a completion
	deaf     bool   // Enter does nothing
	lost     bool   // what's pasted is read, and goes nowhere
	eats     int    // bytes of the next paste go to a dialog that opens just then
	lines    bool   // it's a shell, whose terminal makes lines
	queue    bool   // what's submitted waits
	guess    string // what the program itself writes into its empty box
	enters   int
}

func (p *boxed) Snapshot(context.Context, string, sessions.Window) (sessions.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := slices.Clone(p.sent)
	if !p.hidden {
		rows = append(rows, "> "+cmp.Or(p.box, p.guess))
	}
	snap := sessions.Snapshot{Server: run, Pane: "%1", Rows: rows, CursorX: len(p.box)}
	if p.lines {
		snap.CursorX, snap.CursorY, snap.Front = len("> ")+len(p.box), len(rows)-1, "dash"
	}
	return snap, nil
}

// keeps does as tmux does with a guard.
func (p *boxed) keeps(ctx context.Context, g sessions.Guard) sessions.Outcome {
	s, _ := p.Snapshot(ctx, "", sessions.Window{})
	return sessionstest.Check(g, &s)
}

func (p *boxed) Paste(ctx context.Context, g sessions.Guard, text string) (sessions.Outcome, error) {
	if out := p.keeps(ctx, g); out != sessions.Done {
		return out, nil
	}
	if p.lost {
		return sessions.Done, nil
	}
	text, p.eats = text[min(p.eats, len(text)):], 0
	return p.pane.Paste(ctx, g, text)
}

func (p *boxed) Press(ctx context.Context, g sessions.Guard, keys ...string) (sessions.Outcome, error) {
	if out := p.keeps(ctx, g); out != sessions.Done {
		return out, nil
	}
	p.mu.Lock()
	if slices.Contains(keys, "C-u") {
		p.box = ""
		p.mu.Unlock()
		return sessions.Done, nil
	}
	p.enters++
	done := p.deaf
	if p.complete && !done {
		p.box, p.complete, done = p.box+"ME.md", false, true
	}
	p.mu.Unlock()
	if done {
		return sessions.Done, nil
	}
	return p.pane.Press(ctx, g, keys...)
}

func (p *boxed) do(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *boxed) options(o *options) {
	const phrase = "do you want to proceed"
	o.Hands.Box, o.Hands.Phrases = readBox(&p.queue), []string{phrase}
	o.Hands.Dialog = func(rows []string) string {
		if strings.Contains(strings.Join(rows, "\n"), phrase) {
			return phrase
		}
		return ""
	}
}

func readBox(queued *bool) func(sessions.ID, *sessions.Snapshot) sessions.Box {
	return func(_ sessions.ID, s *sessions.Snapshot) sessions.Box {
		b := sessions.Box{Known: true, Queued: *queued}
		if n := len(s.Rows); n > 0 {
			b.Text, b.Open = strings.CutPrefix(s.Rows[n-1], "> ")
			b.Rows, b.Unsure = []int{n - 1}, s.CursorX == 0
			if !b.Open {
				b.Text = ""
			}
		}
		return b
	}
}

// What becomes of a text where the program's input box can be read.
func TestTextsGoThroughTheInputBox(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string // "": "look at README"
		begin  func(p *boxed)
		after  time.Duration // then:
		change func(p *boxed)
		within time.Duration // of the change, or the beginning
		before string        // the receipt before the change
		want   string        // and at the end
		sent   []string
		enters int
	}{
		{
			name: "ready", begin: func(*boxed) {}, within: 3 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "not ready yet", begin: func(p *boxed) { p.hidden = true }, after: 15 * time.Second,
			before: "stored: the program isn't ready", change: func(p *boxed) { p.hidden = false }, within: 4 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "its box can't be recognised", begin: func(p *boxed) { p.sent, p.hidden = []string{"Welcome"}, true }, within: time.Minute,
			want: "submitted", sent: []string{"Welcome", "look at README"}, enters: 1,
		},
		{
			name: "it draws nothing for long", begin: func(p *boxed) { p.hidden = true }, after: time.Hour,
			before: "held: the program isn't ready", change: func(p *boxed) { p.hidden = false }, within: 4 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "half-typed", begin: func(p *boxed) { p.box = "someone's" }, after: time.Minute,
			before: "held: something half-typed", change: func(p *boxed) { p.box = "" }, within: 4 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "completion", text: "look at @READ", begin: func(p *boxed) { p.complete = true }, within: 10 * time.Second,
			want: "submitted", sent: []string{"look at @README.md"}, enters: 2,
		},
		{
			name: "refused", begin: func(p *boxed) { p.deaf = true }, within: time.Minute,
			want: "failed: the text is in the session's input box, but two Enters", enters: 2,
		},
		{
			name: "lost", begin: func(p *boxed) { p.lost = true }, within: time.Minute,
			want: "failed: the program has read the text, but it doesn't stand in its input box", enters: 0,
		},
		{
			name: "a dialog's phrase is quoted", begin: func(p *boxed) { p.sent = []string{"it said: do you want to proceed"} }, within: 5 * time.Second,
			want: "submitted", sent: []string{"it said: do you want to proceed", "look at README"}, enters: 1,
		},
		{
			name: "a dialog is open", begin: func(p *boxed) { p.sent, p.hidden = []string{"do you want to proceed"}, true }, after: time.Hour,
			before: "held: a dialog is open", change: func(p *boxed) { p.sent, p.hidden = nil, false }, within: 5 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "queued", begin: func(p *boxed) { p.queue = true }, within: 4 * time.Second,
			want: "submitted: queued", sent: []string{"look at README"}, enters: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &boxed{pane: &pane{}}
			c.begin(p)
			withPane(t, p.pane, p, p.options, func(b *bed) {
				r, err := b.input(cmp.Or(c.text, "look at README"), "")
				if err != nil {
					b.Fatal(err)
				}
				if c.change != nil {
					b.pass(c.after)
					b.wantReceipt(r.ID, c.before)
					p.do(func() { c.change(p) })
				}
				b.pass(c.within)
				b.wantReceipt(r.ID, c.want)
				b.wantSent(c.sent...)
				if p.enters != c.enters {
					b.Errorf("%d Enters, want %d", p.enters, c.enters)
				}
			})
		})
	}
}

// A box that was seen and is away is waited for: something else has the keyboard.
func TestABoxThatIsAwayIsWaitedFor(t *testing.T) {
	p := &boxed{pane: &pane{}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		if _, err := b.input("first", ""); err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Second)
		p.do(func() { p.hidden = true })
		if _, err := b.input("second", ""); err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Minute)
		b.wantSent("first")
		p.do(func() { p.hidden = false })
		b.pass(5 * time.Second)
		b.wantSent("first", "second")
	})
}

// What may be the program's own, in a look that isn't known, holds a text until somebody
// has looked at the screen.
func TestWhatMayBeTheProgramsOwn(t *testing.T) {
	p := &boxed{pane: &pane{}, guess: "run the tests"}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		r, err := b.input("look at README", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Minute)
		b.wantReceipt(r.ID, "held: something half-typed")
		if r = b.receipt(r.ID); r.Quoted == "" {
			b.Fatalf("%+v; want that it can be sent anyway", r)
		}
		if err := b.anyway(r); err != nil {
			b.Fatal(err)
		}
		p.do(func() { p.guess = "" })
		b.pass(10 * time.Second)
		b.wantSent("look at README")
	})
}

// In a program whose box isn't known, a dialog's phrase in the text itself doesn't keep
// its Enter back; one that comes from elsewhere does.
func TestAPhraseOfTheTextItself(t *testing.T) {
	p := &boxed{pane: &pane{}}
	withPane(t, p.pane, p, func(o *options) { p.options(o); o.Hands.Box = nil }, func(b *bed) {
		const text = "echo do you want to proceed"
		if _, err := b.input(text, ""); err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Second)
		b.wantSent(text)
		p.do(func() { p.sent = nil })
		if _, err := b.input("echo 2; "+text, ""); err != nil {
			b.Fatal(err)
		}
		b.pass(200 * time.Millisecond) // it's pasted, and Enter isn't pressed yet
		p.do(func() { p.sent = []string{"do you want to proceed"} })
		b.pass(time.Minute)
		b.wantSent("do you want to proceed")
	})
}

// A program without an input box that shows the text, but nothing of its Enter.
func TestEntersThatChangeNothing(t *testing.T) {
	p := &boxed{pane: &pane{}, deaf: true}
	withPane(t, p.pane, p, nil, func(b *bed) {
		r, err := b.input("hello", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Minute)
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.State != sessions.ReceiptFailed || strings.Contains(r.Reason, "input box") || !strings.Contains(r.Reason, "two Enters") || p.enters != 2 {
			b.Errorf("%+v, %v, with %d Enters", r, err, p.enters)
		}
	})
}
