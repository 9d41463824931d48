package sessions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Those who follow a session are told who wrote an input, once, right before it's
// submitted.
func TestWhoWroteAnInputIsNotedBeforeItIsSubmitted(t *testing.T) {
	withBed(t, func(b *bed) {
		write := func(req sessions.InputRequest) {
			t.Helper()
			if _, err := b.manager.Input(b.Context(), b.id, req); err != nil {
				t.Fatal(err)
			}
			b.pass(10 * time.Second)
		}
		long := strings.Repeat("wörd ", 100)
		write(sessions.InputRequest{Text: "one\n\ttwo", Submit: true, Author: "telegram:1", Name: "Ada\nL", Origin: "telegram:-5/7", Key: "k"})
		write(sessions.InputRequest{Text: "one\n\ttwo", Submit: true, Author: "telegram:1", Key: "k"}) // it's the same
		write(sessions.InputRequest{Text: long, Submit: true, Author: "cli"})
		write(sessions.InputRequest{Text: "nobody's", Submit: true})
		write(sessions.InputRequest{Text: "", Submit: true, Author: "cli"})
		write(sessions.InputRequest{Text: "not yet", Author: "cli"}) // nor submitted at all
		want := []sessions.Line{
			{N: 1, Kind: sessions.KindUser, Text: "one", Author: "Ada L", Origin: "telegram:-5/7", Begins: true},
			{N: 2, Kind: sessions.KindUser, Text: "\ttwo", Author: "Ada L", Origin: "telegram:-5/7"},
			{N: 3, Kind: sessions.KindUser, Text: long, Author: "cli", Begins: true},
		}
		if len(b.lines) != len(want) {
			t.Fatalf("noted %+v", b.lines)
		}
		for i, l := range b.lines {
			l.At = time.Time{}
			r, err := b.manager.Receipt(b.Context(), l.Receipt)
			if whole := strings.Split(r.Text, "\n"); err != nil || !slices.Contains(whole, l.Text) {
				t.Errorf("line %d is of receipt %q: %+v, %v", l.N, l.Receipt, r, err)
			}
			if l.Receipt = ""; l != want[i] {
				t.Errorf("noted %+v, want %+v", l, want[i])
			}
		}
		if b.boxes[0] != "one\n\ttwo" || b.boxes[2] != long {
			t.Errorf("when it was noted, there stood %q", b.boxes)
		}
	})
}

// What can't be noted is typed all the same.
func TestAnInputIsTypedThoughItsAuthorCannotBeNoted(t *testing.T) {
	withBed(t, func(b *bed) {
		b.mute = true
		r, err := b.input("one", "k")
		if err != nil {
			t.Fatal(err)
		}
		b.pass(10 * time.Second)
		b.wantSent("one")
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.State != sessions.ReceiptSubmitted {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// password is a pane whose program reads a line and shows nothing of it.
type password struct{ *pane }

func (password) Terminal(string) (sessions.Terminal, error) {
	return sessions.Terminal{Canonical: true, MaxLine: 4095}, nil
}

// What a program hides, a password say, isn't shown to those who follow the session.
func TestAHiddenTextIsNotNoted(t *testing.T) {
	p := &pane{}
	withPane(t, p, password{p}, nil, func(b *bed) {
		if _, err := b.input("hunter2", ""); err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Second)
		b.wantSent("hunter2")
		if len(b.lines) != 1 || strings.Contains(b.lines[0].Text, "hunter2") || b.lines[0].Author != "a" || b.lines[0].Receipt != "" {
			b.Errorf("noted %+v", b.lines)
		}
	})
}
