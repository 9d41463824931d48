package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// hookBar is what an agent is held up by one hook at most.
const hookBar = 50 * time.Millisecond

// hookRecord is what an agent writes to its hook's standard input.
const hookRecord = `{"session_id":"0a1b","transcript_path":"/tmp/t.jsonl","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`

// hookOptions are the flags of pbbench hook.
type hookOptions struct {
	program string
	calls   int
	json    bool
}

// hookRow is how long the whole process of one hook takes.
type hookRow struct {
	Way   string  `json:"way"`
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
	Over  int     `json:"over_50_ms"`
	Calls int     `json:"calls"`
}

func hookCommand() *cobra.Command {
	opt := hookOptions{}
	cmd := &cobra.Command{
		Use: "hook", Short: "How long an agent waits for one of its hooks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.StringVar(&opt.program, "panebridge", "", "the program (default: panebridge beside this one)")
	f.IntVar(&opt.calls, "calls", 300, "how many calls each way")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

// hookWay is one way to be called; the first is the baseline, a program that does
// nothing.
type hookWay struct {
	name  string
	args  []string
	input io.Reader // nil: the record
	took  []time.Duration
}

func (o hookOptions) run(ctx context.Context, out io.Writer) error {
	if o.program == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		o.program = filepath.Join(filepath.Dir(self), "panebridge")
	}
	b, err := newBed(ctx, 1)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	running, err := startDaemon(ctx, b, daemonOptions{cadence: 1})
	if err != nil {
		return err
	}
	held, err := startDaemon(ctx, b, daemonOptions{cadence: 1})
	if err != nil {
		return errors.Join(err, running.stop())
	}
	ways, err := o.measure(ctx, b, running, held)
	if err = errors.Join(err, running.stop(), held.stop()); err != nil {
		return err
	}
	return o.report(out, ways)
}

// measure calls all ways in turn, so that what else the machine does meets all alike.
func (o hookOptions) measure(ctx context.Context, b *bed, running, held *daemon) ([]*hookWay, error) {
	hook := func(state string) []string {
		return []string{o.program, "hook", "claude", "PreToolUse", "--state-dir", state}
	}
	// An end of a pipe that's kept open is an input that isn't closed.
	open, keep, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer func() { _, _ = open.Close(), keep.Close() }()
	up := filepath.Dir(running.api.Socket())
	ways := []*hookWay{
		{name: "true (baseline)", args: []string{"true"}},
		{name: "panebridge version", args: []string{o.program, "version"}},
		{name: "hook, daemon up", args: hook(up)},
		{name: "hook, daemon down", args: hook(filepath.Join(b.dir, "nowhere"))},
		{name: "hook, daemon stopped", args: hook(filepath.Dir(held.api.Socket()))},
		{name: "hook, input open", args: hook(up), input: open},
	}
	if err := syscall.Kill(held.pid, syscall.SIGSTOP); err != nil {
		return nil, fmt.Errorf("stop the daemon: %w", err)
	}
	defer func() { _ = syscall.Kill(held.pid, syscall.SIGCONT) }()
	for n := range o.calls + 1 {
		for _, w := range ways {
			took, err := w.call(ctx)
			if err != nil {
				return nil, err
			}
			if n > 0 { // the first brings the program into memory
				w.took = append(w.took, took)
			}
		}
	}
	return ways, nil
}

func (w *hookWay) call(ctx context.Context) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, w.args[0], w.args[1:]...)
	cmd.Stdin = w.input
	if w.input == nil {
		cmd.Stdin = strings.NewReader(hookRecord)
	}
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("call %s: %w", w.name, err)
	}
	return time.Since(began), nil
}

func (o hookOptions) report(out io.Writer, ways []*hookWay) error {
	var rows []hookRow
	for _, w := range ways {
		slices.Sort(w.took)
		over := len(w.took) - len(slices.DeleteFunc(slices.Clone(w.took), func(d time.Duration) bool { return d > hookBar }))
		n := len(w.took)
		rows = append(rows, hookRow{
			Way: w.name, P50MS: ms(w.took[n/2]), P99MS: ms(w.took[min(n*99/100, n-1)]), MaxMS: ms(w.took[n-1]), Over: over, Calls: n,
		})
	}
	if o.json {
		return printJSON(out, rows)
	}
	t := newTable(out, "way", "p50 ms", "p99 ms", "max ms", "over 50 ms", "calls")
	for _, r := range rows {
		t.row(r.Way, r.P50MS, r.P99MS, r.MaxMS, r.Over, r.Calls)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	for _, r := range rows[2:] {
		bar(out, r.P99MS <= ms(hookBar), "%s: p99 %.1f ms, at most %d ms were promised", r.Way, r.P99MS, hookBar.Milliseconds())
	}
	return nil
}
