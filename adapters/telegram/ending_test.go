package telegram_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// The end of a turn whose text is there already is a short message, which leads to where
// the turn begins; also after a restart. Where that's not in the chat, it leads nowhere.
func TestTheEndOfATurnLeadsToItsBeginning(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.inForum()
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(0, 3), Ends: true})
		after(time.Minute)
		b.Print(first, adaptertest.Output{Lines: append([]string{""}, lines(3, 300)...)})
		after(3 * time.Minute)
		b.Stop()
		b.Start()
		b.Print(first, adaptertest.Output{Lines: lines(303, 1)})
		after(12 * time.Second)
		b.Print(first, adaptertest.Output{Ends: true})
		after(time.Minute)
		at := b.topic(w.forum, "api").Place
		all := w.See(at)
		all = all[len(all)-4:] // the first turn, and of the second a file, a message and its end
		if all[0].Text == "" || len(all[0].Entities) != 2 || all[0].Entities[1].Type != "italic" {
			w.Errorf("the first turn, in one message: %+v", all[0])
		}
		end := all[3]
		link := (&telegram.Adapter{}).Link(target(w.forum, at.Thread), strconv.Itoa(all[1].ID))
		found := false
		for _, e := range end.Entities {
			found = found || e.Type == "text_link" && e.URL == link && e.Offset == 0 && e.Length == len("done - 3 min 12 s")
		}
		if end.Text != "done · 3 min 12 s · “line 303 of what the agent says as it works”" || !end.Rang || !found || link == "" {
			w.Errorf("the end is %q, it rang %v, with %+v; want a link to %s", end.Text, end.Rang, end.Entities, link)
		}
		w.noRefusals()
	})
}

// A private chat has no addresses.
func TestInAPrivateChatTheEndLeadsNowhere(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.ada.ID, 0)})
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(0, 3)})
		after(time.Minute)
		b.Print(first, adaptertest.Output{Ends: true})
		after(time.Minute)
		m := last(w, telegramtest.Place{Chat: w.ada.ID})
		if m.Text != "done · 1 min · “line 2 of what the agent says as it works”" || len(m.Entities) != 1 || m.Entities[0].Type != "italic" {
			w.Errorf("the end is %+v", m)
		}
	})
}

// What was answered is quoted behind the link, as plain text: it may hold a name, and what looks like markup.
func TestAnEndingQuotesPlainText(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		p := adapters.Page{Ending: &adapters.Ending{
			Turns: 1, Took: time.Minute, Words: "Ask @ada about *x* and example.com/x.", Link: "https://t.me/c/1800000001/2/4",
		}}
		if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.group, 0), Page: p}); r.Outcome != qos.Delivered {
			w.Fatalf("the call: %+v", r)
		}
		m := last(w, telegramtest.Place{Chat: w.group})
		if m.Text != "done · 1 min · “Ask @ada about *x* and example.com/x.”" {
			w.Errorf("it says %q", m.Text)
		}
		for _, e := range m.Entities {
			if e.Type == "mention" || e.Type == "text_link" && e.Length != len("done - 1 min") {
				w.Errorf("there's %+v", e)
			}
		}
		w.noRefusals()
	})
}

// Ten minutes of silence end with one message: a digest beside a file that has it all.
func TestAPenaltyEndsWithOneDigest(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "agent-0", To: target(w.group, 0)})
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "agent-0")
		b.Print(first, adaptertest.Output{Lines: lines(0, 2), Ends: true})
		after(time.Minute)
		w.Inject(telegramtest.Fault{Times: 1, Chat: w.group, RetryAfter: 11 * time.Minute})
		from, to := time.Now(), time.Time{}
		for n := range 12 {
			to = time.Now()
			b.Print(first, adaptertest.Output{Lines: lines(100*n, 100), Ends: n%4 == 3})
			after(55 * time.Second)
		}
		before := len(b.seen(telegramtest.Place{Chat: w.group}))
		after(5 * time.Minute)
		all := b.seen(telegramtest.Place{Chat: w.group})
		digest := all[len(all)-1]
		if len(all) != 2 || before > len(all) || !digest.Rang || digest.Data == nil {
			w.Fatalf("%d messages, the last of them %+v", len(all), digest)
		}
		want := "[1200 lines, from " + from.Format("15:04") + " to " + to.Format("15:04") + ", are in the attached file]"
		text := strings.Split(digest.Text, "\n")
		if text[0] != want || !strings.HasPrefix(text[len(text)-1], "3 turns done · the last took ") ||
			!strings.Contains(digest.Text, lines(1199, 1)[0]) {
			w.Errorf("the digest is %q", digest.Text)
		}
		b.compare(telegramtest.Place{Chat: w.group}, first)
		w.noRefusals()
	})
}

// Where several turns begin stands below their end, each line with its link.
func TestAnEndingLinksItsTurns(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		p := adapters.Page{Ending: &adapters.Ending{Turns: 12, Took: time.Minute, Words: "Ask @ada, 👍.", Link: "https://t.me/c/1800000001/1", Unlisted: 2}}
		for n := range int64(10) {
			p.Ending.Begun = append(p.Ending.Begun, adapters.BegunTurns{First: n + 3, Last: n + 3, Took: time.Second, Link: a.Link(target(w.forum, 2), strconv.Itoa(int(100+n)))})
		}
		for i := range 3 {
			p.Pieces = append(p.Pieces, adapters.Piece{Line: sessions.Line{N: int64(i + 1), Kind: sessions.KindPane, Text: "👍 turn 3 · 1 s"}, To: len("👍 turn 3 · 1 s")})
		}
		if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.forum, 0), Page: p}); r.Outcome != qos.Delivered {
			w.Fatalf("the call: %+v", r)
		}
		all := w.seen(telegramtest.Place{Chat: w.forum})
		m := all[len(all)-1]
		lines := strings.Split(m.Text, "\n")
		if len(lines) != 15 || lines[3] != "12 turns done · the last took 1 min · “Ask @ada, 👍.”" || lines[4] != "the first 2 turns aren't listed" || len(m.Links) != 10 {
			w.Fatalf("it says %q, with the links %+v", m.Text, m.Links)
		}
		for i, l := range m.Links {
			if l.Text != lines[5+i] || l.Text != fmt.Sprintf("turn %d · 1 s", i+3) || l.Address != p.Ending.Begun[i].Link {
				w.Errorf("link %d is %+v", i, l)
			}
		}
		w.noRefusals()
	})
}
