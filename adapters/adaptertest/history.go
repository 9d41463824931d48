package adaptertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// A history is a random life of one document, without a scheduler: what comes out
// of the session, changes of the view, calls that fail in all ways, and processes
// that die at any instruction of a call. At its end the chat must show what the log
// has.
type history struct {
	Seed     uint64
	MaxLines int64 // of the log
	Steps    []historyStep
}

type historyStep struct {
	What  string
	Seed  uint64
	Fault FaultKind
	Crash crash
}

func (h history) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "seed %d, log of %d lines\n", h.Seed, h.MaxLines)
	for _, st := range h.Steps {
		s.WriteString(st.What)
		if st.What == "deliver" {
			fmt.Fprintf(&s, " (%v, %v)", st.Fault, st.Crash)
		}
		s.WriteString("\n")
	}
	return s.String()
}

// crash is where in a call the process dies.
type crash uint8

const (
	noCrash       crash = iota
	beforeIntent        // nothing is stored yet
	afterIntent         // stored, and no call made
	callLost            // the call is made, and doesn't arrive
	beforeReceipt       // it's answered, and that isn't stored
	crashes
)

func (c crash) String() string {
	return [crashes]string{"no crash", "crash before the intent", "crash after the intent", "crash, the call is lost", "crash before the receipt"}[c]
}

// likely is what happens, with how often.
var likely = []struct {
	what   string
	weight int
}{
	{"deliver", 50}, {"print", 25}, {"turn", 8}, {"gap", 2}, {"late", 2}, {"live", 8}, {"view", 3}, {"restart", 2}, {"wait", 4},
}

func randomHistoryStep(seed uint64) historyStep {
	r := rand.New(rand.NewPCG(seed, seed))
	st := historyStep{Seed: r.Uint64()}
	sum := 0
	for _, l := range likely {
		sum += l.weight
	}
	n := r.IntN(sum)
	for _, l := range likely {
		if n -= l.weight; n < 0 {
			st.What = l.what
			break
		}
	}
	if r.IntN(3) == 0 {
		st.Fault = FaultKind(r.IntN(int(faultKinds)))
	}
	if r.IntN(6) == 0 {
		st.Crash = crash(r.IntN(int(crashes)))
	}
	return st
}

func drawHistory(t *rapid.T) history {
	h := history{Seed: rapid.Uint64().Draw(t, "seed")}
	r := rand.New(rand.NewPCG(h.Seed, 1))
	h.MaxLines = []int64{0, 0, 0, 30, 300}[r.IntN(5)]
	for _, seed := range rapid.SliceOfN(rapid.Uint64(), 5, 120).Draw(t, "steps") {
		if seed >= 1000 { // so that shrinking can leave steps out
			h.Steps = append(h.Steps, randomHistoryStep(seed))
		}
	}
	return h
}

// Histories lets so many documents live random lives, and checks what a person sees
// at their ends. open returns an empty backend whose logs keep so many lines each
// (0: all), and what closes it; both are called within a bubble. Nil: in memory.
func Histories(t *testing.T, times int, n New, open func(maxLines int64) (Backend, func())) {
	t.Helper()
	if open == nil {
		open = memoryBackend
	}
	check(t, times, func(rt *rapid.T) []string {
		h := drawHistory(rt)
		var wrong []string
		synctest.Test(t, func(*testing.T) {
			b, done := open(h.MaxLines)
			defer done()
			wrong = h.live(n, b)
		})
		if len(wrong) > 0 {
			rt.Logf("%v", h)
		}
		return wrong
	})
}

// check runs a property so many times. What's wrong is returned, not reported:
// within a bubble neither rapid nor t may be told.
func check(t *testing.T, times int, property func(rt *rapid.T) []string) {
	t.Helper()
	drawtest.CheckTimes(t, times, func(rt *rapid.T) {
		for _, w := range property(rt) {
			rt.Error(w)
		}
	})
}

// life is a history that's being lived.
type life struct {
	*bench
	random  *rand.Rand
	texts   texts
	longest int // runes a message holds
	doubts  []Doubt
	intent  Doubt // what the call under way is to show
	now     historyStep
	hit     bool // the fault of now has hit a call
	wrong   []string
}

func (h history) live(n New, b Backend) []string {
	// Small messages, so that there are many. Nothing is refused for being too
	// early: that's the scheduler's business.
	w := n(true)
	l := &life{random: rand.New(rand.NewPCG(h.Seed, 2))}
	view := []adapters.View{adapters.ViewStream, adapters.ViewStream, adapters.ViewFinal}[l.random.IntN(3)]
	var err error
	if l.bench, err = newBench(w, w.Chats()[0], b, view); err != nil {
		return []string{err.Error()}
	}
	l.longest = l.shape().MaxLen
	w.SetFault(l.fault)
	for _, st := range h.Steps {
		l.now = st
		if err := l.step(rand.New(rand.NewPCG(st.Seed, st.Seed))); err != nil {
			return append(l.wrong, fmt.Sprintf("%s: %v", st.What, err))
		}
	}
	return append(l.wrong, l.end(h)...)
}

// doubtOf is what's in doubt of a document with an intent.
func doubtOf(d adapters.Document) Doubt {
	in := d.Intent
	return Doubt{From: d.Shown, To: in.Shown, Live: in.Kind == adapters.KindSend && in.Message.Live && in.Message.From == in.Message.To}
}

