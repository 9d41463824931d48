package qosbench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"time"
)

// The limiters that processes share through Redis, as rows name them.
const (
	RedisBucket = "redisbucket"
	RedisRate   = "redis_rate" // a GCRA: github.com/go-redis/redis_rate
)

// RedisRow is what so many processes got that share one chat's limit through a real
// Redis, and all want to call all the time.
type RedisRow struct {
	Processes int    `json:"processes"`
	Limiter   string `json:"limiter"`
	// Grants are those within the time that's measured, and Ideal what the limit
	// allows in it.
	Grants int     `json:"grants"`
	Ideal  float64 `json:"ideal"`
	Jain   float64 `json:"jain"` // of the grants that processes got
	// CallsWorstWindow are the most calls in any window, from the first call on.
	CallsWorstWindow int     `json:"calls_worst_window"`
	Limit            int     `json:"limit"`
	ScriptsPerGrant  float64 `json:"scripts_per_grant"` // questions for a slot
	P50              float64 `json:"p50_ms"`            // of a question's round trip
	P99              float64 `json:"p99_ms"`
	// NoopP99 is of a script that does nothing. The same processes ask it on the same
	// connections, each beside every question for a slot, in turn before and after it. So
	// both meet the same processor, server and neighbours, and differ in what the script
	// does alone. (Asked on a machine at rest it would be quicker; then the ratio would tell
	// how busy eight processes make a machine that wake for the same slot.)
	NoopP99 float64 `json:"noop_p99_ms"`
}

// RedisRun says how to measure one row.
type RedisRun struct {
	Processes int
	Limiter   string
	Addr      string // of the server, which must be empty
	Calls     int    // the limit
	Per       time.Duration
	Windows   int // how many are measured
	// Start makes a process that calls RunRedisWorker; its standard input and output
	// aren't set.
	Start func(ctx context.Context) *exec.Cmd
}

// redisJob is what a process is told.
type redisJob struct {
	Name                   string
	Processes              int
	Limiter, Addr, Key     string
	Calls                  int
	Per, Latency, From, To time.Duration // From and To since the epoch
}

// redisReport is what a process tells.
type redisReport struct {
	Calls     []int64         // when they were made, in ns
	Questions []time.Duration // round trips within the time that's measured
	Noops     []time.Duration
}

// warmup is how many windows aren't measured: the first in a new Redis is for
// learning who's there.
const warmup = 3

// callLatency is how long the stand-in for the platform takes to answer.
const callLatency = 10 * time.Millisecond

// Run measures one row.
func (r RedisRun) Run(ctx context.Context) (RedisRow, error) {
	from := time.Now().Add(time.Second + warmup*r.Per)
	to := from.Add(time.Duration(r.Windows) * r.Per)
	ctx, cancel := context.WithDeadline(ctx, to.Add(30*time.Second))
	defer cancel()
	reports := make([]redisReport, r.Processes)
	errs := make(chan error, r.Processes)
	for i := range reports {
		job := redisJob{
			Name: fmt.Sprint(i), Processes: r.Processes, Limiter: r.Limiter, Addr: r.Addr, Key: "bench", Calls: r.Calls, Per: r.Per,
			Latency: callLatency, From: time.Duration(from.UnixNano()), To: time.Duration(to.UnixNano()),
		}
		go func() { errs <- work(r.Start(ctx), job, &reports[i]) }()
	}
	var all error
	for range reports {
		all = errors.Join(all, <-errs)
	}
	if all != nil {
		return RedisRow{}, fmt.Errorf("measure %d processes with %s: %w", r.Processes, r.Limiter, all)
	}
	return r.row(from, to, reports), nil
}

// work runs one process.
func work(cmd *exec.Cmd, job redisJob, report *redisReport) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// Its input stays open as long as it should work on: should this process die, it ends.
	err = json.NewEncoder(in).Encode(job)
	if err == nil {
		err = json.NewDecoder(bufio.NewReader(out)).Decode(report)
	}
	_, _ = io.Copy(io.Discard, out)
	return errors.Join(err, in.Close(), cmd.Wait())
}

func (r RedisRun) row(from, to time.Time, reports []redisReport) RedisRow {
	row := RedisRow{
		Processes: r.Processes, Limiter: r.Limiter, Limit: r.Calls,
		Ideal: float64(r.Calls) * float64(to.Sub(from)) / float64(r.Per),
	}
	var calls []int64
	var questions, noops []time.Duration
	sum, squares := 0.0, 0.0
	for _, p := range reports {
		n := 0.0
		for _, at := range p.Calls {
			if at >= from.UnixNano() && at < to.UnixNano() {
				n++
			}
		}
		sum, squares = sum+n, squares+n*n
		calls = append(calls, p.Calls...)
		questions, noops = append(questions, p.Questions...), append(noops, p.Noops...)
	}
	row.Grants = int(sum)
	row.Jain = sum * sum / (float64(len(reports)) * math.Max(squares, 1))
	slices.Sort(calls)
	first := 0
	for i, at := range calls {
		for at-calls[first] >= int64(r.Per) {
			first++
		}
		row.CallsWorstWindow = max(row.CallsWorstWindow, i-first+1)
	}
	row.ScriptsPerGrant = float64(len(questions)) / math.Max(sum, 1)
	row.P50, row.P99, row.NoopP99 = millisecondsAt(questions, 0.5), millisecondsAt(questions, 0.99), millisecondsAt(noops, 0.99)
	return row
}

// millisecondsAt is a quantile in milliseconds.
func millisecondsAt(list []time.Duration, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.SortFunc(list, cmp.Compare)
	return math.Round(list[min(int(float64(len(list))*q), len(list)-1)].Seconds()*1e6) / 1e3
}

// RedisBars checks rows against what panebridge promises.
func RedisBars(rows []RedisRow) []Bar {
	var bars []Bar
	for _, r := range rows {
		if r.Limiter != RedisBucket {
			continue
		}
		n := r.Processes
		bars = append(bars,
			Bar{r.CallsWorstWindow <= r.Limit, fmt.Sprintf("%d processes: at most %d calls in any window: %d", n, r.Limit, r.CallsWorstWindow)},
			Bar{float64(r.Grants) >= 0.95*r.Ideal, fmt.Sprintf("%d processes: at least 95 %% of %.0f grants: %d", n, r.Ideal, r.Grants)},
			Bar{r.Jain >= minJain, fmt.Sprintf("%d processes: Jain index at least %g: %.4f", n, minJain, r.Jain)},
			Bar{r.P99 <= 3*r.NoopP99, fmt.Sprintf("%d processes: p99 of a question at most 3 × that of a script that does nothing: %.2f ms, %.2f ms", n, r.P99, r.NoopP99)},
		)
	}
	return bars
}
