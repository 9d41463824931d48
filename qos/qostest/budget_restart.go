package qostest

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

func restartSlots(t *testing.T, r *runner) {
	t.Helper()
	if !r.bench.Kept {
		t.Skip("nothing is kept")
	}
	for range 3 {
		r.call(message(group), 0)
	}
	r.granted(message(group)) // never answered: the process ends
	refunded := r.granted(message(group))
	r.budget.Refund(r.bench.Now(), refunded)
	r.restart()
	r.pass(timeout + grace) // a budget may wait for the call that may still arrive
	r.call(message(group), 0)
	r.refused(message(group))
	r.pass(minute - timeout - grace + r.bench.Slack)
	for i := range 3 { // the three that were answered
		if got := r.persist(message(group)); got.State != qos.Granted {
			t.Fatalf("after a minute only %d slots came back", i)
		}
	}
	r.refused(message(group)) // the unanswered one counts as answered 5 s after its deadline
	r.pass(timeout + grace + r.bench.Slack)
	r.granted(message(group))
}

func restartPenalties(t *testing.T, r *runner) {
	t.Helper()
	if !r.bench.Kept {
		t.Skip("nothing is kept")
	}
	now := r.bench.Now()
	scope := qos.Scope{Chat: group, AllFamilies: true}
	r.budget.Penalize(now, qos.Penalty{Scope: scope, Until: now.Add(2 * time.Hour), Multiplier: 0.7})
	r.granted(message(other)) // made durable in order: what came before is durable too
	r.restart()
	r.pass(time.Hour)
	r.refused(message(group))
	r.mu.Lock()
	heard := fmt.Sprintf("%+v", r.heard)
	ok := len(r.heard) == 1 && r.heard[0].Scope == scope && r.heard[0].Multiplier == 0.7
	r.mu.Unlock()
	if !ok {
		t.Fatalf("heard of penalties %s, want one of the group with multiplier 0.7", heard)
	}
	r.pass(time.Hour + r.bench.Slack)
	r.granted(message(group))
}
