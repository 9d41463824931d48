package discord_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// withCommands begins a process whose commands Discord knows.
func (e *ear) withCommands() {
	e.Helper()
	e.start()
	quiet()
	e.noErr(e.bot.SetCommands(context.Background(), commands.Commands()))
}

// Slash commands become the lines that people could write, whatever order their
// arguments are given in, and whether the server says what their channel is or not.
func TestSlashCommands(t *testing.T) {
	for _, bare := range []bool{false, true} {
		t.Run(fmt.Sprint("bare ", bare), func(t *testing.T) { slashCommands(t, bare) })
	}
}

func slashCommands(t *testing.T, bare bool) {
	t.Helper()
	inBubble(t, discordtest.Options{BareInteractions: bare}, func(w *world) {
		e := w.ear()
		e.withCommands()
		defer func() { e.stop() }()
		thread := w.must(w.ada.CreateThread(w.agents, "agent"))
		for _, c := range []struct {
			name    string
			options map[string]any
			want    string
		}{
			{"new", map[string]any{"agent": "claude", "folder": " ~/a  b\nc "}, "/new claude ~/a  b c"},
			{"new", nil, "/new"},
			{"view", map[string]any{"view": "final", "session": "pb_1"}, "/view pb_1 final"},
			{"bind", map[string]any{"session": "agent", "input": "input off"}, "/bind agent input off"},
			{"send", map[string]any{"file": "../../etc/passwd"}, "/send ../../etc/passwd"},
			{"search", map[string]any{"text": "/x"}, "/search /x"},
			{"sessions", nil, "/sessions"},
		} {
			e.come = nil
			id := w.must(w.ada.Command(thread, c.name, c.options))
			quiet()
			if got := e.texts(target(w.agents, thread)); !slices.Equal(got, []string{c.want}) {
				t.Errorf("/%s %v came as %q, want %q", c.name, c.options, got, c.want)
				continue
			}
			if ev := e.come[0]; ev.Key != "discord:i"+id || ev.Person.ID != "discord:"+w.ada.ID || ev.Private || time.Since(ev.At) > 5*time.Second {
				t.Errorf("came %+v", ev)
			}
		}
		w.must(w.ada.Command(w.ada.DM().ID, "sessions", nil))
		quiet()
		e.wantTexts(target(w.ada.DM().ID, ""), "/sessions")
		if n := len(w.Unanswered()); n > 0 {
			t.Errorf("%d interactions weren't acknowledged in time", n)
		}
		w.noRefusals()
	})
}

// Others see at once who asked for what, and no phone rings: not for the command, not for
// its reply, which comes below it in the same message. Nothing is left standing, and a code isn't
// shown to anybody else.
func TestCommandsAreShown(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.withCommands()
		defer func() { e.stop() }()
		id := w.must(w.ada.Command(w.plain, "search", map[string]any{"text": "@everyone `x` https://x.org"}))
		quiet()
		if i, _ := w.Interaction(id); i.Deferred || i.Failed(time.Now()) {
			t.Fatalf("the interaction is %+v", i)
		}
		reply := e.bot.Post(context.Background(), adapters.Post{To: target(w.plain, ""), Key: "k", ReplyTo: "i" + id, Text: "lines"}, "")
		w.noErr(reply.Err)
		w.must(w.ada.Command(w.plain, "pair", map[string]any{"code": "ABCD2345"}))
		time.Sleep(3 * time.Minute)
		list := w.Messages(w.plain)
		if len(list) != 1 || list[0].Content != "`/search @everyone 'x' https://x.org`\nlines" || list[0].ID != reply.ID {
			t.Errorf("the channel shows %+v", list)
		}
		if seen := w.SeenBy(w.ada.ID, w.plain); len(seen) != 2 || seen[1].Content != "`/pair`" || seen[1].Flags&discordtest.Ephemeral == 0 {
			t.Errorf("the person sees %+v", seen)
		}
		for _, m := range list {
			if m.Rang || len(m.Pings) > 0 || m.Flags&(discordtest.Loading|discordtest.SuppressEmbeds) != discordtest.SuppressEmbeds {
				t.Errorf("%+v", m)
			}
		}
		w.noRefusals()
	})
}

