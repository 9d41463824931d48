package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// session is what a bot has begun by IDENTIFY, and may take up again by RESUME.
type session struct {
	id      string
	intents Intent
	events  [][]byte // all of them
	first   int      // the first one's sequence number
	held    []heldEvent
	conn    *gateway // nil while there's none
	left    time.Time
	over    bool // nothing is added to it any more, and it can't be taken up again
	lost    bool // it can't be taken up again
}

// heldEvent is one that waits, see Server.HoldMessages.
type heldEvent struct {
	name, channel string
	data          any
}

// add appends an event and wakes whoever sends it.
func (x *session) add(name string, data any) {
	seq := len(x.events) + x.first
	x.events = append(x.events, encode(wireEvent{Data: data, Seq: &seq, Name: name}))
	if x.conn != nil {
		x.conn.poke()
	}
}

// alive reports whether the session still hears of anything, and ends it if its
// connection has been away too long.
func (x *session) alive(resume time.Duration) bool {
	if x.conn == nil && now().Sub(x.left) > resume {
		x.over = true
	}
	return !x.over
}

// part takes the session from its connection.
func (x *session) part() {
	if x.conn == nil {
		return
	}
	x.conn.session = nil
	x.conn, x.left = nil, now()
}

// identify is the bot's introduction (docs.discord.com/developers/events/gateway-events#identify).
type identify struct {
	Token    string  `json:"token"`
	Intents  *Intent `json:"intents"`
	Compress bool    `json:"compress"`
	Shard    *[2]int `json:"shard"`
}

// begin makes a session for a connection, or ends the connection.
func (g *gateway) begin(id identify) {
	s := g.s
	switch {
	case g.session != nil:
		g.close(4005, "Already authenticated.")
		return
	case s.gates.closing != 0:
		s.gates.identifies = append(s.gates.identifies, now())
		g.hangUp(s.gates.closing, "")
		return
	case !s.knows(botToken(id.Token)):
		g.close(4004, "Authentication failed.")
		return
	case id.Shard != nil && (id.Shard[1] < 1 || id.Shard[0] < 0 || id.Shard[0] >= id.Shard[1]):
		g.close(4010, "Invalid shard.")
		return
	case id.Intents == nil || *id.Intents&^knownIntents != 0:
		g.close(4013, "Invalid intent(s).")
		return
	case *id.Intents&s.forbiddenIntents() != 0:
		g.close(4014, "Disallowed intent(s).")
		return
	}
	if !s.gates.admit(g) {
		return
	}
	g.compress = id.Compress
	s.gates.count++
	x := &session{id: fmt.Sprintf("session-%d", s.gates.count), intents: *id.Intents, conn: g, first: 1}
	if s.opts.FromZero || s.gates.fromZero {
		x.first = 0
	}
	s.gates.sessions = append(s.gates.sessions, x)
	g.session, g.next = x, 0
	s.ready(g)
	s.Touch()
}

// botToken is a token as an Authorization header has it: IDENTIFY may leave out the
// word before it.
func botToken(token string) string {
	if len(token) > 4 && token[:4] == "Bot " {
		return token
	}
	return "Bot " + token
}

// admit counts an IDENTIFY. One too soon gets an invalid session; one too many in
// a day makes Discord end everything and replace the token
// (docs.discord.com/developers/events/gateway#session-start-limit-object).
func (gs *gates) admit(g *gateway) bool {
	s := g.s
	if gs.identifies.room(s.opts.Limits.IdentifyDay, now()) > 0 {
		gs.tokenReset = true
		for open := range gs.open {
			open.close(4004, "Authentication failed: too many sessions were begun today.")
		}
		return false
	}
	soon := gs.identifies.room(s.opts.Limits.Identifies, now()) > 0
	gs.identifies = append(gs.identifies, now())
	if soon {
		g.blame(0, "IDENTIFY came too soon after another")
		g.say(wireEvent{Op: opInvalidSession, Data: false})
	}
	return !soon
}

// ready begins a session's events: READY, then a GUILD_CREATE for each guild.
func (s *Server) ready(g *gateway) {
	guilds := []any{}
	for _, guild := range s.guilds {
		if !guild.gone {
			guilds = append(guilds, map[string]any{"id": guild.ID, "unavailable": true})
		}
	}
	g.session.add("READY", map[string]any{
		"v": g.version, "user": s.bot.wire(), "guilds": guilds, "session_id": g.session.id, "session_type": "normal",
		"resume_gateway_url": "ws://" + g.host + "/gateway", "shard": []int{0, 1}, "application": s.application(),
		"private_channels": []any{}, "relationships": []any{}, "presences": []any{},
	})
	for _, guild := range s.guilds {
		if !guild.gone && g.session.intents&Guilds != 0 {
			g.session.add("GUILD_CREATE", guild.wireWhole())
		}
	}
}

// resume is what a bot takes a session up again with
// (docs.discord.com/developers/events/gateway-events#resume).
type resume struct {
	Token   string `json:"token"`
	Session string `json:"session_id"`
	Seq     int    `json:"seq"`
}

// resume sends what a session has missed, then RESUMED.
func (g *gateway) resume(r resume) {
	s := g.s
	if g.session != nil {
		g.close(4005, "Already authenticated.")
		return
	}
	switch {
	case s.gates.closing != 0:
		g.hangUp(s.gates.closing, "")
		return
	case s.gates.notNow > 0:
		s.gates.notNow--
		g.say(wireEvent{Op: opInvalidSession, Data: true})
		return
	case !s.knows(botToken(r.Token)):
		g.close(4004, "Authentication failed.")
		return
	}
	x := s.gates.find(r.Session)
	if x == nil || !x.alive(s.opts.Limits.Resume) {
		g.say(wireEvent{Op: opInvalidSession, Data: false})
		return
	}
	next := r.Seq + 1 - x.first
	if next < 0 || next > len(x.events) {
		x.over = true
		x.part()
		g.close(4007, "Invalid seq.")
		return
	}
	if old := x.conn; old != nil { // it's still open here, but dead for the bot
		x.part()
		old.cut()
	}
	s.gates.resumes++
	x.conn, g.session, g.next = g, x, max(0, next-s.gates.again)
	x.repeat(s.gates.anew)
	s.gates.again, s.gates.anew = 0, 0
	x.add("RESUMED", map[string]any{"_trace": []string{}})
	s.Touch()
}

// repeat adds the newest events about messages and interactions once more, so many of them.
func (x *session) repeat(n int) {
	var again []wireEvent
	for _, raw := range slices.Backward(x.events) {
		var e wireEvent
		if len(again) < n && json.Unmarshal(raw, &e) == nil && isPersons(e.Name) {
			again = append(again, e)
		}
	}
	for _, e := range slices.Backward(again) {
		x.add(e.Name, e.Data)
	}
}

// isPersons reports whether an event may be what a person wrote, changed or pressed.
func isPersons(name string) bool {
	return strings.HasPrefix(name, "MESSAGE_") || name == "INTERACTION_CREATE"
}

func (gs *gates) find(id string) *session {
	for _, x := range gs.sessions {
		if x.id == id && !x.lost {
			return x
		}
	}
	return nil
}

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
