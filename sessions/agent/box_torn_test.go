package agent

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// A box whose frame tmux has broken, since its pane got narrower and nothing was drawn
// anew, isn't read: between the parts of its upper line there's nothing, and it isn't empty.
func TestATornBoxIsNotRead(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude", "pi", "qwen"} {
		p := set.Get(name)
		sign := map[string]string{"claude": "❯ ", "qwen": "> "}[name]
		foot := map[string]string{"claude": "  ⏸ manual mode on", "qwen": "  ? for shortcuts", "pi": "0.0%/128k (auto)"}[name]
		whole := []string{"said", "", strings.Repeat("─", 80), sign + "half-typed", strings.Repeat("─", 80), foot}
		if b := p.Box(tornScreen(whole, nil, 80)); !b.Open || b.Text != "half-typed" {
			t.Errorf("%s: whole: %+v", name, b)
		}
		half := strings.Repeat("─", 40)
		torn := []string{"said", "", half, half, sign + "half-typed", half, half, foot}
		if b := p.Box(tornScreen(torn, map[int]bool{2: true, 5: true}, 40)); b.Open || !b.Torn {
			t.Errorf("%s: torn: %+v", name, b)
		}
	}
}

func tornScreen(rows []string, wrapped map[int]bool, width int) *sessions.Snapshot {
	s := &sessions.Snapshot{Width: width, Height: len(rows), Rows: rows, Wrapped: make([]bool, len(rows)), CursorX: 12, CursorY: 3}
	for i := range wrapped {
		s.Wrapped[i] = true
	}
	return s
}
