package agent

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// A dialog's phrase that somebody types into the input box doesn't make a dialog of it.
func TestAPhraseInTheBoxIsNoDialog(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	const text = "Do you want to proceed?"
	line := strings.Repeat("─", 60)
	for agent, rows := range map[string][]string{
		"claude":   {"● Hello.", "", line, "❯ " + text, line, "  ⏸ manual mode on"},
		"qwen":     {"  ✦ Hello.", "", line, "> " + "apply this change", line, "  ? for shortcuts"},
		"opencode": {"     Hello.", "", "  ┃", "  ┃  permission required", "  ┃", "  ┃  Build · Model", "  ╹" + strings.Repeat("▀", 50), ""},
	} {
		p := set.Get(agent)
		s := &sessions.Snapshot{Rows: rows, Height: len(rows)}
		if p.Dialog(rows) == "" {
			t.Fatalf("%s: there's no phrase in %q", agent, rows)
		}
		if l := p.layout(s, true); l.dialog >= 0 {
			t.Errorf("%s: %q is taken for a dialog's", agent, l.phrase)
		}
		if b := p.Box(s); !b.Open || b.Text == "" || len(b.Rows) == 0 {
			t.Errorf("%s: the box is %+v", agent, b)
		}
	}
}
