package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Store is the conformance suite of adapters.Store and adapters.Log. open returns,
// for each part, a function that opens a new and empty backend whose logs keep so
// many lines each (0: all); called again, it opens the same one anew, as after a
// restart.
func Store(t *testing.T, open func(t *testing.T, maxLines int64) func() Backend) {
	t.Helper()
	parts := []struct {
		name     string
		maxLines int64
		test     func(t *testing.T, open func() Backend)
	}{
		{"bindings come back as they were put, oldest first", 0, bindingsComeBack},
		{"a document comes back with all it has", 0, documentsComeBack},
		{"a binding is replaced without its document", 0, bindingReplaced},
		{"a session and a target have one binding", 0, oneBinding},
		{"a dropped binding takes its document along", 0, dropped},
		{"a document without a binding isn't kept", 0, orphan},
		{"the first message that shows a line is found", 0, messageAt},
		{"a session is new until it's taken up", 0, takenUp},
		{"where chats have moved comes back, in order", 0, movesComeBack},
		{"progress is the newest line and the newest turn that has ended", 0, progress},
		{"lines are read with the gaps before them", 0, gapsAreRead},
		{"a trimmed log begins with its oldest line", 20, trimmed},
		{"a session that isn't there is unknown", 0, unknown},
		{"a context that has ended writes nothing", 0, ended},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.test(t, open(t, p.maxLines)) })
	}
}

var day = time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)

func bindingOf(n int) adapters.Binding {
	return adapters.Binding{
		ID: adapters.BindingID(fmt.Sprintf("bd_%d", n)), Session: theSession,
		Target: adapters.Target{Adapter: "mem", Chat: "-100", Thread: fmt.Sprint(n)},
		View:   adapters.ViewStream, Origin: adapters.ByHand, CreatedAt: day.Add(time.Duration(n) * time.Second),
	}
}

func put(t *testing.T, b Backend, x adapters.Binding, d adapters.Document) {
	t.Helper()
	if err := b.PutBinding(context.Background(), x, &d); err != nil {
		t.Fatal(err)
	}
}

// holds wants these bindings, and no others, in a backend opened anew.
func holds(t *testing.T, b Backend, want ...adapters.KeptBinding) {
	t.Helper()
	got, err := b.Bindings(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("bindings (-want +got):\n%s", d)
	}
}

func bindingsComeBack(t *testing.T, open func() Backend) {
	t.Helper()
	one, two := bindingOf(1), bindingOf(2)
	one.View, one.Input, one.Origin, one.Disabled = adapters.ViewFinal, true, adapters.ByRule, "the bot was removed"
	one.Work = adapters.WorkShown{Tools: adapters.ExtentBrief, Thinking: adapters.ExtentAll, Prompts: adapters.ExtentNone}
	two.Unbound, two.Resting, two.Target.Thread = true, true, ""
	d := adapters.NewDocument(7, adapters.LogProgress{Head: 9, Turn: 2, TurnEnd: 6})
	b := open()
	put(t, b, two, d)
	put(t, b, one, d)
	holds(t, open(), adapters.KeptBinding{Binding: one, Document: d}, adapters.KeptBinding{Binding: two, Document: d})
}

// fullDocument has something in every field.
func fullDocument() adapters.Document {
	m := adapters.Message{
		ID: "日本", View: adapters.ViewStream, From: adapters.Position{Line: 4, Byte: 2}, To: adapters.Position{Line: 9},
		Double: true, Cut: true, Dropped: 17, Live: true, Sealed: true, Hash: "abc",
		Work: adapters.WorkShown{Tools: adapters.ExtentBrief}, At: day,
	}
	old := m
	old.ID = "old"
	return adapters.Document{
		Shown: adapters.Position{Line: 9, Byte: 5}, Turn: 3, Announced: 8, Chat: "-200", Thread: "77", Tail: &m, Stale: &old,
		Doubt: adapters.Doubt{To: adapters.Position{Line: 12, Byte: 1}, Turn: 4, Screen: true},
		Intent: &adapters.Intent{
			Kind: adapters.KindSend, Nonce: "00ff", At: day, Message: m, Ring: true,
			Shown: adapters.Position{Line: 13}, Turn: 4, Announced: 12,
		},
	}
}

