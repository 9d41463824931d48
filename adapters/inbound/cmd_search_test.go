package inbound_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// printsIndexed has a session print, and what it printed be found.
func (w *world) printsIndexed(id sessions.ID, texts ...string) {
	w.Helper()
	b := polling.Batch{Session: id}
	for _, text := range texts {
		b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: text, At: time.Now()})
	}
	done, err := w.store.Append(w.Context(), b)
	if err != nil {
		w.Fatal(err)
	}
	w.manager.Output(sessions.OutputEvent{Session: id, Lines: done.Lines})
	w.pass(2 * time.Second)
	w.hub.take()
}

// askIn says something in a place and returns what came back.
func (w *world) askIn(place adapters.Target, person, text string) []adapters.Post {
	w.Helper()
	ev := w.event(person, intake.Said{Text: text})
	ev.Place, ev.Private = place, place != group
	w.do(ev)
	return w.hub.take()
}

var private = adapters.Target{Adapter: "chat", Chat: "2"} // bob's, which mirrors nothing

// A search looks in the session of the place, and in all where there's none, or by a button.
func TestSearchLooksInThePlacesSession(t *testing.T) {
	inWorld(t, func(w *world) {
		agent, other := w.idOf("agent"), w.session("other")
		w.printsIndexed(agent, "a Needle here", "100% of_it", "one more needle")
		w.printsIndexed(other, "the other's needle")
		at := time.Now().Add(-4 * time.Second).Format("15:04")
		posts := w.askIn(group, bob, "/search NEEDLE")
		w.wantSaid(said(posts), "2 lines of **agent**, the newest first\n\n```\n1  "+at+"  one more needle\n2  "+at+"  a Needle here\n```")
		w.wantSaid(w.ask(bob, "/search % of_"), "1 line of **agent**\n\n```\n1  "+at+"  100% of_it\n```")
		w.wantSaid(w.ask(bob, "/search the other"), "No line of **agent** has that.")
		w.wantSaid(w.ask(bob, "/search eedle"), "No line of **agent** has that.") // words are found from their beginning on
		w.press(bob, w.button(posts, "In all sessions"))
		w.wantSaid(said(w.hub.take()), "3 lines of all sessions, the newest first\n\n```\n1  "+at+"  other  the other's needle\n2  "+at+"  agent  one more needle")
		w.wantSaid(said(w.askIn(private, bob, "/search needle")), "3 lines of all sessions")

		// What's older of one session is that also when the place shows another.
		for range 30 {
			w.printsIndexed(agent, "a needle more")
		}
		posts = w.askIn(group, bob, "/search needle")
		older := w.button(posts, "Older")
		w.ask(ann, "/unbind")
		w.press(bob, older)
		w.wantSaid(said(w.hub.take()), "Older lines of **agent**, 21 to 32")

		w.bind(agent, group, true)
		w.bind(other, group, false)
		w.wantSaid(w.ask(bob, "/search needle other"), "1 line of the sessions of this place\n\n```\n1  "+at+"  other  the")
	})
}

