package discord_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// last is the newest message in a channel.
func last(w *world, channel string) discordtest.Message {
	w.Helper()
	seen := w.Messages(channel)
	if len(seen) == 0 {
		w.Fatal("there's nothing to see")
	}
	return seen[len(seen)-1]
}

func TestPosts(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		post := func(p adapters.Post, id string) string {
			w.Helper()
			p.To, p.Key = target(w.plain, ""), "k"
			r := a.Post(w.Context(), p, id)
			if r.Outcome != qos.Delivered {
				w.Fatalf("post %+v: %+v", p, r)
			}
			after(2 * time.Second)
			return r.ID
		}
		said, err := w.ada.Say(w.plain, "/status")
		if err != nil {
			w.Fatal(err)
		}
		buttons := [][]adapters.Button{{{Label: "Stop", Data: "o:1"}, {Label: "Docs", URL: "https://example.com/"}}}
		id := post(adapters.Post{Text: "**all** is well, @everyone", ReplyTo: said, Buttons: buttons, Ring: true}, "")
		m := last(w, w.plain)
		if m.ReplyTo != said || !m.Rang || len(m.Pings) != 0 || len(m.Embeds) != 0 || len(m.Rows) != 1 || m.Rows[0][0].CustomID != "o:1" || m.Rows[0][1].URL == "" {
			w.Errorf("the message is %+v", m)
		}
		if seen, _ := rendertest.ReadDiscord(m.Content); plain(seen) != "all is well, @everyone" || !strings.HasPrefix(m.Content, "**all**") {
			w.Errorf("it says %q", m.Content)
		}
		post(adapters.Post{Text: "all is over", Buttons: buttons[:1]}, id)
		if m = last(w, w.plain); m.Content != "all is over" || len(m.Rows) != 1 {
			w.Errorf("the edited message is %+v", m)
		}
		post(adapters.Post{Text: "all is over"}, id)
		if m = last(w, w.plain); len(m.Rows) != 0 {
			w.Errorf("the buttons are there: %+v", m)
		}

		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
			w.Fatal(err)
		}
		id = post(adapters.Post{Text: "the screen", Picture: picture.Bytes(), ReplyTo: "999"}, "") // what it answers is gone
		if m = last(w, w.plain); len(m.Files) != 1 || m.Files[0].Name != "screen.png" || m.Content != "the screen" || m.Rang {
			w.Errorf("the picture is %+v", m)
		}
		post(adapters.Post{Text: "the old screen", Picture: picture.Bytes()}, id)
		if m = last(w, w.plain); m.Content != "the old screen" || len(m.Files) != 1 {
			w.Errorf("the picture's message is %+v", m)
		}
		post(adapters.Post{File: &adapters.File{Name: "run.log", Data: []byte("log\n")}}, "")
		if m = last(w, w.plain); len(m.Files) != 1 || m.Files[0].Name != "run.log" || string(m.Files[0].Content) != "log\n" || m.Content != "" {
			w.Errorf("the file is %+v", m)
		}
		post(adapters.Post{ReplyTo: said, Reaction: "👀"}, "")
		if m, _ := w.Message(said); len(m.Reactions) != 1 || m.Reactions[0].Emoji != "👀" {
			w.Errorf("the reactions are %+v", m.Reactions)
		}
		post(adapters.Post{Text: strings.Repeat("word *and* word ", 2000)}, "")
		if m = last(w, w.plain); !strings.HasSuffix(m.Content, "\n\n"+`\[the rest doesn't fit\]`) || adapters.UTF16Len(m.Content) > 2000 || len(m.Content) < 1900 {
			w.Errorf("a post that's too long has %d bytes, and ends with %q", len(m.Content), m.Content[len(m.Content)-30:])
		}
		w.noRefusals()
	})
}

