package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/findings"
)

// examineChats looks at the bots of the platforms that are on.
func examineChats(ctx context.Context, cfg *config.Config, running bool) []finding {
	return checksOf(app.ExamineChats(ctx, cfg, running))
}

func checksOf(found []findings.Finding) []finding {
	verdicts := map[findings.Severity]checkOutcome{findings.Fine: verdictOK, findings.Doubtful: verdictWarning, findings.Broken: verdictBroken}
	var all []finding
	for _, f := range found {
		all = append(all, finding{Check: f.Check, State: verdicts[f.Severity], Detail: f.Detail, Fix: f.Fix})
	}
	return all
}

// checkConfiguration is the name of what the doctor finds about the configuration.
const checkConfiguration = "configuration"

// examineConfig reads the configuration. One that can't be read is the defaults. One that a
// daemon would refuse for what it means is returned as it is: the other checks need it.
func (p *invocation) examineConfig() (*config.Config, []finding) {
	cfg, path, err := p.loadConfig()
	if err != nil {
		return all.Form().Default(), configFindings(err)
	}
	all := []finding{{Check: checkConfiguration, State: verdictOK, Detail: path + " is valid"}}
	if _, err := os.Stat(path); err != nil {
		all[0].Detail = "there is no " + path + ", so the defaults hold"
	}
	if err := app.CheckConfig(cfg, path, p.env); err != nil {
		if rest := withoutTokenFiles(err); rest != nil {
			all = configFindings(rest)
		} else {
			all[0].Detail += ", but for a token_file, see below"
		}
	}
	all = append(all, checksOf(app.ExamineExposure(cfg, path))...)
	return cfg, append(all, checksOf(app.ExamineEnvironment(cfg, os.Environ()))...)
}

// withoutTokenFiles is what's wrong with a configuration but for token files, which the checks of
// the platforms look at; nil: nothing.
func withoutTokenFiles(err error) error {
	problems, ok := errors.AsType[*config.Errors](err)
	if !ok {
		return err
	}
	var others config.Errors
	for _, problem := range problems.Problems {
		if !strings.HasSuffix(problem.Path, ".token_file") {
			others.Problems = append(others.Problems, problem)
		}
	}
	if len(others.Problems) == 0 {
		return nil
	}
	return &others
}

// configFindings are the findings of a configuration that's refused.
func configFindings(err error) []finding {
	problems, ok := errors.AsType[*config.Errors](err)
	if !ok {
		return []finding{{checkConfiguration, verdictBroken, err.Error(), "`panebridge config check` says when it's right."}}
	}
	var all []finding
	for _, problem := range problems.Problems {
		all = append(all, finding{checkConfiguration, verdictBroken, problem.String(), "Correct the line; `panebridge config check` says when it's right."})
	}
	return all
}
