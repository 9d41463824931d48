package discord_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/faults"
)

// mirrors has places mirror sessions.
func (e *ear) mirrors(places ...adapters.Target) {
	e.opts.Mirrored = func() []adapters.Target { return places }
}

// earAfter returns one whose process has ended, and that has heard a text in the plain
// channel.
func (w *world) earAfter(text string) *ear {
	w.Helper()
	e := w.ear()
	e.start()
	quiet()
	w.must(w.ada.Say(w.plain, text))
	quiet()
	e.stop()
	return e
}

// sayMore has n messages more said in the plain channel, where some were said already, and
// returns all of them.
func (w *world) sayMore(said []string, n int, pause time.Duration) []string {
	w.Helper()
	for range n {
		text := fmt.Sprint("message ", len(said))
		w.must(w.ada.Say(w.plain, text))
		said = append(said, text)
		time.Sleep(pause)
	}
	return said
}

// What was written while panebridge was down is handled when it's back, in order, before
// what's written then; in threads that began meanwhile, too.
func TestWhatWasWrittenWhileDown(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		var old, plain, young []string
		w.must(w.ada.Say(w.plain, "before there was a bot"))
		thread := w.must(w.ada.CreateThread(w.agents, "agent"))
		w.must(w.ada.Say(thread, "that, too"))
		e.start()
		quiet()
		w.must(w.ada.Say(thread, "old"))
		quiet()
		e.stop()
		for i := range 250 {
			text := fmt.Sprint("line ", i)
			plain = append(plain, text)
			w.must(w.ada.Say(w.plain, text))
			time.Sleep(time.Second)
		}
		old = append(old, "old", "in the old thread")
		w.must(w.ada.Say(thread, old[1]))
		fresh := w.must(w.ada.CreateThread(w.agents, "another"))
		post := w.must(w.ada.CreatePost(w.posts, "post", "a post begins"))
		for i := range 5 {
			young = append(young, fmt.Sprint("young ", i))
			w.must(w.ada.Say(fresh, young[i]))
		}
		e.start()
		defer func() { e.stop() }()
		for i := range 50 { // while it's being fetched
			text := fmt.Sprint("live ", i)
			plain = append(plain, text)
			w.must(w.ada.Say(w.plain, text))
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		e.wantTexts(target(w.plain, ""), plain...)
		e.wantTexts(target(w.agents, thread), old...)
		e.wantTexts(target(w.agents, fresh), young...)
		e.wantTexts(target(w.posts, post), "a post begins")
		w.noRefusals()
	})
}

// Places where nobody has written are asked about by no call.
func TestQuietPlacesCostNothing(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		var places []adapters.Target
		for i := range 50 {
			thread := w.must(w.ada.CreateThread(w.agents, fmt.Sprint("agent ", i)))
			w.must(w.ada.Say(thread, "hello"))
			places = append(places, target(w.agents, thread))
		}
		e.mirrors(places...)
		e.start()
		quiet()
		w.must(w.ada.Say(w.plain, "well"))
		quiet()
		e.stop()
		w.must(w.ada.Say(places[7].Thread, "one"))
		e.start()
		time.Sleep(time.Minute)
		e.stop()
		e.wantTexts(places[7], "one")
		if n := len(w.CallsTo("GetMessages")) + len(w.CallsTo("GetChannel")); n != 1 {
			t.Errorf("%d calls were made to look at 50 threads, one of which had something", n)
		}
	})
}

// How far a place was read is known after a kill at any time: nothing is lost, and what
// comes again is known by its key.
func TestKilledWhileReading(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(50, 3, 3)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				r := rand.New(rand.NewPCG(seed, 3))
				e := w.ear()
				e.start()
				quiet()
				thread := w.must(w.ada.CreateThread(w.agents, "agent"))
				e.mirrors(target(w.agents, thread))
				said := map[string][]string{}
				talk := func(n int) {
					for range n {
						at := []string{w.plain, thread}[r.IntN(2)]
						text := fmt.Sprint("message ", len(said[w.plain])+len(said[thread]))
						w.must(w.ada.Say(at, text))
						said[at] = append(said[at], text)
						time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
					}
				}
				for range 30 {
					talk(r.IntN(10))
					e.kill()
					talk(r.IntN(150))
					e.start()
					talk(r.IntN(10))
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				e.stop()
				e.once()
				e.wantTexts(target(w.plain, ""), said[w.plain]...)
				e.wantTexts(target(w.agents, thread), said[thread]...)
				w.noRefusals()
			})
		})
	}
}

// once leaves out what was handled again after a kill: handling knows it by its key.
func (e *ear) once() {
	e.mu.Lock()
	defer e.mu.Unlock()
	seen := map[string]bool{}
	e.come = slices.DeleteFunc(e.come, func(ev intake.Event) bool {
		again := seen[ev.Key]
		seen[ev.Key] = true
		return again
	})
}

