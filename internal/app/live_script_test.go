package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
)

// settled is for how long an agent's screen stands still behind a turn.
const settled = 1500 * time.Millisecond

// turn has a person ask something, does what's to be done meanwhile, and waits until the
// model is done with it.
func (k *liveRig) turn(ctx context.Context, text string, during func() (over bool)) {
	k.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	k.must(k.run.Submit(ctx, text))
	k.asked = append(k.asked, text)
	over := false
	if during != nil {
		over = during()
	}
	for !over && !k.answered() {
		if ctx.Err() != nil {
			k.must(fmt.Errorf("the model isn't done with %q: %w; requests %+v; screen:\n%s", text, ctx.Err(), k.run.Model.Requests(), k.screen(context.WithoutCancel(ctx))))
		}
		time.Sleep(20 * time.Millisecond)
	}
	k.must(k.run.Still(ctx, settled))
}

// last is the newest request to the model.
func (k *liveRig) last() agentlab.Request {
	all := k.run.Model.Requests()
	if len(all) == 0 {
		return agentlab.Request{}
	}
	return all[len(all)-1]
}

// answered says whether the model has said all there is to say.
func (k *liveRig) answered() bool {
	q := k.last()
	return !q.End.IsZero() && !q.Failed && (q.HungUp || len(q.Called) == 0)
}

// script is what each run does: see TestLiveAgentsInChats.
func (k *liveRig) script(ctx context.Context) {
	k.Helper()
	k.turn(ctx, "Please say hello", nil)
	k.turn(ctx, "survey the retry queue", nil)
	k.turn(ctx, "count to 300 with seq", func() bool { k.approve(ctx, 1); return false })
	if k.run.Agent.Permission != nil {
		k.turn(ctx, "count to 300, and I will refuse", func() bool {
			k.must(k.run.Permission(ctx))
			k.must(k.run.Still(ctx, time.Second))
			k.must(k.run.Deny(ctx))
			return true
		})
	}
	k.turn(ctx, "ask me about the storage", func() bool { k.choose(ctx); return false })
	k.turn(ctx, "do the two things", func() bool { k.approve(ctx, 2); return false })
	k.turn(ctx, "test the error please", nil)
	k.turn(ctx, "survey the retry queue once more, and I will interrupt", func() bool { k.interrupt(ctx); return false })
	k.turn(ctx, "print two thousand lines", nil)
}

// approve answers as many permission dialogs with yes as come, at most n.
func (k *liveRig) approve(ctx context.Context, n int) {
	k.Helper()
	if k.run.Agent.Permission == nil {
		return
	}
	for range n {
		for !k.run.Agent.Permission.MatchString(k.screen(ctx)) {
			if k.answered() || ctx.Err() != nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		k.must(k.run.Permission(ctx))
		k.must(k.run.Still(ctx, time.Second))
		k.must(k.run.Approve(ctx))
		k.must(k.run.Still(ctx, 600*time.Millisecond))
	}
}

// choose takes the second choice of the model's question.
func (k *liveRig) choose(ctx context.Context) {
	k.Helper()
	for !k.answered() {
		if regexp.MustCompile(`Plain files`).MatchString(k.screen(ctx)) {
			k.must(k.run.See(ctx, regexp.MustCompile(`Which storage`)))
			k.must(k.run.Still(ctx, time.Second))
			k.must(k.run.Keys(ctx, "Down", "Enter"))
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// interrupt ends the turn while its answer is being said.
func (k *liveRig) interrupt(ctx context.Context) {
	k.Helper()
	for k.last().First.IsZero() && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(2 * time.Second) // this is when a person has seen enough
	k.must(k.run.Interrupt(ctx))
}

// kills ends the daemon while the agent is at work, as often as the mode says.
func (k *liveRig) kills(ctx context.Context) {
	k.Helper()
	for n := 0; k.killed < k.mode.kills; n++ {
		switch n % 3 {
		case 0:
			k.turn(ctx, fmt.Sprintf("survey the retry queue, part %d", n+2), func() bool { k.killMeanwhile(ctx); return false })
		case 1:
			k.turn(ctx, fmt.Sprintf("count to 300, part %d", n+2), func() bool {
				if k.run.Agent.Permission != nil {
					k.must(k.run.Permission(ctx))
				}
				k.kill()
				k.again(ctx)
				k.approve(ctx, 1)
				return false
			})
		default:
			k.turn(ctx, fmt.Sprintf("print two thousand lines, part %d", n+2), func() bool { k.killMeanwhile(ctx); return false })
		}
	}
}

// killMeanwhile ends the daemon and starts it again until the turn is over, at most three times.
func (k *liveRig) killMeanwhile(ctx context.Context) {
	k.Helper()
	for range 3 {
		time.Sleep(200*time.Millisecond + time.Duration(rand.Int64N(int64(time.Second)))) // any instant will do
		if k.answered() || k.killed >= k.mode.kills {
			return
		}
		k.kill()
		k.again(ctx)
	}
}
