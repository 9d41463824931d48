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
