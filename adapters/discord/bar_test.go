package discord_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	crowd    = 20               // sessions
	trace    = 10 * time.Minute // for how long they print
	settled  = time.Minute      // by when all threads are there: before that no turn ends
	catchUp  = time.Minute      // by when all of it must be seen
	finals   = 3 * time.Second  // by when 99 of 100 ends of turns must have rung
	turns    = 5                // of each session
	slowest  = 300 * time.Millisecond
	perTick  = 2 // lines that a session prints each second
	barSeeds = 20
)

func sessionID(i int) sessions.ID { return sessions.ID(fmt.Sprintf("pb_%012d", i+1)) }

// crowdTrace is what the sessions do: each ends some turns at random seconds.
type crowdTrace struct {
	seed uint64
	ends [crowd][]int // seconds, ascending
}

func newTrace(seed uint64) crowdTrace {
	r := rand.New(rand.NewPCG(seed, 1))
	tr := crowdTrace{seed: seed}
	for i := range tr.ends {
		for range turns {
			tr.ends[i] = append(tr.ends[i], int(settled.Seconds())+r.IntN(int((trace-settled).Seconds())))
		}
		slices.Sort(tr.ends[i])
		tr.ends[i] = slices.Compact(tr.ends[i])
	}
	return tr
}

// latency is how long calls travel, at random but repeatably.
func (tr crowdTrace) latency() func(string, string) (time.Duration, time.Duration) {
	travel := adaptertest.Latency(tr.seed, slowest)
	return func(string, string) (here, back time.Duration) { return travel() }
}

// outcome is what came of a trace.
type traceOutcome struct {
	rings    []time.Duration // from the end of a turn to the message that rings
	calls    int
	worst    int // calls of a kind in any 5 s of a thread
	lastSeen time.Duration
}

// live lives through a trace in a channel, in which each session gets a thread.
func (tr crowdTrace) live(t *testing.T, mode qos.Mode, forum bool) (out traceOutcome) {
	t.Helper()
	inBubble(t, discordtest.Options{Latency: tr.latency()}, func(w *world) {
		channel := w.agents
		if forum {
			channel = w.posts
		}
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(channel, "")})
		b.change = func(o *discord.Options) { o.QoS.Mode = mode }
		b.Start()
		defer func() { b.Stop() }()
		for i := range crowd {
			b.Begin(sessionID(i), fmt.Sprintf("agent-%d", i))
		}
		began, printed := time.Now(), 0
		for second := range int(trace.Seconds()) {
			for i := range crowd {
				b.Print(sessionID(i), adaptertest.Output{Lines: lines(printed, perTick), Ends: slices.Contains(tr.ends[i], second)})
				printed += perTick
			}
			after(time.Second)
		}
		over := time.Now()
		after(catchUp)
		for i := range crowd {
			id := b.thread(channel, fmt.Sprintf("agent-%d", i)).ID
			b.compare(id, sessionID(i))
			for _, second := range tr.ends[i] {
				out.rings = append(out.rings, w.ring(id, began.Add(time.Duration(second)*time.Second)))
			}
			for _, m := range w.Messages(id) {
				for _, at := range []time.Time{m.At, m.EditedAt} {
					if at.After(over) {
						out.lastSeen = max(out.lastSeen, at.Sub(over))
					}
				}
			}
		}
		w.noRefusals()
		out.calls = len(w.Calls())
		for _, worst := range w.Worst() {
			if worst.Call == "CreateMessage" || worst.Call == "EditMessage" {
				out.worst = max(out.worst, worst.Most)
			}
		}
	})
	return out
}

// ring is how long after the end of a turn its message came.
func (w *world) ring(channel string, ended time.Time) time.Duration {
	w.Helper()
	for _, r := range w.Rings() {
		if r.Channel == channel && !r.At.Before(ended) {
			return r.At.Sub(ended)
		}
	}
	w.Errorf("nothing rang in %s for the turn that ended at %v", channel, ended)
	return 0
}

// seeds is how many traces a bar is held to.
func seeds() int { return drawtest.Times(barSeeds, 1, 1) }

// 20 sessions print two lines a second each into 20 threads for ten minutes. Discord
// never says no; the end of a turn rings within three seconds; and a minute later
// everything is there, once and in order.
func TestTwentySessionsInTwentyThreads(t *testing.T) {
	for _, mode := range []qos.Mode{qos.CoalesceOnly, qos.Strict} {
		for _, forum := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, forum %v", mode, forum), func(t *testing.T) {
				var rings []time.Duration
				n := seeds()
				if forum {
					n = 1 // posts are threads, but for how they begin
				}
				for seed := range drawtest.Seeds(t, n) {
					out := newTrace(seed).live(t, mode, forum)
					t.Logf("seed %d: ring p50 %v p99 %v; %d calls, at most %d in 5 s of a thread; the last line %v after the end",
						seed, adaptertest.Percentile(out.rings, 0.5), adaptertest.Percentile(out.rings, 0.99), out.calls, out.worst, out.lastSeen)
					rings = append(rings, out.rings...)
					if t.Failed() {
						return
					}
				}
				if p99 := adaptertest.Percentile(rings, 0.99); p99 > finals {
					t.Errorf("the end of a turn rings after %v (p99)", p99)
				}
			})
		}
	}
}