// Interactions are acknowledged within three seconds, though the disk hangs, or Discord
// answers late, or not at first, or history is being fetched.
func TestAcknowledgedInTime(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world, e *ear) // while it's stopped
		then func(w *world, e *ear) // when it runs again; nil: nothing
	}{
		{"nothing else", func(*world, *ear) {}, nil},
		{"the disk hangs", func(w *world, e *ear) {
			e.wrap = func(intake.UpdateKeeper) intake.UpdateKeeper {
				return keeper(func(ctx context.Context, _ []intake.Update) error {
					<-ctx.Done()
					return ctx.Err()
				})
			}
		}, nil},
		{"much waits to be stored", func(w *world, e *ear) {
			e.wrap = func(intake.UpdateKeeper) intake.UpdateKeeper {
				return keeper(func(context.Context, []intake.Update) error {
					for range 100 {
						w.must(w.ada.Say(w.plain, "flood"))
					}
					return context.DeadlineExceeded
				})
			}
		}, nil},
		{"an answer is lost", func(w *world, _ *ear) {
			w.Inject(discordtest.Fault{Call: "Callback", Times: 3, Cut: discordtest.CutAfter})
		}, nil},
		{"connections break", func(w *world, _ *ear) {
			w.Inject(discordtest.Fault{Call: "Callback", Times: 3, Cut: discordtest.CutBefore})
		}, nil},
		{"Discord fails", func(w *world, _ *ear) {
			w.Inject(discordtest.Fault{Call: "Callback", Times: 3, Status: http.StatusBadGateway, Body: "<html>"})
		}, nil},
		{"the bot is silenced", func(*world, *ear) {}, func(w *world, e *ear) {
			w.Inject(discordtest.Fault{Call: "CreateMessage", Times: 1, RetryAfter: time.Hour, Scope: discordtest.ScopeGlobal})
			if _, err := w.buttonBelow(e.bot, w.plain, "x"); err == nil {
				w.Fatal("the bot isn't silenced")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				e := w.ear()
				e.withCommands()
				message := w.must(w.buttonBelow(e.bot, w.plain, "o:0123456789abcdef"))
				quiet()
				e.stop()
				c.do(w, e)
				e.start()
				defer func() { e.stop() }()
				quiet()
				if c.then != nil {
					c.then(w, e)
				}
				for range 5 {
					w.must(w.ada.Command(w.plain, "sessions", nil))
					w.must(w.ada.Press(message, "o:0123456789abcdef"))
					time.Sleep(200 * time.Millisecond)
				}
				time.Sleep(5 * time.Second)
				if list := w.Interactions(); len(list) != 10 || len(w.Unanswered()) > 0 {
					t.Errorf("of %d interactions %d weren't acknowledged in time", len(list), len(w.Unanswered()))
				}
			})
		})
	}
}

// buttonBelow posts a message with a button.
func (w *world) buttonBelow(a *discord.Adapter, channel, data string) (string, error) {
	reply := a.Post(context.Background(), adapters.Post{
		To: target(channel, ""), Key: data, Text: "press", Buttons: [][]adapters.Button{{{Label: "A", Data: data}}},
	}, "")
	return reply.ID, reply.Err
}

// Strangers get nothing: no answer, no message, no candidates.
func TestStrangersGetNothing(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		mallory := w.Person("Mallory")
		e.opts.Admits = func(ev intake.Event) bool { return ev.Person.ID == "discord:"+w.ada.ID }
		e.opts.Complete = func(intake.Event, string, string, string) []intake.Completion {
			return []intake.Completion{{Label: "secret", Value: "secret"}}
		}
		e.withCommands()
		defer func() { e.stop() }()
		message := w.must(w.buttonBelow(e.bot, w.plain, "o:0123456789abcdef"))
		before := len(w.Calls())
		w.must(mallory.Command(w.plain, "sessions", nil))
		w.must(mallory.Press(message, "o:0123456789abcdef"))
		w.must(mallory.Complete(w.plain, "new", "agent", "", nil))
		quiet()
		if n := len(w.Calls()) - before; n != 0 {
			t.Errorf("%d calls were made for a stranger", n)
		}
		id := w.must(w.ada.Complete(w.plain, "new", "agent", "se", nil))
		quiet()
		if i, _ := w.Interaction(id); len(i.Choices) != 1 || i.Choices[0].Value != "secret" {
			t.Errorf("offered %+v", i.Choices)
		}
	})
}

