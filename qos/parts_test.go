package qos

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

func TestReserveEstimates(t *testing.T) {
	var r reserve
	if x := r.usual(noon); x != 0 {
		t.Errorf("with nothing seen, %v are usual", x)
	}
	r.arrived(noon)
	if x := r.usual(noon); x != 1 {
		t.Errorf("after one arrival, %v are usual", x)
	}
	for range 10 {
		r.arrived(after(time.Second))
	}
	if x := r.usual(after(time.Second)); x != 11 {
		t.Errorf("after eleven arrivals in the first minute, %v are usual", x)
	}
	if !r.active(after(60*time.Second)) || r.active(after(62*time.Second)) {
		t.Error("active for another time than a minute")
	}
	if x := r.usual(after(150 * time.Second)); x != 2.75 { // 11, halved twice
		t.Errorf("after two minutes the average is %v, want 2.75", x)
	}
	if x := r.usual(after(time.Hour)); x != 0 || !r.changes(after(time.Hour)).IsZero() {
		t.Errorf("after an hour, %v are usual, want none for good", x)
	}
	r.answered(after(time.Hour), time.Minute) // its call came late
	if at := r.changes(after(time.Hour)); !at.Equal(after(time.Hour + recently)) {
		t.Errorf("the estimate changes at %v, want when the call is no longer recent", at)
	}
}

// TestTheReserveSaysWhenItChanges: also where nobody asks it for an average.
func TestTheReserveSaysWhenItChanges(t *testing.T) {
	var r reserve
	r.arrived(noon)
	r.arrived(after(90 * time.Second))
	r.arrived(after(130 * time.Second))
	if at := r.changes(after(135 * time.Second)); !at.Equal(after(3 * time.Minute)) {
		t.Errorf("it changes at %v, want the end of its minute", at)
	}
}

func TestReserveForgetsOldCalls(t *testing.T) {
	var r reserve
	for i := range 10_000 {
		r.answered(after(time.Duration(i)*time.Second), time.Minute)
	}
	if n := len(r.used); n != 60 {
		t.Errorf("%d calls are remembered, want those of a minute", n)
	}
	if n := r.usedWithin(after(9999*time.Second), 10*time.Second); n != 10 {
		t.Errorf("%d calls in the last 10 s", n)
	}
}

func TestEmittersRiseSlowlyAndFallAtOnce(t *testing.T) {
	var e emitters
	flows := make([]flow, 10)
	for i := range flows {
		flows[i].emitter.value = &flows[i]
	}
	const window = 10 * time.Second
	e.printed(&flows[0], noon)
	e.sample(noon, window, 0.2)
	for i := range flows {
		e.printed(&flows[i], noon)
	}
	e.sample(noon, window, 0.2)
	if n := e.active(noon, window); n != 2.8 { // 1 + 0.2 * 9
		t.Errorf("after a rise from 1 to 10, %v are reckoned with, want 2.8", n)
	}
	e.printed(&flows[3], after(5*time.Second))
	if n := e.active(after(12*time.Second), window); n != 1 {
		t.Errorf("when all but one are quiet, %v are reckoned with", n)
	}
	if n := e.active(after(time.Hour), window); n != 1 || !e.changes(window).IsZero() {
		t.Errorf("when all are quiet, %v are reckoned with", n)
	}
}

func TestBackoffIsJitteredAndBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n, most := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30, 30} {
		least, longest := time.Hour, time.Duration(0)
		for range 500 {
			b := backoff{failures: n}
			b.failed(noon, random)
			d := b.until.Sub(noon)
			least, longest = min(least, d), max(longest, d)
		}
		most *= time.Second
		if least <= 0 || least > most/20 || longest > most || longest < most*19/20 {
			t.Errorf("after %d failures, it waits %v to %v, want 0 to %v", n+1, least, longest, most)
		}
	}
}

