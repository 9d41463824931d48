package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newConfigReload(p *program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have the running daemon read its configuration again",
		Long: `Check the configuration file and, if it's valid, have the running daemon read its
own again. The daemon's log says which changes apply at once and which need a
restart. A file with problems changes nothing.`,
		Args: takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			path, _, err := config.Path(p.configFlag, p.env)
			if err != nil {
				return usageErrorf("%w", err)
			}
			if _, err := config.Load(path, p.env); err != nil {
				return explainConfig(path, err)
			}
			// The file with the process id outlives its daemon, and the id may be
			// another's by now: ask first whether somebody answers.
			if _, err := c.Health(ctx); err != nil {
				return err
			}
			pid, err := p.signalDaemon(syscall.SIGHUP)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(map[string]any{"file": path, "pid": pid})
			}
			return p.printf("%s is valid; told the daemon (process %d) to read its configuration again: its log says what applies at once and what needs a restart\n", path, pid)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// signalDaemon sends a signal to the daemon of the state folder, which is
// known to run, and returns its process id.
func (p *program) signalDaemon(sig os.Signal) (pid int, err error) {
	dir, err := p.stateDir()
	if err != nil {
		return 0, err
	}
	line, err := readLine(dir, pidFile)
	if err != nil {
		return 0, fmt.Errorf("find the daemon's process id: %w", err)
	}
	if pid, err = strconv.Atoi(line); err != nil || pid <= 1 {
		return 0, fmt.Errorf("find the daemon's process id: %s in %s has %q; start the daemon anew", pidFile, dir, line)
	}
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Signal(sig)
	}
	if err != nil {
		return 0, fmt.Errorf("signal the daemon (process %d): %w", pid, err)
	}
	return pid, nil
}