// Menus stand above the buttons, which take the rows that are left, and fit whatever is in
// them.
func TestMenusBelowAMessage(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		long := strings.Repeat("日本語 ", 50)
		full := adapters.Menu{Hint: long, Most: 25}
		for i := range 25 {
			full.Options = append(full.Options, adapters.MenuOption{Label: fmt.Sprint(i, long), Detail: long, Value: fmt.Sprint(i), Chosen: i%2 == 0})
		}
		p := adapters.Post{To: target(w.plain, ""), Key: "k", Text: "choose"}
		for i := range 4 {
			full.Data = fmt.Sprint("o:", i)
			p.Menus = append(p.Menus, full)
		}
		var row []adapters.Button
		for i := range 30 {
			row = append(row, adapters.Button{Label: fmt.Sprint(i), Data: fmt.Sprint("d", i)})
		}
		for buttons, want := range map[int]string{0: "menu menu menu menu", 2: "menu menu menu menu 2", 5: "menu menu menu menu 5", 30: "menu menu menu menu menu"} {
			p.Buttons = [][]adapters.Button{row[:buttons]}
			if r := a.Post(w.Context(), p, ""); r.Outcome != qos.Delivered {
				w.Fatalf("with %d buttons: %+v", buttons, r)
			}
			var got []string
			for _, row := range last(w, w.plain).Rows {
				if row[0].Select {
					got = append(got, "menu")
				} else {
					got = append(got, fmt.Sprint(len(row)))
				}
			}
			if s := strings.Join(got, " "); s != want {
				w.Errorf("%d buttons become %q, want %q", buttons, s, want)
			}
			if m := last(w, w.plain).Rows[2][0]; m.CustomID != "m:o:2" || m.Min != 0 || m.Max != 25 || !m.Options[4].Default || m.Options[5].Default || m.Options[5].Value != "5" {
				w.Errorf("the third menu is %+v", m)
			}
		}
		w.noRefusals()
	})
}

// A keyboard of any shape fits: rows stay where they can, are filled up where there are
// too many, and become select menus from 26 buttons on.
func TestKeyboards(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		rows := func(lengths ...int) (out [][]adapters.Button) {
			n := 0
			for _, length := range lengths {
				var row []adapters.Button
				for range length {
					n++
					row = append(row, adapters.Button{Label: fmt.Sprint("button ", n, strings.Repeat("x", n)), Data: fmt.Sprint("d", n)})
				}
				out = append(out, row)
			}
			return out
		}
		for _, tc := range []struct {
			given []int
			want  string
		}{
			{nil, ""},
			{[]int{1, 2, 0, 3}, "1 2 3"},
			{[]int{7, 1}, "5 2 1"},
			{[]int{1, 1, 1, 1, 1, 1, 1}, "5 2"},
			{[]int{4, 4, 4, 4, 4, 4}, "5 5 5 5 4"},
			{[]int{25}, "5 5 5 5 5"},
			{[]int{26}, "menu of 25 menu of 1"},
			{[]int{8, 30, 100}, "menu of 25 menu of 25 menu of 25 menu of 25 menu of 25"},
		} {
			r := a.Post(w.Context(), adapters.Post{To: target(w.plain, ""), Key: "k", Text: "choose", Buttons: rows(tc.given...)}, "")
			if r.Outcome != qos.Delivered {
				w.Fatalf("%v: %+v", tc.given, r)
			}
			var got, data []string
			for _, row := range last(w, w.plain).Rows {
				for _, c := range row {
					data = append(data, c.CustomID)
				}
				if len(row) == 1 && row[0].Select {
					got = append(got, fmt.Sprint("menu of ", len(row[0].Options)))
					data = data[:len(data)-1]
					for _, o := range row[0].Options {
						data = append(data, o.Value)
					}
				} else {
					got = append(got, fmt.Sprint(len(row)))
				}
			}
			for i, d := range data {
				if d != fmt.Sprint("d", i+1) {
					w.Errorf("%v: button %d gives %q", tc.given, i+1, d)
				}
			}
			if s := strings.Join(got, " "); s != tc.want {
				w.Errorf("%v becomes %q, want %q", tc.given, s, tc.want)
			}
			after(2 * time.Second)
		}
		w.noRefusals()
	})
}

