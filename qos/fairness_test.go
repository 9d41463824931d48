package qos_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
)

const group = qos.ChatKey("-100")

func docID(i int) qos.DocID { return qos.DocID(fmt.Sprintf("doc%02d", i)) }

// worstGap is the longest time that any of the documents waited for its next call,
// from the second round on.
func worstGap(grants []grant) time.Duration {
	last := map[qos.DocID]time.Duration{}
	var worst time.Duration
	for _, g := range grants {
		if at, ok := last[g.Doc]; ok {
			worst = max(worst, g.at-at)
		}
		last[g.Doc] = g.at
	}
	return worst
}

// mostWithin is the largest number of grants that begin within any stretch of
// time.
func mostWithin(grants []grant, d time.Duration) int {
	most := 0
	for i := range grants {
		n := 0
		for j := i; j < len(grants) && grants[j].at-grants[i].at < d; j++ {
			n++
		}
		most = max(most, n)
	}
	return most
}

func streams(g grant) bool { return g.Class == qos.Stream }

// TestEqualDocumentsShareEqually: documents that always have more get equal
// shares, and none waits much longer than it must.
func TestEqualDocumentsShareEqually(t *testing.T) {
	for _, n := range []int{4, 8, 12, 30} {
		for _, latency := range []time.Duration{0, 300 * time.Millisecond, 2 * time.Second} {
			for _, commandsAMinute := range []int{0, 2, 4, 5} {
				name := fmt.Sprintf("%d sessions, latency %v, %d commands a minute", n, latency, commandsAMinute)
				t.Run(name, func(t *testing.T) {
					inArena(t, qos.Options{}, nil, func(a *arena) {
						a.latency = always(latency)
						for i := range n {
							a.feed(docID(i), group)
						}
						rounds := time.Duration(24*n) * 5 * time.Second
						if commandsAMinute == 0 {
							a.pass(rounds)
						}
						random := rand.New(rand.NewPCG(1, 2))
						for i := 0; commandsAMinute > 0 && a.now() < rounds; i++ {
							// Between half and one and a half of the mean.
							a.pass(time.Duration((0.5 + random.Float64()) * float64(time.Minute) / float64(commandsAMinute)))
							a.post(group, fmt.Sprint("command", i), qos.Interactive)
						}
						a.pass(time.Minute)
						checkShares(a, n, latency)
					})
				})
			}
		}
	}
}

func checkShares(a *arena, n int, latency time.Duration) {
	a.t.Helper()
	served := map[qos.DocID]float64{}
	calls := a.made(streams)
	for _, g := range calls {
		served[g.Doc]++
	}
	var shares []float64
	for i := range n {
		if served[docID(i)] < 20 {
			a.t.Fatalf("%s had %v rounds, the test needs 20", docID(i), served[docID(i)])
		}
		shares = append(shares, served[docID(i)])
	}
	if j := jain(shares); j < 0.99 {
		a.t.Errorf("Jain's index is %.4f, want at least 0.99: %v", j, shares)
	}
	others := mostWithin(a.made(func(g grant) bool { return !streams(g) }), time.Minute)
	bound := time.Duration(1.25 * float64(n) * float64(time.Minute+latency) / float64(20-others))
	got := worstGap(calls)
	if got > bound {
		a.t.Errorf("the worst gap is %v, want at most %v (%d other calls a minute)", got, bound, others)
	}
	a.t.Logf("Jain %.5f, worst gap %v of %v allowed, %d other calls a minute", jain(shares), got, bound, others)
	if most := mostWithin(a.made(nil), time.Minute); most > 20 {
		a.t.Errorf("%d calls in a minute", most)
	}
}

// TestFairShares is P4: at any moment, what two sessions have got, divided by
// their weights, differs by no more than one call each, also when one is in focus.
func TestFairShares(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		n := rapid.IntRange(2, 12).Draw(rt, "sessions")
		focused := rapid.IntRange(-1, n-1).Draw(rt, "in focus")
		seed := rapid.Uint64().Draw(rt, "seed")
		latency := rapid.SampledFrom([]time.Duration{0, 500 * time.Millisecond, 3 * time.Second}).Draw(rt, "latency")
		var bad []string
		// A document that's served twice in a row must not have to rest. All of them wait from the beginning: one whose
		// first call went before the others came would owe nobody for that.
		synctest.Test(t, func(t *testing.T) {
			a := newStillArena(t, qos.Options{MinSessionTick: time.Second}, qos.NewLocalBudget(nil))
			random := newDice(seed)
			a.latency = func() time.Duration { return random.duration(latency) }
			for i := range n {
				a.open(docID(i), group)
			}
			if focused >= 0 {
				a.sched.FocusSession(qos.SessionKey(docID(focused)))
			}
			for i := range n {
				a.feed(docID(i), group)
			}
			a.run()
			defer a.close()
			a.pass(110 * time.Second) // the focus lasts for two minutes
			weight := func(i int) float64 {
				if i == focused {
					return 2
				}
				return 1
			}
			served := make([]float64, n)
			for k, g := range a.made(streams) {
				for i := range n {
					if g.Doc == docID(i) {
						served[i]++
					}
				}
				for i := range n {
					for j := range i {
						if d := served[i]/weight(i) - served[j]/weight(j); max(d, -d) > 1/weight(i)+1/weight(j) {
							bad = append(bad, fmt.Sprintf("after %d calls: %v (in focus: %d)", k+1, served, focused))
							return
						}
					}
				}
			}
		})
		return bad
	})
}

