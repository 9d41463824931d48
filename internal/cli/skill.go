package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions/agent"
)

// skillText tells an agent how to use its own commands.
//
//go:embed skill.md
var skillText string

func newSkill(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Print how agents use panebridge, for them to read",
		Long: `Print a page that tells an agent how to send and read messages, to notify, listen and
wait. "panebridge hooks install --skill AGENT" puts it where the agent looks for skills.`,
		Args: takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return p.printJSON(map[string]string{"skill": skillText})
			}
			return p.printf("%s", skillText)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// skillPath is where an agent looks for skills: Claude Code in its own folder, Codex,
// Gemini CLI and opencode in the one that they share (agentskills.io), below the home
// folder or, with --scope project, this one.
func skillPath(to agent.Install) string {
	root := to.Home
	if to.Project != "" {
		root = to.Project
	}
	folder := filepath.Join(root, ".agents")
	if to.Agent == "claude" {
		folder = filepath.Join(root, ".claude")
		if moved := to.Env("CLAUDE_CONFIG_DIR"); moved != "" && to.Project == "" {
			folder = moved
		}
	}
	return filepath.Join(folder, "skills", "panebridge", "SKILL.md")
}

// maxSkill is how many bytes a skill has at most that's read to be replaced.
const maxSkill = 1 << 20

// planSkill is the change that writes the skill, or brings it up to date.
func planSkill(to agent.Install) (agent.InstallChange, error) {
	c := agent.InstallChange{Path: skillPath(to), After: []byte(skillText)}
	was, err := regular.Read(c.Path, maxSkill)
	switch {
	case err == nil:
		c.Before = was
	case !errors.Is(err, fs.ErrNotExist):
		return c, fmt.Errorf("read the skill: %w", err)
	}
	return c, nil
}

// skillChange is planSkill as changeHooks does it.
func skillChange() hookChange {
	return hookChange{
		plan: planSkill, nothing: "the skill is there already", done: "The skill is in ",
		notes: func(agent.Install) []string { return nil },
	}
}

// skillRemoval takes away a skill that an install wrote, also that of another version;
// what somebody has written there stays.
func skillRemoval() hookChange {
	return hookChange{
		plan: func(to agent.Install) (agent.InstallChange, error) {
			c, err := planSkill(to)
			c.After = c.Before
			if strings.HasPrefix(string(c.Before), skillHead()) {
				c.After = nil
			}
			return c, err
		},
		done:  "The skill is gone from ",
		notes: func(agent.Install) []string { return nil },
	}
}

// skillHead is how the skill of every version begins: two lines with its name.
func skillHead() string {
	lines := strings.SplitAfterN(skillText, "\n", 3)
	return strings.Join(lines[:2], "")
}
