package qos_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

func TestZeroOptionsAreValid(t *testing.T) {
	if err := qostest.WithLimits(qos.Options{}).Validate(); err != nil {
		t.Error(err)
	}
	if err := qostest.WithLimits(qos.Options{GroupMPM: 2}).Validate(); err != nil { // the reserve gets smaller
		t.Error(err)
	}
	bursts := qos.Options{Mode: qos.CoalesceOnly, Rounding: 1500 * time.Millisecond, Limits: qostest.BurstLimits()}
	if err := bursts.Validate(); err != nil {
		t.Error(err)
	}
}

func TestBadOptionsAreAllNamed(t *testing.T) {
	bad := map[string]qos.Options{
		"mode":                     {Mode: 7},
		"group_mpm":                {GroupMPM: -1},
		"output_budget_ratio":      {OutputBudgetRatio: 1.1},
		"reserve_mpm":              {ReserveMPM: 20},
		"rounding_ms":              {Rounding: -time.Second},
		"min_session_tick_s":       {MinSessionTick: -time.Second},
		"active_emitter_window_s":  {ActiveEmitterWindow: time.Millisecond},
		"active_emitter_ema_alpha": {ActiveEmitterEMAAlpha: 2},
		"max_stale":                {MaxStale: -1},
		"live_every":               {LiveEvery: -1},
		"call_timeout":             {CallTimeout: 10 * time.Second},
		"max_in_flight":            {MaxInFlight: -8},
		"flush_limit":              {FlushLimit: -1},
		"bot window":               {Limits: qos.Limits{Bot: qos.Limit{Windows: []qos.Window{{Calls: 0, Per: time.Second}}}}},
		"group gap":                {Limits: qos.Limits{Group: qos.Limit{Gap: -1, Windows: []qos.Window{{Calls: 1, Per: time.Second}}}}},
		"rename window":            {Limits: qos.Limits{Families: map[qos.Family]qos.Limit{qos.FamilyRename: {Windows: []qos.Window{{Calls: 1}}}}}},
	}
	for knob, opt := range bad {
		var e *qos.OptionError
		if err := qostest.WithLimits(opt).Validate(); !errors.As(err, &e) || e.Knob != knob || e.Allowed == "" {
			t.Errorf("%s: error %v", knob, err)
		}
	}
	if err := (qos.Options{}).Validate(); err == nil || !strings.Contains(err.Error(), "bot windows: ") || !strings.Contains(err.Error(), "private windows: ") {
		t.Errorf("without limits: error %v", err)
	}
	all := qos.Options{Mode: 7, GroupMPM: -1, OutputBudgetRatio: -1, Rounding: -1}.Validate()
	for _, knob := range []string{"mode", "group_mpm", "output_budget_ratio", "rounding_ms"} {
		if !strings.Contains(all.Error(), knob+": ") {
			t.Errorf("%s isn't named in: %v", knob, all)
		}
	}
	if _, err := qos.New(qos.Options{GroupMPM: -1}, nil, qos.NewLocalBudget(nil)); err == nil {
		t.Error("New accepts bad options")
	}
}

func TestModeNames(t *testing.T) {
	for _, m := range []qos.Mode{qos.Strict, qos.CoalesceOnly, qos.Off} {
		if got, err := qos.ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	var e *qos.OptionError
	if _, err := qos.ParseMode("fast"); !errors.As(err, &e) || e.Knob != "mode" {
		t.Errorf("error %v", err)
	}
}
