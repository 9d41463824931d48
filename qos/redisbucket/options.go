package redisbucket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/qos"
)

// Client is what a Budget needs of Redis; NewClient makes one.
type Client interface {
	redis.Scripter
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// Options configure a Budget.
type Options struct {
	Client Client
	// Bot names the bot whose limits are shared: a hash of its token, never the
	// token. It's part of every key.
	Bot string
	// MaxProcesses is how many processes share the bot at most. It must be the same
	// for all of them.
	MaxProcesses int
	// CallTimeout is the longest time from a question to the end of its call. 20 s,
	// as in qos.Options.
	CallTimeout time.Duration
	// Timeout is how long one question to Redis may take. 150 ms
	Timeout time.Duration
	// Ledger keeps the process's own slots and penalties; see qos.NewLocalBudget.
	Ledger qos.Ledger
	// StateFile keeps who this process is among the members. Empty: it's somebody new
	// each time, and what a crash leaves behind is held back until it's forgotten.
	StateFile string
	// Meter is told how long questions took. Nil: nobody is.
	Meter  Meter
	Logger *slog.Logger
}

// Meter is told what the Budget does, for metrics. It must return at once.
type Meter interface {
	// Asked: a question to Redis for a slot was answered: granted, wait, penalty,
	// missing, join, clock, empty, or error.
	CountQuestion(answer string, took time.Duration)
}

// noMeter is the Meter of those who have none.
type noMeter struct{}

func (noMeter) CountQuestion(string, time.Duration) {}

func (o Options) withDefaults() (Options, error) {
	var errs []error
	if o.Client == nil {
		errs = append(errs, errors.New("a client is needed"))
	}
	if o.Bot == "" {
		errs = append(errs, errors.New("the bot needs a name"))
	}
	if o.MaxProcesses < 1 || o.MaxProcesses > MaxProcesses {
		errs = append(errs, fmt.Errorf("max_processes: %d is not allowed; allowed: 1 to %d", o.MaxProcesses, MaxProcesses))
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = 20 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 150 * time.Millisecond
	}
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := errors.Join(errs...); err != nil {
		return o, fmt.Errorf("make a shared budget: %w", err)
	}
	return o, nil
}

// MaxProcesses is how many processes can share a bot: each reads the list of all
// with every question.
const MaxProcesses = 100

const (
	// grace is how long after its deadline a call may still arrive; see qos.Budget.
	grace = 5 * time.Second
	// beatEvery is how often a member says that it's there.
	beatEvery = 150 * time.Millisecond
	// vanishes is how long after the last confirmed answer Redis begins to hold a
	// member's share back. It's GONE in prelude.lua.
	vanishes = 800 * time.Millisecond
	// late is what timers and rounding may add to it.
	late = 50 * time.Millisecond
	// margin is what windows are longer by in Redis, because clocks are compared.
	margin = 20 * time.Millisecond
	// joinTimeouts is how many times Timeout a question that tells everything may take.
	joinTimeouts = 3
	// doubt is how long a member that gets no answer keeps questions waiting before
	// it answers that nothing can be known: one lost answer is no outage.
	doubt = time.Second
)
