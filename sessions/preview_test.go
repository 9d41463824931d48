package sessions_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// flickering is a pane with an input box that's half drawn at the first look behind an Enter.
type flickering struct {
	*boxed
	half   bool   // the next look finds the box without its text
	asks   bool   // Enter has it ask something, in place of its box
	passes int    // Enters that do nothing
	lined  []bool // Guard.Lines of what was pasted
}

func (p *flickering) Snapshot(ctx context.Context, id string, w sessions.RowWindow) (sessions.Snapshot, error) {
	s, err := p.boxed.Snapshot(ctx, id, w)
	p.do(func() {
		if p.half {
			s.Rows, s.CursorX, p.half = append(s.Rows[:len(s.Rows)-1:len(s.Rows)-1], "> "), 0, false
		}
	})
	return s, err
}

func (p *flickering) Terminal(string) (sessions.Terminal, error) {
	return sessions.Terminal{Canonical: p.lines, Echo: true, MaxLine: 4095}, nil
}

func (p *flickering) Paste(ctx context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	p.do(func() { p.lined = append(p.lined, g.Lines) })
	return p.boxed.Paste(ctx, g, text)
}

func (p *flickering) Press(ctx context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	deaf := false
	p.do(func() {
		if p.asks && keys[0] == "Enter" {
			p.box, p.sent, p.hidden, deaf = "", []string{"do you want to proceed"}, true, true
			p.enters++
			return
		}
		if deaf = p.passes > 0 && keys[0] == "Enter"; deaf {
			p.passes--
			p.enters++
			p.half = true
		}
	})
	if deaf {
		return sessions.Done, nil
	}
	return p.boxed.Press(ctx, g, keys...)
}

const previewText = "you have mail from lead: please read it"

// What's looked for as a person's text is typed, is looked for as a preview is.
func TestPreviewsAreTypedAsTextsAre(t *testing.T) {
	for _, c := range []struct {
		name       string
		begin      func(b *bed, p *flickering)
		box        sessions.InputBox // what else is known of it
		command    bool
		after      time.Duration // then:
		change     func(p *flickering)
		sent       bool
		why        string // "": it's submitted
		enters     int
		left       string // in the box
		wantsLines bool
	}{
		{name: "all is well", sent: true, enters: 1},
		{
			name: "its beginning went to a dialog that opened just then", begin: func(_ *bed, p *flickering) { p.eats = 20 },
			sent: true, why: "its beginning went to something",
		},
		{
			name: "a here-document that somebody has begun", box: sessions.InputBox{Shell: true, Unfinished: "cat <<EOF"}, command: true,
			why: "half-typed",
		},
		{
			name: "a program that has read a text and shows nothing of it yet", begin: func(b *bed, p *flickering) {
				p.lost = true
				if _, err := b.input("a text", ""); err != nil {
					b.Fatal(err)
				}
				b.pass(time.Minute)
				p.do(func() { p.lost = false })
			},
			why: "shows nothing of it yet",
		},
		{
			name: "it's shown late", begin: func(_ *bed, p *flickering) { p.lost = true },
			after: 20 * time.Second, change: func(p *flickering) { p.box = previewText }, sent: true, enters: 1,
		},
		{
			name: "a shell that reads lines", begin: func(_ *bed, p *flickering) { p.lines = true },
			box: sessions.InputBox{Shell: true}, command: true, sent: true, enters: 1, wantsLines: true,
		},
		{
			name: "a box that's half drawn behind Enter", begin: func(_ *bed, p *flickering) { p.passes = 1 },
			sent: true, enters: 2,
		},
		{
			name: "a dialog that opens behind Enter", begin: func(_ *bed, p *flickering) { p.asks = true },
			sent: true, enters: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &flickering{boxed: &boxed{pane: &pane{}}}
			withPane(t, p.pane, p, p.options, func(b *bed) {
				if c.begin != nil {
					c.begin(b, p)
				}
				p.do(func() { p.lined = nil })
				b.manager.Output(sessions.OutputEvent{Session: b.id, State: sessions.StateIdle})
				read := readBox(&p.queue)
				preview := sessions.Preview{
					Text: previewText, Command: c.command, Shell: func(*sessions.Snapshot) bool { return c.box.Shell },
					Box: func(s *sessions.Snapshot) sessions.InputBox {
						box := read("", s)
						box.Shell, box.Unfinished = c.box.Shell, c.box.Unfinished
						return box
					},
				}
				if c.change != nil {
					defer time.AfterFunc(c.after, func() { p.do(func() { c.change(p) }) }).Stop()
				}
				began := time.Now()
				sent, why, err := b.manager.TypePreview(b.Context(), b.id, preview)
				if err != nil || sent != c.sent || (why == "") != (c.why == "") || !strings.Contains(why, c.why) || p.enters != c.enters || p.box != c.left {
					t.Errorf("sent %v, %q, %v; %d Enters, %q is left in the box", sent, why, err, p.enters, p.box)
				}
				if took := time.Since(began); took > 25*time.Second {
					t.Errorf("nobody else could type for %s", took)
				}
				if c.wantsLines != (len(p.lined) > 0 && p.lined[0]) {
					t.Errorf("pasted by lines: %v", p.lined)
				}
			})
		})
	}
}
