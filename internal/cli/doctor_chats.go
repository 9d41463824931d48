package cli

import (
	"context"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
)

// examineChats looks at the bots of the platforms that are on.
func examineChats(ctx context.Context, cfg *config.Config, running bool) []finding {
	return findings(app.ExamineChats(ctx, cfg, running))
}

func findings(found []app.Finding) []finding {
	verdicts := map[app.Severity]verdict{app.Fine: verdictOK, app.Doubtful: verdictWarning, app.Broken: verdictBroken}
	var all []finding
	for _, f := range found {
		all = append(all, finding{Check: f.Check, State: verdicts[f.Severity], Detail: f.Detail, Fix: f.Fix})
	}
	return all
}
