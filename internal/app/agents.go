package app

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// profilesFolder stands beside the configuration and has profiles of agent programs,
// which change or add to those in the binary.
const profilesFolder = "profiles"

// LoadProfiles reads the profiles that a configuration's sessions may have: those of the
// binary, of the folder beside the configuration's file, and of the configuration. What's
// wrong with the last is a config.Errors.
func LoadProfiles(cfg *config.Config, configPath string) (*agent.Set, error) {
	var overrides []agent.Override
	if configPath != "" {
		var err error
		if overrides, err = agent.ReadOverrides(filepath.Join(filepath.Dir(configPath), profilesFolder)); err != nil {
			return nil, err
		}
	}
	set, err := agent.Load(overrides...)
	if err != nil || len(cfg.Profiles) == 0 {
		return set, err
	}
	written := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(cfg.Profiles)) {
		value := cfg.Profiles[name].Node()
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: value.Line, Column: value.Column}
		written.Content = append(written.Content, key, value)
	}
	set, err = agent.Load(append(overrides, agent.Override{File: configPath, Profiles: written})...)
	if err != nil {
		return nil, profileProblems(err)
	}
	return set, nil
}

// profileProblems are the mistakes in a configuration's profiles as those of its other
// keys.
func profileProblems(err error) error {
	var out config.Errors
	var add func(error) bool
	add = func(err error) bool {
		switch err := err.(type) { //nolint:errorlint // each of those that were joined is looked at
		case *agent.LoadError:
			p := config.Problem{File: err.File, Line: max(1, err.Line), Column: max(1, err.Column), Path: "profiles." + err.Profile, Message: err.Problem}
			if err.Path != "" {
				p.Path += "." + err.Path
			}
			out.Problems = append(out.Problems, p)
			return true
		case interface{ Unwrap() []error }:
			return !slices.ContainsFunc(err.Unwrap(), func(err error) bool { return !add(err) })
		}
		return false
	}
	if !add(err) {
		return err
	}
	slices.SortStableFunc(out.Problems, func(a, b config.Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return &out
}

// CheckProfiles says what's wrong with the profiles of a configuration, in its file or
// beside that, and which agents have a profile that there isn't: as a config.Errors,
// with the places.
func CheckProfiles(cfg *config.Config, file string, env config.Env) error {
	profiles, err := LoadProfiles(cfg, file)
	if err != nil {
		return err
	}
	return checkAgents(cfg, profiles, file, env)
}

// buildWatchers makes what finds out which agent programs run in the sessions.
func (d *daemon) buildWatchers(prompts []*regexp.Regexp) (err error) {
	if d.profiles, err = LoadProfiles(d.opt.Config, d.opt.ConfigPath); err != nil {
		return fmt.Errorf("read the agents' profiles: %w", err)
	}
	d.watchers = agent.NewWatchers(agent.Options{
		Profiles: d.profiles, Processes: d.processes, Poke: d.coord.Poke,
		Choose:  func(id sessions.ID, src sessions.Source) error { return d.manager.Choose(id, src) },
		Made:    func(id sessions.ID, call string) { d.manager.CallMade(id, call) },
		Reads:   d.reads,
		Prompts: prompts, Logger: d.opt.Log.With("component", "agents"),
	})
	return nil
}

// reads tells of the terminal of a pane that was just looked at.
func (d *daemon) reads(s *sessions.Snapshot) agent.Reading {
	t, err := (*tmux.Client)(nil).Terminal(s.TTY)
	if err != nil || !t.Canonical {
		return agent.Reading{}
	}
	r := agent.Reading{Canonical: true, Hidden: !t.Echo}
	for _, p := range d.processes.Foreground(s.PID, true) {
		if t.Unread == 0 && d.processes.ReadsTerminal(p.PID, s.TTY) {
			r.Reads, r.By, r.Waits = true, p, d.processes.Waits(p.PID)
			break
		}
	}
	return r
}

// observe makes the observer of a session.
func (d *daemon) observe(s sessions.Session, kept []byte) (polling.Observer, error) {
	profile := profileOf(d.currentConfig(), s.Agent)
	return d.watchers.Observe(s, profile, kept)
}

// hook hears of the call of an agent's hook.
func (d *daemon) hook(h agent.Hook) { d.watchers.Hook(h) }

// profileOf is the profile that a configured agent has: the one that's named, else the
// one of the agent's own name.
func profileOf(cfg *config.Config, name string) string {
	if a, ok := cfg.Agents[name]; ok && a.Profile != "" {
		return a.Profile
	}
	return name
}
