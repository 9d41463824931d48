package qostest

import (
	"errors"
	"sync"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Slow is a Budget whose every answer comes late, as one behind a network.
type Slow struct {
	qos.Budget
	// Delay is how long the next answer takes. It's called from several goroutines.
	Delay func() time.Duration
}

// Ask implements qos.Budget.
func (b *Slow) Ask(now time.Time, ask qos.Ask, reply func(qos.Answer)) qos.Answer {
	late := func(a qos.Answer) {
		time.AfterFunc(b.Delay(), func() { reply(a) })
	}
	if a := b.Budget.Ask(now, ask, late); a.State != qos.Pending {
		late(a)
	}
	return qos.Answer{State: qos.Pending}
}

// ErrNoAnswer is why a Failing budget doesn't grant.
var ErrNoAnswer = errors.New("the budget has no answer")

// Failing is a Budget that sometimes has no answer, and then refuses, as it must.
type Failing struct {
	qos.Budget
	// Fails says whether the next question has no answer. It's called from several
	// goroutines.
	Fails func() bool
	// Again is after which time such a question may be asked again.
	Again time.Duration

	once sync.Once
}

// Ask implements qos.Budget.
func (b *Failing) Ask(now time.Time, ask qos.Ask, reply func(qos.Answer)) qos.Answer {
	b.once.Do(func() {
		if b.Again == 0 {
			b.Again = time.Second
		}
	})
	if b.Fails() {
		return qos.Answer{State: qos.NotBefore, At: now.Add(b.Again), Err: ErrNoAnswer}
	}
	return b.Budget.Ask(now, ask, reply)
}
