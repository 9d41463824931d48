package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
)

// Questions says whether all open questions that are for chats can be seen in one. Where nobody
// can see one for ten seconds but on the page and at the session's own keyboard, that's Down if
// places have refused it, and Degraded if it waits for a call.
func (in *Inbound) Questions() intake.Health {
	h, now := intake.Health{Condition: intake.Well}, time.Now()
	hidden := 0
	var wait waiting
	in.prompts.leave(func(ps *prompts) {
		for _, a := range ps.asked {
			if a.isHidden() {
				if now.Sub(a.refused) >= intake.DownAfter {
					hidden++
					h.Detail = a.why.Error()
				}
				continue
			}
			if place, since := a.waits(); now.Sub(since) >= intake.DownAfter && !since.IsZero() {
				wait.add(place, since)
			}
		}
	})
	if hidden > 0 {
		h.Condition = intake.Down
		h.Detail = fmt.Sprintf("no chat shows %d open question(s), since each refuses them: %s; they're tried again", hidden, h.Detail)
	}
	if wait.n > 0 {
		h = h.Worse(intake.Health{Condition: intake.Degraded, Detail: fmt.Sprintf("no chat shows %d open question(s) yet: %s", wait.n, in.whyWaits(wait, now))})
	}
	return h
}

// waits is where a question that nobody sees is to be shown first, and since when; a zero time:
// it's seen, or no chat is to show it. mu is held.
func (a *asked) waits() (place adapters.Target, since time.Time) {
	if a.Final() || a.isShown(adapters.Target{}) {
		return adapters.Target{}, time.Time{}
	}
	for at, m := range a.messages {
		if since.IsZero() || m.since.Before(since) {
			place, since = at.place, m.since
		}
	}
	return place, since
}

// waiting counts what waits to be shown.
type waiting struct {
	n     int
	place adapters.Target // of what has waited longest
	since time.Time
}

func (w *waiting) add(place adapters.Target, since time.Time) {
	if w.n++; w.n == 1 || since.Before(w.since) {
		w.place, w.since = place, since
	}
}

// askLimitsFor bounds the question how the limits stand: health is told without it, too.
const askLimitsFor = 500 * time.Millisecond

// whyWaits is why what's to be shown waits, as far as the limits of its place say.
func (in *Inbound) whyWaits(w waiting, now time.Time) string {
	ctx, cancel := context.WithTimeout(context.Background(), askLimitsFor)
	defer cancel()
	what := fmt.Sprintf("%s has waited for %s", w.place, wording.Age(now.Sub(w.since)))
	l, err := in.opt.Hub.Limits(ctx, w.place)
	if err != nil {
		return what
	}
	silent := l.Bot.PenaltyUntil
	if l.Chat.PenaltyUntil.After(silent) {
		silent = l.Chat.PenaltyUntil
	}
	switch {
	case silent.After(now):
		return fmt.Sprintf("%s, as the platform has ordered silence until %s (%s more)", what, silent.Format("15:04:05"), wording.Age(silent.Sub(now)))
	case l.Bot.BudgetErr != nil:
		return fmt.Sprintf("%s: %s", what, l.Bot.BudgetErr)
	case l.Chat.BackoffUntil.After(now):
		return fmt.Sprintf("%s, as calls failed there; the next is made in %s", what, wording.Age(l.Chat.BackoffUntil.Sub(now)))
	}
	return what + " for a call"
}
