package qostest

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

func families(t *testing.T, r *runner) {
	t.Helper()
	for range 2 {
		r.call(qos.Ask{Chat: group, Family: qos.FamilyTyping}, 0)
	}
	r.refused(qos.Ask{Chat: group, Family: qos.FamilyTyping})
	for range 4 {
		r.call(message(group), 0)
	}
	r.call(qos.Ask{Chat: group, Family: "reaction"}, 0) // no limit of its own
	r.refused(message(group))
	r.refused(qos.Ask{Chat: group, Family: "reaction"})
	r.granted(message(other))
}

func private(t *testing.T, r *runner) {
	t.Helper()
	for range 3 {
		r.call(message(direct), 0)
	}
	r.refusedFor(message(direct), 10*time.Second)
	r.pass(10*time.Second + r.bench.Slack)
	r.granted(message(direct))
}

func botWindow(t *testing.T, r *runner) {
	t.Helper()
	l := limits()
	l.Bot.Windows = []qos.Window{{Calls: 6, Per: minute}}
	r.budget.Configure(l)
	for range 3 {
		r.call(message(group), 0)
		r.call(qos.Ask{Chat: direct}, 0)
	}
	r.refusedFor(message(other), minute)
	r.refused(qos.Ask{Chat: other, Family: qos.FamilyTyping})
}

func gap(t *testing.T, r *runner) {
	t.Helper()
	l := limits()
	l.Group.Gap = 10 * time.Second
	r.budget.Configure(l)
	id := r.granted(message(group))
	r.refusedFor(message(group), 10*time.Second)
	r.answer(id)
	r.granted(message(other))
	r.pass(10*time.Second + r.bench.Slack)
	r.granted(message(group))
}

func unguarded(t *testing.T, r *runner) {
	t.Helper()
	free := message(group)
	free.Unguarded = true
	for range 12 {
		r.call(free, 0)
	}
	r.refused(message(group))
	r.pass(minute + r.bench.Slack)
	r.granted(message(group))
	now := r.bench.Now()
	r.budget.Penalize(now, qos.Penalty{
		Scope: qos.Scope{Chat: group, AllFamilies: true}, Until: now.Add(minute), Multiplier: 1,
	})
	r.refused(free)
}
