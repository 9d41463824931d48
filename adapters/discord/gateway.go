package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/sessions"
)

// GatewayOptions configure a Gateway.
type GatewayOptions struct {
	// Host is what it has of the daemon. What's written where Knows and Uses say no isn't stored, but for what begins
	// like a command.
	platform.Host
	Keeper intake.UpdateKeeper
	// RightsChanged is told that what the bot may do may have changed somewhere. It returns at once.
	RightsChanged func()
}

// Gateway takes in what happens on Discord. Each event is stored before Discord is
// told that it has come.
//
//	gateway_conn.go      one WebSocket connection, and its heartbeats
//	gateway_intake.go    events, one after the other, into the journal
//	places.go            which channel a thread is in, with whom a private chat is
//	backfill.go          what was missed, by REST
//	interaction.go       answers that are owed within three seconds
//	sharing.go           what's this daemon's where others use the bot, too
type Gateway struct {
	adapter *Adapter
	opt     GatewayOptions
	log     *slog.Logger

	link   intake.Vitals // the connection
	server intake.Vitals // whether the bot is on the server

	intake   *eventIntake
	backfill *backfill
	budget   loginBudget

	// What follows belongs to Run's goroutine.
	session *gatewaySession // that can be resumed; nil: none
	fails   int             // connections in a row that didn't live for calm
	denied  int             // of them, those that Discord ended as if a person had to do something
	deaf    int             // dials in a row to the session's own address that failed
	spoiled int             // connections in a row of one session that brought what can't be read
}

// Gateway returns a gateway that has called nothing yet.
func (a *Adapter) Gateway(o GatewayOptions) *Gateway {
	g := &Gateway{
		adapter: a, opt: o, log: a.log,
		link:   intake.Vitals{Log: a.log, Part: "Discord's gateway"},
		server: intake.Vitals{Log: a.log, Part: "Discord's server"},
		budget: loginBudget{client: a.client, notes: a.opt.Notes},
	}
	g.backfill = newBackfill(g)
	g.intake = newIntake(g)
	return g
}

const (
	// calm is how long a connection must live to count as a good one.
	calm = time.Minute
	// maxDenied is how many logins that Discord doesn't take follow each other soon, and
	// deniedRest how long to rest between those after them: a day has a thousand logins
	// (docs.discord.com/developers/events/gateway#session-start-limit-object).
	maxDenied  = 4
	deniedRest = 2 * time.Minute
	// maxDeaf is how often a session's own address is dialed before the general one.
	maxDeaf = 3
	// maxSpoiled is how many connections of a session bring what can't be read until another
	// is begun: RESUME would bring it again each time. What was written meanwhile is fetched.
	maxSpoiled = 2
)

// decoder reads its events.
func (g *Gateway) decoder() Decoder { return Decoder{g.opt.Commands} }

// Run takes events in until ctx ends, and blocks until then. When Discord doesn't let the bot in for a reason
// that only a person can change, it calls seldom, and Health says so.
func (g *Gateway) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var children sync.WaitGroup
	defer children.Wait()
	defer cancel()
	children.Go(func() { g.intake.run(ctx) })
	children.Go(func() { g.backfill.run(ctx) })
	for ctx.Err() == nil {
		began := time.Now()
		err := g.connect(ctx, &children)
		if ctx.Err() != nil {
			break
		}
		rest := g.noteEnding(ctx, err, time.Since(began))
		_ = sessions.Pause(ctx, rest)
	}
	return nil
}

// noteEnding takes note of why a connection ended, or didn't come up, and says how long to
// rest before the next.
func (g *Gateway) noteEnding(ctx context.Context, err error, lived time.Duration) time.Duration {
	if lived >= calm {
		g.fails, g.denied, g.spoiled = 0, 0, 0
	}
	g.fails++
	why := err.Error()
	var end *connEnding
	if errors.As(err, &end) {
		if end == errFrames && g.session != nil {
			g.spoiled++
		}
		if end.forget || g.spoiled >= maxSpoiled {
			g.session, g.spoiled = nil, 0
		}
		if end.early && end.again > 0 { // other calls were refused, and no more are made meanwhile
			g.link.Denied(ctx, why)
			return end.again + rand.N(time.Second)
		}
		if end.final {
			g.denied++
			g.link.Denied(ctx, why)
			if !end.early && g.denied > maxDenied {
				return deniedRest + rand.N(deniedRest/4)
			}
			return intake.RestDenied(g.denied)
		}
		if end.asked {
			g.log.InfoContext(ctx, "Discord asks to connect again", "why", why)
		}
	}
	if f, ok := errors.AsType[*failure](err); ok && f.RetryAfter > 0 {
		g.link.Fails(ctx, why)
		return f.RetryAfter + rand.N(time.Second) // never earlier
	}
	if end == nil || !end.asked {
		g.link.Fails(ctx, why)
	}
	if end != nil && end.rest > 0 {
		return max(end.rest+rand.N(4*end.rest), intake.RestAfter(g.fails-1))
	}
	if g.fails == 1 {
		return rand.N(time.Second)
	}
	return intake.RestAfter(g.fails - 1)
}