// end lets all faults cease and compares.
func (l *life) end(h history) []string {
	l.now = historyStep{}
	if err := l.house.End(theSession, "session ended"); err != nil {
		return []string{err.Error()}
	}
	if err := l.settle(); err != nil {
		return []string{err.Error()}
	}
	r := l.house.find(theSession)
	head := int64(len(r.printed))
	oldest := int64(1)
	if h.MaxLines > 0 {
		oldest = max(1, head-h.MaxLines+1)
	}
	return append(l.house.Compare(l.seen(), Want{Session: theSession, To: head, Oldest: oldest, Doubts: l.doubts}), l.world.Wrong()...)
}

// fault is what goes wrong with a call.
func (l *life) fault(c Call) Fault {
	l.hit = true
	f := Fault{Kind: l.now.Fault, RetryAfter: 3 * time.Second, Out: time.Second, Back: time.Second}
	if l.now.What != "deliver" {
		f.Kind = Works
	}
	if l.now.Crash == callLost {
		l.process.Kill()
		l.kill(true)
	}
	l.mayDouble(c, f.Kind)
	return f
}

// mayDouble notes what may be shown and nobody will know it.
func (l *life) mayDouble(c Call, k FaultKind) {
	unknown := k == BadGateway || k == BadGatewayOK || k == Lost || k == Unanswered ||
		l.now.Crash == callLost || l.now.Crash == beforeReceipt
	if unknown && (c.Method == Send || c.Method == SendFile || c.Method == Edit) {
		l.doubts = append(l.doubts, l.intent)
	}
}

func (l *life) step(r *rand.Rand) error {
	switch l.now.What {
	case "print":
		return l.printed(Output{Lines: l.texts.random(r, l.longest)})
	case "turn":
		return l.printed(Output{Lines: l.texts.random(r, l.longest)[:1], Ends: true})
	case "late":
		return l.printed(Output{Lines: l.texts.lines(1, 10), Late: true})
	case "gap":
		return l.printed(Output{Gap: &sessions.Gap{AtLeast: int64(r.IntN(50)), Reason: "clear"}, Lines: l.texts.lines(1+r.IntN(3), 5)})
	case "live":
		return l.printed(someRegion(r))
	case "view":
		l.binding.View = []adapters.View{adapters.ViewStream, adapters.ViewFinal}[r.IntN(2)]
		l.deliverer.Rebind(l.binding)
		return nil
	case "restart":
		return l.restart(false)
	case "wait":
		time.Sleep(time.Duration(r.IntN(10)) * time.Minute)
		return nil
	default:
		return l.deliverSomehow()
	}
}

func (l *life) printed(o Output) error { return l.house.Print(theSession, o) }

// someRegion is one of a program that's known or not.
func someRegion(r *rand.Rand) Output {
	rows := liveRows(r)
	if r.IntN(2) == 0 {
		return Output{Live: rows}
	}
	known := &sessions.Live{Rows: []string{"furniture"}, Known: true, Writing: rows}
	if r.IntN(3) > 0 {
		known.Status = fmt.Sprintf("%sfor %d s", livePrefix, r.IntN(100))
	}
	return Output{Known: known}
}

func liveRows(r *rand.Rand) []string {
	rows := []string{}
	for i := range r.IntN(6) {
		rows = append(rows, fmt.Sprintf("%s%d %d", livePrefix, i, r.IntN(1000)))
	}
	return rows
}

// deliverSomehow makes a call, which may fail, and the process with it.
func (l *life) deliverSomehow() error {
	crash := l.now.Crash
	l.process.SetFault(func(d adapters.Document) error {
		call := d.Intent != nil
		if call {
			l.intent = doubtOf(d)
		}
		if crash == beforeIntent && call || crash == beforeReceipt && !call {
			l.process.Kill()
		}
		return nil
	})
	if crash == afterIntent {
		l.world.SetFault(func(c Call) Fault {
			l.hit = true
			l.process.Kill()
			l.mayDouble(c, Lost)
			return Fault{Kind: Unconnected}
		})
		defer l.world.SetFault(l.fault)
	}
	l.hit = false
	before := l.document()
	r, err := l.deliver()
	if err != nil {
		return err
	}
	l.judge(before, r)
	l.process.SetFault(nil)
	if r.Outcome == qos.Throttled {
		time.Sleep(r.RetryAfter) // as the scheduler does
	}
	if l.process.Killed() {
		return l.restart(l.now.Crash == callLost)
	}
	return nil
}

// judge checks what the scheduler is told against what happened.
func (l *life) judge(before adapters.Document, r qos.CallResult) {
	want := map[FaultKind][]qos.CallOutcome{
		Works:        {qos.Delivered},
		Unconnected:  {qos.NotSent},
		Throttled:    {qos.Throttled},
		ServerError:  {qos.Failed},
		BadGateway:   {qos.Uncertain, qos.Failed},
		BadGatewayOK: {qos.Uncertain, qos.Delivered}, // delivered: an edit that was done before
		Lost:         {qos.Uncertain},
		Unanswered:   {qos.Uncertain},
	}[l.now.Fault]
	want = append(want, qos.Unchanged)
	if !l.hit { // none was made: what was to be made was found
		want = append(want, qos.Delivered)
	}
	if l.now.Crash != noCrash {
		want = append(want, qos.NotSent, qos.Uncertain)
	}
	if !slices.Contains(want, r.Outcome) {
		l.wrong = append(l.wrong, fmt.Sprintf("a call that %v ended as %v (%v)", l.now.Fault, r.Outcome, r.Err))
	}
	if l.document().Shown.Before(before.Shown) {
		l.wrong = append(l.wrong, fmt.Sprintf("the document went back from %v to %v", before.Shown, l.document().Shown))
	}
}
