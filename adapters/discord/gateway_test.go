package discord_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// What people write comes in, wherever they may write to the bot, with its place.
func TestWhatPeopleWriteComesIn(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.start()
		defer func() { e.stop() }()
		quiet()
		w.must(w.ada.Say(w.plain, "hello"))
		thread := w.must(w.ada.CreateThread(w.agents, "agent"))
		w.must(w.ada.Say(thread, "in a thread"))
		post := w.must(w.ada.CreatePost(w.posts, "a post", "begins"))
		w.must(w.ada.Say(post, "goes on"))
		w.must(w.ada.Say(w.ada.DM().ID, "quietly"))
		quiet()
		e.wantTexts(target(w.plain, ""), "hello")
		e.wantTexts(target(w.agents, thread), "in a thread")
		e.wantTexts(target(w.posts, post), "begins", "goes on")
		e.wantTexts(target(w.ada.DM().ID, ""), "quietly")
		for _, ev := range eventsOf[intake.Said](e) {
			if ev.Person.ID != "discord:"+w.ada.ID || ev.Private != (ev.Place.Chat == w.ada.DM().ID) || time.Since(ev.At) > 3*time.Second || time.Since(ev.At) < 0 {
				t.Errorf("came %+v", ev)
			}
		}
		if h := e.gateway.Health(); h.Condition != intake.Well || h.Detail != "" || h.LastOK.IsZero() {
			t.Errorf("health is %+v", h)
		}
		w.noRefusals()
	})
}

// Channels that nobody named aren't stored, but for what may be a command there.
func TestChannelsThatNobodyNamed(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		kept := 0
		e.wrap = func(k intake.UpdateKeeper) intake.UpdateKeeper {
			return keeper(func(ctx context.Context, list []intake.Update) error {
				kept += len(list)
				return k.Keep(ctx, list)
			})
		}
		e.start()
		defer func() { e.stop() }()
		quiet()
		other := w.house.TextChannel("lounge").ID
		for i := range 20 {
			w.must(w.ada.Say(other, fmt.Sprint("chat ", i)))
		}
		w.must(w.ada.Say(other, "/bind agent"))
		w.must(w.ada.Say(other, "<@"+w.Bot().ID+"> /bind again"))
		quiet()
		e.wantTexts(target(other, ""), "/bind agent", "/bind again")
		if kept != 2 {
			t.Errorf("%d updates were stored", kept)
		}
	})
}

type keeper func(ctx context.Context, list []intake.Update) error

func (k keeper) Keep(ctx context.Context, list []intake.Update) error { return k(ctx, list) }

// A silent gateway is noticed within two heartbeats; what was said meanwhile comes.
func TestSilentGateway(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.start()
		defer func() { e.stop() }()
		const interval = 41250 * time.Millisecond
		for i := range 5 {
			time.Sleep(time.Duration(i)*7*time.Second + 3*time.Minute)
			w.SilenceGateways()
			silent := time.Now()
			w.must(w.ada.Say(w.plain, fmt.Sprint("said ", i)))
			for w.Gateways() == 0 {
				time.Sleep(100 * time.Millisecond)
			}
			if took := time.Since(silent); took > 2*interval {
				t.Errorf("it took %s to notice and connect again", took)
			}
		}
		quiet()
		e.wantTexts(target(w.plain, ""), "said 0", "said 1", "said 2", "said 3", "said 4")
		if w.Identifies() != 1 || w.Resumes() != 5 {
			t.Errorf("%d logins, %d resumed", w.Identifies(), w.Resumes())
		}
		w.noRefusals()
	})
}

