package discord_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// Of two daemons with one bot each takes what's written in its own threads and nothing of the
// other's, over restarts and kills of either. A slash command in a place of neither is done by one
// of them, a pressed button handled by who made it, and a text there comes to both, marked as common.
func TestTwoDaemonsServeTheirOwnPlaces(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		inBubble(t, discordtest.Options{}, func(w *world) {
			h := &sharedHouse{world: w, T: rt, want: [2][]string{}}
			for i := range h.ears {
				h.ears[i] = w.ear()
				h.start(i)
			}
			h.noErr(h.ears[0].bot.SetCommands(context.Background(), commands.Commands()))
			for i := range h.ears {
				h.threads[i] = h.done(h.ears[i].bot, adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: fmt.Sprintf("agent-%d", i)})
			}
			quiet()
			for range rapid.IntRange(1, 25).Draw(rt, "steps") {
				h.step()
			}
			quiet()
			h.check()
			for _, e := range h.ears {
				e.stop()
			}
		})
	})
}

// sharedHouse is a channel with a thread of each of two daemons, and what's to come to each of them.
type sharedHouse struct {
	*world
	*rapid.T
	ears    [2]*ear
	threads [2]string
	want    [2][]string // texts in its thread
	one     []string    // commands that one of them does
	common  []string    // texts in the channel, while both were there
}

// start begins the process of a daemon.
func (h *sharedHouse) start(i int) {
	e := h.ears[i]
	e.own = true
	e.start()
	time.Sleep(10 * time.Second) // of two logins within 5 s the second is refused
	quiet()
}

// step has a person do something, or a daemon end and begin anew.
func (h *sharedHouse) step() {
	i := rapid.IntRange(0, 1).Draw(h.T, "daemon")
	n := len(h.want[0]) + len(h.want[1]) + len(h.one) + len(h.common)
	text := fmt.Sprintf("text-%d", n)
	switch rapid.SampledFrom([]string{"text", "text", "command", "speak", "text in the channel", "command in the channel", "restart", "kill"}).Draw(h.T, "what") {
	case "text":
		h.must(h.ada.Say(h.threads[i], text))
		h.want[i] = append(h.want[i], text)
	case "command":
		h.must(h.ada.Command(h.threads[i], "search", map[string]any{"text": text}))
		h.want[i] = append(h.want[i], "/search "+text)
	case "speak":
		h.done(h.ears[i].bot, adapters.Op{Kind: adapters.KindSend, Target: target(h.agents, h.threads[i]), Page: page(text), Text: text})
	case "text in the channel":
		h.must(h.ada.Say(h.agents, text))
		h.common = append(h.common, text)
	case "command in the channel":
		h.must(h.ada.Command(h.agents, "search", map[string]any{"text": text}))
		h.one = append(h.one, "/search "+text)
	case "restart":
		quiet()
		h.ears[i].stop()
		h.start(i)
	case "kill":
		quiet()
		h.ears[i].kill()
		h.start(i)
	}
	time.Sleep(time.Duration(rapid.IntRange(0, 3000).Draw(h.T, "rest")) * time.Millisecond)
}

func (h *sharedHouse) check() {
	for i, e := range h.ears {
		if got := e.texts(target(h.agents, h.threads[i])); !slices.Equal(got, h.want[i]) {
			h.Errorf("in the thread of daemon %d came %q, want %q", i, got, h.want[i])
		}
		if got := e.texts(target(h.agents, h.threads[1-i])); len(got) > 0 {
			h.Errorf("of the thread of the other came %q to daemon %d", got, i)
		}
	}
	var done []string
	for i, e := range h.ears {
		var texts []string
		for _, ev := range eventsOf[intake.Said](e) {
			said := ev.Action.(intake.Said).Text
			switch {
			case ev.Place.Thread != "":
			case strings.HasPrefix(said, "/"):
				done = append(done, said)
			default:
				texts = append(texts, said)
				if !ev.Common {
					h.Errorf("%q came to daemon %d as if nobody else got it", said, i)
				}
			}
		}
		if !slices.Equal(texts, h.common) {
			h.Errorf("of the channel came %q to daemon %d, want %q", texts, i, h.common)
		}
	}
	slices.Sort(done)
	slices.Sort(h.one)
	if !slices.Equal(done, h.one) {
		h.Errorf("done were %q, want %q", done, h.one)
	}
	if n := len(h.Unanswered()); n > 0 {
		h.Errorf("%d interactions weren't answered", n)
	}
}

// An interaction that Discord brings twice is answered once, and is nobody else's.
func TestAnInteractionThatComesTwice(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		e := w.ear()
		e.withCommands()
		defer func() { e.stop() }()
		w.must(w.ada.Command(w.plain, "sessions", nil))
		quiet()
		w.RepeatEvents(0, 5)
		w.DropGateways()
		time.Sleep(10 * time.Second)
		if n := len(w.CallsTo("Callback")); n != 1 || e.bot.Shared() {
			t.Errorf("it was answered %d times; the bot counts as shared: %t", n, e.bot.Shared())
		}
		e.wantTexts(target(w.plain, ""), "/sessions")
	})
}
