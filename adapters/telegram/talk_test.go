package telegram_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
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
			_, err := o.ada.Press(o.at.Chat, o.number(message), label)
			return err
		},
		Seen: func() (all []platformtest.Sight) {
			for _, m := range o.See(o.at) {
				if m.Service != "" {
					continue
				}
				s := platformtest.Sight{ID: strconv.Itoa(m.ID), Text: strings.ReplaceAll(m.Text, "\u200b", ""), At: m.At, Bot: m.From.ID == o.Bot().ID}
				if m.File != nil {
					s.Data = m.File.Content
				}
				all = append(all, s)
			}
			return all
		},
	}
}

// What comes later stands later, and each question below what led to it: with two people, in a
// topic and in a group without topics; in a quarter of them
// with a restart, in a quarter with a kill.
func TestWhatComesLaterStandsBelow(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(5000, 40, 20)) {
		dir := t.TempDir()
		travel := adaptertest.Latency(seed, 800*time.Millisecond)
		inBubble(t, telegramtest.Options{Latency: func(string, int64) (here, back time.Duration) { return travel() }}, func(w *world) {
			chat := w.forum
			if seed%2 == 0 {
				chat = w.group
			}
			o := w.office(dir, chat)
			o.Open()
			defer o.Close()
			o.Begin(asking, "agent")
			o.Print(asking, adaptertest.Output{Lines: []string{"begins"}})
			o.Pass(20 * time.Second)
			if o.at.Chat = chat; chat == w.forum {
				o.at = o.topic(w.forum, "agent").Place
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
