package discordtest

import (
	"slices"
	"time"
)

// getGateway names the gateway, at the host that asks.
func (s *Server) getGateway(*call) (any, *refusal) {
	return map[string]any{"url": "ws://" + s.host + "/gateway"}, nil
}

func (s *Server) getGatewayBot(*call) (any, *refusal) {
	w := s.opts.Limits.IdentifyDay
	reset := time.Duration(0)
	if n := s.gates.identifies.within(w.Per, now()); n > 0 {
		list := s.gates.identifies
		reset = list[len(list)-n].Add(w.Per).Sub(now())
	}
	return map[string]any{
		"url": "ws://" + s.host + "/gateway", "shards": 1,
		"session_start_limit": map[string]any{
			"total": w.Calls, "remaining": max(0, w.Calls-s.gates.identifies.within(w.Per, now())),
			"reset_after": reset.Milliseconds(), "max_concurrency": s.opts.Limits.Identifies.Calls,
		},
	}, nil
}

// Gateways returns how many connections have a session and bring it what happens.
func (s *Server) Gateways() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for g := range s.gates.open {
		if g.session != nil && !g.silent {
			n++
		}
	}
	return n
}

// Identifies returns how many sessions were begun.
func (s *Server) Identifies() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gates.count
}

// Resumes returns how many times a session was taken up again.
func (s *Server) Resumes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gates.resumes
}

// each does something with every connection.
func (s *Server) each(do func(*gateway)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.gates.open {
		do(g)
	}
	s.Touch()
}

// DropGateways breaks all connections without a word, as a network does. Their
// sessions can be taken up again.
func (s *Server) DropGateways() { s.each((*gateway).cut) }

// RepeatEvents has the next RESUME bring so many more of a session's newest events than were
// missed, and the newest messages and interactions once more under numbers of their own.
func (s *Server) RepeatEvents(events, messages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.again, s.gates.anew = events, messages
}

// HoldMessages has events about messages, and interactions, wait from now on, as if the gateway's servers were
// behind.
func (s *Server) HoldMessages() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.holds = true
}

// ReleaseMessages sends what waits, in another order: those of a channel that are new follow
// each other, but one that was changed may come before it's said that it was made. random returns
// a number below n.
func (s *Server) ReleaseMessages(random func(n int) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.holds = false
	for _, x := range s.gates.sessions {
		for len(x.held) > 0 {
			i := random(len(x.held))
			if e := x.held[i]; e.name == "MESSAGE_CREATE" {
				i = slices.IndexFunc(x.held, func(o heldEvent) bool { return o.name == e.name && o.channel == e.channel })
			}
			x.add(x.held[i].name, x.held[i].data)
			x.held = slices.Delete(x.held, i, i+1)
		}
	}
	s.Touch()
}

// CloseGateways ends all connections with a code, such as 4000.
func (s *Server) CloseGateways(code int, reason string) {
	s.each(func(g *gateway) {
		if g.closing == nil {
			g.hangUp(code, reason)
		}
	})
}

// SilenceGateways leaves all connections open, and says nothing on them from now
// on: no event, and no ACK of a heartbeat. Their sessions keep what happens.
func (s *Server) SilenceGateways() { s.each(func(g *gateway) { g.silent = true }) }

// SpoilSessions puts a frame among the events of all sessions that have a connection, as it is:
// each RESUME from before it brings it again.
func (s *Server) SpoilSessions(raw []byte) {
	s.each(func(g *gateway) {
		if g.session != nil {
			g.session.events = append(g.session.events, raw)
			g.poke()
		}
	})
}

// ReconnectGateways asks for a new connection (opcode 7), as Discord does when a
// gateway is to be shut down.
func (s *Server) ReconnectGateways() {
	s.each(func(g *gateway) { g.say(wireEvent{Op: opReconnect}) })
}

// InvalidateSessions says on all connections that their session is invalid (opcode
// 9). If it's resumable, RESUME on a new connection works.
func (s *Server) InvalidateSessions(resumable bool) {
	s.each(func(g *gateway) {
		if g.session == nil {
			return
		}
		g.say(wireEvent{Op: opInvalidSession, Data: resumable})
		g.session.over = !resumable
		g.session.part()
	})
}

// ForgetSessions makes every RESUME from now on fail: what happens until the next
// IDENTIFY isn't brought by the gateway. Connections aren't touched.
func (s *Server) ForgetSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.gates.sessions {
		x.lost = true
	}
}

// PutOffResumes answers the next n RESUMEs as if the session couldn't be taken up again at the
// moment (opcode 9, true).
func (s *Server) PutOffResumes(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.notNow = n
}

// NumberFromZero is Options.FromZero for sessions that begin from now on.
func (s *Server) NumberFromZero() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.fromZero = true
}

// RefuseLogins closes all connections with a code, and each that wants to begin a session, or to
// take one up again, from now on; 0: none any more.
func (s *Server) RefuseLogins(code int) {
	s.mu.Lock()
	s.gates.closing = code
	s.mu.Unlock()
	if code != 0 {
		s.CloseGateways(code, "")
	}
}

// MuteGateways opens the next n connections and then says nothing on them: not even
// HELLO, or with hello HELLO and nothing else.
func (s *Server) MuteGateways(n int, hello bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.mute, s.gates.muteLate = n, hello
}

// ResetToken makes the bot's token worthless, as its owner can: the gateway closes
// with 4004, and REST answers 401.
func (s *Server) ResetToken() {
	s.each(func(g *gateway) {
		if g.closing == nil {
			g.hangUp(4004, "Authentication failed.")
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.tokenReset = true
}

// RefuseGateways answers the next n connections with 503.
func (s *Server) RefuseGateways(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates.turnAway = n
}
