package qostest

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Bench is a Budget under test, with its time.
type Bench struct {
	// Open returns a Budget over the same store each time: opening it again is a
	// restart. It's configured and run by the suite.
	Open func() qos.Budget
	// Now is the time of the budget.
	Now func() time.Time
	// Pass lets time pass.
	Pass func(d time.Duration)
	// Kept says that a restart forgets nothing.
	Kept bool
	// Settles is how long an answer may take: the suite lets so much time pass while
	// it waits for one. Zero: it comes at once.
	Settles time.Duration
	// Slack is how much later than said a slot may come back, because answers take
	// their time. Zero: none.
	Slack time.Duration
}

// Budget is the conformance suite: what every qos.Budget must do. set is called
// for each part, and runs the test with a new bench: within a synctest bubble, say.
func Budget(t *testing.T, set func(t *testing.T, test func(t *testing.T, b Bench))) {
	t.Helper()
	parts := []struct {
		name string
		test func(t *testing.T, r *runner)
	}{
		{"never more than a window holds, whatever the latency", exactWindow},
		{"a slot comes back a window after the answer", slotComesBack},
		{"a call in flight holds its slot, and is answered 5 s after its deadline at the latest", unanswered},
		{"a call in flight holds its slot for longer than a short window", inFlightForLong},
		{"a refund is a slot", refund},
		{"permits settle once", settleOnce},
		{"the reserve stays free", spare},
		{"families have windows of their own, others count as messages", families},
		{"private chats have their own limit", private},
		{"the bot's window is over all chats", botWindow},
		{"the gap keeps calls apart", gap},
		{"unguarded calls are counted", unguarded},
		{"penalties are never shortened", penalties},
		{"a family's penalty is its own, a chat's is for all families", penaltyScopes},
		{"what's learned narrows, and only until its reset", learned},
		{"a migrated chat keeps what was taken", rekey},
		{"limits can change while running", reconfigured},
		{"use says what's taken", use},
		{"a restart forgets no slot", restartSlots},
		{"a restart forgets no penalty", restartPenalties},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			set(t, func(t *testing.T, b Bench) {
				t.Helper()
				r := &runner{t: t, bench: b}
				r.start(limits())
				defer func() { r.stop() }()
				p.test(t, r)
			})
		})
	}
}

const (
	group   = qos.ChatKey("-100")
	other   = qos.ChatKey("-200")
	direct  = qos.ChatKey("7")
	minute  = time.Minute
	timeout = 20 * time.Second // of a call
	grace   = 5 * time.Second  // after which an unanswered call counts as answered
)

func limits() qos.Limits {
	return qos.Limits{
		Bot:     qos.Limit{Windows: []qos.Window{{Calls: 50, Per: time.Second}}},
		Group:   qos.Limit{Windows: []qos.Window{{Calls: 5, Per: minute}}},
		Private: qos.Limit{Windows: []qos.Window{{Calls: 8, Per: minute}, {Calls: 3, Per: 10 * time.Second}}},
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 2, Per: 30 * time.Second}}},
		},
		IsPrivate: func(c qos.ChatKey) bool { return c[0] != '-' },
	}
}

func exactWindow(t *testing.T, r *runner) {
	t.Helper()
	// Latencies from 0 to 3 s, in an order that repeats. What's counted is when a
	// call reaches the platform: right after its dispatch, or right before its answer.
	var arrivals []time.Time
	for i := range 60 {
		got := r.persist(message(group))
		for got.State == qos.NotBefore {
			r.pass(until(r.bench.Now(), got.At))
			got = r.persist(message(group))
		}
		sent := r.bench.Now()
		r.pass(time.Duration(i*7%4) * time.Second)
		answered := r.bench.Now()
		r.answer(got.Permit)
		if i%2 == 0 {
			arrivals = append(arrivals, sent)
		} else {
			arrivals = append(arrivals, answered)
		}
	}
	for i := 5; i < len(arrivals); i++ {
		if d := arrivals[i].Sub(arrivals[i-5]); d < minute {
			t.Fatalf("calls %d to %d reached the platform within %v: 6 in a window of 5", i-5, i, d)
		}
	}
	if took := arrivals[len(arrivals)-1].Sub(arrivals[0]); took > 15*minute+20*(r.bench.Settles+r.bench.Slack) {
		t.Fatalf("60 calls took %v: slots don't come back", took)
	}
}

func slotComesBack(t *testing.T, r *runner) {
	t.Helper()
	r.call(message(group), 3*time.Second)
	for range 4 {
		r.call(message(group), 0)
	}
	r.refusedFor(message(group), minute)
	r.pass(minute - 2*time.Second - 4*r.bench.Settles)
	r.refused(message(group))
	r.pass(2*time.Second + 4*r.bench.Settles + r.bench.Slack)
	r.granted(message(group))
}