// What only a person can change, as far as is known, is said at once, with a word on what to
// do, and tried again seldom.
func TestFinalCloses(t *testing.T) {
	for _, c := range []struct {
		name string
		opts discordtest.Options
		do   func(w *world, e *ear)
		say  string
	}{
		{"no content intent", discordtest.Options{NoContentIntent: true}, func(*world, *ear) {}, "turn on the Message Content intent at https://discord.com/developers/applications"},
		{"wrong token", discordtest.Options{}, func(_ *world, e *ear) {
			e.change = func(o *discord.Options) { o.Token = "MTIzNDU2Nzg5MDEyMzQ1Njc4.wrong1.abcdefghijklmnopqrstuvwxyz" }
		}, "token_file"},
		{"token taken away", discordtest.Options{}, func(w *world, _ *ear) {
			time.AfterFunc(time.Minute, w.ResetToken)
		}, "token_file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, c.opts, func(w *world) {
				e := w.ear()
				c.do(w, e)
				e.start()
				defer func() { e.stop() }()
				time.Sleep(2 * time.Minute)
				calls := len(w.Calls())
				time.Sleep(time.Hour)
				h := e.gateway.Health()
				if h.Condition != intake.Down || !strings.Contains(h.Detail, c.say) {
					t.Errorf("health is %+v", h)
				}
				if n := len(w.Calls()) - calls; n < 20 || n > 100 || w.Gateways() != 0 {
					t.Errorf("%d calls in an hour", n)
				}
				if n := w.Identifies(); n > 40 {
					t.Errorf("%d logins in an hour: a day has a thousand", n)
				}
			})
		})
	}
}

// Each other end is passing: the session is resumed where it can be, else begun anew
// no sooner than Discord wants, and nothing is lost.
func TestPassingEnds(t *testing.T) {
	for _, c := range []struct {
		name              string
		do                func(w *world)
		logins, resumed   int
		within, atLeastIn time.Duration
	}{
		{"reconnect", func(w *world) { w.ReconnectGateways() }, 1, 1, 2 * time.Second, 0},
		{"invalid, resumable", func(w *world) { w.InvalidateSessions(true) }, 1, 1, 6 * time.Second, time.Second},
		{"invalid", func(w *world) { w.InvalidateSessions(false) }, 2, 0, 8 * time.Second, time.Second},
		{"closed with 4000", func(w *world) { w.CloseGateways(4000, "Unknown error") }, 1, 1, 2 * time.Second, 0},
		{"closed with 4009", func(w *world) { w.CloseGateways(4009, "Session timed out") }, 2, 0, 8 * time.Second, 0},
		{"closed with 1001", func(w *world) { w.CloseGateways(1001, "going away") }, 1, 1, 2 * time.Second, 0},
		{"closed with 1000", func(w *world) { w.CloseGateways(1000, "bye") }, 1, 1, 2 * time.Second, 0},
		{"closed with 4001", func(w *world) { w.CloseGateways(4001, "Unknown opcode") }, 1, 1, 2 * time.Second, 0},
		{"closed with 4003", func(w *world) { w.CloseGateways(4003, "Not authenticated") }, 2, 0, 8 * time.Second, 0},
		{"closed with 4005", func(w *world) { w.CloseGateways(4005, "Already authenticated") }, 1, 1, 2 * time.Second, 0},
		{"closed with 4007", func(w *world) { w.CloseGateways(4007, "Invalid seq") }, 2, 0, 8 * time.Second, 0},
		{"closed with 4008", func(w *world) { w.CloseGateways(4008, "Rate limited") }, 1, 1, 2 * time.Second, 0},
		{"closed with a code that's new", func(w *world) { w.CloseGateways(4099, "?") }, 1, 1, 2 * time.Second, 0},
		{"a frame that's no JSON, whenever it's resumed", func(w *world) { w.SpoilSessions([]byte("<html>")) }, 2, 1, 12 * time.Second, 0},
		{"a frame that's too long, whenever it's resumed", func(w *world) { w.SpoilSessions(bytes.Repeat([]byte("x"), 17<<20)) }, 2, 1, 12 * time.Second, 0},
		{"the token refused, once", func(w *world) {
			w.Inject(discordtest.Fault{Call: "GetGatewayBot", Times: 1, Status: http.StatusUnauthorized, Message: "401: Unauthorized"})
			w.InvalidateSessions(false)
		}, 2, 0, 20 * time.Second, time.Second},
		// Once, whatever it says: a server in trouble says that, too.
		{"closed with 4004", func(w *world) { w.CloseGateways(4004, "Authentication failed.") }, 2, 0, 8 * time.Second, 0},
		{"closed with 4010", func(w *world) { w.CloseGateways(4010, "Invalid shard") }, 2, 0, 8 * time.Second, 0},
		{"closed with 4011", func(w *world) { w.CloseGateways(4011, "Sharding required") }, 2, 0, 8 * time.Second, 0},
		{"closed with 4012", func(w *world) { w.CloseGateways(4012, "Invalid API version") }, 2, 0, 8 * time.Second, 0},
		{"closed with 4013", func(w *world) { w.CloseGateways(4013, "Invalid intents") }, 2, 0, 8 * time.Second, 0},
		{"closed with 4014", func(w *world) { w.CloseGateways(4014, "Disallowed intents") }, 2, 0, 8 * time.Second, 0},
		{"dropped and forgotten", func(w *world) { w.ForgetSessions(); w.DropGateways() }, 2, 0, 10 * time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				e := w.ear()
				e.start()
				defer func() { e.stop() }()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				w.must(w.ada.Say(w.plain, "before"))
				c.do(w)
				at := time.Now()
				w.must(w.ada.Say(w.plain, "meanwhile"))
				synctest.Wait()
				for w.Identifies() != c.logins || w.Resumes() != c.resumed || w.Gateways() == 0 {
					if time.Since(at) > time.Minute {
						t.Fatalf("%d logins, %d resumed, health %+v", w.Identifies(), w.Resumes(), e.gateway.Health())
					}
					time.Sleep(10 * time.Millisecond)
				}
				if took := time.Since(at); took > c.within || took < c.atLeastIn {
					t.Errorf("it took %s", took)
				}
				quiet()
				w.must(w.ada.Say(w.plain, "after"))
				quiet()
				e.wantTexts(target(w.plain, ""), "before", "meanwhile", "after")
			})
		})
	}
}