// TestIdleEarnsNothing: who was silent for long gets a share from then on, and not
// what it didn't use.
func TestIdleEarnsNothing(t *testing.T) {
	// Documents hardly rest here, so that only the queue decides.
	opt := qos.Options{MinSessionTick: time.Second, ActiveEmitterEMAAlpha: 0.0001}
	inArena(t, opt, nil, func(a *arena) {
		a.feed(docID(0), group)
		a.open(docID(1), group)
		a.pass(time.Second)
		a.want(docID(1), 1, false)
		a.pass(9 * time.Second)
		a.feed(docID(2), group)
		a.pass(20 * time.Minute)
		woken := a.now()
		a.mu.Lock()
		a.greedy[docID(1)] = true
		a.mu.Unlock()
		a.want(docID(1), 2, false)
		a.pass(2 * time.Minute)
		count := map[qos.DocID]int{}
		for _, g := range a.made(func(g grant) bool { return g.at >= woken }) {
			count[g.Doc]++
		}
		for i := range 3 {
			if n := count[docID(i)]; n < 10 || n > 13 {
				t.Errorf("calls since: %v, want equal shares", count)
			}
		}
	})
}

// TestLeavingEarnsNothing: a session that's closed and opened again after each call gets
// no more than the others.
func TestLeavingEarnsNothing(t *testing.T) {
	inArena(t, qos.Options{MinSessionTick: time.Second, ActiveEmitterEMAAlpha: 0.0001}, nil, func(a *arena) {
		for i := range 2 {
			a.feed(docID(i), group)
		}
		for a.now() < 5*time.Minute {
			if _, open := a.sched.Pressure("comes and goes"); !open {
				a.open("comes and goes", group)
				a.want("comes and goes", int64(a.now()/time.Millisecond), false)
			}
			a.pass(100 * time.Millisecond)
			if p, _ := a.sched.Pressure("comes and goes"); p.Behind == 0 {
				a.sched.Close("comes and goes", qos.Cancel)
			}
			a.pass(0)
		}
		count := map[qos.DocID]int{}
		for _, g := range a.made(streams) {
			count[g.Doc]++
		}
		if n := count["comes and goes"]; n < 28 || n > count[docID(0)]+1 {
			t.Errorf("calls: %v, want equal shares", count)
		}
	})
}

// TestSessionsNotDocumentsShare: a session mirrored twice into one chat gets no
// more than another.
func TestSessionsNotDocumentsShare(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		for i := range 3 {
			a.greedy[docID(i)] = true // before any of them has a call, which reads it
		}
		for i := range 3 {
			session := qos.SessionKey("twice")
			if i == 2 {
				session = "once"
			}
			if err := a.sched.Open(qos.Doc{ID: docID(i), Chat: group, Session: session, Wanted: 1}); err != nil {
				t.Fatal(err)
			}
		}
		a.pass(10 * time.Minute)
		count := map[qos.SessionKey]int{}
		for _, g := range a.made(streams) {
			count[g.Session]++
		}
		if d := count["twice"] - count["once"]; d < -1 || d > 1 {
			t.Errorf("calls by session: %v, want equal", count)
		}
	})
}

// TestWaitIsBounded is P7: among n equal streams that come and go, none waits
// longer than twice its turn.
func TestWaitIsBounded(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		n := rapid.IntRange(1, 10).Draw(rt, "sessions")
		seed := rapid.Uint64().Draw(rt, "seed")
		var bad []string
		inArena(t, qos.Options{}, nil, func(a *arena) {
			random := newDice(seed)
			waits := map[qos.DocID]time.Duration{} // since when
			wanted := map[qos.DocID]int64{}
			longest := time.Duration(0)
			for i := range n {
				a.open(docID(i), group)
			}
			a.outcome = func(call qos.Call) *qos.CallResult { // a.mu is held
				if at, ok := waits[call.Doc]; ok {
					longest = max(longest, a.now()-at)
					delete(waits, call.Doc)
				}
				return nil
			}
			for a.now() < 8*time.Minute {
				a.pass(random.duration(4 * time.Second / time.Duration(n)))
				id := docID(int(random.float() * float64(n)))
				a.mu.Lock()
				wanted[id]++
				if _, ok := waits[id]; !ok {
					waits[id] = a.now()
				}
				a.mu.Unlock()
				a.want(id, wanted[id], false)
			}
			a.pass(10 * time.Minute)
			// N - R_eff is 19 with nothing but streams.
			bound := 2 * (time.Duration(n)*time.Minute/19 + time.Second)
			least := 2 * 3 * time.Second // a document rests for 3 s whatever n is
			if longest > max(bound, least) {
				bad = append(bad, fmt.Sprintf("a stream among %d waited %v, at most %v is fair", n, longest, bound))
			}
			if len(waits) > 0 {
				bad = append(bad, fmt.Sprintf("never sent: %v", waits))
			}
		})
		return bad
	})
}

