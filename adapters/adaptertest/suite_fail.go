package adaptertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

func intentFirst(t *testing.T, s *suite) {
	t.Helper()
	backend := NewMemory(0)
	kinds := map[Method]adapters.Kind{
		Send: adapters.KindSend, Edit: adapters.KindEdit, SendFile: adapters.KindFile, CreateThread: adapters.KindThread,
	}
	p := NewPlatform(Options{Unlimited: true, NonceFor: nonceTime(s.new), Arriving: func(c Call) {
		kept, err := backend.Bindings(context.Background())
		if err != nil || len(kept) != 1 {
			t.Errorf("%d bindings are kept, %v", len(kept), err)
			return
		}
		if in := kept[0].Document.Intent; in == nil || in.Kind != kinds[c.Method] {
			t.Errorf("a call %s arrives, and the intent kept is %+v", c.Method, in)
		}
	}})
	x, err := newBench(s.new, p, backend, adapters.ViewStream)
	if err != nil {
		t.Fatal(err)
	}
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
	want  qos.Outcome
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
		want.Doubts = []Doubt{{From: from, To: adapters.Place{Line: 3}}}
	}
	x.check(t, want)
}

// fail has one call of a method fail.
func (f failure) fail(t *testing.T, x *bench, s *suite, method Method) {
	t.Helper()
	failed := false
	x.platform.SetFault(func(c Call) Fault {
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
	x.platform.SetFault(l.fault)
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
	x.platform.SetFault(func(Call) Fault { return Fault{Kind: Unanswered} })
	x.print(t, Output{Lines: s.texts.lines(1, 20)})
	x.once(t, qos.Uncertain)
	x.platform.SetFault(nil)
	x.print(t, Output{Lines: s.texts.lines(1, 20), Ends: true}) // which would be a message of its own
	x.check(t, Want{To: 3})
}

func editInDoubt(t *testing.T, s *suite) {
	t.Helper()
	x := s.benchOn(t, adapters.ViewStream, Options{}, 20)
	x.ready(t)
	x.unanswered(t, Output{Lines: s.texts.lines(3, 10)})
	for range 50 {
		x.print(t, Output{Lines: s.texts.lines(1, 10)}) // so that the message's lines are dropped
	}
	x.check(t, Want{To: 54, Oldest: 35})
}

// unanswered has the next call done and not answered.
func (x *bench) unanswered(tb testing.TB, o Output) {
	tb.Helper()
	x.print(tb, o)
	x.platform.SetFault(func(Call) Fault { return Fault{Kind: Unanswered} })
	x.once(tb, qos.Uncertain)
	x.platform.SetFault(nil)
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
	x.check(t, Want{To: 3, Doubts: []Doubt{{From: from, To: adapters.Place{Line: 4}}}})
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
	x.platform.SetFault(func(Call) Fault { return Fault{Back: time.Hour} })
	x.print(t, Output{Lines: s.texts.lines(1, 10)})
	began := time.Now()
	x.once(t, qos.Uncertain)
	if took := time.Since(began); took > callTimeout+time.Second {
		t.Errorf("a call of %v took %v", callTimeout, took)
	}
}