// When messages can't be fetched, it's tried again, health says so, and what's written
// meanwhile waits behind them, however much it is.
func TestFetchingFails(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.earAfter("begin")
		want := w.sayMore([]string{"begin"}, 120, 20*time.Millisecond)
		remove := w.Inject(discordtest.Fault{Call: "GetMessages", Channel: w.plain, Status: http.StatusInternalServerError})
		e.start()
		defer func() { e.stop() }()
		quiet()
		want = w.sayMore(want, 1200, 20*time.Millisecond)
		time.Sleep(2 * time.Minute)
		e.wantTexts(target(w.plain, ""), "begin")
		if h := e.gateway.Health(); h.Condition != intake.Down {
			t.Errorf("health is %+v", h)
		}
		remove()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		e.wantTexts(target(w.plain, ""), want...)
		if h := e.gateway.Health(); h.Condition != intake.Well {
			t.Errorf("health is %+v", h)
		}
	})
}

// Where the bot may not read the history, nothing waits for it.
func TestHistoryThatMayNotBeRead(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.earAfter("one")
		w.must(w.ada.Say(w.plain, "lost"))
		defer w.Inject(discordtest.Fault{Call: "GetMessages", Channel: w.plain, Status: http.StatusForbidden, Code: 50001, Message: "Missing Access"})()
		e.start()
		defer func() { e.stop() }()
		quiet()
		w.must(w.ada.Say(w.plain, "two"))
		quiet()
		e.wantTexts(target(w.plain, ""), "one", "two")
	})
}

// Limits that Discord orders while messages are fetched are kept.
func TestFetchingKeepsLimits(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.earAfter("message 0")
		want := w.sayMore([]string{"message 0"}, 300, 0)
		w.Inject(discordtest.Fault{Call: "GetMessages", Channel: w.plain, Times: 1, Status: http.StatusTooManyRequests, RetryAfter: 40 * time.Second, Scope: "user"})
		e.start()
		defer func() { e.stop() }()
		time.Sleep(35 * time.Second)
		if n := len(w.CallsTo("GetMessages")); n != 1 {
			t.Errorf("%d calls were made within the time of silence: %+v", n, w.CallsTo("GetMessages"))
		}
		time.Sleep(30 * time.Second)
		e.wantTexts(target(w.plain, ""), want...)
		w.noRefusals()
	})
}

// Threads that people close, open, lock and delete are known as such, also if they did
// it while panebridge was away; one that Discord put away by itself isn't closed.
func TestThreads(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		thread := w.must(w.ada.CreateThread(w.agents, "agent"))
		gone := w.must(w.ada.CreateThread(w.agents, "another"))
		e.mirrors(target(w.agents, thread), target(w.agents, gone))
		e.start()
		quiet()
		kinds := func() (list []string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			for _, ev := range e.come {
				if ev.Place == target(w.agents, thread) {
					list = append(list, fmt.Sprintf("%T", ev.Action)[len("intake."):])
				}
			}
			return slices.Compact(list)
		}
		want := []string{"ThreadOpened"}
		step := func(do func(string) error, now string) {
			t.Helper()
			w.noErr(do(thread))
			quiet()
			if now != "" {
				want = append(want, now)
			}
			if got := kinds(); !slices.Equal(got, want) {
				t.Fatalf("came %v, want %v", got, want)
			}
		}
		step(w.ada.Archive, "ThreadClosed")
		step(w.ada.Unarchive, "ThreadOpened")
		step(w.ada.Lock, "ThreadClosed")
		step(w.ada.Unlock, "ThreadOpened")
		e.stop()
		w.noErr(w.ada.Archive(thread))
		w.noErr(w.ada.DeleteChannel(gone))
		e.start()
		quiet()
		step(func(string) error { return nil }, "ThreadClosed")
		if list := eventsOf[intake.ThreadDeleted](e); len(list) != 1 || list[0].Place != target(w.agents, gone) {
			t.Errorf("came %+v", list)
		}
		step(w.ada.Unarchive, "ThreadOpened")
		w.noErr(w.ada.DeleteChannel(thread))
		quiet()
		if list := eventsOf[intake.ThreadDeleted](e); len(list) != 2 {
			t.Errorf("came %+v", list)
		}
		w.noErr(w.ada.DeleteChannel(w.plain))
		quiet()
		if list := eventsOf[intake.ChatLost](e); len(list) != 1 || list[0].Place != target(w.plain, "") {
			t.Errorf("came %+v", list)
		}
		e.stop()
	})
}

// A place whose messages are being fetched isn't written to the journal out of order by
// what comes through the gateway, whatever the journal does meanwhile.
func TestJournalFailsWhileReading(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.earAfter("message 0")
		want := w.sayMore([]string{"message 0"}, 230, 30*time.Millisecond)
		var mu sync.Mutex
		r := rand.New(rand.NewPCG(1, 1))
		e.wrap = func(k intake.UpdateKeeper) intake.UpdateKeeper {
			return keeper(func(ctx context.Context, list []intake.Update) error {
				mu.Lock()
				fails := r.IntN(3) > 0
				mu.Unlock()
				if fails {
					return context.DeadlineExceeded
				}
				return k.Keep(ctx, list)
			})
		}
		e.start()
		defer func() { e.stop() }()
		want = w.sayMore(want, 200, 30*time.Millisecond)
		time.Sleep(10 * time.Minute)
		e.wantTexts(target(w.plain, ""), want...)
	})
}

