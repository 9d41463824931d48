package app

import (
	"path/filepath"

	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions/agent"
)

// shellIntegration is what sessions.Options.Integrate wants.
func (d *daemon) shellIntegration() (func([]string) (changed, env []string), error) {
	if !d.config.Sessions.ShellIntegration {
		return nil, nil //nolint:nilnil // none is wanted
	}
	s, err := agent.NewShellIntegration(filepath.Join(d.opt.StateDir, statedir.ShellFolder))
	if err != nil {
		return nil, err
	}
	return func(command []string) (changed, env []string) { return s.Integrate(command, d.lookUpPane) }, nil
}
