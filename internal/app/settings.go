package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
)

// hubSettings translates what of the configuration the hub follows while it runs.
func hubSettings(cfg *config.Config) (adapters.Settings, error) {
	rules, err := mirrorRules(cfg)
	return adapters.Settings{Rules: rules, RingAfter: cfg.Attention.RingAfter.Duration(), Tune: func(adapter string, o *qos.Options) {
		if section := cfg.Adapters.Section(adapter); section != nil {
			tune(o, section.Pace())
		}
	}}, err
}

// pollingTuning translates `polling:`.
func pollingTuning(cfg *config.Config) (polling.Tuning, error) {
	expr, err := cfg.Polling.TurnMarker.Regexp()
	if err != nil {
		return polling.Tuning{}, fmt.Errorf("read polling.turn_marker: %w", err)
	}
	marker := polling.NewMarker("", expr)
	if literal, ok := cfg.Polling.TurnMarker.Literal(); ok {
		marker = polling.NewMarker(literal, nil)
	}
	p := cfg.Polling
	return polling.Tuning{
		Cadence: p.OutputCadence.Duration(), FocusCadence: p.FocusCadence.Duration(),
		CaptureTimeout: p.CaptureTimeout.Duration(), MaxCaptureLines: p.MaxCaptureLines, Marker: marker,
	}, nil
}

// mirrorRules translates `mirrors:`.
func mirrorRules(cfg *config.Config) ([]adapters.Rule, error) {
	var rules []adapters.Rule
	var errs []error
	for i, m := range cfg.Mirrors {
		to, err := adapters.ParseTarget(m.To)
		if err != nil {
			errs = append(errs, fmt.Errorf("mirrors[%d].to: %w", i, err))
		}
		rules = append(rules, adapters.Rule{Session: m.Session, To: to, View: adapters.View(m.View), Input: m.Input})
	}
	return rules, errors.Join(errs...)
}

// tune translates `qos:`.
func tune(o *qos.Options, q config.QoS) {
	o.Mode, _ = qos.ParseMode(q.Mode) // the configuration takes no other
	o.GroupMPM, o.OutputBudgetRatio, o.ReserveMPM, o.HardReserve = q.GroupMPM, q.OutputBudgetRatio, q.ReserveMPM, !q.LendReserve
	o.Rounding = time.Duration(q.RoundingMS) * time.Millisecond
	o.MinSessionTick, o.ActiveEmitterWindow = q.MinSessionTick.Duration(), q.ActiveEmitterWindow.Duration()
	o.ActiveEmitterEMAAlpha = q.ActiveEmitterEMAAlpha
}

// locate says where in the configuration's file stands what the hub refuses. Other
// errors it returns as they are.
func (d *daemon) locate(err error) error {
	if err == nil {
		return nil
	}
	found, whole := problems(err, "")
	if !whole || d.opt.ConfigPath == "" {
		return err
	}
	return all.Form().Locate(d.opt.ConfigPath, d.opt.Env, found)
}

// problems returns what's wrong with keys of the configuration, and whether that's
// all there is. at is the path of the options that an error is about.
func problems(err error, at string) (found []config.Problem, all bool) {
	switch e := err.(type) { //nolint:errorlint // it goes through the tree itself
	case *adapters.RuleError:
		return []config.Problem{{Path: fmt.Sprintf("mirrors[%d]", e.Index), Message: e.Error()}}, true
	case *adapters.TuneError:
		return problems(e.Err, "adapters."+e.Adapter+".qos.")
	case *qos.OptionError:
		return []config.Problem{{Path: at + e.Knob, Message: fmt.Sprintf("%v is not allowed; allowed: %s", e.Value, e.Allowed)}}, at != ""
	case interface{ Unwrap() error }:
		return problems(e.Unwrap(), at)
	case interface{ Unwrap() []error }:
		all = true
		for _, one := range e.Unwrap() {
			more, known := problems(one, at)
			found, all = append(found, more...), all && known
		}
		return found, all
	default:
		return nil, false
	}
}
