package redisbucket_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// The bound of doc.go: how many calls of weight 1 finals may be ahead.
const finalBurst = 2

// contender is a process that wants calls: streams always, finals that come one by one, or both, with
// rests in which it wants nothing.
type contender struct {
	*member
	weight  float64
	streams bool
	every   time.Duration // a final comes; 0: none does
	until   time.Time     // it rests
	next    time.Time     // a final comes
	finals  int           // wait
	again   time.Time     // when to ask
	asked   qos.Class     // last; a better one asks at once
	granted int
	waits   []time.Duration // how long finals waited, of one that has few
	came    time.Time
}

// wants is the best class of what waits.
func (c *contender) wants(now time.Time) (class qos.Class, wants bool) {
	for c.every > 0 && !now.Before(c.next) {
		if c.finals == 0 {
			c.came = c.next
		}
		c.finals++
		c.next = c.next.Add(c.every)
	}
	switch {
	case now.Before(c.until):
		return 0, false
	case c.finals > 0:
		return qos.Final, true
	default:
		return qos.Stream, c.streams
	}
}

// ask asks once, if it's time to, and reports whether it was granted.
func (c *contender) ask(class qos.Class) bool {
	now := time.Now()
	if now.Before(c.again) && class >= c.asked {
		return false
	}
	c.asked = class
	got := make(chan qos.SlotAnswer, 1)
	a := c.AskSlot(now, qos.SlotQuestion{Chat: "-1", Class: class, Weight: c.weight, Deadline: now.Add(20 * time.Second)}, func(a qos.SlotAnswer) { got <- a })
	if a.State == qos.Pending {
		a = <-got
	}
	if a.State != qos.Granted {
		c.again = a.At
		return false
	}
	c.again = time.Time{}
	c.Settle(time.Now(), a.Permit, time.Now())
	if c.granted++; class == qos.Final {
		c.waits = append(c.waits, now.Sub(c.came))
		c.finals, c.came = c.finals-1, now
	}
	return true
}

// claims reports whether the process has a claim in Redis.
func (c *contender) claims() bool {
	return c.rig.redis.HGet("panebridge:{b}:claims:-1|", "c"+c.Status(time.Now()).Member) != ""
}

// ahead is by how much process j got more than process i, per weight, in the worst stretch of time in which
// i always wanted a call and had a claim in Redis when another was granted one. Who has all slots of a
// window itself claims none: its own budget says until when.
type ahead struct{ now, worst float64 }

// compete has contenders ask for a time, in an order that's drawn anew each time, and returns what each got
// more than each other.
func compete(all []*contender, r *rand.Rand, calls int) (got [][]ahead) {
	got = make([][]ahead, len(all))
	for i := range got {
		got[i] = make([]ahead, len(all))
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	for n := 0; n < calls; {
		now := time.Now()
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for i, c := range all {
			if _, wants := c.wants(now); !wants {
				for j := range all {
					got[j][i].now = 0
				}
			}
		}
		for _, j := range order {
			c := all[j]
			class, wants := c.wants(now)
			if !wants || !c.ask(class) {
				continue
			}
			n++
			for i := range all {
				if i == j {
					continue
				}
				if got[j][i].now += 1 / c.weight; !all[i].claims() {
					got[j][i].now = 0
				}
				got[j][i].worst = max(got[j][i].worst, got[j][i].now)
				got[i][j].now = max(0, got[i][j].now-1/c.weight)
			}
			if _, wants := c.wants(now); !wants { // it was its last
				for i := range all {
					got[i][j].now = 0
				}
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return got
}

// spread gives the chat a slot a second. What it returns takes the slots of one window a second apart, as
// another process that leaves then: they come back so.
func (r *rig) spread() (fill func()) {
	r.limits.Group = qos.Limit{Windows: []qos.Window{{Calls: 20, Per: 20 * time.Second}}}
	m := r.join("")
	return func() {
		time.Sleep(aWindow)
		for range 20 {
			if n, last := m.calls(1); n != 1 {
				r.t.Fatalf("no slot: %+v", last)
			}
			time.Sleep(time.Second)
		}
		m.leave()
	}
}

// Whatever classes processes use, none gets more of a chat than its fair share and a burst: in any stretch
// in which another always wants a call, the difference per weight is bounded.
func TestNoProcessGetsMoreThanItsShareAndABurst(t *testing.T) {
	slow(t)
	drawtest.CheckTimes(t, drawtest.Times(60, 3, 1), func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		var wrong []string
		inRig(t, 5, func(r *rig) { wrong = contest(r, rand.New(rand.NewPCG(seed, 1))) })
		for _, w := range wrong {
			rt.Error(w)
		}
	})
}

func contest(r *rig, random *rand.Rand) (wrong []string) {
	filler := r.spread()
	all := make([]*contender, 2+random.IntN(3))
	for i := range all {
		c := &contender{member: r.join(""), weight: float64(1 + random.IntN(3))}
		switch kind := random.IntN(3); {
		case i == 0 || kind == 0:
			c.every = []time.Duration{300 * time.Millisecond, time.Second, 4 * time.Second}[random.IntN(3)]
		case i == 1 || kind == 1:
			c.streams = true
		default:
			c.streams, c.every = true, time.Duration(1+random.IntN(6))*time.Second
		}
		all[i] = c
	}
	filler()
	for i, c := range all {
		c.next = time.Now()
		if i > 1 && random.IntN(2) == 0 {
			c.until = time.Now().Add(time.Duration(random.IntN(100)) * time.Second)
		}
	}
	began := time.Now()
	const calls = 200
	got := compete(all, random, calls)
	took := time.Since(began)
	for j, of := range got {
		for i, a := range of {
			if most := (finalBurst+1)/all[j].weight + (finalBurst+1)/all[i].weight; a.worst > most+0.001 {
				wrong = append(wrong, fmt.Sprintf("process %d of weight %v got %.2f more than process %d of weight %v, which always wanted; at most %.2f are its due",
					j, all[j].weight, a.worst, i, all[i].weight, most))
			}
		}
	}
	if slices.ContainsFunc(all, func(c *contender) bool { return c.streams && c.until.IsZero() }) && took > calls*time.Second*110/100+20*time.Second {
		wrong = append(wrong, fmt.Sprintf("%d calls took %v, though somebody always wanted one", calls, took))
	}
	for _, c := range all {
		c.leave()
	}
	return wrong
}

// Finals of a process that has few go before the streams of others; with nobody else there, many are held
// back by nothing.
func TestFewFinalsGoFirst(t *testing.T) {
	slow(t)
	inRig(t, 5, func(r *rig) {
		filler := r.spread()
		few := &contender{member: r.join(""), weight: 1, every: 10 * time.Second}
		all := []*contender{few, {member: r.join(""), weight: 1, streams: true}, {member: r.join(""), weight: 1, streams: true}}
		filler()
		few.next = time.Now()
		random := rand.New(rand.NewPCG(1, 1))
		compete(all, random, 100)
		for _, d := range few.waits {
			if d > 2*time.Second {
				r.t.Errorf("a final waited for %v", d)
			}
		}
		if len(few.waits) < 9 {
			r.t.Errorf("%d finals were told in 100 s", len(few.waits))
		}
		few.every, few.next, few.granted = 100*time.Millisecond, time.Now(), 0
		began := time.Now()
		compete(all[:1], random, 60)
		if took := time.Since(began); took > 65*time.Second {
			r.t.Errorf("60 finals of the only process took %v", took)
		}
		for _, c := range all {
			c.leave()
		}
	})
}
