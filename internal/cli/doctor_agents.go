package cli

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// examineAgents looks at the agents' hooks, and, with a daemon, at the programs that run
// in its sessions.
func (p *program) examineAgents(ctx context.Context, dir string, running bool) []finding {
	var list []api.Session
	var known []agent.Insight
	if running {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		c := client.New(statedir.SocketPath(dir))
		defer c.Close()
		var err error
		if list, err = c.Sessions(ctx); err == nil {
			known, err = c.Programs(ctx)
		}
		if err != nil {
			return []finding{{"agents", verdictWarning, "the daemon doesn't tell of its sessions: " + err.Error(), "Start the daemon anew, if it's of an older version than this."}}
		}
	}
	all := p.examineHooks(known)
	for _, s := range living(list) {
		if i := slices.IndexFunc(known, func(in agent.Insight) bool { return in.Session == s.ID }); i >= 0 {
			all = append(all, examineProgram(s, known[i])...)
		}
	}
	return all
}

// examineHooks looks at the hooks of agents that are there: their programs can be found,
// or run in a session.
func (p *program) examineHooks(known []agent.Insight) []finding {
	list, err := p.hooksOf(hooksFlags{scope: scopeUser}, agent.HookAgents())
	if err != nil {
		return []finding{{"hooks", verdictWarning, err.Error(), "`panebridge hooks status` says more."}}
	}
	var all []finding
	for _, to := range list {
		runs := slices.ContainsFunc(known, func(in agent.Insight) bool { return in.Program == to.Agent })
		status, err := to.Status()
		if _, missing := exec.LookPath(to.Agent); missing != nil && !runs && status == agent.HooksNotInstalled {
			continue // nobody has it here
		}
		all = append(all, hooksFinding(to, status, err))
	}
	return all
}

func hooksFinding(to agent.Install, status agent.Status, err error) finding {
	f := finding{Check: "hooks of " + to.Agent, State: verdictWarning, Fix: "`panebridge hooks install " + to.Agent + "` shows what it changes, and asks."}
	switch {
	case err != nil:
		f.Detail, f.Fix = err.Error(), "Correct the file: nothing is installed in one that can't be read."
	case status == agent.HooksInstalled:
		f.State, f.Detail, f.Fix = verdictOK, "installed", ""
	case status == agent.HooksOutdated:
		f.Detail = "outdated: another panebridge, state folder or version wrote them"
	default:
		f.Detail = "not installed: what it's doing is read from its screen, later and less surely"
	}
	return f
}

// examineProgram looks at an agent program that runs in a session.
func examineProgram(s api.Session, in agent.Insight) []finding {
	if in.Program == "" {
		return nil
	}
	name := "session " + s.Name
	var all []finding
	// Before it's asked something, a program may have none.
	if in.Unbound != "" && s.Turn.Number > 0 {
		fix := "With its hooks it's sure which is its."
		if slices.Contains(agent.HookAgents(), in.Program) {
			fix = "`panebridge hooks install " + in.Program + "`, and start the program anew: then it's sure which is its."
		}
		text := "its text is that of its pane"
		if in.Text == sessions.TextHeld {
			text = "its text is held back"
		}
		all = append(all, finding{name, verdictWarning, fmt.Sprintf("no transcript of %s is bound, so %s: %s", in.Program, text, in.Unbound), fix})
	}
	if agent.Untried(in.Version, in.MadeFrom) {
		all = append(all, finding{
			name, verdictWarning,
			fmt.Sprintf("%s %s runs, and its profile was tried with %s: questions and state may be misread", in.Program, in.Version, strings.Join(in.MadeFrom, ", ")),
			"A newer panebridge may know it. If something is wrong, `panebridge doctor record " + s.Name + "` makes a recording for a report;\n" +
				"profiles." + in.Program + " in the configuration can correct the profile, and with made_from say that it's right.",
		})
	}
	if in.Skipped > 0 {
		all = append(all, finding{
			name, verdictWarning, count(in.Skipped, "record", "records") + " of " + in.Transcript + " not understood, and left out",
			"A newer panebridge may know them; if answers are missing, `panebridge doctor record " + s.Name + "` makes a recording for a report.",
		})
	}
	if len(all) == 0 {
		f := finding{Check: name, State: verdictOK, Detail: programOf(in) + "; text " + textOf(in)}
		if s.Turn.Number == 0 {
			f.Detail = programOf(in) + "; nothing was asked of it yet"
		}
		all = []finding{f}
	}
	return all
}
