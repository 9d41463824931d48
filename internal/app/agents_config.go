package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// agents translates the configuration's agents.
func agents(cfg *config.Config, profiles *agent.Set) map[string]sessions.Agent {
	out := map[string]sessions.Agent{}
	for name, a := range cfg.Agents {
		s := sessions.Agent{
			Command: slices.Concat(a.Command, a.Flags), Resume: a.Resume,
			Width: a.Width, Height: a.Height, HistoryLimit: a.HistoryLimit,
		}
		if p := profiles.Get(profileOf(cfg, name)); p != nil && len(a.Resume) == 0 {
			s.Resume = p.ResumeArgs()
		}
		for k, v := range a.Env {
			s.Env = append(s.Env, k+"="+v.Reveal())
		}
		out[name] = s
	}
	return out
}

// checkAgents says which agents have a profile that there isn't, and where in the
// configuration's file that stands.
func checkAgents(cfg *config.Config, profiles *agent.Set, file string, env config.Env) error {
	var found []config.Problem
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if p := cfg.Agents[name].Profile; p != "" && profiles.Get(p) == nil {
			found = append(found, config.Problem{
				Path: "agents." + name + ".profile", Message: fmt.Sprintf("there's no profile %q; there are %s", p, strings.Join(profiles.Names(), ", ")),
			})
		}
	}
	return locateProblems(found, file, env)
}
