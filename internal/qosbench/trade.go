package qosbench

import (
	"fmt"

	"github.com/panebridge/panebridge/qos"
)

// Setting is a way to run panebridge, as the configuration has it.
type Setting struct {
	Knob  string // "defaults", or the key that differs from them
	Value string
	set   func(*qos.Options)
}

func (s Setting) String() string {
	if s.Value == "" {
		return s.Knob
	}
	return s.Knob + ": " + s.Value
}

// TradeSettings are those whose trade between finals and streams is shown, the defaults first.
func TradeSettings() []Setting {
	all := []Setting{{Knob: "defaults", set: func(*qos.Options) {}}}
	add := func(knob string, value any, set func(*qos.Options)) {
		all = append(all, Setting{Knob: knob, Value: fmt.Sprint(value), set: set})
	}
	add("reserve_mpm", 0, func(o *qos.Options) { o.ReserveMPM = qos.NoReserve })
	for _, n := range []int{1, 2, 3, 5, 6, 7, 8} { // 4 is the default
		add("reserve_mpm", n, func(o *qos.Options) { o.ReserveMPM = n })
	}
	for _, share := range []float64{0.4, 0.6, 0.7, 0.9, 1} {
		add("output_budget_ratio", share, func(o *qos.Options) { o.OutputBudgetRatio = share })
	}
	add("lend_reserve", false, func(o *qos.Options) { o.HardReserve = true })
	return all
}

// RunSetting runs a scenario with panebridge alone, under a setting.
func (s Scenario) RunSetting(opt Options, setting Setting) (Result, error) {
	options := qos.Options{}
	setting.set(&options)
	p, err := newTunedPanebridge(s.Sessions, opt.FinalCalls, opt.Seed, options)
	if err != nil {
		return Result{}, err
	}
	r, err := s.simulate(s.trace(opt.Seed, opt.Horizon), p, opt)
	if err != nil {
		return Result{}, fmt.Errorf("simulate %s with %q, seed %d: %w", setting, s.Name, opt.Seed, err)
	}
	r.scenario = s
	r.Policy, r.Scenario, r.Seed, r.Limit = setting.String(), s.Name, opt.Seed, limitCalls
	return r, nil
}
