package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/sessions/agent"
)

func newHooks(p *program) *cobra.Command {
	cmd := newGroup("hooks", "Have agents tell what they're doing",
		newHooksInstall(p), newHooksRemove(p), newHooksStatus(p))
	cmd.Long = `Hooks are commands that an agent runs when something happens: a prompt was sent, a
permission is asked for, the answer is complete. With panebridge's installed, it
knows at once and for sure, and needn't read it from the screen. They're there for
claude (Claude Code), codex, gemini (Gemini CLI), opencode (as a plug-in) and
qwen (Qwen Code).`
	cmd.Example = "  panebridge hooks install claude\n  panebridge hooks status\n  panebridge hooks remove claude"
	return cmd
}

// Scopes of hooks.
const (
	scopeUser    = "user"
	scopeProject = "project"
)

// hooksFlags are the flags that say where hooks are.
type hooksFlags struct{ scope, home string }

func (f *hooksFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", scopeUser, "`WHERE` they hold: user (everywhere) or project (in this folder)")
	flags.StringVar(&f.home, "home", "", "take this `FOLDER` for your home, and no variable of the agents'")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]cobra.Completion{scopeUser, scopeProject}, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that isn't there
	_ = cmd.MarkFlagDirname("home")
}

// completeAgents completes the arguments of a command that takes agents.
func completeAgents(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return agent.HookAgents(), cobra.ShellCompDirectiveNoFileComp
}

// hooksOf returns what's to be installed for each of these agents.
func (p *program) hooksOf(f hooksFlags, names []string) ([]agent.Install, error) {
	to := agent.Install{Env: func(name string) string { value, _ := p.env(name); return value }}
	to.Home = to.Env("HOME")
	var err error
	if f.home != "" {
		to.Env = func(string) string { return "" }
		if to.Home, err = filepath.Abs(f.home); err != nil {
			return nil, fmt.Errorf("find --home: %w", err)
		}
	}
	switch f.scope {
	case scopeUser:
	case scopeProject:
		if to.Project, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("find this folder: %w", err)
		}
	default:
		return nil, usageErrorf("--scope is one of user, project, not %q", f.scope)
	}
	if to.Program, err = ownPath(); err != nil {
		return nil, err
	}
	if to.StateDir, err = p.otherStateDir(); err != nil {
		return nil, err
	}
	var list []agent.Install
	for _, name := range names {
		to.Agent = name
		if _, err := to.Path(); err != nil {
			return nil, usageErrorf("%w", err)
		}
		list = append(list, to)
	}
	return list, nil
}

// otherStateDir returns the state folder if it's not the one that a hook would find by
// itself: variables that are set here may not be set for the agent.
func (p *program) otherStateDir() (string, error) {
	dir, err := p.stateDir()
	if err != nil {
		return "", err
	}
	usual, err := config.StateDir("", func(name string) (string, bool) {
		if name == "HOME" {
			return p.env(name)
		}
		return "", false
	})
	if err == nil && usual == dir {
		return "", nil
	}
	return dir, nil
}

// ownPath returns the absolute path of this program, by the name by which it was
// called: a package manager's link outlives what it points to.
func ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self, nil //nolint:nilerr // what it was called by says nothing
	}
	if called, err = filepath.Abs(called); err != nil {
		return self, nil //nolint:nilerr // the same
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(called) //nolint:gosec // it's the name by which this very program was called
	if errors.Join(errA, errB) != nil || !os.SameFile(a, b) {
		return self, nil //nolint:nilerr // the same
	}
	return called, nil
}
