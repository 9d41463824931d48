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
// that always has something to send by more than (finalBurst + 1)(1/w + 1/w'), each divided by its weight.
func TestNobodyGetsMoreThanAShareAndABurst(t *testing.T) {
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		steady := rapid.IntRange(1, 8).Draw(rt, "sessions that always have something to send")
		noisy := rapid.IntRange(1, 4).Draw(rt, "sessions that end turns and ask")
		every := rapid.SampledFrom([]time.Duration{200 * time.Millisecond, 3 * time.Second, 20 * time.Second}).Draw(rt, "how often they do")
		seed := rapid.Uint64().Draw(rt, "seed")
		latency := rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Second}).Draw(rt, "latency")
		commands := rapid.Bool().Draw(rt, "commands")
		focused := rapid.SampledFrom([]string{"", "steady0", "noisy0"}).Draw(rt, "in focus")
		var bad []string
		// A session in focus must not have to rest when it's served twice in a row.
		inArena(t, qos.Options{MinSessionTick: time.Second}, nil, func(a *arena) {
			random := newDice(seed)
			a.latency = func() time.Duration { return random.duration(latency) }
			open := func(doc, session string) {
				if err := a.sched.Open(qos.Doc{ID: qos.DocID(doc), Chat: group, Session: qos.SessionKey(session), Wanted: 1}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range steady {
				name := fmt.Sprint("steady", i)
				a.mu.Lock()
				a.greedy[qos.DocID(name)] = true
				a.mu.Unlock()
				open(name, name)
			}
			for i := range noisy {
				open(fmt.Sprint("noisy", i), fmt.Sprint("noisy", i))
				open(fmt.Sprint("again", i), fmt.Sprint("noisy", i))
			}
			a.sched.FocusSession(qos.SessionKey(focused))
			for n := int64(2); a.now() < 10*time.Minute; n++ {
				a.pass(random.duration(2 * every / time.Duration(noisy)))
				i := int(random.float() * float64(noisy))
				switch r := random.float(); {
				case r < 0.2:
					_ = a.sched.PostRequest(qos.Request{Chat: group, Key: fmt.Sprint("asks", n), Class: qos.Final, Session: qos.SessionKey(fmt.Sprint("noisy", i))})
				case r < 0.4:
					a.want(qos.DocID(fmt.Sprint("again", i)), n, true)
				default:
					a.want(qos.DocID(fmt.Sprint("noisy", i)), n, r < 0.9)
				}
				if commands && random.float() < 0.1 {
					a.post(group, fmt.Sprint("command", n), qos.Interactive)
				}
				if focused != "" {
					a.sched.FocusSession(qos.SessionKey(focused))
				}
			}
			bad = overtakers(a.made(func(g grant) bool { return g.Class == qos.Stream || g.Class == qos.Final }), steady, noisy, focused)
		})
		return bad
	})
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
