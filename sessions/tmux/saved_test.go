package tmux_test

import (
	"strings"
	"testing"
)

// The normal screen is seen behind the alternate one, with its history and cursor.
func TestSavedScreen(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	pane := s.pane("work", `seq 40; printf 'ask: '; printf '\033[?1049h\033[Hfull screen'; exec sleep 100`, "-x", "80", "-y", "24")
	s.await("alternate screen", func() bool {
		return strings.Contains(s.tmux("capture-pane", "-p", "-t", pane), "full screen")
	})
	got, err := s.client.SavedScreen(s.ctx(), pane, 10)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range got.Rows {
		rows = append(rows, strings.TrimRight(r, " "))
	}
	want := []string{"8", "9", "10", "11", "12", "13", "14", "15", "16", "17"}
	if len(rows) != 34 || strings.Join(rows[:10], " ") != strings.Join(want, " ") || rows[33] != "ask:" {
		t.Errorf("rows are %q", rows)
	}
	if !got.Alternate || got.CursorX != 5 || got.CursorY != 23 || got.HistorySize != 17 || got.First != 7 {
		t.Errorf("its state is %+v", got)
	}
	plain := s.pane("plain", "exec cat")
	if got, err := s.client.SavedScreen(s.ctx(), plain, 10); err != nil || got.Alternate || got.Rows != nil {
		t.Errorf("of a pane on its normal screen: %+v, %v", got, err)
	}
	if _, err := s.client.SavedScreen(s.ctx(), "%99", 10); err == nil {
		t.Error("a pane that isn't there has a saved screen")
	}
	if left := s.tmux("list-buffers"); left != "" {
		t.Errorf("buffers are left: %s", left)
	}
}
