package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/qosbench"
)

// qosOptions are the flags of pbbench qos.
type qosOptions struct {
	seeds      int
	only       string
	finalCalls int
	full       bool
	json       bool
}

func qosCommand() *cobra.Command {
	opt := qosOptions{}
	cmd := &cobra.Command{
		Use: "qos", Short: "How soon output reaches a chat that allows 20 calls a minute", Args: cobra.NoArgs,
		Long: `Compares panebridge's scheduler with a model of the original one, a FIFO, and
bounds that no scheduler can beat, on the same arrivals in virtual time.

With --json, one object a row goes to standard output, and the bars to standard
error. Times are seconds. What never arrives takes 1.7976931348623157e308 s, the
largest double, since JSON has no infinity.

It fails if a bar isn't met.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&opt.seeds, "seeds", 3, "how many arrivals of each scenario; the seeds are 1, 2, …")
	f.StringVar(&opt.only, "only", "", "only scenarios whose name contains this")
	f.IntVar(&opt.finalCalls, "calls-per-final", 1, "calls that a final takes panebridge")
	f.BoolVar(&opt.full, "full", false, "at least ten seeds, and two hours of arrivals instead of one")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o qosOptions) run(ctx context.Context, out io.Writer) error {
	if o.seeds < 1 || o.finalCalls < 1 {
		return fmt.Errorf("--seeds %d, --calls-per-final %d: at least 1 each", o.seeds, o.finalCalls)
	}
	horizon := time.Hour
	if o.full {
		o.seeds, horizon = max(o.seeds, 10), 2*time.Hour
	}
	var results []qosbench.Result
	optima := qosbench.NewOptima()
	for _, s := range qosbench.Scenarios() {
		if !strings.Contains(s.Name, o.only) {
			continue
		}
		progress("%s", s.Name)
		for seed := range o.seeds {
			if err := ctx.Err(); err != nil {
				return err
			}
			got, err := s.Run(qosbench.Options{Seed: uint64(seed) + 1, Horizon: horizon, FinalCalls: o.finalCalls, Optima: optima})
			if err != nil {
				return err
			}
			results = append(results, got...)
		}
	}
	if len(results) == 0 {
		return fmt.Errorf("--only %q: no scenario's name contains that", o.only)
	}
	if !o.json {
		if err := printQoS(out, results, o.seeds, horizon); err != nil {
			return err
		}
		return qosBars(out, results)
	}
	rows := make([]qosbench.Row, 0, len(results))
	for _, r := range results {
		rows = append(rows, r.Row)
	}
	if err := printJSON(out, rows); err != nil {
		return err
	}
	return qosBars(os.Stderr, results)
}
