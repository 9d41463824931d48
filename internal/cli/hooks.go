package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/sessions/agent"
)

func newHooks(p *invocation) *cobra.Command {
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
func (p *invocation) hooksOf(f hooksFlags, names []string) ([]agent.Install, error) {
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
func (p *invocation) otherStateDir() (string, error) {
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

// changeFlags are the flags of commands that change an agent's files.
type changeFlags struct {
	hooksFlags
	yes, dryRun bool
}

func (f *changeFlags) add(cmd *cobra.Command) {
	f.hooksFlags.add(cmd)
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "show the difference only")
}

func newHooksInstall(p *invocation) *cobra.Command {
	var f changeFlags
	var skill bool
	cmd := &cobra.Command{
		Use:   "install AGENT…",
		Short: "Put panebridge's hooks into an agent's settings",
		Long: `Put panebridge's hooks into an agent's settings. What's there stays as it is, byte
for byte. It shows the difference and asks before it writes, keeps a copy beside the
file (….before-panebridge), and changes nothing in a file that it can't read. Where
the hooks are there already, it brings them up to date.

With --scope project they hold for agents in this folder; each file is the one that
isn't shared with others, where the agent has such a one.

With --skill it also writes the page of "panebridge skill" where the agent looks for
skills.`,
		Example:           "  panebridge hooks install claude codex\n  panebridge hooks install gemini --dry-run\n  panebridge hooks install --skill claude",
		Args:              takes(1, -1),
		ValidArgsFunction: completeAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			changes := []hookChange{hooksInstallation()}
			if skill {
				changes = append(changes, skillChange())
			}
			return p.changeHooks(cmd.Context(), f, args, changes...)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&skill, "skill", false, "also write how to use panebridge where the agent looks for skills")
	return cmd
}

func newHooksRemove(p *invocation) *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use:               "remove AGENT…",
		Aliases:           []string{"rm", "uninstall"},
		Short:             "Take panebridge's hooks out of an agent's settings",
		Long:              "Take panebridge's hooks out of an agent's settings, and its skill away. All else stays as it is.",
		Example:           "  panebridge hooks remove claude",
		Args:              takes(1, -1),
		ValidArgsFunction: completeAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.changeHooks(cmd.Context(), f, args, hookChange{
				plan: agent.Install.PlanRemove, nothing: "there are no hooks of panebridge's",
				done:  "The hooks are gone from ",
				notes: func(agent.Install) []string { return nil },
			}, skillRemoval())
		},
	}
	f.add(cmd)
	return cmd
}

// hookChange is what install and remove don't share.
type hookChange struct {
	plan          func(agent.Install) (agent.InstallChange, error)
	nothing, done string // nothing "": that there's nothing to do isn't said
	notes         func(agent.Install) []string
}

// hooksInstallation is the change that installs hooks.
func hooksInstallation() hookChange {
	return hookChange{
		plan: agent.Install.Plan, nothing: "the hooks are there already",
		done: "The hooks are installed in ", notes: agent.Install.Notes,
	}
}

// changeHooks sees to one agent after the other, as far as they can be changed.
func (p *invocation) changeHooks(ctx context.Context, f changeFlags, names []string, changes ...hookChange) error {
	if f.yes && f.dryRun {
		return usageErrorf("--dry-run writes nothing, and --yes writes without asking: give one of them")
	}
	list, err := p.hooksOf(f.hooksFlags, names)
	if err != nil {
		return err
	}
	ask := newAsker(p)
	var failed []error
	for _, to := range list {
		for _, h := range changes {
			if err := p.changeOne(ctx, f, to, h, ask); err != nil {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

func (p *invocation) changeOne(ctx context.Context, f changeFlags, to agent.Install, h hookChange, ask *asker) error {
	c, err := h.plan(to)
	if err != nil {
		return err
	}
	if c.Nothing() && h.nothing == "" {
		return nil
	}
	if c.Nothing() {
		return p.printf("%s: %s (%s)\n", to.Agent, h.nothing, c.Path)
	}
	if err := p.printf("%s", difference(c)); err != nil || f.dryRun {
		return err
	}
	if !f.yes {
		yes, err := ask.AskYesNo(ctx, "Change "+c.Path+"?", false, "--yes changes it without asking, --dry-run shows the difference only")
		if err != nil || !yes {
			return err
		}
	}
	if err := c.Apply(); err != nil {
		return err
	}
	if err := p.printf("%s%s.\n", h.done, c.Path); err != nil {
		return err
	}
	if c.Backup != "" {
		if err := p.printf("As it was before, it's in %s.\n", c.Backup); err != nil {
			return err
		}
	}
	for _, note := range h.notes(to) {
		if err := p.printf("%s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// difference shows a change as diff -u does.
func difference(c agent.InstallChange) string {
	before, after := c.Path, c.Path
	if c.Before == nil {
		before = "/dev/null"
	}
	if c.After == nil {
		after = "/dev/null"
	}
	return udiff.Unified(before, after, string(c.Before), string(c.After))
}

// hooksStatus is how things stand with one agent's hooks, for --json.
type hooksStatus struct {
	Agent  string              `json:"agent"`
	Status agent.InstallStatus `json:"status"`
	File   string              `json:"file"`
	Error  string              `json:"error,omitempty"`
}

func newHooksStatus(p *invocation) *cobra.Command {
	var f hooksFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [AGENT…]",
		Short: "Say whose hooks are installed",
		Long: `Say whose hooks are installed: outdated are those of another panebridge, another
state folder or another version; "panebridge hooks install" brings them up to date.`,
		ValidArgsFunction: completeAgents,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = agent.HookAgents()
			}
			list, err := p.hooksOf(f, args)
			if err != nil {
				return err
			}
			return p.printHooks(list, asJSON)
		},
	}
	f.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// printHooks prints how things stand; a file that can't be read is a failure.
func (p *invocation) printHooks(list []agent.Install, asJSON bool) error {
	all := make([]hooksStatus, 0, len(list))
	table := [][]string{{"AGENT", "HOOKS", "FILE"}}
	broken := false
	for _, to := range list {
		s := hooksStatus{Agent: to.Agent}
		var err error
		if s.File, err = to.Path(); err != nil {
			return err
		}
		if s.Status, err = to.Status(); err != nil {
			s.Error, broken = err.Error(), true
		}
		all = append(all, s)
		table = append(table, []string{s.Agent, string(s.Status), s.File})
	}
	if asJSON {
		if err := p.printJSON(all); err != nil {
			return err
		}
	} else if err := p.printTable(table); err != nil {
		return err
	}
	for _, s := range all {
		if s.Error != "" && !asJSON {
			p.notef("panebridge: %s", s.Error)
		}
	}
	if broken {
		return silently(exitFailed)
	}
	return nil
}
