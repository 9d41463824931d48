package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newSessionsNew(p *program) *cobra.Command {
	var r api.Create
	var asJSON bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use:     "new [-- COMMAND [ARG…]]",
		Aliases: []string{"create"},
		Short:   "Make a session in a pane of its own",
		Long: `Make a session in a tmux pane of its own, and print its id and name. It runs the
command, else the agent's, else your shell.

The exit code is 1 when the program fails at once, as one that isn't installed does.`,
		Example: "  panebridge sessions new --name build -- make -j4\n  panebridge sessions new --agent claude --cwd ~/src/site",
		Args:    takes(0, -1),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			r.Command = args
			var err error
			if r.Cwd, err = filepath.Abs(r.Cwd); err != nil { // "" is the current folder
				return fmt.Errorf("find the folder: %w; give --cwd", err)
			}
			s, err := c.NewSession(ctx, r)
			if err != nil {
				return err
			}
			if !asJSON {
				if err := p.printSessions(s); err != nil {
					return err
				}
			}
			if s, err = watch(ctx, c, s, limit); err != nil {
				return err
			}
			if asJSON {
				if err := p.printJSON(s); err != nil {
					return err
				}
			}
			p.notMirrored(s)
			return endedAtOnce(ctx, c, s)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Name, "name", "", "`NAME` of the session (else made up)")
	flags.StringVar(&r.Agent, "agent", "", "`AGENT` to start: one of the configuration, or one that's in PATH")
	flags.StringVar(&r.Cwd, "cwd", "", "`FOLDER` to start it in (else the current one)")
	flags.StringVar(&r.Server, "server", "", "configured tmux `SERVER` to make it on (else the first)")
	flags.DurationVar(&limit, "watch", 2*time.Second, "how long to look whether the program fails at once")
	_ = cmd.MarkFlagDirname("cwd")
	jsonFlag(cmd, &asJSON)
	return cmd
}