func documentsComeBack(t *testing.T, open func() Backend) {
	t.Helper()
	x, d := bindingOf(1), adapters.NewDocument(0, adapters.LogProgress{})
	b := open()
	put(t, b, x, d)
	full := fullDocument()
	if err := b.PutDocument(context.Background(), x.ID, full, full.Tail); err != nil {
		t.Fatal(err)
	}
	holds(t, open(), adapters.KeptBinding{Binding: x, Document: full})
	if err := open().PutDocument(context.Background(), x.ID, d, nil); err != nil {
		t.Fatal(err)
	}
	holds(t, open(), adapters.KeptBinding{Binding: x, Document: d})
}

func bindingReplaced(t *testing.T, open func() Backend) {
	t.Helper()
	x, d := bindingOf(1), fullDocument()
	b := open()
	put(t, b, x, d)
	x.View, x.Disabled, x.Work.Tools = adapters.ViewScreen, "no", adapters.ExtentNone
	if err := b.PutBinding(context.Background(), x, nil); err != nil {
		t.Fatal(err)
	}
	holds(t, open(), adapters.KeptBinding{Binding: x, Document: d})
}

func oneBinding(t *testing.T, open func() Backend) {
	t.Helper()
	x, d := bindingOf(1), fullDocument()
	b := open()
	put(t, b, x, d)
	twin := bindingOf(2)
	twin.Target = x.Target
	if err := b.PutBinding(context.Background(), twin, &d); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("a second binding of the same session and target: %v, want ErrConflict", err)
	}
	holds(t, open(), adapters.KeptBinding{Binding: x, Document: d})
}

func dropped(t *testing.T, open func() Backend) {
	t.Helper()
	x, d := bindingOf(1), fullDocument()
	b := open()
	put(t, b, x, d)
	for range 2 {
		if err := b.DropBinding(context.Background(), x.ID); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, open())
	fresh := adapters.NewDocument(1, adapters.LogProgress{})
	put(t, open(), x, fresh)
	holds(t, open(), adapters.KeptBinding{Binding: x, Document: fresh})
}

func orphan(t *testing.T, open func() Backend) {
	t.Helper()
	d := fullDocument()
	if err := open().PutDocument(context.Background(), "bd_none", d, d.Tail); err != nil {
		t.Errorf("a document whose binding was dropped: %v, want no error", err)
	}
	holds(t, open())
}

// furnish makes a session with lines.
func furnish(t *testing.T, b Backend, lines int) *House {
	t.Helper()
	h := NewHouse(b)
	if err := h.Begin(theSession, "agent-1"); err != nil {
		t.Fatal(err)
	}
	var x texts
	for _, l := range x.lines(lines, 5) {
		say(t, h, Output{Lines: []string{l}})
	}
	return h
}

func say(t *testing.T, h *House, o Output) {
	t.Helper()
	if err := h.Print(theSession, o); err != nil {
		t.Fatal(err)
	}
}

