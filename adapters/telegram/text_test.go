package telegram_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/sessions"
)

// answers is a session mirrored to the group, whose lines are an answer's.
func (w *world) answers(test func(b *bridge, say func(lines ...string))) {
	w.Helper()
	b := w.bridge(adapters.MirrorRule{Session: "agent-0", To: target(w.group, 0)})
	b.Start()
	b.Begin(first, "agent-0")
	test(b, func(lines ...string) {
		b.Print(first, adaptertest.Output{Lines: lines, Kind: sessions.KindAnswer})
		after(time.Minute)
	})
	b.Stop()
	w.noRefusals()
}

// inGroup are the messages of the group, the oldest first.
func (w *world) inGroup() []telegramtest.Message {
	var out []telegramtest.Message
	for _, m := range w.See(telegramtest.Place{Chat: w.group}) {
		if m.Service == "" && m.From.ID == w.Bot().ID {
			out = append(out, m)
		}
	}
	return out
}

// A block of code goes on in the next message, in its language, over edits and a
// restart.
func TestABlockOfCodeGoesOnInTheNextMessage(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		w.answers(func(b *bridge, say func(lines ...string)) {
			code := []string{"Look:", "", "```go"}
			for i := range 150 {
				code = append(code, fmt.Sprintf("\tv%d := *p%d[%d] // no _markup_", i, i, i))
			}
			say(code...)
			say("more()")
			b.Stop()
			b.Start()
			say("last()", "```", "**done**")
		})
		all := w.inGroup()
		if len(all) < 2 {
			w.Fatalf("%d messages", len(all))
		}
		last, before := all[len(all)-1], all[len(all)-2] // after a restart a message begins
		if !strings.HasSuffix(before.Text, "more()") || !strings.HasPrefix(last.Text, "last()") || strings.Contains(last.Text, "```") || strings.Contains(last.Text, "**") {
			w.Errorf("the last message says %q", last.Text)
		}
		for _, m := range all {
			if n := len(m.Entities); n == 0 || m.Entities[0].Type != "pre" || m.Entities[0].Language != "go" {
				w.Errorf("message %d isn't code in go: %+v", m.ID, m.Entities)
			}
			if m.ID == last.ID && (len(m.Entities) != 2 || m.Entities[1].Type != "bold") {
				w.Errorf("what stands behind the code isn't bold: %+v", m.Entities)
			}
		}
	})
}

// What doesn't change the text may change its formatting.
func TestFormattingThatChangesIsAnEdit(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		w.answers(func(_ *bridge, say func(lines ...string)) {
			say("Title")
			say("=====")
		})
		all := w.inGroup()
		if len(all) != 1 || all[0].Text != "Title" || len(all[0].Entities) != 1 || all[0].Entities[0].Type != "bold" {
			w.Errorf("seen: %+v", all)
		}
	})
}

// Telegram takes a hundred entities a message: more go into the next.
func TestManyEntitiesTakeMoreMessages(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		var want []string
		w.answers(func(_ *bridge, say func(lines ...string)) {
			var lines []string
			for i := range 250 {
				want = append(want, fmt.Sprintf("w%d", i))
				lines = append(lines, fmt.Sprintf("**w%d**", i), "")
			}
			say(lines...)
		})
		all := w.inGroup()
		var got []string
		for _, m := range all {
			got = append(got, strings.Fields(m.Text)...)
			for _, e := range m.Entities {
				if e.Type != "bold" {
					w.Errorf("message %d has %+v", m.ID, e)
				}
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") || len(all) != 3 {
			w.Errorf("%d messages, %q", len(all), got)
		}
	})
}

// What a person wrote elsewhere is a quote below their name, and calls nobody.
func TestWhatAPersonWroteIsQuoted(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "agent-0", To: target(w.group, 0)})
		b.Start()
		b.Begin(first, "agent-0")
		b.Print(first, adaptertest.Output{Lines: []string{"ask @somebody"}, Kind: sessions.KindUser, Author: "Ada", Origin: "web", Begins: true})
		b.Print(first, adaptertest.Output{Lines: []string{"> ask @somebody"}})
		after(time.Minute)
		b.Stop()
		w.noRefusals()
		all := w.inGroup()
		if len(all) != 1 || all[0].Text != "Ada:\nask @somebody\n> ask @somebody" {
			w.Fatalf("seen: %+v", all)
		}
		kinds := map[string]int{}
		for _, e := range all[0].Entities {
			kinds[e.Type]++
		}
		if kinds["blockquote"] != 1 || kinds["bold"] != 1 || kinds["pre"] != 1 || kinds["mention"] != 0 {
			w.Errorf("entities: %+v", all[0].Entities)
		}
	})
}
