package cli

import (
	"errors"
	"os"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
)

// examineConfig reads the configuration; with problems it returns the defaults.
func (p *program) examineConfig() (*config.Config, []finding) {
	const name = "configuration"
	cfg, path, err := p.loadConfig()
	if err == nil {
		err = app.CheckSecrets(cfg, path, p.env)
	}
	if err == nil {
		err = app.CheckProfiles(cfg, path, p.env)
	}
	if err == nil {
		f := finding{Check: name, State: verdictOK, Detail: path + " is valid"}
		if _, err := os.Stat(path); err != nil {
			f.Detail = "there is no " + path + ", so the defaults hold"
		}
		all := append([]finding{f}, findings(app.ExamineExposure(cfg, path))...)
		return cfg, append(all, findings(app.ExamineEnvironment(cfg, os.Environ()))...)
	}
	problems, ok := errors.AsType[*config.Errors](err)
	if !ok {
		return config.Default(), []finding{{name, verdictBroken, err.Error(), "`panebridge config check` says when it's right."}}
	}
	var all []finding
	for _, problem := range problems.Problems {
		all = append(all, finding{name, verdictBroken, problem.String(), "Correct the line; `panebridge config check` says when it's right."})
	}
	return config.Default(), all
}
