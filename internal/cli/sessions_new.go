package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newSessionsNew(p *program) *cobra.Command {
	var r api.Create
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "new [-- COMMAND [ARG…]]",
		Aliases: []string{"create"},
		Short:   "Make a session in a pane of its own",
		Long: `Make a session in a tmux pane of its own, and print its id and name. It runs the
command, else the agent's, else your shell.`,
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
			if asJSON {
				return p.printJSON(s)
			}
			return p.printSessions(s)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Name, "name", "", "`NAME` of the session (else made up)")
	flags.StringVar(&r.Agent, "agent", "", "`AGENT` to start, from the configuration")
	flags.StringVar(&r.Cwd, "cwd", "", "`FOLDER` to start it in (else the current one)")
	flags.StringVar(&r.Server, "server", "", "configured tmux `SERVER` to make it on (else the first)")
	_ = cmd.MarkFlagDirname("cwd")
	jsonFlag(cmd, &asJSON)
	return cmd
}