func unanswered(t *testing.T, r *runner) {
	t.Helper()
	for range 5 {
		r.granted(message(group))
	}
	r.pass(minute)
	r.refused(message(group)) // dispatched a minute ago, but still out
	r.pass(timeout + grace - 2*time.Second)
	r.refused(message(group))
	r.pass(2*time.Second + 5*r.bench.Settles + r.bench.Slack)
	r.granted(message(group))
}

func inFlightForLong(t *testing.T, r *runner) {
	t.Helper()
	var ids []qos.PermitID
	for range 3 { // in 10 s
		ids = append(ids, r.granted(message(direct)))
	}
	r.pass(15 * time.Second)
	r.refused(message(direct)) // not answered: each may arrive now
	for _, id := range ids {
		r.answer(id)
	}
	r.refusedFor(message(direct), 10*time.Second)
}

func refund(t *testing.T, r *runner) {
	t.Helper()
	id := r.granted(message(group))
	for range 4 {
		r.granted(message(group))
	}
	r.refused(message(group))
	r.budget.Refund(r.bench.Now(), id)
	r.granted(message(group))
	r.refused(message(group))
}

func settleOnce(t *testing.T, r *runner) {
	t.Helper()
	ids := make([]qos.PermitID, 5)
	for i := range ids {
		ids[i] = r.granted(message(group))
	}
	for _, id := range ids {
		r.answer(id)
	}
	for _, id := range ids { // too late: the call was made
		r.budget.Refund(r.bench.Now(), id)
	}
	r.budget.Refund(r.bench.Now(), 4711)
	r.budget.Settle(r.bench.Now(), 4711, r.bench.Now())
	r.refused(message(group))
	r.pass(30 * time.Second)
	for _, id := range ids { // a second answer changes nothing
		r.answer(id)
	}
	r.pass(30*time.Second + r.bench.Slack)
	r.granted(message(group))
}

func spare(t *testing.T, r *runner) {
	t.Helper()
	stream := message(group)
	stream.Spare = 2
	for range 3 {
		r.call(stream, 0)
	}
	r.refused(stream)
	r.call(message(group), 0)
	r.call(message(group), 0)
	r.refused(message(group))
	typing := qos.SlotQuestion{Chat: group, Family: qos.FamilyTyping, Spare: 2}
	r.granted(typing) // the reserve is the messages'
	all := message(other)
	all.Spare = 99 // more than there are: into an empty window only
	r.call(all, 0)
	r.refused(all)
}

func families(t *testing.T, r *runner) {
	t.Helper()
	for range 2 {
		r.call(qos.SlotQuestion{Chat: group, Family: qos.FamilyTyping}, 0)
	}
	r.refused(qos.SlotQuestion{Chat: group, Family: qos.FamilyTyping})
	for range 4 {
		r.call(message(group), 0)
	}
	r.call(qos.SlotQuestion{Chat: group, Family: "reaction"}, 0) // no limit of its own
	r.refused(message(group))
	r.refused(qos.SlotQuestion{Chat: group, Family: "reaction"})
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
		r.call(qos.SlotQuestion{Chat: direct}, 0)
	}
	r.refusedFor(message(other), minute)
	r.refused(qos.SlotQuestion{Chat: other, Family: qos.FamilyTyping})
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
	typing := qos.SlotQuestion{Chat: group, Family: qos.FamilyTyping}
	r.budget.Penalize(now, qos.Penalty{
		Scope: qos.Scope{Chat: group, Family: qos.FamilyTyping}, Until: now.Add(minute), Multiplier: 1,
	})
	r.refusedFor(typing, minute)
	r.granted(message(group))
	r.budget.Penalize(now, qos.Penalty{
		Scope: qos.Scope{Chat: other, AllFamilies: true}, Until: now.Add(minute), Multiplier: 1,
	})
	r.refused(message(other))
	r.refused(qos.SlotQuestion{Chat: other, Family: qos.FamilyTyping})
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
	r.granted(qos.SlotQuestion{Chat: group, Family: qos.FamilyTyping})
	r.pass(30*time.Second + r.bench.Slack)
	r.granted(message(group))
	// Ten left, says the platform; configured is five.
	r.budget.Learn(r.bench.Now(), scope, qos.Learned{Limit: 10, Remaining: 10, Reset: r.bench.Now().Add(minute)})
	r.granted(message(group))
	r.granted(message(group))
	r.refused(message(group))
}

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
	r.refused(qos.SlotQuestion{Chat: other, Family: qos.FamilyTyping})
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
		r.call(qos.SlotQuestion{Chat: other, Family: qos.FamilyTyping}, 0)
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