// A slash command is no message: it's answered without naming it, and takes no
// reaction.
func TestAnswersToCommands(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		for _, p := range []adapters.Post{{Text: "well"}, {Reaction: "👀"}} {
			p.To, p.Key, p.ReplyTo = target(w.plain, ""), "k", "i123"
			if r := a.Post(w.Context(), p, ""); r.Outcome != qos.Delivered {
				w.Errorf("%+v", r)
			}
		}
		if n := len(w.Calls()); n != 1 {
			w.Errorf("%d calls, want one", n)
		}
		w.noRefusals()
	})
}

// A post that wasn't answered is made again with its nonce, and is there once, without a
// mark; also when another post takes its place meanwhile, which is marked then.
func TestPostsAreThereOnce(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		b := w.bridge()
		b.Start()
		defer func() { b.Stop() }()
		post := func(text string) {
			w.Helper()
			p := adapters.Post{To: target(w.plain, ""), Key: "k" + text[:1], Class: qos.Interactive, Text: text}
			if err := b.Hub.Post(p); err != nil {
				w.Fatal(err)
			}
		}
		shown := func() (all []string) {
			for _, m := range w.seen(w.plain) {
				all = append(all, m.Text)
			}
			return all
		}
		w.Inject(discordtest.Fault{Call: "CreateMessage", Times: 2, Cut: discordtest.CutAfter})
		post("all is well")
		after(time.Minute)
		if got := shown(); len(got) != 1 || got[0] != "all is well" || len(w.CallsTo("CreateMessage")) != 3 {
			w.Errorf("a post whose first two calls weren't answered is shown as %q", got)
		}
		w.Inject(discordtest.Fault{Call: "CreateMessage", Times: 1, After: time.Hour})
		post("busy")
		after(time.Second)
		post("bored")
		after(2 * time.Minute)
		want := []string{"all is well", "busy", "[sent once more: this may be here already]\n\nbored"}
		if got := shown(); !slices.Equal(got, want) {
			w.Errorf("a post that took the place of one that wasn't answered is shown as %q", got)
		}
		w.noRefusals()
	})
}

// Lines of other kinds than a pane's are formatted, and none is lost between them; the
// end of a turn leads to where it began.
func TestKindsOfLines(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		p := adaptertest.KindsOfLines("$ make *.go ```")
		p.Ending = &adapters.Ending{Turns: 1, Took: time.Minute, Link: a.Link(target(w.agents, "12"), "34")}
		if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.plain, ""), Page: p, Nonce: "0123456789abcdef"}); r.Outcome != qos.Delivered {
			w.Fatalf("the call: %+v", r)
		}
		m := last(w, w.plain)
		link := "](<https://discord.com/channels/" + w.Server.Guild("house").ID + "/12/34>)"
		for _, part := range []string{"> fix it", "\n```\n$ make *.go ``\u200b`\n```", "**Done**, see [docs](<https://example.com/>)", "session ended", "[*done · 1 min*" + link} {
			if !strings.Contains(m.Content, part) {
				w.Errorf("%q isn't in the message %q", part, m.Content)
			}
		}
		if !strings.HasSuffix(m.Content, link) || m.Nonce != "0123456789abcdef" || m.Rang || m.Flags&discordtest.SuppressEmbeds == 0 {
			w.Errorf("the message is %+v", m)
		}
		w.noRefusals()
	})
}

// What was answered is quoted behind the link, as plain text.
func TestAnEndingQuotesPlainText(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		p := adapters.Page{Ending: &adapters.Ending{
			Turns: 1, Took: time.Minute, Words: "Ask @everyone about *x* and [y](z).", Link: a.Link(target(w.agents, "12"), "34"),
		}}
		if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.plain, ""), Page: p, Nonce: "0123456789abcdef"}); r.Outcome != qos.Delivered {
			w.Fatalf("the call: %+v", r)
		}
		m := last(w, w.plain)
		want := "[*done · 1 min*](<" + p.Ending.Link + ">) *· “Ask @\u200beveryone about \\*x\\* and \\[y\\](z).”*"
		if m.Content != want || len(m.Pings) > 0 {
			w.Errorf("it says %q and pings %v, want %q", m.Content, m.Pings, want)
		}
		w.noRefusals()
	})
}

