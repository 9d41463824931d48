package discordtest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"time"
)

// The opcodes (docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-opcodes).
const (
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoice          = 4
	opResume         = 6
	opReconnect      = 7
	opMembers        = 8
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatACK   = 11
)

// gates are all connections and sessions there are.
type gates struct {
	open       map[*gateway]bool
	sessions   []*session
	count      int // of sessions ever begun
	resumes    int
	identifies arrivals
	tokenReset bool // the token is worthless from now on
	holds      bool // see Server.HoldMessages
	again      int  // see Server.RepeatEvents
	anew       int  // as again, of messages
	turnAway   int  // how many of the next connections are refused
	mute       int  // how many of the next connections stay silent
	muteLate   bool // they do say HELLO
	notNow     int  // how many of the next RESUMEs are put off
	closing    int  // the code that each login is answered with; 0: none is
	fromZero   bool // see Options.FromZero
}

func newGates() gates { return gates{open: map[*gateway]bool{}} }

// goodbye is for how long a bot has time to close its end of a connection that was
// ended, whoever ended it. The library takes a second for it with a lock held: to
// be quicker would stop a synctest bubble's clock while others wait for that lock.
const goodbye = 5 * time.Second

// gateway is one connection. But for the socket it's guarded by the server's lock.
type gateway struct {
	s        *Server
	ws       *socket
	wake     chan struct{}
	host     string
	version  int
	compress bool
	session  *session
	next     int     // of the session's events: the first that wasn't sent
	queue    []frame // what goes out besides events
	closing  *frame  // goes out last
	silent   bool    // nothing goes out any more
	deaf     bool    // nothing that the bot says is heard
	ended    bool
	sends    arrivals
}

// maxPayload is the most that a bot may say at once
// (docs.discord.com/developers/events/gateway#sending-events), in bytes.
const maxPayload = 4096

// serveGateway holds a connection until it ends.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	away := s.gates.turnAway > 0
	if away {
		s.gates.turnAway--
	}
	s.mu.Unlock()
	if away {
		http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
		return
	}
	ws, err := upgrade(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer ws.conn.Close()
	defer context.AfterFunc(r.Context(), func() { _ = ws.conn.Close() })() // the reader sees what comes of it
	g := &gateway{s: s, ws: ws, wake: make(chan struct{}, 1), host: r.Host}
	written := make(chan struct{})
	g.greet(r)
	go func() {
		defer close(written)
		g.write()
	}()
	g.read()
	_ = ws.conn.Close() // so that nobody goes on writing to it
	<-written
}

// greet begins a connection: HELLO, unless it asks for what isn't spoken.
func (g *gateway) greet(r *http.Request) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.s.gates.open[g] = true
	q := r.URL.Query()
	switch q.Get("v") {
	case "9":
		g.version = 9
	case "10":
		g.version = 10
	default:
		g.close(4012, "Invalid API version.")
		return
	}
	if e := q.Get("encoding"); e != "" && e != "json" {
		g.close(4002, "The stand-in speaks JSON only.")
		return
	}
	muted := g.s.gates.mute > 0
	if muted {
		g.s.gates.mute--
		g.deaf = true
	}
	if muted && !g.s.gates.muteLate {
		g.s.Touch()
		return
	}
	g.say(wireEvent{Op: opHello, Data: map[string]any{"heartbeat_interval": g.s.opts.Heartbeat.Milliseconds(), "_trace": []string{}}})
	g.s.Touch()
}

// read takes what the bot says until the connection ends.
func (g *gateway) read() {
	beat := now()
	for {
		g.ws.deadline(g.patience(beat))
		f, err := g.ws.read()
		if err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() && g.late() { //nolint:errorlint // the socket returns what the connection says
				continue
			}
			g.end(f)
			if f.op == frameClose {
				g.ws.drain(goodbye)
			}
			return
		}
		if f.op == frameText && g.take(f.payload) {
			beat = now()
		}
	}
}

// patience is until when the bot must have sent a heartbeat: half an interval late
// at most. A silent connection waits for ever.
func (g *gateway) patience(beat time.Time) time.Time {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	switch {
	case g.closing != nil:
		return now().Add(goodbye)
	case g.silent || g.deaf:
		return time.Time{}
	}
	return beat.Add(g.s.opts.Heartbeat * 3 / 2)
}

// late closes a connection without heartbeats; false if it was being closed
// already.
func (g *gateway) late() bool {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.closing != nil {
		return false
	}
	if !g.silent && !g.deaf {
		g.over()
		g.close(4009, "Session timed out.")
	}
	return true
}

// over makes sure that the session isn't taken up again.
func (g *gateway) over() {
	if g.session != nil {
		g.session.over = true
	}
}

// end forgets a connection that's gone. A bot that says goodbye with 1000 or 1001
// ends its session (docs.discord.com/developers/events/gateway#initiating-a-disconnect).
func (g *gateway) end(last frame) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if code := last.closeCode(); code == 1000 || code == 1001 {
		g.over()
	}
	if g.session != nil {
		g.session.part()
	}
	g.ended = true
	delete(g.s.gates.open, g)
	g.poke()
	g.s.Touch()
}

// take handles one payload, and reports whether it was a heartbeat.
func (g *gateway) take(payload []byte) bool {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.s.sweep()
	if g.silent || g.deaf || g.closing != nil {
		return false
	}
	if g.sends.room(g.s.opts.Limits.Sends, now()) > 0 {
		g.close(4008, "You are being rate limited.")
		return false
	}
	g.sends = append(g.sends, now())
	var said struct {
		Op   int             `json:"op"`
		Data json.RawMessage `json:"d"`
	}
	if len(payload) > maxPayload || json.Unmarshal(payload, &said) != nil {
		g.close(4002, "Error while decoding payload.")
		return false
	}
	return g.obey(said.Op, said.Data)
}

func (g *gateway) obey(op int, data json.RawMessage) (beat bool) {
	switch op {
	case opHeartbeat:
		g.say(wireEvent{Op: opHeartbeatACK})
		return true
	case opIdentify:
		read(g, data, g.begin)
	case opResume:
		read(g, data, g.resume)
	case opPresence, opVoice, opMembers:
		if g.session == nil {
			g.close(4003, "Not authenticated.")
		}
	default:
		g.close(4001, "Unknown opcode.")
	}
	return false
}

// read decodes what an opcode carries.
func read[T any](g *gateway, data json.RawMessage, do func(T)) {
	var value T
	if json.Unmarshal(data, &value) != nil {
		g.close(4002, "Error while decoding payload.")
		return
	}
	do(value)
}
