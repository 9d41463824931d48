package discord

import (
	"context"
	"math/rand/v2"
	"time"
)

// beat sends heartbeats on a connection until ctx ends, and ends the connection when
// one isn't answered within half an interval: a gateway that has died silently is
// noticed after one and a half, and Discord's own rule is to look before the next
// (docs.discord.com/developers/events/gateway#heartbeat-interval-example-heartbeat-ack).
func (c *conn) beat(ctx context.Context, interval time.Duration) {
	next := time.NewTimer(rand.N(interval)) // all clients that connect at once don't beat at once
	defer next.Stop()
	overdue := time.NewTimer(interval)
	overdue.Stop()
	defer overdue.Stop()
	send := func() {
		select {
		case <-c.acked: // of one before
		default:
		}
		if err := c.send(opHeartbeat, c.heartbeat()); err != nil {
			c.end(broken(err))
			return
		}
		next.Reset(interval)
		overdue.Reset(interval / 2)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.asked:
			send()
		case <-next.C:
			send()
		case <-c.acked:
			overdue.Stop()
			c.alive()
		case <-overdue.C:
			c.end(errDeaf)
			return
		}
	}
}

// heartbeat is the number of the last event that's taken care of; nil: none is. What
// isn't stored hasn't come, so that it's kept for a resume.
func (c *conn) heartbeat() any {
	s := c.session.Load()
	if s == nil || s.stored.Load() == 0 {
		return nil
	}
	return s.stored.Load()
}
