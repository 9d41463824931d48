package qostest

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

func penalties(t *testing.T, r *runner) {
	t.Helper()
	now := r.bench.Now()
	scope := qos.Scope{Chat: group, AllFamilies: true}
	r.budget.Penalize(now, qos.Penalty{Scope: scope, Until: now.Add(3 * time.Hour), Multiplier: 0.7})
	r.budget.Penalize(now, qos.Penalty{Scope: scope, Until: now.Add(time.Second), Multiplier: 0.49})
	r.refusedFor(message(group), 3*time.Hour)
	r.pass(3*time.Hour - time.Minute)
	r.refused(message(group))
	r.granted(message(other))
	r.pass(time.Minute + r.bench.Slack)
	r.granted(message(group))
}

func penaltyScopes(t *testing.T, r *runner) {
	t.Helper()
	now := r.bench.Now()
	typing := qos.Ask{Chat: group, Family: qos.FamilyTyping}
	r.budget.Penalize(now, qos.Penalty{
		Scope: qos.Scope{Chat: group, Family: qos.FamilyTyping}, Until: now.Add(minute), Multiplier: 1,
	})
	r.refusedFor(typing, minute)
	r.granted(message(group))
	r.budget.Penalize(now, qos.Penalty{
		Scope: qos.Scope{Chat: other, AllFamilies: true}, Until: now.Add(minute), Multiplier: 1,
	})
	r.refused(message(other))
	r.refused(qos.Ask{Chat: other, Family: qos.FamilyTyping})
	r.granted(message(direct))
	r.budget.Penalize(now, qos.Penalty{Until: now.Add(2 * minute), Multiplier: 1})
	r.refused(message(direct))
	r.refusedFor(message(other), 2*minute)
}

func learned(t *testing.T, r *runner) {
	t.Helper()
	now := r.bench.Now()
	scope := qos.Scope{Chat: group, Family: qos.FamilyMessage}
	r.budget.Learn(now, scope, qos.Learned{Limit: 5, Remaining: 2, Reset: now.Add(30 * time.Second)})
	r.call(message(group), 0)
	r.call(message(group), 0)
	r.refusedFor(message(group), 30*time.Second)
	r.granted(qos.Ask{Chat: group, Family: qos.FamilyTyping})
	r.pass(30*time.Second + r.bench.Slack)
	r.granted(message(group))
	// Ten left, says the platform; configured is five.
	r.budget.Learn(r.bench.Now(), scope, qos.Learned{Limit: 10, Remaining: 10, Reset: r.bench.Now().Add(minute)})
	r.granted(message(group))
	r.granted(message(group))
	r.refused(message(group))
}
