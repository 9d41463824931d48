package redisbucket_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// inTurn has members ask in this order, each as soon as it was told to come, until so
// many calls were granted. It returns who got them.
func inTurn(members []*member, calls int) []*member {
	var got []*member
	again := map[*member]time.Time{}
	for len(got) < calls {
		for _, m := range members {
			if time.Now().Before(again[m]) {
				continue
			}
			a := m.try()
			if a.State != qos.Granted {
				again[m] = a.At
				continue
			}
			m.Settle(time.Now(), a.Permit, time.Now())
			got = append(got, m)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return got
}

// countHook counts commands.
type countHook struct{ n *atomic.Int64 }

func (h countHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h countHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.n.Add(1)
		return next(ctx, cmd)
	}
}

func (h countHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, all []redis.Cmder) error {
		h.n.Add(int64(len(all)))
		return next(ctx, all)
	}
}

// A question for a slot is one round trip, whatever is answered.
func TestOneRoundTripAQuestion(t *testing.T) {
	inRig(t, 1, func(r *rig) {
		var n atomic.Int64
		c := inBubble(r.t, r.redis)
		defer c.Close()
		c.AddHook(countHook{&n})
		b := newBudget(r.t, redisbucket.Options{Client: c})
		b.BeatEvery(time.Hour)
		b.Configure(r.limits)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx, func(qos.Penalty) {}, func(qos.ChatKey) {}) }()
		time.Sleep(700 * time.Millisecond)
		m := &member{Budget: b, rig: r, class: qos.Stream}
		if m.try().State != qos.Granted { // the script is loaded
			r.t.Fatal("no first slot")
		}
		answers := map[qos.SlotAnswerState]int{}
		for range 30 {
			before := n.Load()
			answers[m.try().State]++
			if asked := n.Load() - before; asked > 1 {
				r.t.Fatalf("a question took %d round trips", asked)
			}
		}
		if answers[qos.Granted] != 19 || answers[qos.NotBefore] != 11 {
			r.t.Errorf("the answers were %v", answers)
		}
		stop()
		<-ended
	})
}

// A slot that comes free goes to the best claim, whoever asks first: what one process
// has finals of goes before the streams of others, and streams take turns.
func TestASlotGoesToTheBestClaim(t *testing.T) {
	slow(t)
	inRig(t, 4, func(r *rig) {
		r.limits.Group = qos.Limit{Windows: []qos.Window{{Calls: 4, Per: 4 * time.Second}}, Gap: time.Second}
		all := []*member{r.join(""), r.join(""), r.join(""), r.join("")}
		finals := all[3]
		finals.class = qos.Final
		time.Sleep(aWindow)
		for range 8 {
			inTurn(all[:3], 4)
			if got := inTurn(all, 4); got[0] != finals {
				r.t.Fatal("a stream of another process went before a final")
			}
		}
		const rounds = 25
		counts := map[*member]int{}
		for _, m := range inTurn(all[:3], 3*rounds) {
			counts[m]++
		}
		for _, m := range all[:3] {
			if n := counts[m]; n < rounds-2 || n > rounds+2 {
				r.t.Errorf("one of three processes that always want got %d calls, want %d", n, rounds)
			}
		}
		for _, m := range all {
			m.leave()
		}
	})
}
