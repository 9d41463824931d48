package main

import (
	"context"
	"errors"
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

	trace []string
	set   []string
	plots string
	trade bool
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

With --trace, it replays a day that a daemon recorded (record_days below
adapters.<name>.qos), under the settings recorded and what --set changes of them.
Give the files of several days in their order. With --trade, it runs panebridge
under several settings, and shows what finals cost streams.

It fails if a bar isn't met.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&opt.seeds, "seeds", 3, "how many arrivals of each scenario; the seeds are 1, 2, …")
	f.StringVar(&opt.only, "only", "", "only scenarios whose name contains this")
	f.IntVar(&opt.finalCalls, "calls-per-final", 1, "calls that a final takes panebridge")
	f.BoolVar(&opt.full, "full", false, "at least ten seeds, and two hours of arrivals instead of one")
	f.StringArrayVar(&opt.trace, "trace", nil, "replay this recording; may be given again")
	f.StringArrayVar(&opt.set, "set", nil, "with --trace: a setting in place of the one recorded, as reserve_mpm=2; may be given again")
	f.StringVar(&opt.plots, "plots", "", "also make plots, as PNG and SVG, in this folder")
	f.BoolVar(&opt.trade, "trade", false, "how finals and streams fare under several settings")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o qosOptions) run(ctx context.Context, out io.Writer) error {
	if o.seeds < 1 || o.finalCalls < 1 {
		return fmt.Errorf("--seeds %d, --calls-per-final %d: at least 1 each", o.seeds, o.finalCalls)
	}
	if len(o.set) > 0 && len(o.trace) == 0 {
		return errors.New("--set needs --trace")
	}
	if len(o.trace) > 0 {
		return o.runTrace(out)
	}
	horizon := time.Hour
	if o.full {
		o.seeds, horizon = max(o.seeds, 10), 2*time.Hour
	}
	if o.trade {
		return o.runTrade(ctx, out, horizon)
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
	if o.plots != "" {
		if err := plotResults(o.plots, results); err != nil {
			return err
		}
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