// One session is mirrored to Telegram and Discord at once. Each shows all of it; when one
// platform orders ten minutes of silence, the other is as fast as ever.
func TestMirroredToBothPlatforms(t *testing.T) {
	for _, silent := range []string{"", "telegram", "discord"} {
		inBubble(t, discordtest.Options{}, func(w *world) {
			tg := telegramtest.New(telegramtest.Options{})
			network, stop := memnet.Start(tg)
			ada := tg.AddUser(telegramtest.User{FirstName: "Ada"})
			forum := tg.AddForum("agents", ada)
			transport := network.Transport()
			defer func() {
				transport.CloseIdleConnections()
				if err := stop(); err != nil {
					w.Error(err)
				}
			}()
			chat := strconv.FormatInt(forum, 10)
			b := w.bridge(
				adapters.MirrorRule{Session: "*", To: target(w.agents, "")},
				adapters.MirrorRule{Session: "*", To: adapters.Target{Adapter: telegram.Name, Chat: chat}},
			)
			b.Others = func() []adapters.Outlet {
				a, err := telegram.New(telegram.Options{
					Token: exchange.Token(tg.Token()), APIURL: "http://api", Transport: transport,
					Chats: []telegram.ChatConfig{{ID: forum, Topics: true}}, QoS: qos.Options{Seed: 1},
				})
				if err != nil {
					w.Fatal(err)
				}
				return []adapters.Outlet{{Adapter: a, Budget: qos.NewLocalBudget(nil)}}
			}
			b.Start()
			defer func() { b.Stop() }()
			b.Begin(first, "api")
			b.Print(first, adaptertest.Output{Lines: lines(0, 1)})
			after(30 * time.Second)
			switch silent {
			case "telegram":
				tg.Inject(telegramtest.Fault{Times: 1, Chat: forum, RetryAfter: 10 * time.Minute})
			case "discord":
				w.Inject(discordtest.Fault{Times: 1, RetryAfter: 10 * time.Minute, Scope: discordtest.ScopeGlobal})
			}
			thread := b.thread(w.agents, "api").ID
			topic := tg.Topics(forum)[0].Place
			var slowestHere, slowestThere time.Duration
			for n := range 500 {
				b.Print(first, adaptertest.Output{Lines: lines(n+1, 2), Ends: n%25 == 24})
				rang := time.Now()
				after(time.Second)
				if n%25 != 24 {
					continue
				}
				after(9 * time.Second)
				slowestHere = max(slowestHere, rangAfter(w.Rings(), rang, func(r discordtest.Ring) time.Time { return r.At }))
				slowestThere = max(slowestThere, rangAfter(tg.Rings(), rang, func(r telegramtest.Ring) time.Time { return r.At }))
			}
			w.Logf("silent %q: discord %v telegram %v", silent, slowestHere, slowestThere)
			if silent != "discord" && slowestHere > finals || silent != "telegram" && slowestThere > finals+slowest {
				w.Errorf("while %q is silent, ends of turns ring on Discord after %v, on Telegram after %v", silent, slowestHere, slowestThere)
			}
			after(10 * time.Minute)
			b.compare(thread, first)
			var seen []adaptertest.Message
			for _, m := range tg.See(topic) {
				if m.Service != "" || m.From.ID != tg.Bot().ID {
					continue
				}
				x := adaptertest.Message{ID: strconv.Itoa(m.ID), Text: plain(m.Text), Rang: m.Rang, Edits: len(m.History), At: m.At}
				if m.File != nil {
					x.Data = m.File.Content
				}
				seen = append(seen, x)
			}
			s, err := b.House.Get(string(first))
			if err != nil {
				w.Fatal(err)
			}
			for _, wrong := range b.House.Compare(seen, adaptertest.Want{Session: first, To: s.Lines, Oldest: 1}) {
				w.Errorf("Telegram: %s", wrong)
			}
			w.noRefusals()
			for _, c := range tg.Refusals() {
				w.Errorf("%s was refused: %s", c.Method, c.Description)
			}
		})
	}
}

// rangAfter is how long after a time the first of some rings came; an hour if none did.
func rangAfter[R any](rings []R, from time.Time, at func(R) time.Time) time.Duration {
	for _, r := range rings {
		if !at(r).Before(from) {
			return at(r).Sub(from)
		}
	}
	return time.Hour
}
