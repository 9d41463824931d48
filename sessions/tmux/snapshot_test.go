package tmux_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// A printer at full speed moves between any two calls; one call must agree
// with itself: the numbers on its rows, counted from the row's place in the
// grid, have to fit the history size that came along.
func TestSnapshotIsAtomic(t *testing.T) {
	t.Parallel()
	n := 1000
	if drawtest.Stressed() {
		n = 10_000
	}
	s := startServer(t)
	s.tmux("set-option", "-g", "history-limit", "20000")
	// Lines 1, 2, 3 … restart before the history is full, so that no row is
	// ever dropped and grid row g holds line g+1 (or a prefix is cleared).
	p := s.pane("printer", `exec awk 'BEGIN { for (i = 1; ; i++) { print i; if (i % 15000 == 0) { printf "\033[H\033[2J\033[3J"; i = 0 } } }'`, "-x", "80", "-y", "50")
	taken, moved, last := 0, 0, -1
	for ; moved < n; taken++ { // only what was taken of a moving pane counts
		snap, err := s.client.Snapshot(s.ctx(), p, sessions.RowWindow{Start: -20})
		if err != nil {
			t.Fatal(err)
		}
		if len(snap.Rows) != min(20, snap.HistorySize)+snap.Height || len(snap.Wrapped) != len(snap.Rows) {
			t.Fatalf("%d rows, %d flags for history %d, height %d", len(snap.Rows), len(snap.Wrapped), snap.HistorySize, snap.Height)
		}
		if snap.HistorySize != last {
			moved++
		}
		last = snap.HistorySize
		cursorRow := snap.HistorySize + snap.CursorY - snap.First
		for i, row := range snap.Rows[:cursorRow] {
			if got, _ := strconv.Atoi(strings.TrimRight(row, " ")); got != snap.First+i+1 {
				t.Fatalf("grid row %d of history %d holds %q", snap.First+i, snap.HistorySize, row)
			}
		}
	}
	t.Logf("%d snapshots, %d times the pane had moved, 0 disagreed", taken, moved)
}

// The rows with their styles are those of the same instant, in history and on the screen.
func TestStyledSnapshotIsAtomic(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := s.pane("printer", `exec awk 'BEGIN { for (i = 1; ; i++) printf "\033[%dm%d\033[2m of \\ $many\033[0m\n", 31 + i % 7, i }'`, "-x", "80", "-y", "50")
	for _, w := range []sessions.RowWindow{{Styled: true}, {Start: -20, Styled: true}, {Start: -20, Rows: 10, Styled: true}} {
		for moved, last := 0, -1; moved < 100; {
			snap, err := s.client.Snapshot(s.ctx(), p, w)
			if err != nil {
				t.Fatal(err)
			}
			if snap.HistorySize != last {
				moved, last = moved+1, snap.HistorySize
			}
			if len(snap.Styled) != len(snap.Rows) {
				t.Fatalf("%d rows, %d with styles", len(snap.Rows), len(snap.Styled))
			}
			for i, row := range snap.Styled {
				number, _, _ := strings.Cut(snap.Rows[i], " ")
				n, _ := strconv.Atoi(number)
				want := fmt.Sprintf("\x1b[%dm%d\x1b[2m of \\ $many", 31+n%7, n)
				drawn := strings.ReplaceAll(row, "\x1b[49m", "") // which tmux puts in
				whole := n > 0 && snap.First+i < snap.HistorySize+snap.CursorY
				if escapes.ReplaceAllString(row, "") != snap.Rows[i] || whole && !strings.HasSuffix(drawn, want) {
					t.Fatalf("row %d is %q, with styles %q", i, snap.Rows[i], row)
				}
			}
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestSnapshotKnowsWraps(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	long := strings.Repeat("0123456789", 20)
	p := s.pane("wraps", `printf '%s\n' short `+long+` '' 'back\slash $HOME "q" 日本語' ; exec cat`, "-x", "80", "-y", "24")
	var snap sessions.Snapshot
	s.await("the last line", func() bool {
		var err error
		if snap, err = s.client.Snapshot(s.ctx(), p, sessions.RowWindow{}); err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(snap.Rows[5], `back`)
	})
	want := []string{"short", long[:80], long[80:160], long[160:], "", `back\slash $HOME "q" 日本語`}
	for i, w := range want {
		if strings.TrimRight(snap.Rows[i], " ") != w {
			t.Errorf("row %d is %q, want %q", i, snap.Rows[i], w)
		}
		if wrapped := i == 1 || i == 2; snap.Wrapped[i] != wrapped {
			t.Errorf("row %d: wrapped is %v", i, snap.Wrapped[i])
		}
	}
}

// A pane can print what looks like the protocol; its text must stay text.
func TestSnapshotOfHostilePane(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := s.pane("hostile", `i=0; while [ $i -lt 3000 ]; do [ $((i % 50)) = 0 ] && d=$(date +%s); printf '%%end %d %d 1\n%%error %d %d 1\n%%exit\n%%begin 1 2 1\n' $d $i $d $i; i=$((i+1)); done; printf '\033]2;%%end,}#{pane_id}\007done\n'; exec cat`, "-x", "80", "-y", "24")
	for {
		snap, err := s.client.Snapshot(s.ctx(), p, sessions.RowWindow{Start: -100})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(snap.Rows, "\n"), "done") {
			if snap.Title != "%end,}#{pane_id}" {
				t.Errorf("title is %q", snap.Title)
			}
			break
		}
	}
}

func TestSnapshotOfGonePane(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	if _, err := s.client.Snapshot(s.ctx(), "%999", sessions.RowWindow{}); !errors.Is(err, tmux.ErrNoPane) {
		t.Fatalf("error is %v", err)
	}
	if _, err := s.client.Snapshot(s.ctx(), "%0", sessions.RowWindow{}); err != nil {
		t.Fatalf("the connection is out of step: %v", err)
	}
}

// A look since some second shows the panes with output from then on and those
// that are dead, until panes come or go: then it's one at all.
func TestGlancesSince(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.tmux("set-option", "-g", "remain-on-exit", "on")
	dead := s.pane("dead", "exit 3")
	quiet := s.pane("quiet", "exec cat")
	s.await("death", func() bool { return s.tmux("display-message", "-p", "-t", dead, "#{pane_dead}") == "1" })
	look := func(since int64) (ids []string, all bool) {
		t.Helper()
		panes, all, err := s.client.Glances(s.ctx(), since)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range panes {
			ids = append(ids, p.Pane)
		}
		return ids, all
	}
	const never = 1 << 32
	s.await("a look that isn't at all", func() bool { _, all := look(never); return !all }) // what was made above has been told
	if ids, all := look(never); all || !slices.Equal(ids, []string{dead}) {
		t.Errorf("with output in the future: %v, all %v; want the dead one, %s", ids, all, dead)
	}
	if ids, all := look(1); all || !slices.Contains(ids, quiet) || !slices.Contains(ids, dead) {
		t.Errorf("with output at any time: %v, all %v", ids, all)
	}
	if ids, all := look(0); !all || !slices.Contains(ids, quiet) {
		t.Errorf("all: %v, %v", ids, all)
	}
	s.tmux("kill-session", "-t", "=quiet")
	s.await("a look at all", func() bool {
		ids, all := look(never)
		return all && !slices.Contains(ids, quiet)
	})
}
