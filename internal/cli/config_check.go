package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
)

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

func newConfigCheck(p *program) *cobra.Command {
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

func (p *program) checkConfig(flag string, asJSON bool) error {
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
