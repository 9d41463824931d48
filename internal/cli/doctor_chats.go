package cli

import (
	"context"

	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/app"
)

// examineChats looks at the bots of the platforms that are on.
func examineChats(ctx context.Context, cfg *config.Config, running bool) []finding {
	var all []finding
	if telegram.ConfigOf(cfg).Enabled {
		all = append(all, findings(app.ExamineTelegram(ctx, cfg, running))...)
	}
	if discord.ConfigOf(cfg).Enabled {
		all = append(all, findings(app.ExamineDiscord(ctx, cfg))...)
	}
	return all
}

func findings(found []app.Finding) []finding {
	verdicts := map[app.Severity]verdict{app.Fine: verdictOK, app.Doubtful: verdictWarning, app.Broken: verdictBroken}
	var all []finding
	for _, f := range found {
		all = append(all, finding{Check: f.Check, State: verdicts[f.Severity], Detail: f.Detail, Fix: f.Fix})
	}
	return all
}