// What doesn't go into one message is behind a button, and nothing is shown twice or left out.
func TestOlderLinesOfASearch(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.idOf("agent")
		var want []string
		for n := range 60 {
			text := fmt.Sprintf("needle number%03d", n)
			want = append(want, text)
			w.printsIndexed(id, text+strings.Repeat(" and more", n%40))
		}
		slices.Reverse(want)
		var got []string
		replies := 0
		for posts := w.askIn(group, bob, "/search needle"); ; posts = w.hub.take() {
			replies++
			text := said(posts)
			if n := adapters.UTF16Len(posts[0].Text); n > 4096 || posts[0].File != nil {
				t.Fatalf("%d letters, file %v", n, posts[0].File)
			}
			for line := range strings.Lines(text) {
				if _, found, ok := strings.Cut(line, ":"); ok {
					_, found, _ = strings.Cut(found, "  ")
					got = append(got, strings.TrimSpace(found)[:len(want[0])])
				}
			}
			if !slices.ContainsFunc(posts[0].Buttons, func(row []adapters.Button) bool { return row[0].Label == "Older" }) {
				break
			}
			w.press(bob, w.button(posts, "Older"))
		}
		if !slices.Equal(got, want) || replies < 3 {
			t.Errorf("%d replies have %q", replies, got)
		}
		w.printsIndexed(id, strings.Repeat("é", 500)+" haystack "+strings.Repeat("é", 500))
		w.printsIndexed(id, strings.Repeat("nothing at all ", 50)+"the Re\u0301sumé of HTTPServer "+strings.Repeat("nothing at all ", 50))
		for _, text := range []string{"resume", "RÉSUMÉ", "server", "a server"} { // what's found is in the part that's shown
			want := "the Re\u0301sumé of HTTPServer nothing"
			if text == "a server" {
				w.wantSaid(w.ask(bob, "/search "+text), "No line of **agent** has that.")
			} else if found := w.ask(bob, "/search "+text); !strings.Contains(found, want) {
				t.Errorf("by %s is shown %q", text, found)
			}
		}
		if found := w.ask(bob, `/search "haystack"`); !strings.Contains(found, " haystack é") || strings.Count(found, "é") > 160 {
			t.Errorf("found %q", found)
		}
	})
}

// Nobody finds by a search, or a button of one, what they may not see: neither strangers, nor those whose role was taken back,
// nor somebody elsewhere, nor a part of a secret.
func TestASearchFindsNothingForWhoMayNotSee(t *testing.T) {
	const secret = "ghp_x7KqPm2vRt9Ls4Wd8Yz1Bn6Hc3Jf5Gk0Ta"
	inWorld(t, func(w *world) {
		w.printsIndexed(w.idOf("agent"), "the agent's needle")
		w.printsIndexed(w.session("other"), "the other's needle token="+secret)
		posts := w.askIn(group, bob, "/search needle")
		if text := said(posts); strings.Contains(text, "other") {
			t.Errorf("in the place of one session: %q", text)
		}
		all := w.button(posts, "In all sessions")
		w.press(evil, all)
		w.wantPosts()
		w.say(evil, "/search needle")
		w.wantPosts()
		elsewhere := w.event(bob, intake.Pressed{Data: all, Token: "t"})
		elsewhere.Place, elsewhere.Private = private, true
		w.do(elsewhere)
		w.wantAnswer("another chat")
		w.wantPosts()
		for n := len("ghp_") + 1; n <= len(secret); n++ {
			if text := said(w.askIn(private, bob, "/search "+secret[:n])); !strings.Contains(text, "No line of all sessions") {
				t.Fatalf("by %q: %q", secret[:n], text)
			}
		}
		if text := said(w.askIn(private, bob, "/search token")); !strings.Contains(text, "[masked: ") || strings.Contains(text, secret[4:9]) {
			t.Errorf("said %q", text)
		}

		w.opt = func(o *inbound.Options) { o.Access.Roles = map[string]access.Roles{ann: roles(access.Operator)} } // bob's role is gone
		w.restart()
		w.chat.take()
		w.press(bob, all)
		w.say(bob, "/search needle")
		w.wantPosts()
		w.press(ann, all) // what was looked for is kept in memory alone
		w.wantAnswer("search again")
	})
}

// Lines of all sessions are stored with no reply: any of the sessions may be forgotten before it's seen.
func TestARepliesLinesOfAllSessionsAreStoredNowhere(t *testing.T) {
	inWorld(t, func(w *world) {
		w.printsIndexed(w.idOf("agent"), "the agent's needle")
		w.printsIndexed(w.session("other"), "the other's needle")
		w.hub.hold()
		w.askIn(private, bob, "/search needle")
		w.ask(bob, "/search needle")
		replies, err := w.store.Replies(w.Context())
		if err != nil || len(replies) != 2 {
			w.Fatalf("%d replies are stored, %v", len(replies), err)
		}
		if text := string(replies[0].Post); strings.Contains(text, "'s needle") || !strings.Contains(text, "Ask again") {
			w.Errorf("stored is %s", text)
		}
		if text := string(replies[1].Post); !strings.Contains(text, "the agent's needle") || replies[1].Session != w.idOf("agent") {
			w.Errorf("of one session %s is stored with %q", text, replies[1].Session)
		}
		w.hub.release(nil)
	})
}