func TestPacerMintsNothing(t *testing.T) {
	var p pacer
	p.set(noon, 4*time.Second, 1)
	p.take(noon, noon)
	if at := p.next(noon); !at.Equal(after(4 * time.Second)) {
		t.Errorf("the second call may go at %v", at)
	}
	p.take(after(4*time.Second), noon) // due for long, but paced
	p.take(after(8*time.Second), noon.Add(-time.Hour))
	if at := p.next(after(8 * time.Second)); !at.Equal(after(12 * time.Second)) {
		t.Errorf("the fourth call may go at %v", at)
	}
	p.take(after(15*time.Second), after(13*time.Second)) // held up by 2 s
	if at := p.next(after(15 * time.Second)); !at.Equal(after(17 * time.Second)) {
		t.Errorf("what was late for no fault of its own: the next may go at %v", at)
	}
	p.take(after(17*time.Second), after(17*time.Second))
	p.giveBack()
	if at := p.next(after(17 * time.Second)); !at.Equal(after(17 * time.Second)) {
		t.Errorf("after a token was given back, the next may go at %v", at)
	}
	p.take(after(30*time.Second), after(30*time.Second))
	if at := p.next(after(30 * time.Second)); !at.Equal(after(34 * time.Second)) {
		t.Errorf("after a rest the token that was given back came on top of the one that was saved: the next may go at %v", at)
	}
}

func TestTwoExcusesInTenSeconds(t *testing.T) {
	var x excuses
	var taken []int
	for s := range 24 {
		if x.takeExcuse(after(time.Duration(s) * time.Second)) {
			taken = append(taken, s)
		}
	}
	if want := []int{0, 1, 10, 11, 20, 21}; !slices.Equal(taken, want) {
		t.Errorf("failures are excused at %v s, want %v", taken, want)
	}
}

// TestReserveOfAShortWindow: the reserve is per minute, whatever the window.
func TestReserveOfAShortWindow(t *testing.T) {
	for _, test := range []struct {
		perMinute int
		window    time.Duration
		want      int
	}{{4, time.Minute, 4}, {4, 5 * time.Second, 1}, {30, 5 * time.Second, 3}, {4, 10 * time.Minute, 40}} {
		if n := perWindow(test.perMinute, Window{Per: test.window}); n != test.want {
			t.Errorf("%d a minute in %v: %d, want %d", test.perMinute, test.window, n, test.want)
		}
	}
}

// TestPacerSavesWhatItShould, also after the options have changed.
func TestPacerSavesWhatItShould(t *testing.T) {
	var p pacer
	burst := func(from time.Duration) (n int) {
		for p.next(after(from)).Equal(after(from)) {
			p.take(after(from), after(from))
			n++
		}
		return n
	}
	p.set(noon, time.Second, 3)
	if n := burst(0); n != 1 {
		t.Errorf("%d calls at the beginning, want 1: what's saved must be left over first", n)
	}
	if n := burst(time.Minute); n != 3 {
		t.Errorf("%d calls after a rest, want 3", n)
	}
	p.set(after(time.Minute), time.Second, 9)
	if n := burst(2 * time.Minute); n != 9 {
		t.Errorf("%d calls after a rest, want 9 now", n)
	}
	p.set(after(2*time.Minute), time.Second, 2)
	if n := burst(3 * time.Minute); n != 2 {
		t.Errorf("%d calls after a rest, want 2 now", n)
	}
	p.giveBack()
	p.set(after(3*time.Minute), 0, 1)
	p.set(after(3*time.Minute), time.Second, 1)
	if n := burst(3 * time.Minute); n != 1 {
		t.Errorf("%d calls after the pace was off, want 1: nothing is owed any more", n)
	}
}

// TestPacerCatchesUpByOneTick: what held a call up is made up for once, however long it
// took.
func TestPacerCatchesUpByOneTick(t *testing.T) {
	var p pacer
	p.set(noon, 4*time.Second, 1)
	p.take(noon, noon)
	p.take(after(time.Minute), after(5*time.Second))
	if at := p.next(after(time.Minute)); !at.Equal(after(time.Minute)) {
		t.Errorf("the second call after a jam may go at %v, want at once", at)
	}
	p.take(after(time.Minute), after(6*time.Second))
	if at := p.next(after(time.Minute)); !at.Equal(after(64 * time.Second)) {
		t.Errorf("the third call after a jam may go at %v, want 4 s later", at)
	}
}

