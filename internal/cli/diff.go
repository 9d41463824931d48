package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newDiff(p *invocation) *cobra.Command {
	var since string
	var asJSON, mask bool
	cmd := &cobra.Command{
		Use:   "diff SESSION [FILE]",
		Short: "Show what a session has changed in its repository",
		Long: `Show what has changed in a session's git repository since the session began, committed or not,
as a unified diff; of a FILE, or of a folder, what has changed in it. Ignored files are left out, and
so is what had been changed before the session began and is as it was. "git apply" takes the diff, in
the repository's folder.

No setting of the repository is used, and no program that it names is run: no filter, hook or external
diff. Files that go through a filter (git-lfs) are named, and not shown.

On a terminal, characters that aren't seen where they stand, or that do something there, are written as
their numbers. Into a file or a pipe the diff goes as it is.`,
		Example:           "  panebridge diff api\n  panebridge diff api internal/store --since main\n  panebridge diff api > api.diff",
		Args:              takes(1, 2),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			q := client.DiffQuery{Since: since, Mask: mask}
			if len(args) > 1 {
				q.File = args[1]
			}
			changes, err := c.Diff(ctx, args[0], q)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(changes)
			}
			return p.printDiff(changes)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", "show what has changed since this `COMMIT`")
	flags.BoolVar(&mask, "mask", false, "mask secrets, as chats and viewers see it")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// printDiff prints the diff, and what's said beside it to the other output.
func (p *invocation) printDiff(c api.Changes) error {
	for _, note := range c.Notes {
		p.notef("%s", note)
	}
	if c.Diff == "" {
		p.notef("Nothing has changed.")
		return nil
	}
	text := c.Diff
	if isTerminal(p.stdio.Out) {
		text = sessions.Legible(text)
	}
	return p.printf("%s", strings.TrimSuffix(text, "\n")+"\n")
}
