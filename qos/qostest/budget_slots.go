package qostest

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

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
	typing := qos.Ask{Chat: group, Family: qos.FamilyTyping, Spare: 2}
	r.granted(typing) // the reserve is the messages'
	all := message(other)
	all.Spare = 99 // more than there are: into an empty window only
	r.call(all, 0)
	r.refused(all)
}
