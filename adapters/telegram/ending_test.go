package telegram_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/qos"
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
