package qostest

import (
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
	group   = qos.Chat("-100")
	other   = qos.Chat("-200")
	direct  = qos.Chat("7")
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
		IsPrivate: func(c qos.Chat) bool { return c[0] != '-' },
	}
}
