package adaptertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// Run is the conformance suite of adapters.Adapter. What people see as text
// must have each line of a page on a line of its own, with the notices as
// adapters.PlainText writes them. The suite runs in
// synctest bubbles: the adapter may not use real sockets.
func Run(t *testing.T, n New) {
	t.Helper()
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { p.test(t, &suite{new: n}) })
		})
	}
	t.Run("random lives", func(t *testing.T) {
		Histories(t, drawtest.Times(2000, 100, 100), n, nil)
	})
	t.Run("random ends of turns", func(t *testing.T) { endsHistories(t, drawtest.Times(1000, 50, 20), n) })
}

// part is one thing that an adapter must do.
type part struct {
	name string
	test func(t *testing.T, s *suite)
}

func parts() []part {
	all := []part{
		{"lines are added to the newest message", linesAreAdded},
		{"a full message is left, the next goes on", messagesFollow},
		{"a line too long is cut between characters", longLineIsCut},
		{"nothing new is no call", nothingNewIsNoCall},
		{"the intent is kept before the call is made", intentFirst},
		{"an edit that wasn't answered is made again, unmarked", editAgain},
		{"an edit that can't be made again leaves a doubt", editInDoubt},
		{"a nonce spares the mark, as long as the platform knows it", nonceSparesMark},
		{"a screen that was there already is brought up to date", screenExisted},
		{"several ends of turns share one ring", endsShareARing},
		{"a long final rings with its last message, and is a final until then", longFinal},
		{"a turn is announced once, though lines are added to it", lateLines},
		{"an announcement that wasn't answered is marked when it's made again", announcementTwice},
		{"a long backlog is attached as a file", backlogBecomesFile},
		{"a line beyond all messages is a file that rings", longLineIsAFile},
		{"lines that were dropped are told", droppedLinesAreTold},
		{"a message whose first lines were dropped isn't edited", droppedLinesStay},
		{"a gap is told where it stands", gapIsTold},
		{"a message that was deleted is left behind", deletedMessage},
		{"a message that can't be edited is left as it is", frozenMessage},
		{"a thread that was deleted is made anew, if it was ours", deletedThread},
		{"the thread of an ended session is closed, if it was ours", endedThread},
		{"a chat that's gone is gone", chatGone},
		{"a chat that has moved is followed", chatMoved},
		{"the live region is shown below the lines, and taken away", liveRegion},
		{"what's being written is replaced by its lines in the same message", writingIsReplaced},
		{"what's being written and never comes is told", writingNeverComes},
		{"what's being written needs no more than is left, or begins a message", writingBeginsAMessage},
		{"a message that shows what's being written wasn't answered", writingInDoubt},
		{"a screen is one message", screenIsOneMessage},
		{"a call ends with its deadline", deadline},
	}
	for _, view := range []adapters.View{adapters.ViewStream, adapters.ViewFinal} {
		all = append(all, part{
			fmt.Sprintf("the end of a turn rings, once, in a message of its own (%s)", view),
			func(t *testing.T, s *suite) { t.Helper(); finalRings(t, s, view) },
		})
	}
	for _, f := range failures() {
		for _, m := range []Method{Send, Edit} {
			all = append(all, part{
				fmt.Sprintf("a failure has its outcome, and loses nothing (%s, %v)", m, f.fault),
				func(t *testing.T, s *suite) { t.Helper(); f.test(t, s, m) },
			})
		}
	}
	for _, c := range []crash{beforeIntent, afterIntent, callLost, beforeReceipt} {
		for _, what := range []string{"send", "edit", "final", "file"} {
			all = append(all, part{
				fmt.Sprintf("a crash loses nothing, and doubles at most what was under way (%s, %v)", what, c),
				func(t *testing.T, s *suite) { t.Helper(); crashOnce(t, s, c, what) },
			})
		}
	}
	return all
}

// suite makes the benches of a part.
type suite struct {
	new   New
	texts texts
}

func (s *suite) bench(tb testing.TB, view adapters.View) *bench {
	tb.Helper()
	return s.benchOn(tb, view, 0, 0)
}

