package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/regular"
)

// platform is a chat platform as the daemon runs it: what goes out, and how what
// people do there comes in.
type platform interface {
	outbound() adapters.Adapter
	inbound() intake.Platform
	// connect has updates handled by the inbound half. It's called once, before run.
	connect(d *daemon) error
	// run takes updates in until ctx ends.
	run(ctx context.Context) error
	// reload takes in what of the configuration can change while it runs.
	reload(cfg *config.Config)
	// part is how it is.
	part() api.Part
}

// buildPlatforms makes the platforms that are on.
func (d *daemon) buildPlatforms(ctx context.Context) error {
	if telegram.ConfigOf(d.config).Enabled {
		t, err := d.newTelegram()
		if err != nil {
			return err
		}
		d.platforms = append(d.platforms, t)
	}
	if discord.ConfigOf(d.config).Enabled {
		s, err := d.newDiscord(ctx)
		if err != nil {
			return err
		}
		d.platforms = append(d.platforms, s)
	}
	return nil
}

// maxSecretFile is the size in bytes of the largest file that's read for a token, a password or
// certificates: a bundle of all public authorities has 0.2 MB.
const maxSecretFile = 4 << 20

// token is a bot's token, wherever it stands; key is its platform's in the
// configuration.
func token(inline config.Secret, file, key string) (string, error) {
	if file == "" {
		return strings.TrimSpace(inline.Reveal()), nil
	}
	text, err := regular.Read(file, maxSecretFile)
	if err != nil {
		return "", fmt.Errorf("read adapters.%s.token_file: %w", key, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// chatParts are the platforms' parts of the health.
func (d *daemon) chatParts() []api.Part {
	var out []api.Part
	for _, p := range d.platforms {
		out = append(out, p.part())
	}
	return out
}

// partOf is a platform's part of the health, from how its updates come in.
func partOf(name string, h intake.Health) api.Part {
	states := map[intake.Condition]api.HealthState{intake.Well: api.HealthOK, intake.Degraded: api.HealthDegraded, intake.Down: api.HealthDown}
	return api.Part{Name: name, State: states[h.Condition], Detail: h.Detail, LastSuccess: h.LastOK}
}