// What was written in a private chat that mirrors a session is fetched, too, and is still
// one person's.
func TestPrivateChatWhileDown(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		dm := target(w.ada.DM().ID, "")
		e.mirrors(dm)
		e.start()
		quiet()
		w.must(w.ada.Say(dm.Chat, "one"))
		quiet()
		e.stop()
		w.must(w.ada.Say(dm.Chat, "two"))
		e.start()
		quiet()
		e.stop()
		e.wantTexts(dm, "one", "two")
		for _, ev := range eventsOf[intake.Said](e) {
			if !ev.Private {
				t.Errorf("came %+v", ev)
			}
		}
	})
}

// A private chat is its person's, over restarts, though its id doesn't say so: it may be
// bound, its messages have addresses, and what's written there while nobody listens is
// read, bound or not. A stranger's is nobody's.
func TestPrivateChatsAreTheirPersons(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e, stranger := w.ear(), w.Person("S")
		admitted := func(person string) bool { return person == w.ada.ID }
		e.opts.Admits = func(ev intake.Event) bool { return admitted(strings.TrimPrefix(ev.Person.ID, "discord:")) }
		e.change = func(o *discord.Options) { o.Knows = func(at adapters.Target) bool { return admitted(at.Chat) } }
		dm, theirs := target(w.ada.DM().ID, ""), target(stranger.DM().ID, "")
		e.start()
		quiet()
		if e.bot.Check(dm) == nil {
			t.Error("a private chat is known in which nobody ever wrote")
		}
		w.must(w.ada.Say(dm.Chat, "one"))
		w.must(stranger.Say(theirs.Chat, "/pair ABCD2345"))
		quiet()
		e.stop()
		w.must(w.ada.Say(dm.Chat, "two"))
		e.start()
		defer func() { e.stop() }()
		quiet()
		e.wantTexts(dm, "one", "two")
		if err := e.bot.Check(dm); err != nil {
			t.Error(err)
		}
		if err := e.bot.Check(theirs); err == nil {
			t.Error("a stranger's private chat is known")
		}
		if link, want := e.bot.Link(dm, "3"), "https://discord.com/channels/@me/"+dm.Chat+"/3"; link != want {
			t.Errorf("the address is %s, want %s", link, want)
		}
		admitted = func(string) bool { return false }
		if err := e.bot.Check(dm); err == nil {
			t.Error("the private chat of somebody is known who has no access any more")
		}
	})
}

// A bot that's let in again, to the server or to a channel, is told to go on there.
func TestChatsThatAreBack(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.mirrors(target(w.agents, ""), target(w.plain, ""), target(w.plain, ""))
		e.start()
		defer func() { e.stop() }()
		quiet()
		back := func() (out []string) {
			for _, ev := range eventsOf[intake.ChatBack](e) {
				out = append(out, ev.Place.Chat)
			}
			e.come = nil
			slices.Sort(out)
			return out
		}
		all := []string{w.agents, w.plain}
		for _, c := range []struct {
			what string
			do   func()
			want []string
		}{
			{"the login", func() {}, all},
			{"out and in", func() { w.house.Kick(); quiet(); w.house.Invite() }, all},
			{"a channel's permissions", func() {
				ch := w.house.TextChannel("plain")
				ch.Deny(discordtest.SendMessages)
				quiet()
				back()
				ch.Allow(discordtest.SendMessages)
			}, []string{w.plain}},
		} {
			c.do()
			quiet()
			if got := back(); !slices.Equal(got, c.want) {
				t.Errorf("after %s %q are back, want %q", c.what, got, c.want)
			}
		}
	})
}

// A page of messages that's no list of messages is fetched again, and so is one of which none can be
// read; what's really so is left out.
func TestHistoryOfAnotherShape(t *testing.T) {
	for name, c := range map[string]struct {
		change func(page []byte) []byte
		times  int
		want   []string
	}{
		"a list in a list": {func(page []byte) []byte { return slices.Concat([]byte("["), page, []byte("]")) }, 2, []string{"one", "two", "three", "four"}},
		"types as texts":   {typesAsTexts, 2, []string{"one", "two", "three", "four"}},
		"for ever so":      {typesAsTexts, 1000, []string{"one", "four"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				e := w.earAfter("one")
				w.must(w.ada.Say(w.plain, "two"))
				w.must(w.ada.Say(w.plain, "three"))
				var calls atomic.Int64
				w.fate.Store(new(func(r *http.Request, _ []byte) faults.Fate {
					if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/messages") || calls.Add(1) > int64(c.times) {
						return faults.Fate{}
					}
					return faults.Fate{Change: c.change}
				}))
				e.start()
				defer func() { e.stop() }()
				time.Sleep(time.Minute)
				w.must(w.ada.Say(w.plain, "four"))
				quiet()
				e.wantTexts(target(w.plain, ""), c.want...)
			})
		})
	}
}

func typesAsTexts(page []byte) []byte {
	return bytes.ReplaceAll(page, []byte(`"type":0`), []byte(`"type":"0"`))
}
