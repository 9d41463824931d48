package qostest

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

func rekey(t *testing.T, r *runner) {
	t.Helper()
	for range 3 {
		r.call(message(group), 0)
	}
	open := r.granted(message(group))
	now := r.bench.Now()
	r.budget.Penalize(now, qos.Penalty{
		Scope: qos.Scope{Chat: group, Family: qos.FamilyTyping}, Until: now.Add(minute), Multiplier: 0.7,
	})
	r.budget.Rekey(now, group, other)
	r.refused(qos.Ask{Chat: other, Family: qos.FamilyTyping})
	r.granted(message(other))
	r.refused(message(other))
	r.budget.Refund(r.bench.Now(), open) // the permit still holds
	r.granted(message(other))
	r.refused(message(other))
}

func reconfigured(t *testing.T, r *runner) {
	t.Helper()
	for range 4 {
		r.call(message(group), 0)
	}
	l := limits()
	l.Group.Windows = []qos.Window{{Calls: 3, Per: minute}}
	r.budget.Configure(l)
	r.refused(message(group))
	l.Group.Windows = []qos.Window{{Calls: 6, Per: minute}}
	r.budget.Configure(l)
	r.granted(message(group))
	r.granted(message(group))
	r.refused(message(group))
	// A window that gets longer, up to a minute, holds what was taken before.
	for range 2 {
		r.call(message(direct), 0)
	}
	r.pass(15 * time.Second)
	l.Private.Windows = []qos.Window{{Calls: 3, Per: minute}}
	l.Bot.Windows = []qos.Window{{Calls: 10, Per: minute}}
	r.budget.Configure(l)
	r.call(message(direct), 0)
	r.refused(message(direct))
	r.call(message("-300"), 0) // the bot's tenth
	r.refused(message("-300"))
	l.Bot = limits().Bot
	r.budget.Configure(l)
	// A family that loses its own limit counts as messages, with what it used.
	for range 2 {
		r.call(qos.Ask{Chat: other, Family: qos.FamilyTyping}, 0)
	}
	l.Families = map[qos.Family]qos.Limit{}
	l.Group.Windows = []qos.Window{{Calls: 3, Per: minute}}
	r.budget.Configure(l)
	r.granted(message(other))
	r.refused(message(other))
}

func use(t *testing.T, r *runner) {
	t.Helper()
	if got := r.budget.Use(r.bench.Now(), "-300"); got != nil {
		t.Fatalf("use of a chat that nobody knows: %v", got)
	}
	for range 5 {
		r.granted(message(group))
	}
	got := r.budget.Use(r.bench.Now(), group)
	if len(got) == 0 || got[0].Family != qos.FamilyMessage || got[0].Used != 5 || got[0].Window.Calls != 5 {
		t.Fatalf("use: %+v, want 5 of 5 messages", got)
	}
	if !got[0].Free.After(r.bench.Now()) {
		t.Fatalf("a full window is free at %v", got[0].Free)
	}
	for range 3 {
		r.call(message(direct), 0)
	}
	r.pass(10*time.Second + r.bench.Slack)
	got = r.budget.Use(r.bench.Now(), direct)
	if len(got) < 2 || got[0].Used != 3 || got[1].Used != 0 || !got[1].Free.IsZero() {
		t.Fatalf("use: %+v, want 3 in a minute and none in 10 s", got)
	}
}
