package discord_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/qos"
)

// The first reply to a slash command becomes part of the message that shows it: text, buttons,
// files, whatever fails on the way. What comes behind it is a message of its own, and so is a
// reply that comes when the token isn't good any more, or whose message is gone.
func TestACommandIsOneMessage(t *testing.T) {
	const line = "`/sessions`"
	for name, tc := range map[string]struct {
		late    bool // Discord hears two seconds late that the command was understood
		before  func(w *world, id string)
		change  func(p *adapters.Post)
		first   adapters.Reply  // of the first try, its outcome
		second  qos.CallOutcome // of the next, if that isn't the last
		want    []string        // what the channel shows
		refused bool
	}{
		"a text":               {want: []string{line + "\nreply"}},
		"a file":               {change: func(p *adapters.Post) { p.File = &adapters.File{Name: "a.txt", Data: []byte("x")} }, want: []string{line + "\nreply"}},
		"buttons":              {change: func(p *adapters.Post) { p.Buttons = [][]adapters.Button{{{Label: "On", Data: "o:1"}}} }, want: []string{line + "\nreply"}},
		"as long as a message": {change: func(p *adapters.Post) { p.Text = strings.Repeat("x", 2000) }, want: []string{strings.Repeat("x", 2000)}},
		"it rings":             {change: func(p *adapters.Post) { p.Ring = true }, want: []string{line, "reply"}},
		"after 14 minutes":     {before: func(*world, string) { time.Sleep(14 * time.Minute) }, want: []string{line + "\nreply"}},
		"after 15 minutes":     {before: func(*world, string) { time.Sleep(15 * time.Minute) }, want: []string{line, "reply"}},
		"shown late":           {late: true, want: []string{line + "\nreply"}},
		"its message is gone": {before: func(w *world, id string) {
			i, _ := w.Interaction(id)
			w.noErr(w.ada.Delete(i.Original))
		}, want: []string{"reply"}, refused: true},
		"its webhook isn't known": {before: func(w *world, _ string) {
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Status: http.StatusNotFound, Code: 10015, Message: "Unknown Webhook"})
		}, want: []string{line, "reply"}, refused: true},
		"its token isn't good": {before: func(w *world, _ string) {
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Status: http.StatusUnauthorized, Code: 50027, Message: "Invalid Webhook Token"})
		}, want: []string{line, "reply"}, refused: true},
		"Discord fails": {before: func(w *world, _ string) {
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Status: http.StatusBadGateway, Body: "<html>"})
		}, first: adapters.Reply{Outcome: qos.Uncertain}, want: []string{line + "\nreply"}, refused: true},
		"the answer is lost, then the webhook isn't known": {before: func(w *world, _ string) {
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Cut: discordtest.CutAfter})
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Status: http.StatusNotFound, Code: 10015, Message: "Unknown Webhook"})
		}, first: adapters.Reply{Outcome: qos.Uncertain}, want: []string{line + "\nreply", `\[sent once more: this may be here already\]` + "\n\nreply"}, refused: true},
		"the answer is lost, then the webhook isn't known, and Discord fails": {before: func(w *world, _ string) {
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Cut: discordtest.CutAfter})
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Status: http.StatusNotFound, Code: 10015, Message: "Unknown Webhook"})
			w.Inject(discordtest.Fault{Call: "CreateMessage", Times: 1, Status: http.StatusBadGateway, Body: "<html>"})
		}, first: adapters.Reply{Outcome: qos.Uncertain}, second: qos.Uncertain, want: []string{line + "\nreply", `\[sent once more: this may be here already\]` + "\n\nreply"}, refused: true},
		"the bot's token is refused": {before: func(w *world, _ string) {
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Status: http.StatusUnauthorized, Message: "401: Unauthorized"})
		}, first: adapters.Reply{Outcome: qos.Failed}, want: []string{line + "\nreply"}, refused: true},
		"the answer is lost": {before: func(w *world, _ string) {
			w.Inject(discordtest.Fault{Call: "EditOriginal", Times: 1, Cut: discordtest.CutAfter})
		}, first: adapters.Reply{Outcome: qos.Uncertain}, want: []string{line + "\nreply"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				e := w.ear()
				e.withCommands()
				defer func() { e.stop() }()
				if tc.late {
					w.Inject(discordtest.Fault{Call: "Callback", Times: 1, Before: 2 * time.Second})
				}
				id := w.must(w.ada.Command(w.plain, "sessions", nil))
				if time.Sleep(100 * time.Millisecond); !tc.late {
					quiet()
				}
				if tc.before != nil {
					tc.before(w, id)
				}
				post := adapters.Post{To: target(w.plain, ""), Key: "reply 0", ReplyTo: "i" + id, Text: "reply", Nonce: "n1"}
				if tc.change != nil {
					tc.change(&post)
				}
				reply := e.bot.Post(context.Background(), post, "")
				if tc.first.Outcome != qos.OutcomeUnknown {
					if reply.Outcome != tc.first.Outcome {
						t.Errorf("the first try: %+v", reply)
					}
					reply = e.bot.Post(context.Background(), post, "")
				}
				if tc.second != qos.OutcomeUnknown {
					if reply.Outcome != tc.second {
						t.Errorf("the second try: %+v", reply)
					}
					reply = e.bot.Post(context.Background(), post, "")
				}
				w.noErr(reply.Err)
				shows := func(want ...string) {
					t.Helper()
					var got []string
					for _, m := range w.Messages(w.plain) {
						got = append(got, m.Content)
						if m.Rang != post.Ring && m.ID == reply.ID || m.Flags&discordtest.Loading != 0 || m.Content != line && (len(m.Files) != 0) != (post.File != nil) || m.Content != line && (len(m.Rows) != 0) != (post.Buttons != nil) {
							t.Errorf("%+v", m)
						}
					}
					if strings.Join(got, "|") != strings.Join(want, "|") {
						t.Errorf("the channel shows %q, want %q", got, want)
					}
				}
				shows(tc.want...)
				if list := w.Messages(w.plain); list[len(list)-1].ID != reply.ID {
					t.Errorf("the reply is said to be message %q", reply.ID)
				}
				post.File, post.Buttons, post.Ring = nil, nil, false
				edited := post
				edited.Text = "edited"
				w.noErr(e.bot.Post(context.Background(), edited, reply.ID).Err)
				next := post
				next.Key, next.Text, next.Nonce = "reply 1", "more", "n2"
				more := e.bot.Post(context.Background(), next, "")
				w.noErr(more.Err)
				if list := w.Messages(w.plain); len(list) != len(tc.want)+1 || list[len(list)-1].ID != more.ID || list[len(list)-2].Content != "edited" {
					t.Errorf("then the channel shows %+v", list)
				}
				if !tc.refused {
					w.noRefusals()
				}
			})
		})
	}
}
