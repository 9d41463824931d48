package discord

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

// Notes are what's remembered over restarts, a word or two for each key. A key
// without a note has "". Both do disk I/O.
type Notes interface {
	Note(ctx context.Context, key string) (string, error)
	PutNote(ctx context.Context, key, value string) error
}

// Keeper stores events durably and sees to it that they're handled. intake.Queue is
// one. It may be called again with the same ones, and several times at once.
type Keeper interface {
	Keep(ctx context.Context, updates []intake.Update) error
}

// GatewayOptions configure a Gateway.
type GatewayOptions struct {
	Keeper Keeper
	Notes  Notes
	// Knows says whether people may talk to the bot in a channel. What's written
	// elsewhere isn't stored, but for what begins like a command. Nil: everywhere.
	Knows func(channel adapters.Target) bool
	// Admits says whether an event would be looked at; who isn't let in isn't answered.
	// Nil: every one.
	Admits func(e intake.Event) bool
	// Mirrored are the places that mirror sessions now. What was written there while we
	// were away is fetched. Nil: only the configured channels and the threads in them.
	Mirrored func() []adapters.Target
	// Complete returns what may be meant by an argument that's being written. Nil:
	// nothing. inbound.Inbound.Complete is one.
	Complete func(e intake.Event, command, param, begun string) []intake.Candidate
	// Offered says whether a button is one of this daemon's, by its data; Concerns whether a slash
	// command names what's this daemon's. Both count where others use the bot, too. Nil: every one
	// is, none does.
	Offered  func(ctx context.Context, data string) bool
	Concerns func(e intake.Event) bool
	// RightsChanged is told that what the bot may do may have changed somewhere. It must not
	// block. Nil: nobody is told.
	RightsChanged func()
	// Panicked is told that an answer to an interaction panicked, and was contained. It must
	// not block. Nil: nobody is told.
	Panicked func()
}

// Gateway takes in what happens on Discord. Each event is stored before Discord is
// told that it has come.
//
//	gateway_conn.go      one WebSocket connection
//	gateway_budget.go    when the bot may log in
//	session.go           what of a login is resumed
//	watchdog.go          heartbeats
//	gateway_intake.go    events, one after the other, into the journal
//	gateway_places.go    which channel a thread is in
//	backfill.go          what was missed, by REST
//	interaction.go       answers that are owed within three seconds
//	share.go             what's this daemon's where others use the bot, too
type Gateway struct {
	adapter *Adapter
	opt     GatewayOptions
	log     *slog.Logger

	link   intake.Vitals // the connection
	server intake.Vitals // whether the bot is on the server

	intake   *eventIntake
	backfill *backfill
	budget   budget

	// What follows belongs to Run's goroutine.
	session *session // that can be resumed; nil: none
	fails   int      // connections in a row that didn't live for calm
	denied  int      // of them, those that Discord ended as if a person had to do something
	deaf    int      // dials in a row to the session's own address that failed
	spoiled int      // connections in a row of one session that brought what can't be read
}

// Gateway makes a gateway that has called nothing yet.
func (a *Adapter) Gateway(o GatewayOptions) *Gateway {
	if o.Knows == nil {
		o.Knows = func(adapters.Target) bool { return true }
	}
	if o.Admits == nil {
		o.Admits = func(intake.Event) bool { return true }
	}
	if o.Mirrored == nil {
		o.Mirrored = func() []adapters.Target { return nil }
	}
	if o.Complete == nil {
		o.Complete = func(intake.Event, string, string, string) []intake.Candidate { return nil }
	}
	if o.Offered == nil {
		o.Offered = func(context.Context, string) bool { return true }
	}
	if o.Concerns == nil {
		o.Concerns = func(intake.Event) bool { return false }
	}
	if o.Panicked == nil {
		o.Panicked = func() {}
	}
	g := &Gateway{
		adapter: a, opt: o, log: a.log,
		link:   intake.Vitals{Log: a.log, Part: "Discord's gateway"},
		server: intake.Vitals{Log: a.log, Part: "Discord's server"},
		budget: budget{client: a.client, notes: o.Notes},
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

// Run takes events in until ctx ends. When Discord doesn't let the bot in for a reason
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
		rest := g.ended(ctx, err, time.Since(began))
		_ = intake.Pause(ctx, rest)
	}
	return nil
}

// ended takes note of why a connection ended, or didn't come up, and says how long to
// rest before the next.
func (g *Gateway) ended(ctx context.Context, err error, lived time.Duration) time.Duration {
	if lived >= calm {
		g.fails, g.denied, g.spoiled = 0, 0, 0
	}
	g.fails++
	why := err.Error()
	var end *ending
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