func progress(t *testing.T, open func() Backend) {
	t.Helper()
	b := open()
	h := furnish(t, b, 0)
	steps := []struct {
		out  Output
		want adapters.LogProgress
	}{
		{Output{}, adapters.LogProgress{}},
		{Output{Lines: []string{"1", "2"}}, adapters.LogProgress{Head: 2}},
		{Output{Lines: []string{"3"}, Ends: true}, adapters.LogProgress{Head: 3, Turn: 1, TurnEnd: 3, TurnFirst: 1}},
		{Output{Lines: []string{"4"}}, adapters.LogProgress{Head: 4, Turn: 1, TurnEnd: 3, TurnFirst: 1}},
		{Output{Ends: true}, adapters.LogProgress{Head: 4, Turn: 2, TurnEnd: 4, TurnFirst: 4}},
	}
	for i, s := range steps {
		say(t, h, s.out)
		got, err := b.Progress(context.Background(), theSession)
		if turn := h.find(theSession).Turn; s.out.Ends && (!got.TurnBegan.Equal(turn.StartedAt) || !got.TurnEnded.Equal(turn.EndedAt) || turn.EndedAt.IsZero()) {
			t.Errorf("after step %d the turn took from %v to %v, want %v to %v", i, got.TurnBegan, got.TurnEnded, turn.StartedAt, turn.EndedAt)
		}
		began, ended := got.TurnBegan, got.TurnEnded
		got.TurnBegan, got.TurnEnded = time.Time{}, time.Time{}
		if err != nil || got != s.want {
			t.Errorf("after step %d: %+v, %v; want %+v", i, got, err, s.want)
		}
		turns, err := b.Turns(context.Background(), theSession, 1, 10)
		if err != nil || int64(len(turns)) != s.want.Turn {
			t.Fatalf("after step %d: the turns %+v, %v", i, turns, err)
		}
		if n := len(turns); n > 0 && (turns[n-1].Number != s.want.Turn || turns[n-1].LastLine != s.want.TurnEnd || turns[n-1].FirstLine != s.want.TurnFirst ||
			!turns[n-1].StartedAt.Equal(began) || !turns[n-1].EndedAt.Equal(ended)) {
			t.Errorf("after step %d: the last of the turns is %+v, want %+v", i, turns[n-1], s.want)
		}
	}
	say(t, h, Output{Lines: []string{"5"}, Ends: true, Failed: "Overloaded"})
	if p, err := b.Progress(context.Background(), theSession); err != nil || p.Failed != "Overloaded" || p.Turn != 3 {
		t.Errorf("a turn has failed: %+v, %v", p, err)
	}
	if all, err := b.Turns(context.Background(), theSession, 2, 10); err != nil || len(all) != 2 || all[0].Failed != "" || all[1].Failed != "Overloaded" {
		t.Errorf("a turn has failed: %+v, %v", all, err)
	}
	failed := 3
	say(t, h, Output{Lines: []string{"5"}, Ends: true, Status: &failed})
	all, err := b.Turns(context.Background(), theSession, 3, 10)
	if err != nil || len(all) != 2 || all[0].Status != nil || all[1].Status == nil || *all[1].Status != failed || all[1].Failed != "" {
		t.Errorf("the turns from the second on: %+v, %v", all, err)
	}
	if one, err := b.Turns(context.Background(), theSession, 1, 1); err != nil || len(one) != 1 || one[0].Number != 1 {
		t.Errorf("one turn: %+v, %v", one, err)
	}
}

func messageAt(t *testing.T, open func() Backend) {
	t.Helper()
	b := open()
	d := adapters.NewDocument(0, adapters.LogProgress{})
	put(t, b, bindingOf(1), d)
	put(t, b, bindingOf(2), d)
	sent := func(of int, id string, from, to int64) {
		m := adapters.Message{ID: id, From: adapters.Position{Line: from}, To: adapters.Position{Line: to}}
		if err := b.PutDocument(context.Background(), bindingOf(of).ID, d, &m); err != nil {
			t.Fatal(err)
		}
	}
	sent(1, "a", 2, 5)  // lines 2 to 4
	sent(1, "b", 5, 5)  // none
	sent(1, "c", 7, 9)  // 7 and 8, behind blank ones
	sent(1, "d", 9, 10) // 9
	sent(1, "d", 9, 12) // more are added to it
	sent(2, "e", 1, 20)
	for line, want := range map[int64]string{1: "a", 2: "a", 4: "a", 5: "c", 8: "c", 9: "d", 11: "d", 12: ""} {
		got, err := open().MessageAt(context.Background(), bindingOf(1).ID, line)
		if err != nil || got != want {
			t.Errorf("line %d is in message %q, %v; want %q", line, got, err, want)
		}
	}
	if got, err := open().MessageAt(context.Background(), "bd_none", 1); got != "" || err != nil {
		t.Errorf("of a binding that isn't there: %q, %v", got, err)
	}
}

