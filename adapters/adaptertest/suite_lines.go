package adaptertest

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

func linesAreAdded(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	before := len(x.platform.Arrivals())
	x.print(t, Output{Lines: s.texts.lines(2, 20)})
	r := x.once(t, qos.Delivered)
	seen := x.compare(t, Want{To: 3})
	if len(seen) != 1 || seen[0].Edits != 1 || seen[0].Rang || len(x.platform.Arrivals()) != before+1 {
		t.Errorf("want one silent message, edited once: %+v", seen)
	}
	if r.Delivered != 3 || r.More {
		t.Errorf("want delivered 3 and no more: %+v", r)
	}
}

func messagesFollow(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	longest := x.shape().MaxLen
	x.print(t, Output{Lines: s.texts.lines(8, longest/4)})
	if seen := x.check(t, Want{To: 9}); len(seen) != 4 {
		t.Errorf("8 lines, of which 3 fill a message, behind one that's begun: %d messages, want 4", len(seen))
	}
}

func longLineIsCut(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	const family = "👩‍👩‍👧‍👦"
	x.print(t, Output{Lines: []string{strings.Repeat(family, x.shape().MaxLen/8)}})
	for _, m := range x.check(t, Want{To: 2})[1:] {
		for rest := strings.TrimSpace(m.Text); rest != ""; {
			c, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
			if c != family {
				t.Fatalf("message %s was cut within a character: %q", m.ID, c)
			}
			rest = rest[len(c):]
		}
	}
}

func nothingNewIsNoCall(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.once(t, qos.Unchanged)
	x.ready(t)
	before := len(x.platform.Arrivals())
	x.once(t, qos.Unchanged)
	x.print(t, Output{Lines: []string{"", ""}})
	x.once(t, qos.Unchanged) // blank lines at the end show nothing
	if n := len(x.platform.Arrivals()) - before; n != 0 {
		t.Errorf("%d calls for nothing new", n)
	}
}

func backlogBecomesFile(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	if x.shape().MaxFile < 1<<16 {
		t.Skip("the platform takes no files")
	}
	x.ready(t)
	before := len(x.platform.Arrivals())
	x.print(t, Output{Lines: s.texts.lines(60, x.shape().MaxLen/10), Ends: true})
	seen := x.check(t, Want{To: 61})
	n, last := len(x.platform.Arrivals())-before, seen[len(seen)-1]
	if x.shape().MaxCaption > 0 {
		if n != 1 || last.Data == nil || !last.Rang || strings.Count(last.Text, "\n") == 0 {
			t.Errorf("a backlog of 6 messages took %d calls, want a file that rings, with its end beside it: %+v", n, seen)
		}
		return
	}
	if n != 2 {
		t.Errorf("a backlog of 6 messages took %d calls, want 2", n)
	}
	if seen[1].Data == nil || last.Data != nil || !last.Rang || seen[1].Rang {
		t.Errorf("want a silent file, then its end as text that rings: %+v", seen)
	}
}

func longLineIsAFile(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	if x.shape().MaxFile < 1<<16 {
		t.Skip("the platform takes no files")
	}
	x.ready(t)
	x.print(t, Output{Lines: s.texts.lines(1, 10*x.shape().MaxLen), Ends: true})
	if seen := x.check(t, Want{To: 2}); len(seen) != 2 || seen[1].Data == nil || !seen[1].Rang {
		t.Errorf("want a file that rings: %+v", seen)
	}
}

func droppedLinesStay(t *testing.T, s *suite) {
	t.Helper()
	x := s.benchOn(t, adapters.ViewStream, Options{}, 20)
	x.ready(t)
	for range 2 {
		x.print(t, Output{Lines: s.texts.lines(12, 1)}) // few enough to be added to one message
		x.check(t, Want{To: int64(len(x.house.find(theSession).printed))})
	}
}

func droppedLinesAreTold(t *testing.T, s *suite) {
	t.Helper()
	x := s.benchOn(t, adapters.ViewStream, Options{}, 20)
	x.ready(t)
	for range 50 {
		x.print(t, Output{Lines: s.texts.lines(1, 10)})
	}
	x.check(t, Want{To: 51, Oldest: 32})
}

func gapIsTold(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.print(t, Output{Gap: &sessions.Gap{AtLeast: 12, Reason: "the screen was cleared"}, Lines: []string{"goes on"}})
	x.print(t, Output{Gap: &sessions.Gap{Reason: "the pane was resized"}, Lines: []string{"and on"}})
	x.check(t, Want{To: 3})
}
