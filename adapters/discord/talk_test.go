package discord_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

// room is where people see the session, and write.
func (o *office) room() platformtest.TalkRoom {
	return platformtest.TalkRoom{
		Say: func(bob bool, text string) error {
			person := o.ada
			if bob {
				person = o.bob
			}
			_, err := person.Say(o.at, text)
			return err
		},
		Press: func(message, label string) error {
			_, err := o.ada.Press(message, label)
			return err
		},
		Seen: func() (all []platformtest.Sight) {
			for _, m := range o.Messages(o.at) {
				if m.Kind != 0 && m.Kind != 19 || m.OnlyFor != "" {
					continue
				}
				text, wrong := rendertest.ReadDiscord(m.Content)
				for _, what := range wrong {
					o.Errorf("in %q: %s", m.Content, what)
				}
				s := platformtest.Sight{ID: m.ID, Text: plain(text), At: m.At, Bot: m.Author.ID == o.Bot().ID}
				for _, f := range m.Files {
					s.Data = f.Content
				}
				all = append(all, s)
			}
			return all
		},
	}
}

// What comes later stands later, and each question below what led to it: with two people, in a
// thread and in a channel without threads; in a quarter of them
// with a restart, in a quarter with a kill.
func TestWhatComesLaterStandsBelow(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(5000, 40, 20)) {
		dir := t.TempDir()
		travel := adaptertest.Latency(seed, 800*time.Millisecond)
		inBubble(t, discordtest.Options{Latency: func(string, string) (here, back time.Duration) { return travel() }}, func(w *world) {
			channel := w.agents
			if seed%2 == 0 {
				channel = w.plain
			}
			o := w.office(channel, dir)
			o.Open()
			defer func() { o.Close() }()
			o.Begin(asking, "agent")
			o.Print(asking, adaptertest.Output{Lines: []string{"begins"}})
			o.Pass(20 * time.Second)
			if o.at = channel; channel == w.agents {
				o.at = o.thread(w.agents, "agent").ID
			}
			room := o.room()
			if seed%4 < 2 {
				room.Unanswered = seed%8 < 2 // killed: the call under way isn't answered for
				room.Meanwhile = func() {
					if room.Unanswered {
						o.Kill()
					} else {
						o.Restart()
					}
				}
			}
			platformtest.Talk(w.T, o.Office, room, seed)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
