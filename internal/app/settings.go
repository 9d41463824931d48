package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
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
func mirrorRules(cfg *config.Config) ([]adapters.MirrorRule, error) {
	var rules []adapters.MirrorRule
	var errs []error
	for i, m := range cfg.Mirrors {
		to, err := adapters.ParseTarget(m.To)
		if err != nil {
			errs = append(errs, fmt.Errorf("mirrors[%d].to: %w", i, err))
		}
		rules = append(rules, adapters.MirrorRule{Session: m.Session, To: to, View: adapters.View(m.View), Input: m.Input, Work: adapters.WorkShown{
			Tools: adapters.Extent(m.Tools), Thinking: adapters.Extent(m.Thinking), Prompts: adapters.Extent(m.Prompts), Output: adapters.Length(m.Output),
		}, Quotes: m.Quotes})
	}
	return rules, errors.Join(errs...)
}

// tune translates `qos:`.
func tune(o *qos.Options, q config.QoS) {
	o.Mode, _ = qos.ParseMode(q.Mode) // the configuration takes no other
	o.GroupMPM, o.OutputBudgetRatio, o.ReserveMPM, o.HardReserve = q.GroupMPM, q.OutputBudgetRatio, q.ReserveMPM, !q.LendReserve
	if q.ReserveMPM == 0 {
		o.ReserveMPM = qos.NoReserve
	}
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

// reloads reads the configuration again each time it's asked for.
func (d *daemon) reloads(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case answer := <-d.opt.Reload:
			_, _ = d.reload(ctx) // the log says what became of it
			answer <- struct{}{}
		}
	}
}

// reload reads the configuration again, and says in the log, too, what became of
// it. With an error the old one stays in force, all of it.
func (d *daemon) reload(ctx context.Context) (api.Reloaded, error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	done, err := d.reloadFile(ctx)
	if all, ok := errors.AsType[*config.Errors](err); ok {
		for _, problem := range all.Problems {
			d.opt.Log.Error("configuration not reloaded, the old one stays", "problem", problem.String())
		}
		return done, fmt.Errorf("%w configuration, the old one stays:\n%w", sessions.ErrInvalid, all)
	}
	if err != nil {
		d.opt.Log.Error("configuration not reloaded, the old one stays", "err", err)
		return done, fmt.Errorf("reload the configuration: the old one stays: %w", err)
	}
	d.opt.Log.Info("configuration reloaded", "applied", done.Applied)
	if len(done.NeedRestart) > 0 {
		d.opt.Log.Warn("changes that need a restart of the daemon", "keys", done.NeedRestart)
	}
	return done, nil
}

func (d *daemon) reloadFile(ctx context.Context) (api.Reloaded, error) {
	done := api.Reloaded{File: d.opt.ConfigPath, Applied: []string{}, NeedRestart: []string{}, Idle: []string{}}
	if d.opt.ConfigPath == "" {
		return done, errors.New("the daemon was started without a file")
	}
	next, err := all.Form().Load(d.opt.ConfigPath, d.opt.Env)
	if errors.Is(err, fs.ErrNotExist) && !d.opt.ConfigNamed {
		next, err = all.Form().Default(), nil // as at the start: see config.Find
	}
	if err != nil {
		return done, fmt.Errorf("%w: %w", sessions.ErrInvalid, err)
	}
	settings, err := hubSettings(next)
	if err != nil {
		return done, err
	}
	tuning, err := pollingTuning(next)
	if err != nil {
		return done, err
	}
	if err := CheckProfiles(next, d.opt.ConfigPath, d.opt.Env); err != nil {
		return done, err
	}
	if err := CheckServers(next, d.opt.ConfigPath, d.opt.Env); err != nil {
		return done, err
	}
	if err := CheckPlatforms(next, d.opt.ConfigPath, d.opt.Env); err != nil { //nolint:contextcheck // it waits for nothing
		return done, err
	}
	if err := CheckSecrets(next, d.opt.ConfigPath, d.opt.Env); err != nil {
		return done, err
	}
	d.letIn(next) // rules name chats that are new
	if err := d.hub.Reload(ctx, settings); err != nil {
		d.letIn(d.config)
		return done, d.locate(err)
	}
	d.store.SetLogMaxLines(int64(next.Sessions.LogMaxLines))
	d.setRecordDays(next)
	d.coord.Tune(tuning)
	d.manager.SetAdopt(next.Sessions.Adopt)
	d.manager.SetAgents(agents(next, d.profiles))
	if err := d.masker.Set(maskOptions(next.Redact)); err != nil {
		return done, err // the configuration takes no such rules
	}
	d.setSearchMasks(ctx, next.Redact)
	d.learnSecrets(next)
	if d.opt.LogLevel != nil {
		d.opt.LogLevel.Set(next.Log.SlogLevel())
	}
	for _, c := range config.Diff(d.config, next) {
		if c.Reload {
			done.Applied = append(done.Applied, c.Path)
		}
	}
	for _, c := range config.Diff(d.opt.Config, next) { // which is what's in force
		if !c.Reload {
			done.NeedRestart = append(done.NeedRestart, c.Path)
		}
	}
	d.config = next
	done.Idle = append(done.Idle, d.warnOfIdleKnobs()...)
	return done, nil
}

// warnOfIdleKnobs logs which keys of the configuration are given and do nothing, and returns them.
func (d *daemon) warnOfIdleKnobs() (idle []string) {
	if d.opt.ConfigPath == "" {
		return nil
	}
	for _, p := range all.Form().IdleKnobs(d.opt.ConfigPath, d.opt.Env) {
		d.opt.Log.Warn("a key of the configuration does nothing", "component", "config", "key", p.String())
		idle = append(idle, p.String())
	}
	return idle
}

// currentConfig is the configuration as it was read last. It waits while one is being read.
func (d *daemon) currentConfig() *config.Config {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	return d.config
}

// letIn has the people and chats known that a configuration names.
func (d *daemon) letIn(cfg *config.Config) {
	d.inbound.SetAccess(accessConfig(cfg))
	d.inbound.SetPrompts(cfg.Prompts.RemindAfter.Duration(), escalateTo(cfg))
	d.inbound.SetPinned(cfg.Attention.Pinned)
	for _, p := range d.platforms {
		if r, ok := p.Platform.(platform.Reloader); ok {
			r.Reload(cfg.Adapters.Section(p.Name))
		}
	}
}
