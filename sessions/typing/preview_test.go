package typing

import (
	"cmp"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// TestPreviewAgainst: a preview is typed only where it can be seen that nothing stands in
// the input box.
func TestPreviewAgainst(t *testing.T) {
	raw, lines := sessions.Terminal{}, sessions.Terminal{Canonical: true, MaxLine: 4095}
	for _, c := range []struct {
		name    string
		rows    []string
		x       int
		term    sessions.Terminal
		box     sessions.Box
		shell   bool
		command bool
		young   bool
		text    string
		want    string // "": it's typed
	}{
		{name: "an empty box", box: sessions.Box{Known: true, Open: true}},
		{name: "something in the box", box: sessions.Box{Known: true, Open: true, Text: "rm"}, want: "half-typed"},
		{name: "no box", box: sessions.Box{Known: true}, want: "isn't on the screen"},
		{name: "a dialog", rows: []string{"do you want to proceed"}, box: sessions.Box{Known: true, Open: true}, want: "dialog"},
		{name: "not read yet", box: sessions.Box{Known: true, Open: true}, term: sessions.Terminal{Unread: 3}, want: "hasn't read"},
		{name: "a line reader", rows: []string{"", ""}, term: lines},
		{name: "nothing yet", rows: []string{"", ""}, term: lines, young: true, want: "isn't ready"},
		{name: "the box of a new program", box: sessions.Box{Known: true, Open: true}, young: true},
		{name: "a line reader that has said something", rows: []string{"", "Welcome."}, term: lines, young: true},
		{name: "half a line", rows: []string{"half"}, x: 4, term: lines, want: "half-typed"},
		{name: "a line reader that asks", rows: []string{"Name: "}, x: 6, term: lines, want: "half-typed"},
		{name: "too long for the kernel", rows: []string{""}, term: lines, text: strings.Repeat("x", 5000), want: "cuts lines"},
		{name: "a bare sign", rows: []string{"> "}, x: 2, term: raw},
		{name: "a sign in a box", rows: []string{"│ ❯ "}, x: 4, term: raw},
		{name: "text behind the sign", rows: []string{"> half"}, x: 6, term: raw, want: "can't be seen"},
		{name: "text behind the cursor", rows: []string{"> half"}, x: 2, term: raw, want: "behind its cursor"},
		{name: "text of an unknown program", rows: []string{"Ready."}, x: 6, term: raw, want: "can't be seen"},
		{name: "a shell", rows: []string{"$ "}, x: 2, term: raw, shell: true, want: "would run"},
		{name: "a command for a shell", rows: []string{"me@host:~$ "}, x: 11, term: raw, shell: true, command: true},
		{name: "a shell with half a command", rows: []string{"$ rm -rf"}, x: 8, term: raw, shell: true, command: true, want: "half-typed"},
		{name: "a shell with its cursor at the beginning", rows: []string{"$ rm -rf"}, x: 2, term: raw, shell: true, command: true, want: "half-typed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dialog := func(rows []string) string {
				if strings.Contains(strings.Join(rows, "\n"), "do you want to proceed") {
					return "do you want to proceed"
				}
				return ""
			}
			p := lonelyPreview(nil, sessions.Pane{}, sessions.Preview{
				Text: "words of others", Plain: cmp.Or(c.text, "a command"), Command: c.command,
				Box:   func(*sessions.Snapshot) sessions.Box { return c.box },
				Shell: func(*sessions.Snapshot) bool { return c.shell },
			}, nil, dialog)
			p.young = c.young
			s := &sessions.Snapshot{Rows: c.rows, Height: len(c.rows), CursorX: c.x}
			p.choose(s)
			got := p.against(s, c.term)
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if words := p.receipt.Text == "words of others"; words != (c.box.Known || c.command) {
				t.Errorf("it would type %q", p.text.Text)
			}
		})
	}
}