// While no call is made, since posts were refused for the token, the gateway isn't refused anew each time:
// it asks as soon as calls are made again.
func TestTheGatewayAsksAsSoonAsCallsAreMade(t *testing.T) {
	for seed := range 20 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				e := w.ear()
				e.start()
				defer func() { e.stop() }()
				time.Sleep(2 * time.Minute)
				post := func() qos.CallOutcome {
					return e.bot.Post(w.Context(), adapters.Post{To: target(w.plain, ""), Text: "hello"}, "").Outcome
				}
				remove := w.Inject(discordtest.Fault{Call: "CreateMessage", Status: http.StatusUnauthorized, Message: "401: Unauthorized"})
				for range 250 { // the fifth is refused by then, and half a minute passes without any
					post()
					time.Sleep(200 * time.Millisecond)
				}
				remove()
				w.InvalidateSessions(false)
				for post() != qos.Delivered {
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(3 * time.Second)
				if h := e.gateway.Health(); h.Condition != intake.Well {
					t.Errorf("calls are made again, and health is %+v", h)
				}
			})
		})
	}
}

// While there's no gateway, it's dialed at longer and longer intervals, and health says
// so; when there's one again, what was said comes.
func TestNoGatewayForLong(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.start()
		defer func() { e.stop() }()
		quiet()
		w.RefuseGateways(20)
		w.DropGateways()
		w.must(w.ada.Say(w.plain, "anybody?"))
		time.Sleep(2 * time.Minute)
		if h := e.gateway.Health(); h.Condition != intake.Down || h.Detail == "" {
			t.Errorf("health is %+v", h)
		}
		time.Sleep(10 * time.Minute)
		if h := e.gateway.Health(); h.Condition != intake.Well {
			t.Errorf("health is %+v", h)
		}
		e.wantTexts(target(w.plain, ""), "anybody?")
	})
}

// However often its sessions end, a bot never uses its logins up: Discord takes the
// token away of those that do.
func TestLoginsAreSpread(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for ctx.Err() == nil {
				time.Sleep(time.Second)
				w.InvalidateSessions(false)
			}
		}()
		for range 24 { // and it's restarted each hour
			e.start()
			time.Sleep(time.Hour)
			e.stop()
		}
		cancel()
		e.start()
		time.Sleep(time.Hour)
		t.Logf("%d logins", w.Identifies())
		w.noRefusals()
		if h := e.gateway.Health(); h.Condition == intake.Down && strings.Contains(h.Detail, "token_file") {
			t.Errorf("health is %+v", h)
		}
		e.stop()
		time.Sleep(2 * time.Second)
	})
}