// benchOn makes a bench for one of the chats, with a log of so many lines; 0: of all.
func (s *suite) benchOn(tb testing.TB, view adapters.View, chat int, maxLines int64) *bench {
	tb.Helper()
	w := s.new(true)
	x, err := newBench(w, w.Chats()[chat], NewMemory(maxLines), view)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		w.Wait()
		for _, wrong := range w.Wrong() {
			tb.Error(wrong)
		}
	})
	return x
}

func (x *bench) shape() adapters.Shape { return x.adapter.Shape(x.binding.Target) }

// ready makes the target's own thread, if it gets one, and shows one line.
func (x *bench) ready(tb testing.TB) {
	tb.Helper()
	x.print(tb, Output{Lines: []string{"begins"}})
	x.check(tb, Want{To: 1})
}

// once delivers and wants an outcome.
func (x *bench) once(tb testing.TB, want qos.CallOutcome) qos.CallResult {
	tb.Helper()
	r, err := x.deliver()
	if err != nil {
		tb.Fatal(err)
	}
	if r.Outcome != want {
		tb.Fatalf("the call ended as %v (%v), want %v", r.Outcome, r.Err, want)
	}
	return r
}

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
	if rang := rings(x.check(t, Want{To: 7})); rang != 2 {
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
	if rang := rings(x.check(t, Want{To: 3})); rang != 1 {
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

func intentFirst(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	kinds := map[Method]adapters.OpKind{
		Send: adapters.KindSend, Edit: adapters.KindEdit, SendFile: adapters.KindFile, CreateThread: adapters.KindThread,
	}
	x.world.SetFault(func(c Call) Fault {
		kept, err := x.backend.Bindings(context.Background())
		if err != nil || len(kept) != 1 {
			t.Errorf("%d bindings are kept, %v", len(kept), err)
		} else if in := kept[0].Document.Intent; in == nil || in.Kind != kinds[c.Method] {
			t.Errorf("a call %s is made, and the intent kept is %+v", c.Method, in)
		}
		return Fault{}
	})
	for range 5 {
		x.print(t, Output{Lines: s.texts.lines(4, x.shape().MaxLen/2)})
		x.print(t, Output{Lines: s.texts.lines(1, 10), Ends: true})
		if err := x.settle(); err != nil {
			t.Fatal(err)
		}
	}
	if in := x.document().Intent; in != nil {
		t.Errorf("after all calls an intent is left: %+v", in)
	}
}

// failure is a fault and what it's told as.
type failure struct {
	fault FaultKind
	want  qos.CallOutcome
	doubt bool // a send may follow that's marked
}

func failures() []failure {
	return []failure{
		{Unconnected, qos.NotSent, false},
		{Throttled, qos.Throttled, false},
		{ServerError, qos.Failed, false},
		{Lost, qos.Uncertain, true},
		{Unanswered, qos.Uncertain, true},
		{BadGatewayOK, qos.Uncertain, true},
	}
}

func (f failure) test(t *testing.T, s *suite, m Method) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	from := x.document().Shown
	f.fail(t, x, s, m)
	want := Want{To: 2}
	if m == Send && f.doubt {
		want.Doubts = []Doubt{{From: from, To: adapters.Position{Line: 3}}}
	}
	x.check(t, want)
}

// fail makes one call of a method fail.
func (f failure) fail(t *testing.T, x *bench, s *suite, method Method) {
	t.Helper()
	failed := false
	x.world.SetFault(func(c Call) Fault {
		if failed || c.Method != method {
			return Fault{}
		}
		failed = true
		return Fault{Kind: f.fault, RetryAfter: 7 * time.Second, Out: time.Second, Back: time.Second}
	})
	x.print(t, Output{Lines: s.texts.lines(1, 20), Ends: method == Send})
	r := x.once(t, f.want)
	if r.Outcome == qos.Throttled && r.RetryAfter != 7*time.Second {
		t.Errorf("the platform asked for 7 s, the scheduler is told %v", r.RetryAfter)
	}
	if r.Err == nil {
		t.Error("nobody is told why the call failed")
	}
	time.Sleep(10 * time.Second)
}

func crashOnce(t *testing.T, s *suite, c crash, what string) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	longest := x.shape().MaxLen
	switch what {
	case "send":
		x.print(t, Output{Lines: s.texts.lines(3, longest/2)})
	case "edit":
		x.print(t, Output{Lines: s.texts.lines(1, 20)})
	case "final":
		x.print(t, Output{Lines: s.texts.lines(1, 20), Ends: true})
	case "file":
		x.print(t, Output{Lines: s.texts.lines(40, longest/4)})
	}
	l := &life{bench: x, now: historyStep{What: "deliver", Crash: c}}
	x.world.SetFault(l.fault)
	if err := l.deliverSomehow(); err != nil {
		t.Fatal(err)
	}
	l.now = historyStep{}
	if what == "edit" {
		l.doubts = nil
	}
	p, _ := x.backend.Progress(context.Background(), theSession)
	marked := 0
	for _, m := range x.check(t, Want{To: p.Head, Doubts: l.doubts}) {
		if strings.HasPrefix(m.Text, doubleMark) {
			marked++
		}
	}
	if marked > 1 {
		t.Errorf("%d messages are marked as possibly double, after one crash", marked)
	}
}

