package discordtest

import (
	"bytes"
	"compress/zlib"
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

// say queues what isn't an event of the session.
func (g *gateway) say(e wireEvent) {
	g.queue = append(g.queue, frame{frameText, encode(e)})
	g.poke()
}

// close ends a connection for what the bot did.
func (g *gateway) close(code int, reason string) {
	if g.closing == nil {
		g.blame(code, reason)
		g.hangUp(code, reason)
	}
}

// blame writes down what the bot did wrong.
func (g *gateway) blame(code int, reason string) {
	g.s.refusals = append(g.s.refusals, Refusal{At: now(), Call: "gateway", Code: code, Error: reason})
}

// hangUp ends a connection with a code.
func (g *gateway) hangUp(code int, reason string) {
	f := closeFrame(code, reason)
	g.closing = &f
	g.ws.deadline(now().Add(goodbye))
	if g.session != nil {
		g.session.part()
	}
	g.poke()
	g.s.Touch()
}

// cut breaks the connection without a word.
func (g *gateway) cut() { _ = g.ws.conn.Close() } // the reader sees what comes of it

// poke wakes the writer.
func (g *gateway) poke() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// write sends what there is to send until the connection ends.
func (g *gateway) write() {
	for {
		frames, last, ended := g.due()
		if ended {
			return
		}
		for _, f := range frames {
			if g.ws.write(f) != nil {
				g.cut()
				return
			}
		}
		if last != nil {
			if g.ws.write(*last) != nil {
				g.cut()
			}
			return
		}
		if len(frames) == 0 {
			<-g.wake
		}
	}
}

// due takes what's to be sent next.
func (g *gateway) due() (frames []frame, last *frame, ended bool) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.ended {
		return nil, nil, true
	}
	if g.silent {
		return nil, nil, false
	}
	frames, g.queue = g.queue, nil
	if g.session != nil {
		for ; g.next < len(g.session.events); g.next++ {
			frames = append(frames, g.pack(g.session.events[g.next]))
		}
	}
	return frames, g.closing, false
}

// compressFrom is how many bytes an event has that's compressed for a bot which
// takes that.
const compressFrom = 2 << 10

func (g *gateway) pack(event []byte) frame {
	if !g.compress || len(event) < compressFrom {
		return frame{frameText, event}
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(event) // a buffer takes everything
	_ = z.Close()         // as above
	return frame{frameBinary, b.Bytes()}
}

// wireEvent is what the gateway sends (docs.discord.com/developers/events/gateway-events#payload-structure).
type wireEvent struct {
	Op   int    `json:"op"`
	Data any    `json:"d"`
	Seq  *int   `json:"s"`
	Name string `json:"t,omitempty"`
}

func encode(e wireEvent) []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // every event is made of plain values
	}
	return text
}

// dispatch gives an event to every session that asked for it and, if it's about a
// channel, whose bot sees that.
func (s *Server) dispatch(name string, need Intent, in *channel, data any) {
	s.dispatchFor(name, need, in, func(Intent) any { return data })
}

// dispatchFor is dispatch for an event that looks different by intents. Sessions
// whose connection is gone keep the event for RESUME.
func (s *Server) dispatchFor(name string, need Intent, in *channel, data func(Intent) any) {
	if in != nil && !in.visible() {
		return
	}
	for _, session := range s.gates.sessions {
		if !session.alive(s.opts.Limits.Resume) || need != always && session.intents&need == 0 {
			continue
		}
		if s.gates.holds && isPersons(name) {
			e := heldEvent{name: name, data: data(session.intents)}
			if in != nil {
				e.channel = in.id
			}
			session.held = append(session.held, e)
			continue
		}
		session.add(name, data(session.intents))
	}
}

// Intent is a set of what a gateway connection asks to hear of
// (docs.discord.com/developers/events/gateway#gateway-intents).
type Intent int

// The intents that events of the stand-in belong to.
const (
	Guilds          Intent = 1 << 0
	guildMembers    Intent = 1 << 1 // privileged, and never granted here
	guildPresences  Intent = 1 << 8 // privileged, and never granted here
	GuildMessages   Intent = 1 << 9
	GuildReactions  Intent = 1 << 10
	DirectMessages  Intent = 1 << 12
	DirectReactions Intent = 1 << 13
	MessageContent  Intent = 1 << 15 // privileged

	// always is for what comes whatever was asked for, such as interactions.
	always Intent = 0
	// everyIntent shows all.
	everyIntent Intent = 1<<17 - 1
	// knownIntents are the bits that mean anything to Discord.
	knownIntents = everyIntent | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

func (c *channel) messageIntent() Intent {
	if c.guild == nil {
		return DirectMessages
	}
	return GuildMessages
}

func (c *channel) reactionIntent() Intent {
	if c.guild == nil {
		return DirectReactions
	}
	return GuildReactions
}

// forbiddenIntents are the intents that this bot isn't granted.
func (s *Server) forbiddenIntents() Intent {
	if s.opts.NoContentIntent {
		return guildMembers | guildPresences | MessageContent
	}
	return guildMembers | guildPresences
}
