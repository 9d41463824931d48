package discord

import (
	"github.com/panebridge/panebridge/adapters/inbound"
)

// Health says how well events come in. It may be called at any time.
func (g *Gateway) Health() inbound.Health {
	return g.link.Health().Worse(g.server.Health()).Worse(g.intake.storing.Health()).Worse(g.backfill.reading.Health())
}
