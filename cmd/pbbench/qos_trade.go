package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/qosbench"
)

// tradeScenario is the scenario of --trade without --only.
const tradeScenario = "4 random, latency 0.3s"

// runTrade runs scenarios under several settings, beside the policies of other runs and the bounds.
func (o qosOptions) runTrade(ctx context.Context, out io.Writer, horizon time.Duration) error {
	if o.only == "" {
		o.only = tradeScenario
	}
	optima := qosbench.NewOptima()
	var results []qosbench.Result
	for _, s := range qosbench.Scenarios() {
		if !strings.Contains(s.Name, o.only) {
			continue
		}
		progress("%s", s.Name)
		for seed := range o.seeds {
			opt := qosbench.Options{Seed: uint64(seed) + 1, Horizon: horizon, FinalCalls: o.finalCalls, Optima: optima}
			for _, setting := range qosbench.TradeSettings() {
				if err := ctx.Err(); err != nil {
					return err
				}
				r, err := s.RunSetting(opt, setting)
				if err != nil {
					return err
				}
				results = append(results, r)
			}
			others, err := s.Run(opt)
			if err != nil {
				return err
			}
			for _, r := range others {
				if r.Policy != qosbench.Panebridge { // that's the defaults
					results = append(results, r)
				}
			}
		}
	}
	if len(results) == 0 {
		return fmt.Errorf("--only %q: no scenario's name contains that", o.only)
	}
	if o.plots != "" {
		if err := plotTrade(o.plots, results); err != nil {
			return err
		}
	}
	if !o.json {
		return printQoS(out, results, o.seeds, horizon)
	}
	rows := make([]qosbench.Row, 0, len(results))
	for _, r := range results {
		rows = append(rows, r.Row)
	}
	return printJSON(out, rows)
}