// Health says how well events come in. It may be called at any time.
func (g *Gateway) Health() intake.Health {
	return g.link.Health().Worse(g.server.Health()).Worse(g.intake.storing.Health()).Worse(g.backfill.reading.Health())
}

// gatewaySession is a login that's resumed over connections. Discord sends again what came
// after the event that we name, and we name the last one that's stored: what was lost
// on the way to the disk comes again.
type gatewaySession struct {
	id  string
	url string // where it's resumed
	bot string // the bot's user id
	// stored is the number of the last event that's taken care of, as were all before.
	stored atomic.Int64
}

// readyJSON is what's read of the event that begins a session
// (docs.discord.com/developers/events/gateway-events#ready).
type readyJSON struct {
	Session string   `json:"session_id"`
	URL     string   `json:"resume_gateway_url"`
	User    userJSON `json:"user"`
	Guilds  []struct {
		ID string `json:"id"`
	} `json:"guilds"`
}

// newSession reads the event that begins one.
func newSession(raw json.RawMessage, secure bool) (*gatewaySession, error) {
	var ready readyJSON
	if err := readEvent(raw, &ready); err != nil {
		return nil, err
	}
	if ready.Session == "" || !isID(ready.User.ID) {
		return nil, errors.New("read an event: READY without session_id or user.id")
	}
	s := &gatewaySession{id: ready.Session, bot: ready.User.ID}
	if ready.URL != "" {
		var err error
		if s.url, err = gatewayURL(ready.URL, secure); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// gatewayURL is an address of the gateway with what's asked of it. The token goes
// there: if the API is reached by https, so must the gateway.
func gatewayURL(address string, secure bool) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "wss" && (secure || u.Scheme != "ws") {
		return "", errors.New("read the gateway's address: it isn't one; check api_url")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.RawQuery = fmt.Sprintf("v=%s&encoding=json", apiVersion)
	return u.String(), nil
}

// intents are the kinds of events that are asked for: servers with their channels and
// threads, messages there and in private chats, and what's in them
// (docs.discord.com/developers/events/gateway#gateway-intents).
const intents = 1<<0 | 1<<9 | 1<<12 | 1<<15

// apiVersion is the one that the library speaks.
const apiVersion = "9"

type identifyJSON struct {
	Token      exchange.Token    `json:"-"`
	Intents    int               `json:"intents"`
	Properties map[string]string `json:"properties"`
}

// MarshalJSON puts the token in, which prints as *** elsewhere.
func (i identifyJSON) MarshalJSON() ([]byte, error) {
	type plain identifyJSON
	return json.Marshal(struct {
		Token string `json:"token"`
		plain
	}{string(i.Token), plain(i)})
}

type resumeJSON struct {
	Token   exchange.Token `json:"-"`
	Session string         `json:"session_id"`
	Seq     int64          `json:"seq"`
}

// MarshalJSON puts the token in, which prints as *** elsewhere.
func (r resumeJSON) MarshalJSON() ([]byte, error) {
	type plain resumeJSON
	return json.Marshal(struct {
		Token string `json:"token"`
		plain
	}{string(r.Token), plain(r)})
}

// identify is the login of a new session.
func identify(t exchange.Token) identifyJSON {
	return identifyJSON{Token: t, Intents: intents, Properties: map[string]string{"os": runtime.GOOS, "browser": "panebridge", "device": "panebridge"}}
}

func (s *gatewaySession) resume(t exchange.Token) resumeJSON {
	return resumeJSON{Token: t, Session: s.id, Seq: s.stored.Load()}
}

const (
	// identifyEvery is the least time between two logins
	// (docs.discord.com/developers/events/gateway#rate-limiting, max_concurrency).
	identifyEvery = 5 * time.Second
	// fewLeft is from when on the logins that are left are spread over the time until
	// there are more. Who uses all 1,000 of a day up has the token taken away.
	fewLeft = 100
	// noteIdentified is when the bot logged in last.
	noteIdentified = "identified"
)

// loginBudget says when the bot may log in. It belongs to one goroutine.
type loginBudget struct {
	client *client
	notes  platform.Notes
}

// gatewayJSON is where the gateway is, and how often the bot may still log in
// (docs.discord.com/developers/events/gateway#get-gateway-bot).
type gatewayJSON struct {
	URL   string `json:"url"`
	Limit *struct {
		Remaining  int   `json:"remaining"`
		ResetAfter int64 `json:"reset_after"` // milliseconds
	} `json:"session_start_limit"`
}

// tooSoon is the failure of a login that isn't tried before its time.
type tooSoon struct{ until time.Time }

func (t tooSoon) Error() string {
	return fmt.Sprintf("the bot has logged in too often today, and logs in again at %s: end other programs that use its token", t.until.Format(time.TimeOnly))
}

// askGateway returns where the gateway is. To log in, wait says how long to wait first, and
// then to ask again; 0: it may be done now.
func (b *loginBudget) askGateway(ctx context.Context) (url string, wait time.Duration, err error) {
	var g gatewayJSON
	if err := b.client.callPath(ctx, http.MethodGet, "gateway/bot", nil, &g); err != nil {
		return "", 0, err
	}
	said, err := b.notes.Note(ctx, noteIdentified)
	if err != nil {
		return "", 0, fmt.Errorf("read when the bot logged in last: %w", err)
	}
	now, spread := time.Now(), identifyEvery
	if l := g.Limit; l != nil {
		left, after := max(l.Remaining, 0), time.Duration(max(l.ResetAfter, 0))*time.Millisecond
		if left == 0 {
			return g.URL, after + rand.N(time.Minute), nil
		}
		if left <= fewLeft {
			spread = max(spread, after/time.Duration(left))
		}
	}
	if last, err := time.Parse(time.RFC3339Nano, said); err == nil && !last.After(now) {
		wait = max(spread-now.Sub(last), 0)
	}
	return g.URL, wait, nil
}

// noteLogin takes note that the bot logs in now.
func (b *loginBudget) noteLogin(ctx context.Context) error {
	return b.notes.PutNote(ctx, noteIdentified, time.Now().Format(time.RFC3339Nano))
}

// connEnding is why a connection to the gateway ended, and what that means for the next.
type connEnding struct {
	text   string        // as a sentence, for people
	final  bool          // a person must change something, as far as is known
	early  bool          // of final: before the bot tried to log in
	again  time.Duration // of early: after how long calls are made again, since none is made now; 0: one was made
	forget bool          // the session can't be resumed
	asked  bool          // Discord wants it so; nothing is wrong
	// rest is the least time to rest before the next, to which up to four times as
	// much is added by chance; 0: as after any failure.
	rest time.Duration
}

func (e *connEnding) Error() string { return e.text }

// What ends connections, beside Discord's closing them. Reconnects are asked for
// several times a day. An invalid session takes 1 to 5 s until the next
// (docs.discord.com/developers/events/gateway#resuming).
var (
	errReconnect = &connEnding{text: "Discord asked to connect again", asked: true}
	errInvalid   = &connEnding{text: "Discord can't resume the session", asked: true, forget: true, rest: time.Second}
	errNotNow    = &connEnding{text: "Discord can't resume the session at the moment", asked: true, rest: time.Second}
	errCaughtUp  = &connEnding{text: "events waited too long to be stored; they're asked for again", asked: true}
	errDeaf      = &connEnding{text: "the gateway is silent: it answered no heartbeat"}
	errNoWelcome = &connEnding{text: "the gateway is silent: it didn't let the bot in, nor say why"}
	errFrames    = &connEnding{text: "what answers isn't Discord's gateway: check api_url, and the proxy if there's one"}
)

// portal is where a bot's settings are.
const portal = "https://discord.com/developers/applications"

// closing are the codes with which Discord closes connections
// (docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes).
// The others are passing.
func closing(code int) *connEnding {
	switch code {
	case 4004:
		return &connEnding{final: true, forget: true, text: "Discord doesn't know the token: take the present one from the page Bot of " + portal + ", put it into token_file, and restart panebridge"}
	case 4014:
		return &connEnding{final: true, forget: true, text: "the bot may not read messages: turn on the Message Content intent at " + portal + ", on the bot's page Bot"}
	case 4010, 4011:
		return &connEnding{final: true, forget: true, text: "the bot is on too many servers: Discord asks for shards, which panebridge doesn't use; give it a bot of its own"}
	case 4012, 4013:
		return &connEnding{final: true, forget: true, text: fmt.Sprintf("Discord doesn't take what panebridge asks for any more (code %d): install a newer version", code)}
	case 4003, 4007, 4009:
		return &connEnding{forget: true, text: fmt.Sprintf("Discord ended the session (code %d)", code)}
	default:
		return &connEnding{text: fmt.Sprintf("Discord closed the connection (code %d)", code)}
	}
}

// broken is why a connection couldn't be read from any more.
func broken(err error) error {
	if c, ok := errors.AsType[*websocket.CloseError](err); ok && c.Code != websocket.CloseAbnormalClosure {
		return closing(c.Code)
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return errDeaf
	}
	if errors.Is(err, websocket.ErrReadLimit) {
		return errFrames
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return &connEnding{text: "the connection to Discord broke"}
	}
	return &connEnding{text: "the connection to Discord broke: " + err.Error()}
}
