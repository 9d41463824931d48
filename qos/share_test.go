package qos_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
)

// finalBurst is how many calls a session of weight 1 may be ahead of its turn; see the package comment.
const finalBurst = 2

// TestNobodyGetsMoreThanAShareAndABurst: whatever a session does to get calls (it ends turns without
// end, asks, has several documents, prints), between any two moments it doesn't get more of them than one
// that always has something to send by more than (finalBurst + 1)(1/w + 1/w'), each divided by its weight. A call
// that was refused with a penalty is none. Others that fail, or turn out to be needless, count.
func TestNobodyGetsMoreThanAShareAndABurst(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		return contest{
			steady:   rapid.IntRange(1, 8).Draw(rt, "sessions that always have something to send"),
			noisy:    rapid.IntRange(1, 4).Draw(rt, "sessions that end turns and ask"),
			every:    rapid.SampledFrom([]time.Duration{200 * time.Millisecond, 3 * time.Second, 20 * time.Second}).Draw(rt, "how often they do"),
			seed:     rapid.Uint64().Draw(rt, "seed"),
			latency:  rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Second}).Draw(rt, "latency"),
			commands: rapid.Bool().Draw(rt, "commands"),
			focused:  rapid.SampledFrom([]string{"", "steady0", "noisy0"}).Draw(rt, "in focus"),
			refused:  rapid.SampledFrom([]float64{0, 0.05, 0.3}).Draw(rt, "share of calls that are refused"),
			failing:  rapid.SampledFrom([]float64{0, 0.05, 0.3}).Draw(rt, "share of calls that fail or are needless"),
			whose:    rapid.SampledFrom([]qos.SessionKey{"", "steady0"}).Draw(rt, "whose"),
		}.play(t)
	})
}

// TestARefusalForgivesNobody: the same of a session that's refused nearly always, when nobody else has anything to send.
// The other doesn't get its turns meanwhile.
func TestARefusalForgivesNobody(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		return contest{
			steady: 1, noisy: 1, every: rapid.SampledFrom([]time.Duration{3 * time.Second, 10 * time.Second}).Draw(rt, "how often turns end"),
			seed:    rapid.Uint64().Draw(rt, "seed"),
			refused: rapid.SampledFrom([]float64{0.7, 0.85}).Draw(rt, "share of calls that are refused"), whose: "steady0",
		}.play(t)
	})
}

// contest is a drawn history in which sessions want calls.
type contest struct {
	steady, noisy    int // sessions that always have something to send, and that end turns and ask
	every            time.Duration
	seed             uint64
	latency          time.Duration
	commands         bool
	focused          string
	refused, failing float64        // shares of calls
	whose            qos.SessionKey // empty: of all
}

// play returns who got too much.
func (x contest) play(t *testing.T) (bad []string) {
	t.Helper()
	// A session in focus must not have to rest when it's served twice in a row.
	inArena(t, qos.Options{MinSessionTick: time.Second}, nil, func(a *arena) {
		random, network := newDice(x.seed), newDice(x.seed+1)
		a.latency = func() time.Duration { return network.duration(x.latency) }
		var got []bool                                    // whether the call of each grant wasn't refused
		a.outcome = func(call qos.Call) *qos.CallResult { // a.mu is held
			r := x.answer(network, call, max(call.Wanted, a.wanted[call.Doc]))
			got = append(got, r == nil || r.Outcome != qos.Throttled)
			return r
		}
		open := func(doc, session string) {
			if err := a.sched.Open(qos.Doc{ID: qos.DocID(doc), Chat: group, Session: qos.SessionKey(session), Wanted: 1}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range x.steady {
			name := fmt.Sprint("steady", i)
			a.mu.Lock()
			a.greedy[qos.DocID(name)] = true
			a.mu.Unlock()
			open(name, name)
		}
		for i := range x.noisy {
			open(fmt.Sprint("noisy", i), fmt.Sprint("noisy", i))
			open(fmt.Sprint("again", i), fmt.Sprint("noisy", i))
		}
		a.sched.FocusSession(qos.SessionKey(x.focused))
		for n := int64(2); a.now() < 10*time.Minute; n++ {
			a.pass(random.duration(2 * x.every / time.Duration(x.noisy)))
			x.happen(a, random, n)
		}
		a.pass(0)
		i := -1
		counts := func(g grant) bool { i++; return got[i] && (g.Class == qos.Stream || g.Class == qos.Final) }
		bad = overtakers(a.made(counts), x.steady, x.noisy, x.focused)
	})
	return bad
}

// answer is what the platform answers to a call that brings lines up to one; nil: it's delivered.
func (x contest) answer(network *dice, call qos.Call, to int64) *qos.CallResult {
	if call.Session == "" || x.whose != "" && call.Session != x.whose {
		return nil
	}
	switch roll := network.float(); {
	case roll < x.refused:
		return throttled(time.Duration(1+network.float()*20) * time.Second)
	case roll < x.refused+x.failing:
		what := []qos.CallOutcome{qos.Failed, qos.NotSent, qos.Unchanged}[int(network.float()*3)]
		return &qos.CallResult{Outcome: what, Delivered: to}
	default:
		return nil
	}
}

// happen has one of the noisy sessions do something.
func (x contest) happen(a *arena, random *dice, n int64) {
	i := int(random.float() * float64(x.noisy))
	switch r := random.float(); {
	case r < 0.2:
		_ = a.sched.PostRequest(qos.Request{Chat: group, Key: fmt.Sprint("asks", n), Class: qos.Final, Session: qos.SessionKey(fmt.Sprint("noisy", i))})
	case r < 0.4:
		a.want(qos.DocID(fmt.Sprint("again", i)), n, true)
	default:
		a.want(qos.DocID(fmt.Sprint("noisy", i)), n, r < 0.9)
	}
	if x.commands && random.float() < 0.1 {
		a.post(group, fmt.Sprint("command", n), qos.Interactive)
	}
	if x.focused != "" {
		a.sched.FocusSession(qos.SessionKey(x.focused))
	}
}

// overtakers are the sessions that got more, between two grants, than the bound.
func overtakers(grants []grant, steady, noisy int, focused string) (bad []string) {
	weight := func(session string) float64 {
		if session == focused {
			return 2
		}
		return 1
	}
	var all []string
	for i := range steady {
		all = append(all, fmt.Sprint("steady", i))
	}
	for i := range noisy {
		all = append(all, fmt.Sprint("noisy", i))
	}
	for _, who := range all {
		for _, other := range all[:steady] {
			if who == other {
				continue
			}
			ahead, least, most := 0.0, 0.0, 0.0
			for _, g := range grants {
				switch string(g.Session) {
				case who:
					ahead += 1 / weight(who)
				case other:
					ahead -= 1 / weight(other)
				}
				least = min(least, ahead)
				most = max(most, ahead-least)
			}
			if bound := (finalBurst + 1) * (1/weight(who) + 1/weight(other)); most > bound {
				bad = append(bad, fmt.Sprintf("%s got %.1f more than %s, want %.1f at most", who, most, other, bound))
			}
		}
	}
	return bad
}
