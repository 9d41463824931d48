package qosbench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/redisbucket"
)

// redisWorker is a process that's measured.
type redisWorker struct {
	job      redisJob
	from, to time.Time
	client   redis.UniversalClient
	turn     int

	mu     sync.Mutex
	report redisReport
}

// RunRedisWorker does what it's told on in, and tells what came of it on out.
func RunRedisWorker(ctx context.Context, in io.Reader, out io.Writer) error {
	w := &redisWorker{}
	lines := bufio.NewReader(in)
	if err := json.NewDecoder(lines).Decode(&w.job); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	w.from, w.to = time.Unix(0, int64(w.job.From)), time.Unix(0, int64(w.job.To))
	ctx, cancel := context.WithDeadline(ctx, w.to)
	defer cancel()
	w.client = redisbucket.NewClient(redisbucket.RedisServer{Addrs: []string{w.job.Addr}, Timeout: 150 * time.Millisecond})
	defer func() { _ = w.client.Close() }()
	call := w.bucket
	if w.job.Limiter == RedisRate {
		call = w.rate
	}
	if err := call(ctx); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(w.report)
}

// measured says whether now counts.
func (w *redisWorker) measured(now time.Time) bool { return !now.Before(w.from) && now.Before(w.to) }

// beside asks for a script that does nothing, before and after questions in turn; see
// RedisRow.NoopP99 for why.
func (w *redisWorker) beside(ctx context.Context, question func()) {
	w.turn++
	if w.turn%2 == 0 {
		question()
	}
	began := time.Now()
	err := noop.Run(ctx, w.client, []string{w.job.Key}).Err()
	if took := time.Since(began); err == nil && w.measured(began) {
		w.mu.Lock()
		w.report.Noops = append(w.report.Noops, took)
		w.mu.Unlock()
	}
	if w.turn%2 == 1 {
		question()
	}
}

// noop is the script that does nothing.
var noop = redis.NewScript("return 1") //nolint:gochecknoglobals // a constant

// asked notes a question for a slot.
func (w *redisWorker) asked(took time.Duration) {
	if w.measured(time.Now()) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.report.Questions = append(w.report.Questions, took)
	}
}

// CountQuestion implements redisbucket.Meter.
func (w *redisWorker) CountQuestion(_ string, took time.Duration) { w.asked(took) }

// call makes one call: it arrives halfway.
func (w *redisWorker) call() {
	time.Sleep(w.job.Latency / 2)
	w.mu.Lock()
	w.report.Calls = append(w.report.Calls, time.Now().UnixNano())
	w.mu.Unlock()
	time.Sleep(w.job.Latency / 2)
}

func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// bucket calls as often as the shared budget allows.
func (w *redisWorker) bucket(ctx context.Context) error {
	b, err := redisbucket.New(redisbucket.Options{Client: w.client, Bot: w.job.Key, MaxProcesses: w.job.Processes, Meter: w})
	if err != nil {
		return err
	}
	b.Configure(qos.Limits{
		Bot:   qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}},
		Group: qos.Limit{Windows: []qos.Window{{Calls: w.job.Calls, Per: w.job.Per}}},
	})
	wake := make(chan struct{}, 1)
	ended := make(chan error, 1)
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		ended <- b.Run(runCtx, func(qos.Penalty) {}, func(qos.ChatKey) {
			select {
			case wake <- struct{}{}:
			default:
			}
		})
	}()
	got := make(chan qos.SlotAnswer, 1)
	for ctx.Err() == nil {
		var a qos.SlotAnswer
		w.beside(ctx, func() {
			now := time.Now()
			a = b.AskSlot(now, qos.SlotQuestion{Chat: "chat", Class: qos.Stream, Deadline: now.Add(20 * time.Second)}, func(a qos.SlotAnswer) { got <- a })
			if a.State == qos.Pending {
				a = <-got
			}
		})
		if a.State != qos.Granted {
			pause(ctx, time.Until(a.At), wake)
			continue
		}
		w.call()
		b.Settle(time.Now(), a.Permit, time.Now())
	}
	stop()
	return <-ended
}

// rate calls as often as the GCRA allows.
func (w *redisWorker) rate(ctx context.Context) error {
	limiter := redis_rate.NewLimiter(w.client)
	limit := redis_rate.Limit{Rate: w.job.Calls, Burst: w.job.Calls, Period: w.job.Per}
	for ctx.Err() == nil {
		var r *redis_rate.Result
		var err error
		w.beside(ctx, func() {
			began := time.Now()
			if r, err = limiter.Allow(ctx, "{"+w.job.Key+"}:chat", limit); err == nil {
				w.asked(time.Since(began))
			}
		})
		if err != nil {
			pause(ctx, 10*time.Millisecond, nil)
			continue
		}
		if r.Allowed == 0 {
			pause(ctx, r.RetryAfter, nil)
			continue
		}
		w.call()
	}
	return nil
}
