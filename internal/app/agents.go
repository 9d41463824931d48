package app

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// profilesFolder stands beside the configuration and has profiles of agent programs,
// which change or add to those in the binary.
const profilesFolder = "profiles"

// loadProfiles reads the profiles that a configuration's sessions may have.
func loadProfiles(configPath string) (*agent.Set, error) {
	var overrides []agent.Override
	if configPath != "" {
		var err error
		if overrides, err = agent.ReadOverrides(filepath.Join(filepath.Dir(configPath), profilesFolder)); err != nil {
			return nil, err
		}
	}
	return agent.Load(overrides...)
}

// buildWatchers makes what finds out which agent programs run in the sessions.
func (d *daemon) buildWatchers(prompts []*regexp.Regexp) (err error) {
	if d.profiles, err = loadProfiles(d.opt.ConfigPath); err != nil {
		return fmt.Errorf("read the agents' profiles: %w", err)
	}
	d.watchers = agent.NewWatchers(agent.Options{
		Profiles: d.profiles, Processes: d.processes, Poke: d.coord.Poke,
		Choose:  func(id sessions.ID, src sessions.Source) error { return d.manager.Choose(id, src) },
		Prompts: prompts, Logger: d.opt.Log.With("component", "agents"),
	})
	return nil
}

// observe makes the observer of a session.
func (d *daemon) observe(s sessions.Session, kept []byte) (polling.Observer, error) {
	d.reloading.Lock()
	profile := profileOf(d.config, s.Agent)
	d.reloading.Unlock()
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
