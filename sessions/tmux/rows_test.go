package tmux_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// screen is a pane that shows the rows it's given.
type screen struct {
	*server
	pane, file string
}

func (s *server) screen(rows []string) *screen {
	s.t.Helper()
	dir := s.t.TempDir()
	sc := &screen{server: s, file: filepath.Join(dir, "rows")}
	sc.write(rows)
	// It's drawn anew when x is pressed, with the cursor where it was.
	sc.pane = s.pane("rows", `stty raw -echo; c=x; while :; do if [ "$c" = x ]; then printf '\033[H\033[2J'; cat '`+sc.file+`'; printf '\033[24;1H'; fi; c=$(head -c 1); done`, "-x", "120", "-y", "24")
	sc.await("rows", func() bool { return sc.has(rows) })
	return sc
}

func (sc *screen) write(rows []string) {
	sc.t.Helper()
	if err := os.WriteFile(sc.file, []byte(strings.Join(rows, "\r\n")), 0o600); err != nil {
		sc.t.Fatal(err)
	}
}

func (sc *screen) has(rows []string) bool {
	now := sc.snapshot(sc.pane)
	if now.CursorY != 23 {
		return false
	}
	for i, row := range now.Rows {
		want := ""
		if i < len(rows) {
			want = rows[i]
		}
		if strings.TrimRight(row, " ") != strings.TrimRight(want, " ") {
			return false
		}
	}
	return true
}

// draw has the pane show other rows.
func (sc *screen) draw(rows []string) {
	sc.t.Helper()
	sc.write(rows)
	sc.tmux("send-keys", "-t", sc.pane, "x")
	sc.await("the rows "+strings.Join(rows, "|"), func() bool { return sc.has(rows) })
}

func (sc *screen) press(saw *sessions.Snapshot, rows []int) sessions.GuardOutcome {
	sc.t.Helper()
	out, err := sc.client.Press(sc.ctx(), sessions.PaneGuard{Pane: sc.pane, Server: saw.Server, Saw: saw, Rows: rows}, "y")
	if err != nil {
		sc.t.Fatal(err)
	}
	return out
}

// dialogs have what has a meaning in tmux's formats, its command lines, regular
// expressions or strftime.
var dialogs = [][]string{
	{
		" Bash command", "", "   rm -rf \"$HOME/#{pane_id}\" && echo '100%' %Y-%m-%d %% | sed 's/^[a-z]*$/(\\1)/' ; # done",
		" Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don’t ask again for: rm:*", "   3. No, and tell it what to do differently (esc)",
	},
	{
		"╭──────────╮", "│ {a,b}{c} │", "│ #[fg=red] ##{l:x} #,#} #(id) │", "╰──────────╯", "● 1. Allow once", "  2. \\$X \\n ~ `ls` ^up. a.c [[:x:]] [.y.] }",
		"%H:%M:%S %1 %", "日本語 👍 é ☐ ☑", "a|b|c+d?e*f(g)h{2}i", "-- x --", "#", "}", ",", "%", "^", "$", "\\", "]", "[",
	},
}

func telling(rows []string) []int {
	var out []int
	for i, row := range rows {
		if strings.TrimSpace(row) != "" {
			out = append(out, i)
		}
	}
	return out
}

func TestGuardKnowsTheRows(t *testing.T) {
	t.Parallel()
	for _, rows := range dialogs {
		s := startServer(t)
		sc := s.screen(rows)
		saw := sc.snapshot(sc.pane)
		for _, i := range telling(rows) {
			if out := sc.press(&saw, []int{i}); out != sessions.Done {
				t.Errorf("row %d as it was seen, %q: %s", i, rows[i], out)
			}
		}
		if out := sc.press(&saw, telling(rows)); out != sessions.Done {
			t.Errorf("all rows as they were seen: %s", out)
		}
		if out, err := sc.client.Press(sc.ctx(), sessions.PaneGuard{Pane: sc.pane, Phrases: []string{"proceed|allow once"}, Saw: &saw, Rows: telling(rows)}, "x"); out != sessions.Held || err != nil {
			t.Errorf("with a phrase that holds it: %s, %v", out, err)
		}
	}
}

// One character of one row is another, or there's one more, or one less, or the row
// stands elsewhere: nothing is pressed.
func TestGuardRefusesAnotherCharacter(t *testing.T) {
	t.Parallel()
	others := []string{"x", " ", "#", "%", "❯", ","}
	step := 7
	if drawtest.Stressed() {
		step = 1
	}
	for _, rows := range dialogs {
		s := startServer(t)
		sc := s.screen(rows)
		saw := sc.snapshot(sc.pane)
		tried := 0
		refuse := func(i int, changed []string) {
			t.Helper()
			sc.draw(changed)
			tried++
			// The screen as it's now, but for the one row that was seen otherwise.
			now := sc.snapshot(sc.pane)
			now.Rows = slices.Clone(saw.Rows)
			if out := sc.press(&now, []int{i}); out != sessions.Moved {
				t.Errorf("row %d was %q and is %q: %s", i, rows[i], changed[i], out)
			}
		}
		n := 0
		for _, i := range telling(rows) {
			runes := []rune(rows[i])
			for at := range runes {
				if n++; n%step != 0 && at != 0 {
					continue
				}
				other := []rune(others[n%len(others)])[0]
				if runes[at] == other {
					other = '~'
				}
				changed := slices.Clone(rows)
				changed[i] = string(slices.Replace(slices.Clone(runes), at, at+1, other))
				refuse(i, changed)
			}
			changed := slices.Clone(rows)
			changed[i] += "."
			refuse(i, changed)
			refuse(i, slices.Insert(slices.Clone(rows), 0, "~~~"))
		}
		t.Logf("%d changes", tried)
	}
}

// Whatever a row has, the guard holds while it's unchanged.
func TestGuardTakesAnyRow(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	sc := s.screen([]string{"begin"})
	alphabet := rapid.SampledFrom([]rune("ab1 #{}[]()%,;:^$.*+?|\\\"'`~!&<>=-_/@é❯│日👍"))
	drawtest.CheckTimes(t, drawtest.Times(1000, 40, 20), func(rt *rapid.T) {
		row := strings.TrimRight("<"+rapid.StringOfN(alphabet, 1, 30, -1).Draw(rt, "row"), " ")
		if !utf8.ValidString(row) {
			rt.Fatal("not valid")
		}
		rows := []string{"above", row}
		if !sc.has(rows) {
			sc.draw(rows)
		}
		saw := sc.snapshot(sc.pane)
		if out := sc.press(&saw, []int{1}); out != sessions.Done {
			rt.Fatalf("%q: %s", row, out)
		}
	})
}
