package adaptertest

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

func liveRegion(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	if x.shape().LiveRows == 0 {
		t.Skip("the adapter shows none")
	}
	x.ready(t)
	shows := func(want bool) {
		t.Helper()
		shown := false
		for _, m := range x.seen() {
			shown = shown || strings.Contains(m.Text, livePrefix)
		}
		if shown != want {
			t.Errorf("a live region is shown: %v, want %v", shown, want)
		}
	}
	x.print(t, Output{Live: []string{livePrefix + "1", livePrefix + "2"}})
	x.check(t, Want{To: 1})
	shows(true)
	x.print(t, Output{Lines: s.texts.lines(1, 10), Ends: true})
	x.once(t, qos.Delivered) // it rings first, also for the next turn
	x.print(t, Output{Lines: s.texts.lines(1, 10), Ends: true})
	x.once(t, qos.Delivered)
	shows(true)
	seen := x.check(t, Want{To: 3})
	shows(false)
	if len(seen) != 3 || !seen[1].Rang || !seen[2].Rang {
		t.Errorf("want three messages, of which the last two rang: %+v", seen)
	}
}

func screenIsOneMessage(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewScreen)
	for _, row := range []string{"one", "two", "two", "three"} {
		x.print(t, Output{Lines: s.texts.lines(1, 10), Live: []string{livePrefix + row}})
		if err := x.settle(); err != nil {
			t.Fatal(err)
		}
	}
	seen := x.seen()
	if len(seen) != 1 || seen[0].Text != livePrefix+"three" || seen[0].Edits != 2 {
		t.Errorf("want one message that shows the newest screen, edited twice: %+v", seen)
	}
	x.print(t, Output{Ends: true})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	if seen = x.seen(); len(seen) != 2 || !seen[1].Rang {
		t.Errorf("a turn ended: want a second message, which rings: %+v", seen)
	}
}
