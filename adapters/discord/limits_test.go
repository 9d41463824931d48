package discord_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/qos"
)

// streaming has sessions print into threads of their own, each second, and end a turn
// now and then.
func (b *bridge) streaming(sessions int, long time.Duration) {
	b.Helper()
	for i := range sessions {
		b.Begin(sessionID(i), fmt.Sprint("agent-", i))
	}
	for n := range int(long / time.Second) {
		for i := range sessions {
			b.Print(sessionID(i), adaptertest.Output{Lines: lines(n, 1), Ends: n%40 == 7*i%40})
		}
		after(time.Second)
	}
}

// Discord's limits are what its headers say today. When it allows less than it used to,
// nothing is refused: not by Discord, and not here.
func TestNarrowerLimitsAreLearned(t *testing.T) {
	limits := discordtest.Limits{Routes: map[string]discordtest.Window{
		"CreateMessage": {Calls: 2, Per: 10 * time.Second}, "EditMessage": {Calls: 1, Per: 4 * time.Second},
	}}
	inBubble(t, discordtest.Options{Limits: limits}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.agents, "")})
		var seen outcomes
		b.change = func(o *discord.Options) { o.QoS.Meter = &seen }
		b.Start()
		defer func() { b.Stop() }()
		b.streaming(5, 5*time.Minute)
		after(time.Minute)
		for i := range 5 {
			b.compare(b.thread(w.agents, fmt.Sprint("agent-", i)).ID, sessionID(i))
		}
		w.noRefusals()
		if seen.delivered == 0 || seen.others > 0 {
			w.Errorf("%d calls were delivered; %d were granted and couldn't be made", seen.delivered, seen.others)
		}
	})
}

// outcomes counts what comes of slots. It's told of them by one goroutine.
type outcomes struct{ delivered, others int }

func (o *outcomes) CountCall(_ qos.Class, _ qos.Family, outcome qos.CallOutcome, _, _ time.Duration) {
	switch outcome {
	case qos.Delivered:
		o.delivered++
	case qos.Unchanged:
	default:
		o.others++
	}
}

func (*outcomes) CountCoalesced(int)                     {}
func (*outcomes) CountShed(qos.Family)                   {}
func (*outcomes) CountPenalty(qos.Family, time.Duration) {}

// Discord orders silence: for one thread, or for the whole bot, with a time in the headers
// or without. Nobody calls before its time who is meant, everybody else goes on, and
// afterwards everything is there.
func TestOrdersOfSilenceAreHonoured(t *testing.T) {
	const order = 100 * time.Second
	for _, global := range []bool{false, true} {
		for _, bare := range []bool{false, true} {
			inBubble(t, discordtest.Options{GlobalWithoutReset: bare}, func(w *world) {
				b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.agents, "")})
				b.Start()
				defer func() { b.Stop() }()
				b.streaming(3, 30*time.Second)
				silenced := b.thread(w.agents, "agent-1").ID
				f := discordtest.Fault{Times: 1, Channel: silenced, RetryAfter: order}
				if global {
					f.Scope = discordtest.ScopeGlobal
				}
				w.Inject(f)
				for n := range 200 {
					for i := range 3 {
						b.Print(sessionID(i), adaptertest.Output{Lines: lines(n, 1), Ends: n%20 == 0})
					}
					after(time.Second)
				}
				after(3 * time.Minute)
				var ordered, next time.Time
				others := 0
				for _, c := range w.Calls() {
					switch {
					case c.Faulted:
						ordered = c.At
					case ordered.IsZero():
					case c.Channel == silenced && next.IsZero():
						next = c.At
					case c.Channel != silenced && c.At.Before(ordered.Add(order)):
						others++
					}
				}
				if waited := next.Sub(ordered); ordered.IsZero() || waited < order || waited > order+5*time.Second {
					w.Errorf("global %v, bare %v: the next call came after %v", global, bare, waited)
				}
				if global != (others == 0) {
					w.Errorf("global %v, bare %v: %d calls went elsewhere meanwhile", global, bare, others)
				}
				for i := range 3 {
					b.compare(b.thread(w.agents, fmt.Sprint("agent-", i)).ID, sessionID(i))
				}
				w.noRefusals()
			})
		}
	}
}

// Whatever is called, and however often in vain, the address isn't banned for it.
func TestTheAddressIsNeverBanned(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		w.house.TextChannel("plain").Deny(discordtest.ViewChannel)
		for range 10_500 {
			if r := a.Typing(w.Context(), target(w.plain, "")); r.Outcome == qos.Delivered {
				w.Fatalf("it's typing where it sees nothing: %+v", r)
			}
			if r := a.Call(w.Context(), send(target(w.plain, ""), "x")); r.Outcome == qos.Delivered {
				w.Fatalf("it's writing where it sees nothing: %+v", r)
			}
			time.Sleep(50 * time.Millisecond) // 525 s in all
		}
		if n := w.InvalidRequests(); !w.Banned().IsZero() || n > 9_000 || n < 1000 {
			w.Errorf("%d calls were in vain, and the address is banned until %v", n, w.Banned())
		}
	})
}
