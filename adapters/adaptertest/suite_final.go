package adaptertest

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

func finalRings(t *testing.T, s *suite, view adapters.View) {
	t.Helper()
	x := s.bench(t, view)
	x.print(t, Output{Lines: s.texts.lines(3, 10)})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	x.print(t, Output{Lines: s.texts.lines(2, 10), Ends: true})
	x.check(t, Want{To: 5})
	x.print(t, Output{Lines: s.texts.lines(2, 10)})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	x.print(t, Output{Ends: true}) // in a stream, its lines are all there
	rang := 0
	for _, m := range x.check(t, Want{To: 7}) {
		if m.Rang {
			rang++
		}
	}
	if rang != 2 {
		t.Errorf("2 turns ended, and it rang %d times", rang)
	}
}

func endsShareARing(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	for range 5 {
		x.print(t, Output{Lines: s.texts.lines(1, 10), Ends: true})
	}
	seen := x.check(t, Want{To: 6})
	if len(seen) != 2 || !seen[1].Rang {
		t.Errorf("5 turns ended before anything was sent: want one more message, which rings: %+v", seen)
	}
}

func longFinal(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.print(t, Output{Lines: s.texts.lines(8, x.shape().MaxLen/4), Ends: true})
	for range 2 {
		if r := x.once(t, qos.Delivered); r.Final > 0 || !r.More {
			t.Errorf("one of several messages of a final: %+v; want more and nothing announced", r)
		}
	}
	if r := x.once(t, qos.Delivered); r.Final != 9 || r.More {
		t.Errorf("the last message of a final: %+v; want it announced and no more", r)
	}
	seen := x.check(t, Want{To: 9})
	for i, m := range seen {
		if m.Rang != (i == len(seen)-1) {
			t.Errorf("message %d of %d rang: %v", i+1, len(seen), m.Rang)
		}
	}
}

func lateLines(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.print(t, Output{Lines: s.texts.lines(2, 10), Ends: true})
	x.check(t, Want{To: 2})
	x.print(t, Output{Lines: s.texts.lines(1, 10), Late: true})
	if err := x.restart(false); err != nil {
		t.Fatal(err)
	}
	rang := 0
	for _, m := range x.check(t, Want{To: 3}) {
		if m.Rang {
			rang++
		}
	}
	if rang != 1 {
		t.Errorf("one turn has ended, and it rang %d times", rang)
	}
}

func announcementTwice(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	from := x.document().Shown
	x.unanswered(t, Output{Ends: true})
	seen := x.check(t, Want{To: 1, Doubts: []Doubt{{From: from, To: from}}})
	if x.shape().NonceFor == 0 && (len(seen) != 3 || !strings.HasPrefix(seen[2].Text, doubleMark)) {
		t.Errorf("want a second announcement that's marked: %+v", seen)
	}
}
