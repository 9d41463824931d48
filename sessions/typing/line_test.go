package typing

import (
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// An empty prompt that somebody has looked at is known again, and isn't with something
// typed behind it.
func TestEmptyPromptsAreKnownAgain(t *testing.T) {
	for _, c := range []struct {
		seen, row string
		known     bool
	}{
		{"me in /a λ ", "me in /b/c λ ", true},
		{"me in /a λ ", "me in /b/c λ rm", false},
		{"me in /a: ", "me in /b: ", true},
		{"ctrl+c to exit, 12 s", "ctrl+c to exit, 13 s", true},
		{"ctrl+c to exit", "rm -r exit", false},
		{"写 ", "写 写", false},
		{"›", "a ›", true},
		{"", "x", false},
	} {
		part := barePartOf(c.seen)
		if got := part != (barePart{}) && part.matches(c.row); got != c.known {
			t.Errorf("with %q seen, %q is empty: %v", c.seen, c.row, got)
		}
	}
}

func TestWhatStandsBeforeAPromptIsNoneOfIt(t *testing.T) {
	h := &Hand{}
	raw, line := sessions.Terminal{}, sessions.Terminal{Canonical: true}
	for _, c := range []struct {
		row  string
		term sessions.Terminal
		want bool
	}{
		{"half-# ", raw, false}, // it would show that in its line
		{"half-# ", line, true},
		{"rm -rf # ", line, true},
		{"half# ", line, true},
		{"# ", line, false},
		{"half-# ", line, true},
		{"foo:# ", line, true},
		{"/tmp/# ", line, true}, // it may be a folder, but then none stood there before
		{"# ", line, false},
		{"user@host:~$ ", line, false}, // another shell
		{"xuser@host:~$ ", line, true},
		{"user@host:~$ ", line, false},
	} {
		if got := h.mayBeAhead(&sessions.Snapshot{Width: 80, Height: 1, Rows: []string{c.row}, CursorX: len(c.row)}, c.term); got != c.want {
			t.Errorf("%q: %v", c.row, got)
		}
	}
	for _, first := range []string{"# ", "$ ", "sh-5.2$ ", "dash$ ", "user@host:~/x$ ", "/tmp # ", "~ $ ", "[me]$ "} {
		if new(Hand).mayBeAhead(&sessions.Snapshot{Width: 80, Height: 1, Rows: []string{first}, CursorX: len(first)}, line) {
			t.Errorf("at first: %q", first)
		}
	}
}
