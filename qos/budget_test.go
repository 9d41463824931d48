package qos_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// dice are random numbers for several goroutines.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{r: rand.New(rand.NewPCG(seed, seed))} }

func (d *dice) float() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Float64()
}

func (d *dice) duration(most time.Duration) time.Duration {
	return time.Duration(d.float() * float64(most))
}

func TestBudgetConformance(t *testing.T) {
	variants := []struct {
		name  string
		bench func() qostest.Bench
	}{
		{"in memory", func() qostest.Bench {
			return qostest.Bench{Open: func() qos.Budget { return qos.NewLocalBudget(nil) }}
		}},
		{"kept in a ledger", func() qostest.Bench {
			ledger := qostest.NewMemLedger()
			return qostest.Bench{
				Kept: true, Settles: 20 * time.Millisecond,
				Open: func() qos.Budget { return qos.NewLocalBudget(ledger.Process()) },
			}
		}},
		{"in a slow ledger that fails now and then", func() qostest.Bench {
			ledger, random := qostest.NewMemLedger(), newDice(1)
			return qostest.Bench{
				Kept: true, Settles: 300 * time.Millisecond, Slack: 4 * time.Second,
				Open: func() qos.Budget {
					p := ledger.Process()
					p.Fault = func() error {
						time.Sleep(random.duration(100 * time.Millisecond))
						if random.float() < 0.2 {
							return errors.New("disk full")
						}
						return nil
					}
					return qos.NewLocalBudget(p)
				},
			}
		}},
		{"slow", func() qostest.Bench {
			random := newDice(2)
			return qostest.Bench{
				Settles: time.Second, Slack: 2 * time.Second,
				Open: func() qos.Budget {
					return &qostest.Slow{Budget: qos.NewLocalBudget(nil), Delay: func() time.Duration { return random.duration(200 * time.Millisecond) }}
				},
			}
		}},
		{"failing", func() qostest.Bench {
			random := newDice(3)
			return qostest.Bench{
				Settles: time.Second, Slack: 4 * time.Second,
				Open: func() qos.Budget {
					return &qostest.Failing{Budget: qos.NewLocalBudget(nil), Fails: func() bool { return random.float() < 0.3 }, Again: 100 * time.Millisecond}
				},
			}
		}},
	}
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			qostest.Budget(t, func(t *testing.T, test func(*testing.T, qostest.Bench)) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					b := v.bench()
					b.Now, b.Pass = time.Now, time.Sleep
					test(t, b)
				})
			})
		})
	}
}
