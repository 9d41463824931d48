package discord

import "github.com/panebridge/panebridge/adapters/intake"

// Health says how well events come in. It may be called at any time.
func (g *Gateway) Health() intake.Health {
	return g.link.Health().Worse(g.server.Health()).Worse(g.intake.storing.Health()).Worse(g.backfill.reading.Health())
}