// Why a turn failed stands behind the link, too.
func TestAnEndingSaysWhyATurnFailed(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		p := adapters.Page{Ending: &adapters.Ending{
			Turns: 1, Took: time.Minute, Broken: true, Words: "@here *x*", Link: a.Link(target(w.agents, "12"), "34"),
		}}
		if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.plain, ""), Page: p, Nonce: "0123456789abcdef"}); r.Outcome != qos.Delivered {
			w.Fatalf("the call: %+v", r)
		}
		want := "[*failed*](<" + p.Ending.Link + ">)*: @\u200bhere \\*x\\* · 1 min*"
		if m := last(w, w.plain); m.Content != want || len(m.Pings) > 0 {
			w.Errorf("it says %q and pings %v, want %q", m.Content, m.Pings, want)
		}
		w.noRefusals()
	})
}

// Where several turns begin stands below their end, each line with its link.
func TestAnEndingLinksItsTurns(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		end := &adapters.Ending{Turns: 3, Took: time.Minute, Words: "*x*", Link: "https://example.com", Unlisted: 1}
		want := "*3 turns done · the last took 1 min · “\\*x\\*”*\n*the first turn isn't listed*"
		for n := range int64(2) {
			link := a.Link(target(w.agents, "12"), fmt.Sprint(34+n))
			end.Begun = append(end.Begun, adapters.BegunTurns{First: n + 2, Last: n + 2, Took: time.Second, Link: link})
			want += fmt.Sprintf("\n[*turn %d · 1 s*](<%s>)", n+2, link)
		}
		p := adapters.Page{Pieces: []adapters.Piece{{Line: sessions.Line{N: 1, Kind: sessions.KindNotice, Text: "turn 2 · 1 s"}, To: len("turn 2 · 1 s")}}, Ending: end}
		if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.plain, ""), Page: p, Nonce: "0123456789abcdef"}); r.Outcome != qos.Delivered {
			w.Fatalf("the call: %+v", r)
		}
		if m := last(w, w.plain); m.Content != "*turn 2 · 1 s*\n"+want {
			w.Errorf("it says %q, want %q", m.Content, want)
		}
		w.noRefusals()
	})
}

func TestLinks(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		base := "https://discord.com/channels/" + w.Server.Guild("house").ID
		for _, tc := range []struct{ chat, thread, message, want string }{
			{"1", "2", "3", base + "/2/3"},
			{"1", "", "3", base + "/1/3"},
			{"1", "2", "", base + "/2"},
			{"1", "2", "x", ""},
			{"1/../2", "", "3", ""},
		} {
			if got := a.Link(target(tc.chat, tc.thread), tc.message); got != tc.want {
				w.Errorf("%+v: %q", tc, got)
			}
		}
	})
}

// A page that shows nothing is a message all the same: Discord refuses empty ones.
func TestNothingToSee(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		for _, text := range []string{"\u2800", "", "   "} {
			if r := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.plain, ""), Page: page(text)}); r.Outcome != qos.Delivered {
				w.Errorf("%q: %+v", text, r)
			}
			if r := a.Post(w.Context(), adapters.Post{To: target(w.plain, ""), Key: "k", Text: text + " "}, ""); r.Outcome != qos.Delivered {
				w.Errorf("a post of %q: %+v", text, r)
			}
			after(5 * time.Second)
		}
		w.noRefusals()
	})
}

// Typing is shown while a session works that somebody has just spoken to, and costs no
// message its slot.
func TestTyping(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "*", To: target(w.agents, "")})
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "api")
		b.Print(first, adaptertest.Output{Lines: lines(1, 1)})
		after(time.Minute)
		thread := b.thread(w.agents, "api").ID
		if w.Typing(thread) {
			w.Error("nobody has spoken to the session, and somebody is typing")
		}
		b.Hub.FocusSession(first)
		after(time.Second)
		if !w.Typing(thread) {
			w.Error("a session was spoken to, and nobody is typing")
		}
		b.Print(first, adaptertest.Output{Lines: lines(2, 1), Ends: true})
		after(time.Minute)
		b.compare(thread, first)
		w.noRefusals()
	})
}