// What can't be stored at once waits, and what's too much to wait comes again: nothing
// is lost, and nothing is told to Discord that isn't so.
func TestSlowDisk(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		var full atomic.Bool
		full.Store(true)
		e.wrap = func(k intake.UpdateKeeper) intake.UpdateKeeper {
			return keeper(func(ctx context.Context, list []intake.Update) error {
				if full.Load() {
					return errors.New("disk full")
				}
				return k.Keep(ctx, list)
			})
		}
		e.start()
		defer func() { e.stop() }()
		quiet()
		var want []string
		for i := range 3000 {
			want = append(want, fmt.Sprint("word ", i))
			w.must(w.ada.Say(w.plain, want[i]))
			if i%10 == 0 {
				time.Sleep(100 * time.Millisecond)
			}
		}
		time.Sleep(2 * time.Minute)
		if h := e.gateway.Health(); h.Condition != intake.Down || !strings.Contains(h.Detail, "disk full") {
			t.Errorf("health is %+v", h)
		}
		full.Store(false)
		time.Sleep(2 * time.Minute)
		e.wantTexts(target(w.plain, ""), want...)
		if w.Resumes() == 0 {
			t.Error("what didn't fit wasn't asked for again")
		}
		if h := e.gateway.Health(); h.Condition != intake.Well {
			t.Errorf("health is %+v", h)
		}
	})
}

// The gateway is dropped a hundred times at random, a fifth of them silently, some with
// the session lost: each message of a person is handled once, in order.
func TestDroppedGateways(t *testing.T) {
	const drops = 100
	for seed := range drawtest.Seeds(t, drawtest.Times(30, 2, 2)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) { dropped(w, drops, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

func dropped(w *world, drops int, r *rand.Rand) {
	e := w.ear()
	e.start()
	defer func() { e.stop() }()
	quiet()
	thread := w.must(w.ada.CreateThread(w.agents, "agent"))
	post := w.must(w.ada.CreatePost(w.posts, "post", "begins"))
	places := []string{w.plain, thread, post}
	said := map[string][]string{post: {"begins"}}
	n, silent := 0, 0
	for drop := range drops {
		for range 1 + r.IntN(30) {
			at := places[r.IntN(len(places))]
			text := fmt.Sprint("message ", n)
			n++
			w.must(w.ada.Say(at, text))
			said[at] = append(said[at], text)
			time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
		}
		if drop%4 == 3 {
			w.ForgetSessions()
		}
		if drop%5 == 0 {
			silent++
			w.SilenceGateways()
		} else {
			w.DropGateways()
		}
	}
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	e.wantTexts(target(w.plain, ""), said[w.plain]...)
	e.wantTexts(target(w.agents, thread), said[thread]...)
	e.wantTexts(target(w.posts, post), said[post]...)
	w.Logf("%d messages, %d drops, %d of them silent: %d logins, %d resumed", n, drops, silent, w.Identifies(), w.Resumes())
	w.noRefusals()
}

// A gateway that never speaks, or greets and says nothing more, is given up, and dialed
// again.
func TestMuteGateway(t *testing.T) {
	for _, hello := range []bool{false, true} {
		t.Run(fmt.Sprint(hello), func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				e := w.ear()
				w.MuteGateways(3, hello)
				e.start()
				defer func() { e.stop() }()
				time.Sleep(25 * time.Second)
				if h := e.gateway.Health(); w.Gateways() != 0 || h.Condition == intake.Well || !strings.Contains(h.Detail, "silent") && hello {
					t.Errorf("%d gateways, health %+v", w.Gateways(), h)
				}
				time.Sleep(70 * time.Second)
				if h := e.gateway.Health(); w.Gateways() != 1 || h.Condition != intake.Well {
					t.Errorf("%d gateways, health %+v", w.Gateways(), h)
				}
				w.MuteGateways(3, hello)
				w.DropGateways()
				w.must(w.ada.Say(w.plain, "anybody?"))
				time.Sleep(2 * time.Minute)
				e.wantTexts(target(w.plain, ""), "anybody?")
			})
		})
	}
}

// What the gateway greets with is taken in, however a server numbers it.
func TestAServerThatTheBotIsNotOn(t *testing.T) {
	for _, fromZero := range []bool{false, true} {
		inBubble(t, discordtest.Options{FromZero: fromZero}, func(w *world) {
			other := w.Guild("another")
			e := w.ear()
			e.change = func(o *discord.Options) { o.Guild = other.ID }
			other.Kick()
			e.start()
			defer func() { e.stop() }()
			time.Sleep(time.Minute)
			if h := e.gateway.Health(); h.Condition != intake.Down || !strings.Contains(h.Detail, "isn't on the server "+other.ID) {
				t.Errorf("from zero: %t, health is %+v", fromZero, h)
			}
		})
	}
}
