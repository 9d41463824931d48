package adaptertest

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// writing is the live region of a program that's known and writes.
func writing(status string, rows ...string) Output {
	for i := range rows {
		rows[i] = livePrefix + rows[i]
	}
	return Output{Known: &sessions.Live{Rows: []string{"furniture"}, Known: true, Writing: rows, Status: livePrefix + status}}
}

// quiet is the same when it doesn't do anything.
func quiet() *sessions.Live { return &sessions.Live{Rows: []string{"furniture"}, Known: true} }

func (s *suite) writer(t *testing.T) *bench {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	if x.shape().LiveRows == 0 {
		t.Skip("the adapter shows none")
	}
	return x
}

// shows settles and wants so many messages, the last of which has these rows of a live
// region.
func (x *bench) shows(t *testing.T, messages int, rows ...string) {
	t.Helper()
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	seen := x.seen()
	var got []string
	for i, m := range seen {
		for l := range strings.SplitSeq(m.Text, "\n") {
			if live, ok := strings.CutPrefix(l, livePrefix); ok && i == len(seen)-1 {
				got = append(got, live)
			} else if ok {
				t.Errorf("message %d of %d shows a live region: %q", i+1, len(seen), m.Text)
			}
		}
	}
	if len(seen) != messages || strings.Join(got, "|") != strings.Join(rows, "|") {
		t.Fatalf("%d messages, the last shows %q; want %d, %q: %+v", len(seen), got, messages, rows, seen)
	}
}

func writingIsReplaced(t *testing.T, s *suite) {
	t.Helper()
	x := s.writer(t)
	x.print(t, writing("1 s")) // a status alone begins no message
	x.shows(t, 0)
	x.print(t, writing("1 s", "some"))
	x.shows(t, 1, "some", "1 s")
	x.print(t, writing("2 s", "some", "more"))
	x.shows(t, 1, "some", "more", "2 s")
	x.print(t, Output{Lines: s.texts.lines(2, 10), Known: writing("3 s").Known})
	x.shows(t, 1, "3 s")
	x.print(t, writing("4 s", "other"))
	x.shows(t, 1, "other", "4 s")
	x.print(t, Output{Lines: s.texts.lines(2, 10), Ends: true, Known: quiet()})
	x.shows(t, 2)
	seen := x.check(t, Want{To: 4})
	if lines := strings.Split(seen[0].Text, "\n"); seen[0].Rang || !seen[1].Rang || len(lines) < 4 || !strings.HasPrefix(seen[1].Text, "done") {
		t.Errorf("want all lines in one message, and a ring behind it: %+v", seen)
	}
	// More than a message takes: the one that shows its beginning is filled up.
	x.print(t, writing("5 s", "long"))
	x.shows(t, 3, "long", "5 s")
	x.print(t, Output{Lines: s.texts.lines(3, x.shape().MaxLen*2/5), Ends: true, Known: quiet()})
	x.shows(t, 4)
	x.check(t, Want{To: 7})
}

func writingNeverComes(t *testing.T, s *suite) {
	t.Helper()
	x := s.writer(t)
	x.print(t, writing("1 s", "some"))
	x.shows(t, 1, "some", "1 s")
	x.print(t, Output{Known: quiet()})
	x.shows(t, 1)
	if text := x.seen()[0].Text; text != neverCame {
		t.Errorf("it shows %q", text)
	}
	x.print(t, Output{Lines: s.texts.lines(1, 10)}) // it does, after all
	x.shows(t, 1)
	x.check(t, Want{To: 1})
	x.print(t, Output{Ends: true})
	x.print(t, writing("1 s", "some"))
	x.shows(t, 3, "some", "1 s")
	x.print(t, Output{Lines: s.texts.lines(1, 10), Ends: true, Known: quiet()})
	x.shows(t, 4)
	x.print(t, writing("1 s", "some"))
	x.shows(t, 5, "some", "1 s")
	if err := x.house.End(theSession, "session ended"); err != nil {
		t.Fatal(err)
	}
	if seen := x.check(t, Want{To: 3}); seen[4].Text != neverCame || seen[4].Rang || !seen[5].Rang {
		t.Errorf("want the end of the session to ring: %+v", seen)
	}
}

func writingBeginsAMessage(t *testing.T, s *suite) {
	t.Helper()
	x := s.writer(t)
	x.print(t, Output{Lines: s.texts.lines(2, x.shape().MaxLen/2-120), Known: writing("1 s", "a", "b").Known})
	x.shows(t, 1, "a", "b", "1 s")
	row := strings.Repeat("wide ", 12)
	rows := make([]string, 5)
	for i := range rows {
		rows[i] = row
	}
	x.print(t, writing("2 s", rows...))
	x.shows(t, 2, row, row, row, row, row, "2 s")
	x.print(t, Output{Lines: s.texts.lines(2, 100), Known: quiet()})
	x.shows(t, 2)
	x.check(t, Want{To: 4})
}

func writingInDoubt(t *testing.T, s *suite) {
	t.Helper()
	x := s.writer(t)
	x.ready(t)
	x.print(t, Output{Ends: true})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	from := x.document().Shown
	x.unanswered(t, writing("1 s", "some"))
	x.print(t, Output{Lines: s.texts.lines(1, 10), Known: quiet()})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	seen := x.check(t, Want{To: 2, Doubts: []Doubt{{From: from, To: from, Live: true}}})
	if x.shape().NonceFor > 0 {
		if n := len(seen); n != 3 || strings.Contains(seen[2].Text, doubleMark) {
			t.Errorf("the platform knows the message, and it's used: %+v", seen)
		}
	} else if n := len(seen); n != 4 || !strings.Contains(seen[3].Text, doubleMark) {
		t.Errorf("want the message that nobody knows of, and behind it one with a mark: %+v", seen)
	}
}
