package qosbench

import (
	"fmt"
	"time"
)

// Options say how a scenario is run.
type Options struct {
	Seed uint64
	// Horizon is until when something new begins.
	Horizon time.Duration
	// FinalCalls is how many calls a final takes panebridge. The original takes two
	// for every payload.
	FinalCalls int
	// Optima keeps bounds for scenarios that have the same arrivals. Nil: they're worked out each time.
	Optima *Optima
}

// Run runs a scenario with all policies. Panebridge's result comes first, then the
// original's, the FIFO's, where calls break that of Unheard, and the optimum.
func (s Scenario) Run(opt Options) ([]Result, error) {
	t := s.trace(opt.Seed, opt.Horizon)
	ours, err := newPanebridge(s.Sessions, opt.FinalCalls, opt.Seed)
	if err != nil {
		return nil, err
	}
	var results []Result
	type named struct {
		name   string
		policy policy
	}
	policies := []named{{Panebridge, ours}, {Original, newOriginal(originalCalls)}, {FIFO, newFIFO(s.Sessions)}}
	if s.breaks > 0 {
		unheard, err := newPanebridge(s.Sessions, opt.FinalCalls, opt.Seed)
		if err != nil {
			return nil, err
		}
		unheard.unheard = true
		policies = append(policies, named{Unheard, unheard})
	}
	for _, p := range policies {
		r, err := s.simulate(t, p.policy, opt)
		if err != nil {
			return nil, fmt.Errorf("simulate %s with %q, seed %d: %w", p.name, s.Name, opt.Seed, err)
		}
		r.Policy = p.name
		results = append(results, r)
	}
	results[0].GrantsPerPosition = ours.worst
	results = append(results, Result{Row: opt.Optima.optimumOf(t), CallsPerFinal: 1})
	average, most := t.essential(opt.FinalCalls)
	for i := range results {
		r := &results[i]
		r.scenario, r.light = s, average <= lightLoad*limitCalls && most <= limitCalls
		r.Scenario, r.Seed, r.Limit, r.OptimumGap = s.Name, opt.Seed, limitCalls, s.optimumGap(average)
		r.fairGap = s.optimumGap(t.commandsAWindow())
	}
	return results, nil
}

// simulate runs a trace with one policy.
func (s Scenario) simulate(t trace, p policy, opt Options) (Result, error) {
	chat := &platform{
		refuse: s.refuse, failures: s.failures, breaks: s.breaks, random: source(opt.Seed, forPlatform),
		penalty: s.penalty, from: time.Duration(penaltyAt * float64(opt.Horizon)),
	}
	sim := &simulation{
		policy: p, platform: chat, record: newRecord(t.sessions), events: t.events,
		network: network{mean: s.Latency, steady: s.always, random: source(opt.Seed, forNetwork)},
	}
	if err := sim.run(); err != nil {
		return Result{}, err
	}
	r := Result{Inside: chat.inside, Series: sim.record.series}
	r.CallsWorstWindow = chat.worstWindow()
	sim.record.fill(&r.Row)
	sim.silences.fill(&r.Row)
	r.silences = sim.silences.took
	if n := len(sim.record.finals); n > 0 {
		r.CallsPerFinal = float64(sim.record.finalCalls) / float64(n)
	}
	return r, nil
}
