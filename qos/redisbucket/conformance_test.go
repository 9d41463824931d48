package redisbucket_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/panebridge/panebridge/internal/redistest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// inBubble is a client of a miniredis that lives in the bubble, its clock included.
func inBubble(t *testing.T, m *miniredis.Miniredis) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			conn, err := m.Dial()
			if err != nil {
				return nil, err
			}
			return socket(conn), nil
		},
		MaxRetries: -1, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	return c
}

func newBudget(t *testing.T, opt redisbucket.Options) *redisbucket.Budget {
	t.Helper()
	if opt.Bot == "" {
		opt.Bot = "b"
	}
	if opt.MaxProcesses == 0 {
		opt.MaxProcesses = 1
	}
	b, err := redisbucket.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	slow(t)
	for _, kept := range []bool{false, true} {
		name := "kept in redis only"
		if kept {
			name = "kept in a ledger too"
		}
		t.Run(name, func(t *testing.T) {
			qostest.Budget(t, func(t *testing.T, test func(*testing.T, qostest.Bench)) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					m := miniredis.NewMiniRedis()
					m.ClockTTL(true)
					defer m.Close()
					client := inBubble(t, m)
					defer client.Close()
					state := t.TempDir() + "/member"
					ledger := qostest.NewMemLedger()
					test(t, qostest.Bench{
						Kept: true, Settles: 500 * time.Millisecond, Slack: 200 * time.Millisecond,
						Now: time.Now, Pass: time.Sleep,
						Open: func() qos.Budget {
							opt := redisbucket.Options{Client: client, StateFile: state}
							if kept {
								opt.Ledger = ledger.Process()
							}
							b := newBudget(t, opt)
							b.BeatEvery(10 * time.Second)
							return b
						},
					})
				})
			})
		})
	}
}

// onClock is a real server's client for a bubble: the server's clock is set to the
// bubble's before each question. What's published is heard from a miniredis, since
// waiting for a real server would hold the bubble's time.
type onClock struct {
	*redis.Client
	events *redis.Client
}

func (c onClock) Subscribe(ctx context.Context, channels ...string) *redis.PubSub {
	return c.events.Subscribe(ctx, channels...)
}

type setClock struct {
	clock *redistest.Clock

	mu   sync.Mutex // two questions at a time mustn't set it back
	last time.Time
}

func (h *setClock) set(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !now.After(h.last) {
		return nil
	}
	h.last = now
	return h.clock.Set(now)
}

func (h *setClock) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *setClock) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := h.set(time.Now()); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

func (h *setClock) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestConformanceOfARealServer(t *testing.T) {
	dir := t.TempDir()
	clock, err := redistest.NewClock(dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := redistest.New(context.Background(), dir, false, "--appendonly", "no")
	if err != nil {
		t.Fatal(err)
	}
	server.Clock = clock
	if err := server.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	part := 0
	qostest.Budget(t, func(t *testing.T, test func(*testing.T, qostest.Bench)) {
		t.Helper()
		part++
		synctest.Test(t, func(t *testing.T) {
			m := miniredis.NewMiniRedis()
			defer m.Close()
			events := inBubble(t, m)
			defer events.Close()
			client := server.Client()
			defer client.Close()
			client.AddHook(&setClock{clock: clock})
			state := t.TempDir() + "/member"
			test(t, qostest.Bench{
				Kept: true, Settles: 500 * time.Millisecond, Slack: 200 * time.Millisecond,
				Now: time.Now, Pass: time.Sleep,
				Open: func() qos.Budget {
					b := newBudget(t, redisbucket.Options{Client: onClock{client, events}, Bot: fmt.Sprint(part), StateFile: state, Timeout: 5 * time.Second})
					b.BeatEvery(10 * time.Second)
					return b
				},
			})
		})
	})
}