// TestFinalsGoWithin4p is P5: a final is granted within 4p grants of its chat, whatever else waits, and
// within p grants of classes other than streams if nothing interactive waits. p is its position by
// how long its oldest line has waited, among all documents that wait: what has waited longer may become a
// final before it's told, and goes first then. Its session had no other final in a turn of all, so it isn't charged.
func TestFinalsGoWithin4p(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		seed := rapid.Uint64().Draw(rt, "seed")
		commands := rapid.Bool().Draw(rt, "commands")
		mpm := rapid.SampledFrom([]int{5, 20}).Draw(rt, "mpm")
		latency := rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Second}).Draw(rt, "latency")
		var bad []string
		inArena(t, qos.Options{GroupMPM: mpm}, nil, func(a *arena) {
			bad = finals(a, newDice(seed), commands, latency)
		})
		return bad
	})
}

// place is where a final stood when it came.
type place struct {
	p                 int
	grants, noStreams int // since then
}

func finals(a *arena, random *dice, commands bool, latency time.Duration) (bad []string) {
	const n = 15
	a.latency = func() time.Duration { return random.duration(latency) }
	waiting := map[qos.DocID]*place{}
	shared, last, began := 0, map[qos.DocID]int{}, map[qos.DocID]time.Duration{} // shared: calls that sessions share
	a.outcome = func(call qos.Call) *qos.CallResult {                            // a.mu is held
		if call.Class != qos.Interactive {
			shared++
		}
		began[call.Doc] = a.now() // what it has to send from now on is younger
		for _, p := range waiting {
			p.grants++
			if call.Class != qos.Stream {
				p.noStreams++
			}
		}
		p := waiting[call.Doc]
		if p == nil || call.Final == 0 {
			return nil
		}
		delete(waiting, call.Doc)
		last[call.Doc] = shared
		if p.grants > 4*p.p {
			bad = append(bad, fmt.Sprintf("the final at position %d was granted after %d grants", p.p, p.grants))
		}
		if !commands && p.noStreams > p.p {
			bad = append(bad, fmt.Sprintf("without commands, the final at position %d was granted after %d grants", p.p, p.noStreams))
		}
		return nil
	}
	for i := range n {
		a.feed(docID(i), group) // streams that always wait
	}
	stop := make(chan struct{})
	defer close(stop)
	if commands { // as many as there's room for, and more
		for i := range 5 {
			go flood(a, fmt.Sprint("command", i), stop)
		}
	}
	for range 40 {
		a.pass(random.duration(20 * time.Second))
		id := docID(int(random.float() * n))
		a.mu.Lock()
		if at, ok := last[id]; waiting[id] != nil || a.inChat[group] > 0 || ok && shared < at+n {
			a.mu.Unlock()
			continue // its position isn't known while a call is under way
		}
		p := &place{p: 1}
		for other := range n {
			if docID(other) != id && began[docID(other)] <= began[id] {
				p.p++
			}
		}
		waiting[id] = p
		a.wanted[id]++
		line := a.wanted[id]
		a.mu.Unlock()
		a.want(id, line, true)
	}
	for range 45 {
		a.pass(20 * time.Second)
		a.mu.Lock()
		left := len(waiting)
		a.mu.Unlock()
		if left == 0 {
			return bad
		}
	}
	return append(bad, fmt.Sprintf("%d finals were never granted", len(waiting)))
}

// flood posts a request again and again, so that one always waits.
func flood(a *arena, key string, stop chan struct{}) {
	for {
		_ = a.sched.PostRequest(qos.Request{Chat: group, Key: key, Class: qos.Interactive})
		select {
		case <-time.After(3 * time.Second): // five of them are more than 20 a minute
		case <-stop:
			return
		}
	}
}

// TestStreamsDontStarve: with interactive requests and finals without end,
// streams get one grant in eight.
func TestStreamsDontStarve(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		stop := make(chan struct{})
		for i := range 5 {
			go flood(a, fmt.Sprint("command", i), stop)
		}
		a.open("finals", group)
		go func() {
			for line := int64(1); ; line++ {
				a.sched.Want("finals", line, true)
				select {
				case <-time.After(200 * time.Millisecond):
				case <-stop:
					return
				}
			}
		}()
		for i := range 4 {
			a.feed(docID(i), group)
		}
		a.pass(20 * time.Minute)
		close(stop)
		sinceStream, worst := 0, 0
		byClass := map[qos.Class]int{}
		for _, g := range a.made(func(g grant) bool { return g.at > time.Minute }) {
			byClass[g.Class]++
			if sinceStream++; g.Class == qos.Stream {
				sinceStream = 0
			}
			worst = max(worst, sinceStream)
		}
		if worst > 7 {
			t.Errorf("%d grants in a row went to others, want at most 7; by class: %v", worst, byClass)
		}
		if most := mostWithin(a.made(nil), time.Minute); most > 20 {
			t.Errorf("%d calls in a minute", most)
		}
		synctest.Wait()
	})
}