func takenUp(t *testing.T, open func() Backend) {
	t.Helper()
	ctx := context.Background()
	want := func(when string, want ...sessions.ID) {
		t.Helper()
		if got, err := open().NewSessions(ctx); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s %v are new, %v; want %v", when, got, err, want)
		}
	}
	want("without sessions")
	one, two := sessions.Session{ID: theSession, Name: "one", State: sessions.StateStarting}, sessions.Session{ID: "pb_000000000002", Name: "two", State: sessions.StateStarting}
	for _, s := range []sessions.Session{one, two} {
		if err := open().AddSession(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	want("of two", one.ID, two.ID)
	killed, cancel := context.WithCancel(ctx)
	cancel()
	if open().TakeUp(killed, one.ID) == nil {
		t.Error("TakeUp with a context that has ended returns no error")
	}
	for _, id := range []sessions.ID{one.ID, one.ID, "pb_none"} {
		if err := open().TakeUp(ctx, id); err != nil {
			t.Errorf("take up %s: %v", id, err)
		}
	}
	want("after one was taken up", two.ID)
	one.State = sessions.StateEnded
	if err := open().AddSession(ctx, one); err != nil { // it's stored again whenever it changes
		t.Fatal(err)
	}
	want("after that one ended", two.ID)
}

func movesComeBack(t *testing.T, open func() Backend) {
	t.Helper()
	b := open()
	want := []adapters.Move{
		{Adapter: "mem", From: "-9", To: "-100"}, {Adapter: "mem", From: "-1", To: "-200"}, {Adapter: "other", From: "-9", To: "-300"},
	}
	for _, m := range append(want, want[0]) {
		if err := b.PutMove(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	got, err := open().Moves(context.Background())
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v, moves (-want +got):\n%s", err, d)
	}
}

func gapsAreRead(t *testing.T, open func() Backend) {
	t.Helper()
	b := open()
	h := furnish(t, b, 2)
	say(t, h, Output{Gap: &sessions.Gap{AtLeast: 5, Reason: "clear"}, Lines: []string{"3", "4"}})
	out, err := b.Read(context.Background(), theSession, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Lines) != 2 || out.Lines[0].N != 2 || out.Lines[1].N != 3 || out.Lines[1].Text != "3" {
		t.Errorf("lines from 2 on, 2 of them: %+v", out.Lines)
	}
	want := []sessions.Gap{{After: 2, AtLeast: 5, Reason: "clear"}}
	if d := cmp.Diff(want, out.Gaps); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
}

func trimmed(t *testing.T, open func() Backend) {
	t.Helper()
	b := open()
	furnish(t, b, 100)
	out, err := b.Read(context.Background(), theSession, 5, 500)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(out.Lines); n < 20 || n > 25 || out.Lines[n-1].N != 100 || out.Lines[0].N != int64(101-n) {
		t.Errorf("a log of 20 lines, after 100: %d lines, %d to %d", n, out.Lines[0].N, out.Lines[n-1].N)
	}
}

func unknown(t *testing.T, open func() Backend) {
	t.Helper()
	b := open()
	if _, err := b.Progress(context.Background(), "pb_none"); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("progress: %v, want ErrUnknown", err)
	}
	if _, err := b.Read(context.Background(), "pb_none", 1, 1); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("read: %v, want ErrUnknown", err)
	}
}

func ended(t *testing.T, open func() Backend) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x, d := bindingOf(1), fullDocument()
	if open().PutBinding(ctx, x, &d) == nil {
		t.Error("PutBinding with a context that has ended returns no error")
	}
	holds(t, open())
	b := open()
	put(t, b, x, adapters.NewDocument(0, adapters.LogProgress{}))
	if b.PutDocument(ctx, x.ID, d, nil) == nil || b.DropBinding(ctx, x.ID) == nil {
		t.Error("PutDocument or DropBinding with a context that has ended returns no error")
	}
	holds(t, open(), adapters.KeptBinding{Binding: x, Document: adapters.NewDocument(0, adapters.LogProgress{})})
}
