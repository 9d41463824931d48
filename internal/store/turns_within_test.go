package store

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// Turns are found by where they stand, in the order asked for; one without lines ended behind
// those of the turns before it, and one that's open goes on.
func TestTurnsAreFoundWhereTheyStand(t *testing.T) {
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
	asked := []sessions.Line{{Kind: sessions.KindPane, Text: "x"}, {Kind: sessions.KindUser, Text: "do it", Begins: true}, {Kind: sessions.KindUser, Text: "well"}}
	mustAppend(t, s, polling.Batch{Session: "pb_2", Lines: asked, Turn: &sessions.Turn{Number: 2, FirstLine: 1, LastLine: 3}})
	for _, c := range []struct {
		session  sessions.ID
		from, to int64
		oldest   bool
		limit    int
		want     string
		notable  time.Duration
	}{
		{"pb_1", 0, math.MaxInt64, false, 9, "6: 10 to 10 no more|4: 6 to 5 again|3: 4 to 5 Overloaded|1: 1 to 0 no key|", time.Second},
		{"pb_1", 0, math.MaxInt64, false, 2, "6: 10 to 10 no more|4: 6 to 5 again|", time.Second},
		{"pb_1", 0, math.MaxInt64, false, 9, "7: 11, open|6: 10 to 10 no more|5: 6 to 9|4: 6 to 5 again|3: 4 to 5 Overloaded|2: 1 to 3|1: 1 to 0 no key|", 0},
		{"pb_1", 0, math.MaxInt64, true, 2, "1: 1 to 0 no key|2: 1 to 3|", 0},
		{"pb_1", 0, math.MaxInt64, false, 2, "7: 11, open|6: 10 to 10 no more|", 0},
		{"pb_1", 4, 5, false, 9, "4: 6 to 5 again|3: 4 to 5 Overloaded|", 0},
		{"pb_1", 6, 9, false, 9, "5: 6 to 9|", 0},
		{"pb_1", 0, 0, false, 9, "1: 1 to 0 no key|", 0},
		{"pb_1", 11, math.MaxInt64, true, 1, "7: 11, open|", 0},
		{"pb_1", 99, 100, false, 9, "7: 11, open|", 0},
		{"pb_2", 2, 9, false, 9, "2: 2 to 4 do it|", 0},
	} {
		found, err := s.TurnsWithin(t.Context(), c.session, c.from, c.to, sessions.TurnQuery{Oldest: c.oldest, Notable: c.notable}, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range found {
			got += fmt.Sprintf("%d: %d", f.Number, f.FirstLine)
			if f.Open {
				got += ", open|"
				continue
			}
			got += strings.TrimRight(fmt.Sprintf(" to %d %s%s", f.After, f.Asked, f.Failed), " ") + "|"
		}
		if got != c.want {
			t.Errorf("%s from %d to %d: %q, want %q", c.session, c.from, c.to, got, c.want)
		}
	}
}
