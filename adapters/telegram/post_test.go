package telegram_test

import (
	"bytes"
	"image"
	"image/png"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/qos"
)

func TestPosts(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		at, place := target(w.group, 0), telegramtest.Place{Chat: w.group}
		post := func(p adapters.Post, id string) string {
			w.Helper()
			time.Sleep(time.Minute)
			p.To = at
			r := a.Post(w.Context(), p, id)
			if r.Outcome != qos.Delivered {
				w.Fatalf("post %+v: %+v", p, r)
			}
			return r.ID
		}
		said, err := w.ada.Say(place, "/status")
		if err != nil {
			w.Fatal(err)
		}
		buttons := [][]adapters.Button{{{Label: "Stop", Data: "o:1"}, {Label: "Docs", URL: "https://example.com/"}}}
		id := post(adapters.Post{Text: "**all** is well, @everybody", ReplyTo: strconv.Itoa(said), Buttons: buttons, Ring: true}, "")
		m := last(w, place)
		if m.Text != "all is well, @everybody" || m.ReplyTo != said || !m.Rang || len(m.Buttons) != 1 || m.Buttons[0][0].Data != "o:1" || m.Buttons[0][1].URL == "" {
			w.Errorf("the message is %+v", m)
		}
		if m.Entities[0].Type != "bold" || m.Entities[1].Type != "code" {
			w.Errorf("its entities are %+v", m.Entities)
		}
		post(adapters.Post{Text: "all is over", Buttons: buttons[:1]}, id)
		if m = last(w, place); m.Text != "all is over" || len(m.Buttons) != 1 {
			w.Errorf("the edited message is %+v", m)
		}
		post(adapters.Post{Text: "all is over"}, id)
		if m = last(w, place); len(m.Buttons) != 0 {
			w.Errorf("the buttons are there: %+v", m)
		}

		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
			w.Fatal(err)
		}
		id = post(adapters.Post{Text: "the screen", Picture: picture.Bytes(), ReplyTo: "999"}, "") // what it answers is gone
		if m = last(w, place); m.File == nil || m.File.Kind != telegramtest.Photo || m.Text != "the screen" || m.Rang {
			w.Errorf("the picture is %+v", m)
		}
		post(adapters.Post{Text: "the old screen", Picture: picture.Bytes()}, id)
		if m = last(w, place); m.Text != "the old screen" {
			w.Errorf("the picture's text is %q", m.Text)
		}
		post(adapters.Post{File: &adapters.File{Name: "run.log", Data: []byte("log\n")}}, "")
		if m = last(w, place); m.File == nil || m.File.Name != "run.log" || string(m.File.Content) != "log\n" || m.Text != "" {
			w.Errorf("the file is %+v", m)
		}
		post(adapters.Post{ReplyTo: strconv.Itoa(said), Reaction: "👀"}, "")
		if m, _ := w.Message(w.group, said); len(m.Reactions) != 1 || m.Reactions[0].Emoji != "👀" {
			w.Errorf("the reactions are %+v", m.Reactions)
		}
		post(adapters.Post{Text: strings.Repeat("word *and* word ", 2000)}, "")
		if m = last(w, place); !strings.HasSuffix(m.Text, "\n\n[the rest doesn't fit]") || len(m.Text) > 4096 || len(m.Text) < 800 {
			w.Errorf("a post that's too long has %d bytes, and ends with %q", len(m.Text), m.Text[len(m.Text)-30:])
		}
		w.noRefusals()
	})
}

// last is the newest message at a place.
func last(w *world, at telegramtest.Place) telegramtest.Message {
	w.Helper()
	seen := w.See(at)
	if len(seen) == 0 {
		w.Fatal("there's nothing to see")
	}
	return seen[len(seen)-1]
}