func editAgain(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.world.SetFault(func(Call) Fault { return Fault{Kind: Unanswered} })
	x.print(t, Output{Lines: s.texts.lines(1, 20)})
	x.once(t, qos.Uncertain)
	x.world.SetFault(nil)
	x.print(t, Output{Lines: s.texts.lines(1, 20), Ends: true}) // which would be a message of its own
	x.check(t, Want{To: 3})
}

func editInDoubt(t *testing.T, s *suite) {
	t.Helper()
	x := s.benchOn(t, adapters.ViewStream, 0, 20)
	x.ready(t)
	x.unanswered(t, Output{Lines: s.texts.lines(3, 10)})
	for range 50 {
		x.print(t, Output{Lines: s.texts.lines(1, 10)}) // so that the message's lines are dropped
	}
	x.check(t, Want{To: 54, Oldest: 35})
}

// unanswered does the next call and loses its answer.
func (x *bench) unanswered(tb testing.TB, o Output) {
	tb.Helper()
	x.print(tb, o)
	x.world.SetFault(func(Call) Fault { return Fault{Kind: Unanswered} })
	x.once(tb, qos.Uncertain)
	x.world.SetFault(nil)
}

func nonceSparesMark(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	nonceFor := x.shape().NonceFor
	if nonceFor == 0 {
		t.Skip("the platform has none")
	}
	x.ready(t)
	x.unanswered(t, Output{Lines: s.texts.lines(1, 20), Ends: true})
	x.check(t, Want{To: 2})

	// The second try isn't answered either, and the third comes too late.
	from := x.document().Shown
	x.unanswered(t, Output{Lines: s.texts.lines(1, 20), Ends: true})
	time.Sleep(nonceFor * 3 / 4)
	x.unanswered(t, Output{})
	time.Sleep(nonceFor * 3 / 4)
	x.check(t, Want{To: 3, Doubts: []Doubt{{From: from, To: adapters.Position{Line: 4}}}})
}

func screenExisted(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewScreen)
	if x.shape().NonceFor == 0 {
		t.Skip("the platform has no nonces")
	}
	x.print(t, Output{Live: []string{livePrefix + "nothing"}})
	if err := x.settle(); err != nil { // its thread is made
		t.Fatal(err)
	}
	x.print(t, Output{Lines: []string{"1"}, Ends: true})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	x.unanswered(t, Output{Live: []string{livePrefix + "old"}})
	x.print(t, Output{Live: []string{livePrefix + "new"}})
	if err := x.settle(); err != nil {
		t.Fatal(err)
	}
	if seen := x.seen(); len(seen) != 3 || seen[2].Text != livePrefix+"new" {
		t.Errorf("want three messages, the last with the newest screen: %+v", seen)
	}
}

func deadline(t *testing.T, s *suite) {
	t.Helper()
	x := s.bench(t, adapters.ViewStream)
	x.ready(t)
	x.world.SetFault(func(Call) Fault { return Fault{Back: time.Hour} })
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	began := time.Now()
	x.once(t, qos.Uncertain)
	if took := time.Since(began); took > callTimeout+time.Second {
		t.Errorf("a call of %v took %v", callTimeout, took)
	}
}

// rings counts the messages that rang.
func rings(seen []Message) (n int) {
	for _, m := range seen {
		if m.Rang {
			n++
		}
	}
	return n
}
