package store

import (
	"fmt"
	"math"
	"testing"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// Failed turns are found by where they ended, the newest first; one without lines ended behind
// those of the turns before it.
func TestFailedTurnsAreFoundWhereTheyEnded(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	mustPut(t, s, "pb_2")
	for i, turn := range []struct {
		lines int
		why   string
	}{{0, "no key"}, {3, ""}, {2, "Overloaded"}, {0, "again"}, {4, ""}, {1, "no more"}} {
		end := sessions.Turn{Number: int64(i + 1), FirstLine: int64(min(turn.lines, 1)), LastLine: int64(turn.lines), Failed: turn.why}
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, turn.lines), Turn: &end})
	}
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 1), Turn: &sessions.Turn{Number: 7, Open: true, FirstLine: 1}})
	mustAppend(t, s, polling.Batch{Session: "pb_2", Lines: paneLines(1, 1), Turn: &sessions.Turn{Number: 1, FirstLine: 1, LastLine: 1, Failed: "another's"}})
	for _, c := range []struct {
		from, to int64
		limit    int
		want     string
	}{
		{0, math.MaxInt64, 9, "6 behind 10: no more|4 behind 5: again|3 behind 5: Overloaded|1 behind 0: no key|"},
		{0, math.MaxInt64, 2, "6 behind 10: no more|4 behind 5: again|"},
		{1, 9, 9, "4 behind 5: again|3 behind 5: Overloaded|"},
		{6, 9, 9, ""},
	} {
		found, err := s.Failures(t.Context(), "pb_1", c.from, c.to, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range found {
			got += fmt.Sprintf("%d behind %d: %s|", f.Number, f.LastLine, f.Failed)
		}
		if got != c.want {
			t.Errorf("from %d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}