// What's being completed panics at drawn moments: each is counted, and the others are answered
// all the same.
func TestPanicsEndNoOthersInteraction(t *testing.T) {
	for seed := range drawtest.Seeds(t, 5) {
		inBubble(t, discordtest.Options{}, func(w *world) {
			random := rand.New(rand.NewPCG(seed, 1))
			e := w.ear()
			panicked := 0
			e.opts.Panicked = func() { panicked++ }
			e.opts.Complete = func(_ intake.Event, _, _, begun string) []intake.Completion {
				if begun == "bad" {
					panic("a fault")
				}
				return []intake.Completion{{Label: begun, Value: begun}}
			}
			e.withCommands()
			defer func() { e.stop() }()
			asked := map[string]string{}
			faults := 0
			for range 6 {
				begun := []string{"good", "bad"}[random.IntN(2)]
				if begun == "bad" {
					faults++
				}
				asked[w.must(w.ada.Complete(w.plain, "new", "agent", begun, nil))] = begun
				quiet()
			}
			for id, begun := range asked {
				if i, _ := w.Interaction(id); (len(i.Choices) == 1) != (begun == "good") {
					t.Errorf("seed %d: %s was offered %+v", seed, begun, i.Choices)
				}
			}
			if panicked != faults {
				t.Errorf("seed %d: %d faults were counted, want %d", seed, panicked, faults)
			}
		})
	}
}

// What's told to who pressed a button is for that person alone, and comes though it's
// told before the press was acknowledged.
func TestAnswersToPresses(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.handle = func(ev intake.Event) error {
			p := e.bot
			text := "Already used by *Bob* @everyone"
			if ev.Action.(intake.Pressed).Data == "quiet" {
				text = ""
			}
			return p.TellPresser(context.Background(), ev, text)
		}
		e.start()
		defer func() { e.stop() }()
		quiet()
		w.Inject(discordtest.Fault{Call: "Callback", Times: 1, Before: 2 * time.Second})
		message := w.must(w.buttonBelow(e.bot, w.plain, "loud"))
		id := w.must(w.ada.Press(message, "loud"))
		time.Sleep(5 * time.Second)
		if i, _ := w.Interaction(id); len(i.Followups) != 1 || i.Failed(time.Now()) {
			t.Fatalf("the interaction is %+v", i)
		}
		if list := w.Messages(w.plain); len(list) != 1 {
			t.Errorf("others see %+v", list)
		}
		list := w.SeenBy(w.ada.ID, w.plain)
		if len(list) != 2 || list[1].Flags&discordtest.Ephemeral == 0 || len(list[1].Pings) != 0 || !strings.Contains(list[1].Content, `\*Bob\*`) {
			t.Errorf("the person sees %+v", list)
		}
		message = w.must(w.buttonBelow(e.bot, w.plain, "quiet"))
		id = w.must(w.ada.Press(message, "quiet"))
		quiet()
		if i, _ := w.Interaction(id); len(i.Followups) != 0 || i.Failed(time.Now()) {
			t.Errorf("the interaction is %+v", i)
		}
		w.noRefusals()
	})
}

// An answer that comes when nobody waits for it any more isn't given.
func TestAnswersThatAreTooLate(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.start()
		defer func() { e.stop() }()
		quiet()
		message := w.must(w.buttonBelow(e.bot, w.plain, "x"))
		w.must(w.ada.Press(message, "x"))
		quiet()
		list := eventsOf[intake.Pressed](e)
		if len(list) != 1 || list[0].Message != message || list[0].Action.(intake.Pressed).Data != "x" {
			t.Fatalf("came %+v", list)
		}
		time.Sleep(16 * time.Minute)
		calls := len(w.Calls())
		if err := e.bot.TellPresser(context.Background(), list[0], "late"); err != nil || len(w.Calls()) != calls {
			t.Errorf("%v, %d calls", err, len(w.Calls())-calls)
		}
		forged := list[0]
		forged.Action = intake.Pressed{Token: "1 ../../channels/1/messages"}
		if err := e.bot.TellPresser(context.Background(), forged, "x"); err == nil || len(w.Calls()) != calls {
			t.Errorf("%v, %d calls", err, len(w.Calls())-calls)
		}
	})
}

// What's chosen from a menu is as if it were a button.
func TestMenus(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.start()
		defer func() { e.stop() }()
		quiet()
		var rows [][]adapters.Button
		for i := range 30 {
			rows = append(rows, []adapters.Button{{Label: fmt.Sprint("choice ", i), Data: fmt.Sprintf("o:%016x", i)}})
		}
		reply := e.bot.Post(context.Background(), adapters.Post{To: target(w.plain, ""), Key: "k", Text: "which?", Buttons: rows}, "")
		if reply.Err != nil {
			t.Fatal(reply.Err)
		}
		m, _ := w.Message(reply.ID)
		menu := m.Rows[1][0]
		w.must(w.ada.Select(reply.ID, menu.CustomID, menu.Options[2].Value))
		synctest.Wait()
		quiet()
		list := eventsOf[intake.Pressed](e)
		if len(list) != 1 || list[0].Action.(intake.Pressed).Data != menu.Options[2].Value || !strings.HasPrefix(menu.Options[2].Value, "o:") {
			t.Errorf("came %+v", list)
		}
	})
}
