package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/qosbench"
	"github.com/panebridge/panebridge/internal/redistest"
)

// redisOptions are the flags of pbbench redis.
type redisOptions struct {
	calls   int
	per     time.Duration
	windows int
	json    bool
}

func redisCommand() *cobra.Command {
	opt := redisOptions{}
	cmd := &cobra.Command{
		Use: "redis", Short: "How processes share a limit through a real Redis", Args: cobra.NoArgs,
		Long: `Has 1, 2 and 8 processes call one chat as often as they may, on a redis-server of
their own: by panebridge's shared budget, and by redis_rate, a GCRA, on the same
traffic. It counts the calls of the worst window, and asks a script that does nothing
beside, for comparison.

With --json, one object a row goes to standard output, and the bars to standard
error. It fails if a bar isn't met.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&opt.calls, "calls", 20, "how many calls a window allows")
	f.DurationVar(&opt.per, "per", 2*time.Second, "how long a window is")
	f.IntVar(&opt.windows, "windows", 20, "how many windows to measure, for each row")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

// redisWorkerCommand is one of the processes.
func redisWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "redis-worker", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return qosbench.RunRedisWorker(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func (o redisOptions) run(ctx context.Context, out io.Writer) error {
	if o.calls < 1 || o.per < 100*time.Millisecond || o.windows < 1 {
		return fmt.Errorf("--calls %d, --per %v, --windows %d: at least 1, 100ms and 1", o.calls, o.per, o.windows)
	}
	var rows []qosbench.RedisRow
	for _, processes := range []int{1, 2, 8} {
		for _, limiter := range []string{qosbench.RedisBucket, qosbench.RedisRate} {
			progress("%d processes, %s", processes, limiter)
			row, err := o.measure(ctx, processes, limiter)
			if err != nil {
				return err
			}
			if rows = append(rows, row); o.json {
				if err := json.NewEncoder(out).Encode(row); err != nil {
					return err
				}
			}
		}
	}
	if o.json {
		return redisBars(os.Stderr, rows)
	}
	_, _ = fmt.Fprintf(out, "Processes that all want to call a chat that allows %d calls in %v, over %d windows; times in ms\n", o.calls, o.per, o.windows)
	t := newTable(out, "limiter", "processes", "grants", "ideal", "jain", "calls, worst window", "limit", "scripts/grant", "p50", "p99", "p99 of a no-op")
	decimals := func(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }
	for _, r := range rows {
		t.row(r.Limiter, r.Processes, r.Grants, decimals(r.Ideal, 0), decimals(r.Jain, 4), r.CallsWorstWindow, r.Limit,
			decimals(r.ScriptsPerGrant, 2), decimals(r.P50, 2), decimals(r.P99, 2), decimals(r.NoopP99, 2))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	_, _ = fmt.Fprintln(out)
	return redisBars(out, rows)
}

// measure measures one row on a server of its own.
func (o redisOptions) measure(ctx context.Context, processes int, limiter string) (qosbench.RedisRow, error) {
	dir, err := os.MkdirTemp("", "pbbench-redis-")
	if err != nil {
		return qosbench.RedisRow{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := redistest.New(ctx, dir, false, "--appendfsync", "everysec")
	if err != nil {
		return qosbench.RedisRow{}, err
	}
	defer server.Kill()
	if err := server.Start(ctx); err != nil {
		return qosbench.RedisRow{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return qosbench.RedisRow{}, fmt.Errorf("find this program: %w", err)
	}
	return qosbench.RedisRun{
		Processes: processes, Limiter: limiter, Addr: server.Addr, Calls: o.calls, Per: o.per, Windows: o.windows,
		Start: func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, self, "redis-worker")
			cmd.Stderr = os.Stderr
			return cmd
		},
	}.Run(ctx)
}

// redisBars prints which bars are met. It fails if one isn't.
func redisBars(w io.Writer, rows []qosbench.RedisRow) error {
	missed := 0
	for _, b := range qosbench.RedisBars(rows) {
		bar(w, b.Met, "%s", b.Text)
		if !b.Met {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d bars aren't met", missed)
	}
	return nil
}
