package cli

import (
	"context"
	"errors"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/sessions/agent"
)

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

func newHooksInstall(p *program) *cobra.Command {
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
			changes := []hookChange{{
				plan: agent.Install.Plan, nothing: "the hooks are there already",
				done: "The hooks are installed in ", notes: agent.Install.Notes,
			}}
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

func newHooksRemove(p *program) *cobra.Command {
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
	plan          func(agent.Install) (agent.Change, error)
	nothing, done string // nothing "": that there's nothing to do isn't said
	notes         func(agent.Install) []string
}

// changeHooks sees to one agent after the other, as far as they can be changed.
func (p *program) changeHooks(ctx context.Context, f changeFlags, names []string, changes ...hookChange) error {
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

func (p *program) changeOne(ctx context.Context, f changeFlags, to agent.Install, h hookChange, ask *asker) error {
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
		yes, err := ask.yes(ctx, "Change "+c.Path+"?", false, "--yes changes it without asking, --dry-run shows the difference only")
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
func difference(c agent.Change) string {
	before, after := c.Path, c.Path
	if c.Before == nil {
		before = "/dev/null"
	}
	if c.After == nil {
		after = "/dev/null"
	}
	return udiff.Unified(before, after, string(c.Before), string(c.After))
}
