package cli

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newConfigReload(p *program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have the running daemon read its configuration again",
		Long: `Have the running daemon read its configuration file again, and print which
changes are in force now and which need a restart. A file with problems changes
nothing: they're printed, all of them, and the exit code is 2.

SIGHUP does the same, and the daemon's log says what became of it.`,
		Args: takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			done, err := c.Reload(ctx)
			if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status == http.StatusUnprocessableEntity {
				return usageErrorf("%w", err)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(done)
			}
			return p.printReloaded(done)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (p *program) printReloaded(done api.Reloaded) error {
	text := done.File + ": nothing has changed"
	if len(done.Applied) > 0 {
		text = done.File + ": in force now: " + strings.Join(done.Applied, ", ")
	}
	if len(done.NeedRestart) > 0 {
		if len(done.Applied) == 0 {
			text = done.File + ": nothing that can change at run time has changed"
		}
		text += "\nafter a restart of the daemon: " + strings.Join(done.NeedRestart, ", ")
	}
	return p.printf("%s\n", text)
}