// If Telegram refuses entities, the same text goes plain at the next slot, and so do
// its edits.
func TestRefusedEntities(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.group, 0)})
		b.Start()
		defer func() { b.Stop() }()
		w.Inject(telegramtest.Fault{Times: 1, Code: 400, Description: "Bad Request: can't parse entities: because"})
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: []string{"ask @somebody", "or nobody"}})
		after(time.Minute)
		b.Print(first, adaptertest.Output{Lines: []string{"or @anybody"}})
		after(time.Minute)
		seen := w.See(telegramtest.Place{Chat: w.group})
		if len(seen) != 1 || seen[0].Text != "ask ＠somebody\nor nobody\nor ＠anybody" || len(seen[0].Entities) != 0 {
			w.Errorf("a person sees %+v", seen)
		}
		if n := len(w.CallsTo(w.group)); n != 3 {
			w.Errorf("%d calls, want a refused one, a message and an edit", n)
		}
		// The next message has its formatting.
		b.Print(first, adaptertest.Output{Lines: []string{"done"}, Ends: true})
		after(time.Minute)
		if m := last(w, telegramtest.Place{Chat: w.group}); m.Text != "done\ndone · 2 min" || len(m.Entities) != 2 || !m.Rang {
			w.Errorf("the next message is %+v", m)
		}
		w.noRefusals()
	})
}

func TestPostWithRefusedEntities(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge()
		b.Start()
		defer func() { b.Stop() }()
		w.Inject(telegramtest.Fault{Times: 1, Code: 400, Description: "Bad Request: ENTITIES_TOO_LONG"})
		if err := b.Hub.Post(adapters.Post{To: target(w.group, 0), Key: "1", Text: "**all** is well"}); err != nil {
			w.Fatal(err)
		}
		after(time.Minute)
		if m := last(w, telegramtest.Place{Chat: w.group}); m.Text != "all is well" || len(m.Entities) != 0 {
			w.Errorf("the message is %+v", m)
		}
		w.noRefusals()
	})
}

// In a private chat, drafts show the live region and nothing else does; typing shows
// that a session works that somebody has just spoken to. They cost no message its
// slot, and the stand-in refuses none.
func TestInPassing(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		place := telegramtest.Place{Chat: w.ada.ID}
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.ada.ID, 0)})
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(1, 1)})
		after(10 * time.Second)
		for i := range 300 {
			b.Print(first, adaptertest.Output{Live: []string{"thinking " + strconv.Itoa(i)}})
			after(200 * time.Millisecond)
		}
		drafts := w.Drafts(place)
		if len(drafts) != 1 || !strings.HasPrefix(drafts[0].Text, "thinking 29") {
			w.Errorf("the drafts are %+v", drafts)
		}
		n := 0
		for _, c := range w.CallsTo(w.ada.ID) {
			if c.Method == "sendMessageDraft" {
				n++
			}
		}
		if n < 30 || n > 80 {
			w.Errorf("%d drafts in a minute; at most one in 0.75 s is wanted", n)
		}
		after(30 * time.Second)
		b.Print(first, adaptertest.Output{Lines: lines(2, 1)})
		after(10 * time.Second)
		if doing := w.Doing(place); doing != "" {
			w.Errorf("nobody has spoken to the session, and somebody is %s", doing)
		}
		for range 3 {
			b.Hub.FocusSession(first)
			after(time.Second)
			if doing := w.Doing(place); doing != "typing" {
				w.Errorf("a session was spoken to, and nobody is typing: %q", doing)
			}
		}
		b.Print(first, adaptertest.Output{Lines: lines(3, 1), Ends: true})
		after(time.Minute)
		b.compare(place, first)
		w.noRefusals()
	})
}

// Lines of other kinds than a pane's are formatted, and none is lost between them.
func TestKindsOfLines(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		p := adaptertest.KindsOfLines("$ make")
		if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.group, 0), Page: p}); r.Outcome != qos.Delivered {
			w.Fatalf("the call: %+v", r)
		}
		m := last(w, telegramtest.Place{Chat: w.group})
		var kinds []string
		for _, e := range m.Entities {
			kinds = append(kinds, e.Type)
		}
		want := "you:\nfix it\n\n[at least 2 lines are missing: the screen was cleared]\n$ make\n\nRead a.go\n\nDone, see docs\n\nsession ended"
		if m.Text != want || strings.Join(kinds, " ") != "blockquote bold italic pre code bold text_link italic" {
			w.Errorf("the message is %q with %v", m.Text, kinds)
		}
	})
}
