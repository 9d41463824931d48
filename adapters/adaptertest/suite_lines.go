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
	before := len(x.world.Arrivals())
	x.print(t, Output{Lines: s.texts.lines(2, 20)})
	r := x.once(t, qos.Delivered)
	seen := x.compare(t, Want{To: 3})
	if len(seen) != 1 || seen[0].Edits != 1 || seen[0].Rang || len(x.world.Arrivals()) != before+1 {
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
	before := len(x.world.Arrivals())
	x.once(t, qos.Unchanged)
	x.print(t, Output{Lines: []string{"", ""}})
	x.once(t, qos.Unchanged) // blank lines at the end show nothing
	if n := len(x.world.Arrivals()) - before; n != 0 {
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
	before := len(x.world.Arrivals())
	x.print(t, Output{Lines: s.texts.lines(60, x.shape().MaxLen/10), Ends: true})
	seen := x.check(t, Want{To: 61})
	n, last := len(x.world.Arrivals())-before, seen[len(seen)-1]
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
	x := s.benchOn(t, adapters.ViewStream, 0, 20)
	x.ready(t)
	for range 2 {
		x.print(t, Output{Lines: s.texts.lines(12, 1)}) // few enough to be added to one message
		x.check(t, Want{To: int64(len(x.house.find(theSession).printed))})
	}
}

func droppedLinesAreTold(t *testing.T, s *suite) {
	t.Helper()
	x := s.benchOn(t, adapters.ViewStream, 0, 20)
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

func deletedMessage(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.world.DeleteMessage(x.chat, x.seen()[0].ID)
	x.print(t, Output{Lines: s.texts.lines(2, 10)})
	x.check(t, Want{After: 1, To: 3})
}

func frozenMessage(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.world.FreezeMessage(x.chat, x.seen()[0].ID)
	x.print(t, Output{Lines: s.texts.lines(2, 10)})
	x.check(t, Want{To: 3})

	// If an edit may have been done before, the rest is in doubt.
	from := x.document().Shown
	x.unanswered(t, Output{Lines: s.texts.lines(2, 10)})
	x.world.FreezeMessage(x.chat, x.seen()[1].ID)
	x.check(t, Want{To: 5, Doubts: []Doubt{{From: from, To: adapters.Position{Line: 6}}}})
}

func deletedThread(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	own := x.shape().OwnThread
	if !own {
		x.binding.Target.Thread = x.world.AddThread(x.chat, "made by hand")
		x.deliverer.Rebind(x.binding)
	}
	x.print(t, Output{Lines: []string{"begins"}})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	thread := x.document().Thread
	if !own {
		thread = x.binding.Target.Thread
	}
	if n := len(x.world.Seen(x.chat, thread)); n != 1 {
		t.Fatalf("the thread has %d messages, want 1", n)
	}
	x.world.DeleteThread(x.chat, thread)
	before := len(x.world.Arrivals())
	x.print(t, Output{Lines: s.texts.lines(2, 10)})
	if own {
		x.check(t, Want{After: 1, To: 3})
		if n := len(x.world.Arrivals()) - before; n != 3 && n != 4 {
			t.Errorf("%d calls, want an edit that finds nothing (and a message, where edits name no thread), a thread, a message", n)
		}
		return
	}
	r, err := x.deliver()
	if err == nil && r.Outcome == qos.Delivered { // an edit that finds no message
		r, err = x.deliver()
	}
	if err != nil || r.Outcome != qos.Rejected {
		t.Errorf("the call ended as %v (%v), want rejected", r.Outcome, err)
	}
}

func endedThread(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	closes := x.shape().ClosesThreads
	x.ready(t)
	if err := x.house.End(theSession, "session ended"); err != nil {
		t.Fatal(err)
	}
	failed := false
	x.world.SetFault(func(c Call) Fault {
		if failed || c.Method != CloseThread {
			return Fault{}
		}
		failed = true
		return Fault{Kind: Unanswered}
	})
	if x.once(t, qos.Delivered); closes {
		x.once(t, qos.Uncertain)
	}
	x.check(t, Want{To: 2})
	if got := x.world.Closed(x.chat, x.document().Thread); got != closes {
		t.Errorf("the thread is closed: %v, want %v", got, closes)
	}
	x.once(t, qos.Unchanged)
}

func chatGone(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.world.DeleteChat(x.chat)
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	x.once(t, qos.ChatGone)
	if in := x.document().Intent; in != nil {
		t.Errorf("the call was refused, and its intent is kept: %+v", in)
	}
}

func chatMoved(t *testing.T, s *suite) {
	t.Helper()
	x := s.benchOn(t, adapters.ViewStream, 1, 0)
	x.ready(t)
	to := x.world.MoveChat(x.chat)
	if to == "" {
		t.Skip("on the platform, chats keep their ids")
	}
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	r := x.once(t, qos.Migrated)
	d := x.document()
	if want := x.adapter.Chat(adapters.Target{Adapter: x.adapter.Name(), Chat: to, Thread: d.Thread}); r.Chat != want || d.Chat != to {
		t.Errorf("the chat has moved to %s: the scheduler is told %q, the document %q", to, r.Chat, d.Chat)
	}
	x.check(t, Want{To: 2})
	if err := x.restart(false); err != nil {
		t.Fatal(err)
	}
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	x.check(t, Want{To: 3})
}

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