// TestStreamsLeaveSlots: one for a command, and those of the turn ends that a usual
// minute still has to bring; with a hard reserve all of it, less what was used.
func TestStreamsLeaveSlots(t *testing.T) {
	e, err := NewSlotEngine(Options{Limits: someLimits()}, NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := e.chatOf("-1")
	want := func(spare int, when string) {
		t.Helper()
		if got := e.spareSlots(e.now, c, c.lanes[0]); got != spare {
			t.Errorf("%s, streams leave %d slots, want %d", when, got, spare)
		}
	}
	options := func(opt Options) {
		t.Helper()
		families := opt.Limits.Families
		if opt.Limits = someLimits(); families != nil {
			opt.Limits.Families = families
		}
		if err := e.Reconfigure(e.now, opt); err != nil {
			t.Fatal(err)
		}
	}
	e.now = noon
	want(1, "with nothing seen")
	for key := range 5 {
		if err := e.PostRequest(noon, Request{Chat: "-1", Key: string(rune('a' + key))}); err != nil {
			t.Fatal(err)
		}
	}
	want(1, "with commands about")
	e.Open(noon, Doc{ID: "x", Chat: "-1", Session: "x"})
	for line := range int64(10) {
		e.Want(noon, "x", 1+line, true)
	}
	want(1, "with many finals")
	options(Options{ReserveMPM: NoReserve})
	want(0, "with reserve_mpm: 0")
	options(Options{ReserveMPM: NoReserve, HardReserve: true})
	want(0, "with reserve_mpm: 0 that isn't lent")
	options(Options{Mode: CoalesceOnly})
	want(0, "with coalesce_only")
	options(Options{HardReserve: true, OutputBudgetRatio: 1})
	want(4, "with a hard reserve")
	for range 3 {
		c.reserve.answered(noon, time.Minute)
	}
	want(1, "with a hard reserve of which three are used")
	c.reserve.answered(noon, time.Minute)
	want(1, "with a hard reserve that's used up")
	options(Options{HardReserve: true, OutputBudgetRatio: 0.5, ReserveMPM: 1})
	want(6, "with a hard reserve and half the budget for streams, when four are used")
	options(Options{Limits: Limits{Families: map[Family]Limit{"rename": {Windows: []Window{{Calls: 2, Per: time.Hour}}}}}})
	if got := e.spareSlots(e.now, c, c.laneOf("rename")); got != 0 {
		t.Errorf("of a family's window, streams leave %d slots, want none", got)
	}
}

// TestASessionIsOneWhileItsCallIsUnderWay: what a session's question is answered with may end after its
// documents were closed and opened again. What it got is still known then, and so is who prints.
func TestASessionIsOneWhileItsCallIsUnderWay(t *testing.T) {
	e, err := NewSlotEngine(Options{Limits: someLimits()}, NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.PostRequest(noon, Request{Chat: "-1", Key: "asks", Class: Final, Session: "a"}); err != nil {
		t.Fatal(err)
	}
	calls := e.Advance(noon)
	if len(calls) != 1 {
		t.Fatalf("%d calls begin, want 1", len(calls))
	}
	e.Open(noon, Doc{ID: "x", Chat: "-1", Session: "a"})
	e.Close(noon, "x", Cancel)
	e.Open(noon, Doc{ID: "x", Chat: "-1", Session: "a", Wanted: 1})
	e.Finish(after(time.Second), calls[0], CallResult{Outcome: Delivered}, after(time.Second))
	if l := e.docs["x"].lane; l.flows["a"] != e.docs["x"].flow {
		t.Error("the session has another place in the queue than its document")
	}
	if x, known := e.Explain(after(time.Second), "-1"); !known || len(x.Next) != 1 {
		t.Errorf("it's explained by %+v", x)
	}
}

// TestWhatMovesKeepsItsOrder: when a chat gets another key, answers go out in the order in which they were asked for.
func TestWhatMovesKeepsItsOrder(t *testing.T) {
	e, err := NewSlotEngine(Options{Mode: CoalesceOnly, Limits: someLimits()}, NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range 8 {
		key := string(rune('h' - i))
		want += key
		if err := e.PostRequest(after(time.Duration(i)*time.Millisecond), Request{Chat: "-1", Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for now := after(time.Second); len(got) < len(want) && now.Before(after(time.Hour)); now = now.Add(time.Second) {
		for _, s := range e.Advance(now) {
			r := CallResult{Outcome: Delivered}
			if s.Call.Chat == "-1" {
				r = CallResult{Outcome: Migrated, Chat: "-2"}
			} else {
				got += s.Call.Key
			}
			e.Finish(now, s, r, now)
		}
	}
	if got != want {
		t.Errorf("answers went out as %s, want %s", got, want)
	}
}

// TestNoCallChangesNothing: when a granted call wasn't made, all that the grant changed
// is as before; but for the place in the fair queue, and for when the bot may go on.
func TestNoCallChangesNothing(t *testing.T) {
	e, err := NewSlotEngine(Options{Limits: someLimits()}, NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	finish := func(now time.Time, r CallResult) *Started {
		t.Helper()
		started := e.Advance(now)
		if len(started) != 1 {
			t.Fatalf("%d calls at %v, want 1", len(started), now)
		}
		e.Finish(now, started[0], r, now)
		return started[0]
	}
	e.Open(noon, Doc{ID: "x", Chat: "-1", Session: "x", Wanted: 1})
	finish(noon, CallResult{Outcome: Delivered, Delivered: 1})
	for i := range 3 {
		at := after(time.Duration(20+2*i) * time.Second)
		if err := e.PostRequest(at, Request{Chat: "-1", Key: "x"}); err != nil {
			t.Fatal(err)
		}
		finish(at, CallResult{Outcome: Delivered})
	}
	c, d := e.chats["-1"], e.docs["x"]
	at := after(40 * time.Second)
	type state struct {
		behind, sinceStream                     int
		lastCall, lastShown, lastPaced, docCall time.Time
		pace, supply, bot                       time.Time
	}
	look := func() state {
		l := c.lanes[0]
		return state{
			c.behind, c.sinceStream, c.lastCall, c.lastShown, c.lastPaced, d.lastCall,
			l.pace.next(at), l.supply.next(at), e.bot.pace.next(at),
		}
	}
	e.Want(at, "x", 2, false)
	before := look()
	if s := finish(at, CallResult{Outcome: Unchanged}); s.Call.Class != Stream {
		t.Fatalf("a call of class %v", s.Call.Class)
	}
	if got := look(); got != before {
		t.Errorf("after a call that wasn't made: %+v, before it: %+v", got, before)
	}
}

// TestDrainingTakesNothing, also where no letterbox stands before the engine.
func TestDrainingTakesNothing(t *testing.T) {
	e, err := NewSlotEngine(Options{Limits: someLimits()}, NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	e.beginDraining(noon)
	if err := e.PostRequest(noon, Request{Chat: "-1", Key: "x"}); err == nil {
		t.Error("a request was accepted")
	}
	e.TryRequest(noon, Request{Chat: "-1", Key: "x", Family: FamilyTyping})
	if n := len(e.Advance(noon)); n != 0 || e.totals.Shed != 1 {
		t.Errorf("%d calls, %d were shed; want 0 and 1", n, e.totals.Shed)
	}
}

// someLimits are windows such as a platform has.
func someLimits() Limits {
	return Limits{
		Bot:     Limit{Windows: []Window{{Calls: 30, Per: time.Second}}, Gap: 40 * time.Millisecond},
		Group:   Limit{Gap: time.Second},
		Private: Limit{Windows: []Window{{Calls: 60, Per: time.Minute}, {Calls: 3, Per: 3 * time.Second}}, Gap: time.Second},
		Families: map[Family]Limit{
			FamilyTyping: {Windows: []Window{{Calls: 2, Per: 5 * time.Second}, {Calls: 7, Per: 30 * time.Second}}},
			FamilyDraft:  {Windows: []Window{{Calls: 14, Per: 5 * time.Second}, {Calls: 25, Per: 30 * time.Second}}},
		},
	}
}