// What a line is stands beside it, unless a program printed it.
func TestASearchSaysWhatALineIs(t *testing.T) {
	inWorld(t, func(w *world) {
		b := polling.Batch{Session: w.idOf("agent")}
		for _, kind := range []sessions.LineKind{sessions.KindUser, sessions.KindTool, sessions.KindAnswer, sessions.KindThought, sessions.KindNotice, sessions.KindPane} {
			b.Lines = append(b.Lines, sessions.Line{Kind: kind, Text: "a needle", At: time.Now()})
		}
		at := time.Now().Format("15:04")
		done, err := w.store.Append(w.Context(), b)
		if err != nil {
			w.Fatal(err)
		}
		w.manager.Output(sessions.OutputEvent{Session: b.Session, Lines: done.Lines})
		w.pass(2 * time.Second)
		w.hub.take()
		var want strings.Builder
		for i, kind := range []string{"", "panebridge  ", "thought  ", "answer  ", "tool  ", "written  "} {
			fmt.Fprintf(&want, "\n%d  %s  %sa needle", i+1, at, kind)
		}
		w.wantSaid(w.ask(bob, "/search needle"), "6 lines of **agent**, the newest first\n\n```"+want.String()+"\n```")
	})
}

// A line that was found leads to its place, without secrets, also in a place that doesn't mirror its session.
func TestAFoundLineLeadsToItsPlace(t *testing.T) {
	const secret = "ghp_x7KqPm2vRt9Ls4Wd8Yz1Bn6Hc3Jf5Gk0Ta"
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	inWorld(t, func(w *world) {
		w.opt = func(o *inbound.Options) {
			o.Mask, o.Store = m.Line, masked.Store{Store: w.store.Store, Log: adapters.MaskedLog(w.store.Store, m)} // as in internal/app
		}
		w.restart()
		other := w.session("other")
		var lines []string
		for n := range 60 {
			lines = append(lines, fmt.Sprintf("row %02d", n+1))
		}
		lines[0], lines[29], lines[30], lines[58] = "needle on top", "token="+secret, "the needle", "needle below"
		w.printsIndexed(other, lines...)
		posts := w.askIn(private, bob, "/search needle")
		around := func(button string) string {
			ev := w.event(bob, intake.Pressed{Data: w.button(posts, button), Token: "t"})
			ev.Place, ev.Private = private, true
			w.do(ev)
			return said(w.hub.take())
		}
		text := around("Around 2")
		if !strings.HasPrefix(text, "**other**, lines 19 to 43\n\n```\nrow 19\n") || !strings.Contains(text, "\n→ the needle\nrow 32\n") || !strings.Contains(text, "row 43") || strings.Contains(text, "row 44") {
			t.Errorf("around a line stands %q", text)
		}
		if !strings.Contains(text, "[masked") || strings.Contains(text, secret[4:12]) {
			t.Errorf("around it stands %q", text)
		}
		if text := around("Around 1"); !strings.HasPrefix(text, "**other**, lines 47 to 60") {
			t.Errorf("around the last stands %q", text)
		}
		if text := around("Around 3"); !strings.HasPrefix(text, "**other**, lines 1 to 13\n\n```\n→ needle on top\n") {
			t.Errorf("around the first stands %q", text)
		}
		w.press(evil, w.button(posts, "Around 1"))
		w.wantPosts()
	})
}

// Without an index a search says so.
func TestSearchWithoutAnIndex(t *testing.T) {
	inWorld(t, func(w *world) {
		w.opt = func(o *inbound.Options) { o.Finder = nil }
		w.restart()
		w.wantSaid(w.ask(bob, "/search needle"), "Nothing can be searched: panebridge's log says why.")
	})
}
