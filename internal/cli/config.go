package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
)

func newConfig(p *invocation) *cobra.Command {
	cmd := newGroup("config", "Check, describe and reload the configuration",
		newConfigCheck(p), newConfigSchema(p), newConfigReload(p))
	cmd.Long = `The configuration is one YAML file, of which everything can be left out. It's the
one that --config names, else PANEBRIDGE_CONFIG, else panebridge/config.yaml in
your configuration folder (~/.config).`
	cmd.Example = "  panebridge config check\n  panebridge config reload\n  panebridge config schema >panebridge.schema.json"
	return cmd
}

// configVerdict is what `config check --json` prints.
type configVerdict struct {
	File     string          `json:"file"`
	Valid    bool            `json:"valid"`
	Missing  bool            `json:"missing,omitempty"` // there's no file, and the defaults hold
	Problems []configProblem `json:"problems"`          // never null
}

type configProblem struct {
	Line    int    `json:"line"`   // from 1; 0: the file as a whole
	Column  int    `json:"column"` // from 1; 0: the file as a whole
	Path    string `json:"path"`
	Message string `json:"message"`
}

func newConfigCheck(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what is wrong with a configuration file",
		Long: `Say what is wrong with a configuration file, all of it at once: FILE, else the
one that "panebridge run" would read. Exit code 2 when something is.`,
		Args: takes(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			named := p.configFlag
			if len(args) > 0 {
				named = args[0]
			}
			return p.checkConfig(named, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (p *invocation) checkConfig(flag string, asJSON bool) error {
	path, named, err := config.Path(flag, p.env)
	if err != nil {
		return usageErrorf("%w", err)
	}
	cfg, err := all.Form().Load(path, p.env)
	if err == nil {
		err = app.CheckConfig(cfg, path, p.env)
	}
	v := configVerdict{File: path, Valid: err == nil, Problems: []configProblem{}}
	if errors.Is(err, fs.ErrNotExist) && !named {
		v.Valid, v.Missing, err = true, true, nil
	}
	if err = explainConfig(path, err); !asJSON {
		switch {
		case err != nil:
			return err
		case v.Missing:
			return p.printf("%s: there is no such file, so the defaults hold\n", path)
		}
		return p.printf("%s: valid\n", path)
	}
	if err != nil {
		v.Problems = problemsOf(err)
	}
	if err := p.printJSON(v); err != nil {
		return err
	}
	if !v.Valid {
		return silently(exitUsage)
	}
	return nil
}

func problemsOf(err error) []configProblem {
	all, ok := errors.AsType[*config.Errors](err)
	if !ok {
		return []configProblem{{Message: err.Error()}}
	}
	var out []configProblem
	for _, pr := range all.Problems {
		out = append(out, configProblem{Line: pr.Line, Column: pr.Column, Path: pr.Path, Message: pr.Message})
	}
	return out
}

func newConfigReload(p *invocation) *cobra.Command {
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

func (p *invocation) printReloaded(done api.Reloaded) error {
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
	for _, key := range done.Idle {
		text += "\n" + key
	}
	return p.printf("%s\n", text)
}

func newConfigSchema(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of the configuration file, for editors",
		Args:  takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			schema, err := all.Form().Schema()
			if err != nil {
				return fmt.Errorf("make the schema: %w", err)
			}
			return p.printf("%s\n", schema)
		},
	}
}
