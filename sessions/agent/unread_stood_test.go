package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent/dialogtest"
)

// What stood on the screen when a shell had it isn't asked by the program that it runs; what
// that draws below, or on a screen that it has cleared, is, though the same stood there before.
func TestAProgramAsksNothingThatStoodBefore(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	random := drawtest.Rand(t, 0)
	for range 3000 {
		asked := dialogtest.DrawUnknown(random)
		for asked.Field {
			asked = dialogtest.DrawUnknown(random) // that stands in front of the cursor alone
		}
		p := pager{height: 30 + random.IntN(40)}
		for n := range random.IntN(80) {
			p.rows = append(p.rows, fmt.Sprint("line ", n))
		}
		p.print(asked.Rows...)
		p.print("$ ru")
		u := unread{stood: stood{p.shot().HistorySize, visibleRows(p.shot())[:p.shot().CursorY+1]}, mine: true}
		p.rows[len(p.rows)-1] = "$ run it"
		switch random.IntN(3) {
		case 0:
			for n := range random.IntN(8) {
				p.print(fmt.Sprint("2^", n))
			}
			p.print("")
			if d := set.Generic().Unread(u.ownScreen(p.shot()), false); d != nil {
				t.Fatalf("it stood there before:\n%s", strings.Join(p.rows, "\n"))
			}
			continue
		case 1:
			p.print(asked.Rows...)
		default: // it draws the same where it stood
			first := len(p.rows) - 1 - len(asked.Rows)
			p.rows = slices.Concat(p.rows[:first], asked.Rows)
		}
		if d := set.Generic().Unread(u.ownScreen(p.shot()), false); d == nil {
			t.Fatalf("it isn't noticed:\n%s", strings.Join(p.rows, "\n"))
		}
	}
}

// Programs follow one another, and the shell may be seen in between or not: what stood there when one
// got the foreground isn't asked by it, and what it has drawn itself is, also when another has had the
// foreground meanwhile.
func TestAProgramAsksNothingThatAnotherLeft(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	random := drawtest.Rand(t, 1)
	dialog := func() []string {
		for {
			if asked := dialogtest.DrawUnknown(random); !asked.Field {
				return asked.Rows
			}
		}
	}
	played := 0
	for range 2000 {
		const shell, first, second, helper = 100, 200, 300, 400
		p := pager{height: 60 + random.IntN(40)}
		var b backdrop
		asks := func(group int) bool {
			u := unread{stood: b.noteScreen(p.shot(), group, group == shell), mine: group != shell}
			return set.Generic().Unread(u.ownScreen(p.shot()), false) != nil
		}
		for n := range random.IntN(30) {
			p.print(fmt.Sprint("line ", n))
		}
		p.print("$ ")
		asks(shell)
		p.rows[len(p.rows)-1] = "$ first"
		p.print(dialog()...)
		p.print("")
		if !asks(first) {
			continue // what's drawn above such a row may be a list that was left: see unreadScreen.buried
		}
		if random.IntN(2) == 0 {
			if asks(helper) {
				t.Fatalf("what another program asks is asked by a helper:\n%s", strings.Join(p.rows, "\n"))
			}
			if !asks(first) {
				t.Fatalf("it isn't noticed when a helper has had the foreground:\n%s", strings.Join(p.rows, "\n"))
			}
		}
		p.rows[len(p.rows)-1] = "$ "
		if random.IntN(2) == 0 {
			asks(shell)
		}
		p.rows[len(p.rows)-1] = "$ second"
		p.print("")
		if asks(second) {
			t.Fatalf("it was left by another:\n%s", strings.Join(p.rows, "\n"))
		}
		own := append(dialog(), "")
		p.print(own...)
		alone := pager{height: p.height, rows: append([]string{"$ second", ""}, own...)}
		if set.Generic().Unread(alone.shot(), false) != nil && !asks(second) {
			t.Fatalf("it isn't noticed:\n%s", strings.Join(p.rows, "\n"))
		}
		played++
	}
	if played < 500 {
		t.Errorf("only %d times something was asked", played)
	}
}

// pager is a screen that scrolls.
type pager struct {
	rows   []string
	height int
}

func (p *pager) print(rows ...string) { p.rows = append(p.rows, rows...) }

func (p *pager) shot() *sessions.Snapshot {
	s := &sessions.Snapshot{Width: 120, Height: p.height, HistorySize: max(0, len(p.rows)-p.height)}
	s.Rows = slices.Clone(p.rows[s.HistorySize:])
	s.CursorY = len(s.Rows) - 1
	s.CursorX = utf8.RuneCountInString(s.Rows[s.CursorY])
	s.Rows = append(s.Rows, make([]string, p.height-len(s.Rows))...)
	return s
}
