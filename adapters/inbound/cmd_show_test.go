package inbound_test

import (
	"fmt"
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

// The buttons below what /show says change it, for those who may.
func TestShowByButtons(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		w.say(ann, "/show")
		posts := w.hub.take()
		data := w.button(posts, "tools: brief")
		w.press(bob, data)
		w.wantAnswer("This takes the role " + string(access.Operator))
		if b := w.hub.bindings[0]; b.Work != (adapters.WorkShown{}) {
			t.Errorf("a viewer had it show %+v", b.Work)
		}
		w.press(ann, data)
		w.wantSaid(said(w.hub.take()), "this place shows tools: brief, thinking: none, prompts: all")
		w.ask(ann, "/show thinking all")
		if b := w.hub.bindings; len(b) != 1 || b[0].Work != (adapters.WorkShown{Tools: adapters.ExtentBrief, Thinking: adapters.ExtentAll}) {
			t.Errorf("bindings %+v", b)
		}
	})
}

// works appends what an agent did to a session's log: a prompt, calls of tools with their results, and an answer.
func (w *world) works(id sessions.ID, calls int) {
	w.Helper()
	b := polling.Batch{Session: id}
	add := func(kind sessions.LineKind, tool *sessions.ToolPart, texts ...string) {
		for i, text := range texts {
			l := sessions.Line{Kind: kind, Text: text, At: time.Now(), Begins: i == 0}
			if i == 0 {
				l.Tool = tool
			}
			b.Lines = append(b.Lines, l)
		}
	}
	add(sessions.KindUser, nil, "fix it")
	for n := range calls {
		call := sessions.ToolPart{Part: sessions.ToolCall, Name: "Bash", Call: fmt.Sprint(n)}
		add(sessions.KindTool, &call, fmt.Sprintf("⚙ Bash: make %d", n))
		result := sessions.ToolPart{Part: sessions.ToolReturned, Name: "Bash", Call: fmt.Sprint(n)}
		add(sessions.KindTool, &result, "  the first row", "  -----BEGIN RSA PRIVATE KEY-----", "  MIIEpAIBAAKCAQEA7bq8vG2n5m", "  -----END RSA PRIVATE KEY-----")
	}
	add(sessions.KindAnswer, nil, "It's done.")
	if _, err := w.store.Append(w.Context(), b); err != nil {
		w.Fatal(err)
	}
}

// All of an output of which a place shows the ends comes by a button: as a file, if it's long, without its secrets, and without
// what the place doesn't show.
func TestAWholeOutputIsShown(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		m, err := redact.New(redact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.opt = func(o *inbound.Options) { o.Mask = m.Line }
		w.restart()
		w.works(id, 1) // lines 4 to 10
		var rows []string
		for n := range 425 {
			rows = append(rows, fmt.Sprintf("row %d of an output that's long", n+1))
		}
		rows[200] = "token=ghp_0123456789abcdefghijABCDEFGHIJ012345"
		w.prints(id, rows...)
		u := adapters.Unfolding{Binding: w.hub.bindings[0].ID, Kinds: "oan", From: 4, To: 435}
		w.press(bob, u.Data())
		posts := w.hub.take()
		if len(posts) != 1 || posts[0].File == nil || posts[0].File.Name != "lines-10-435.txt" || !strings.Contains(posts[0].Text, "lines 10 to 435") {
			t.Fatalf("posts %+v", posts)
		}
		text := string(posts[0].File.Data)
		for _, want := range []string{"It's done.\nrow 1 of", "\nrow 425 of"} {
			if !strings.Contains(text, want) {
				t.Errorf("the file has no %q", want)
			}
		}
		if strings.Contains(text, "make 0") {
			t.Error("the file has calls of tools, which aren't shown there")
		}
		w.press(bob, adapters.Unfolding{Binding: w.hub.bindings[0].ID, Kinds: "oan", From: 11, To: 12}.Data())
		if text := said(w.hub.take()); !strings.Contains(text, "row 1 of") || !strings.Contains(text, "row 2 of") || strings.Contains(text, "row 3 of") {
			t.Errorf("of lines 11 to 12 is shown %q", text)
		}
	})
}

// Who may read a place sees by a button what a message of it only counts: masked, after a restart, too, and nothing of
// anything else.
func TestWhatWasCountedIsShown(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		m, err := redact.New(redact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.opt = func(o *inbound.Options) { o.Mask = m.Line }
		w.restart()
		b := w.hub.bindings[0]
		w.works(id, 3) // lines 4 to 20, of which 5 to 19 are the tools'
		u := adapters.Unfolding{Binding: b.ID, Kinds: "t", From: 4, To: 15}
		w.press(bob, u.Data())
		posts := w.hub.take()
		text := said(posts)
		for _, want := range []string{"the work in lines 5 to 19", "⚙ Bash: make 0", "⚙ Bash: make 2", "the first row"} {
			w.wantSaid(text, want)
		}
		for _, no := range []string{"fix it", "It's done.", "first line"} {
			if strings.Contains(text, no) {
				t.Errorf("it shows %q: %q", no, text)
			}
		}
		w.restart()
		w.press(bob, u.Data())
		if again := said(w.hub.take()); again != text {
			t.Errorf("after a restart it shows %q", again)
		}
		// What's long is a file, and what's forged shows no more than there is.
		w.works(id, 300)
		w.press(bob, adapters.Unfolding{Binding: b.ID, Kinds: "thp", From: 1, To: 1 << 40}.Data())
		posts = w.hub.take()
		if len(posts) != 1 || posts[0].File == nil || strings.Contains(string(posts[0].File.Data), "first line") {
			t.Errorf("of a forged button: %d posts, %q", len(posts), said(posts))
		}
		w.chat.take()
		for _, data := range []string{"w:", "w:x", "w:" + string(b.ID) + ":t:0:5", "w:" + string(b.ID) + ":t:9:5", "w:" + string(b.ID) + ":t:1:5:7", "w:" + string(b.ID) + ":t:+1:5"} {
			w.press(bob, data)
			w.wantAnswer("This button isn't one of panebridge's.")
		}
		other := w.bind(w.session("other"), adapters.Target{Adapter: "chat", Chat: "-7"}, true)
		w.press(bob, adapters.Unfolding{Binding: other.ID, Kinds: "t", From: 1, To: 5}.Data())
		w.wantAnswer("This place doesn't show that session any more")
		w.press(evil, u.Data())
		ev := w.event(bob, intake.Pressed{Data: u.Data(), Token: "t"})
		ev.At = time.Now().Add(-time.Hour)
		w.do(ev)
		w.wantAnswer("Press it again.")
		w.press(bob, adapters.Unfolding{Binding: b.ID, Kinds: "h", From: 4, To: 15}.Data())
		w.wantAnswer("aren't in the log any more")
		w.wantPosts()
		w.hub.bindings[0].Unbound = true
		w.press(bob, u.Data())
		w.wantAnswer("This place doesn't show that session any more")
		w.wantPosts()
	})
}

// What was counted is shown without secrets, wherever what the button is about begins and ends, be it amid a private key: as a
// message, and as a file.
func TestWhatWasCountedIsMasked(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		m, err := redact.New(redact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.opt = func(o *inbound.Options) {
			o.Mask, o.Store = m.Line, masked.Store{Store: w.store.Store, Log: adapters.MaskedLog(w.store.Store, m)} // as in internal/app
		}
		w.restart()
		w.hub.maxFile = 1 << 20
		const token = "ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI"
		w.works(id, 3)
		call := sessions.ToolPart{Part: sessions.ToolCall, Name: token, Call: "x"}
		if _, err := w.store.Append(w.Context(), polling.Batch{Session: id, Lines: []sessions.Line{
			{Kind: sessions.KindTool, Text: "⚙ " + token + ": curl -H 'Authorization: Bearer " + token + "'", At: time.Now(), Begins: true, Tool: &call},
		}}); err != nil {
			t.Fatal(err)
		}
		w.works(id, 100)
		shown, files := 0, 0
		for _, to := range []int64{22, 200} {
			for from := int64(4); from < 22; from++ {
				w.press(bob, adapters.Unfolding{Binding: w.hub.bindings[0].ID, Kinds: "thp", From: from, To: to}.Data())
				for _, p := range w.hub.take() {
					text := p.Text
					if p.File != nil {
						files++
						text += string(p.File.Data)
					}
					shown++
					for _, secret := range []string{"MIIEpAIBAAKCAQEA7bq8vG2n5m", token[:12]} {
						if strings.Contains(text, secret) {
							t.Errorf("from %d to %d it shows %s: %q", from, to, secret, text)
						}
					}
				}
			}
		}
		if shown != 36 || files != 18 {
			t.Errorf("%d answers, %d of them files", shown, files)
		}
	})
}

// A button of another process' binding isn't this one's.
func TestAButtonThatShowsWorkIsItsBindings(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		mine := adapters.Unfolding{Binding: w.hub.bindings[0].ID, Kinds: "t", From: 1, To: 5}
		if !w.in.IsOffered(w.Context(), mine.Data()) {
			t.Error("its own isn't")
		}
		mine.Binding = adapters.NewBindingID()
		if w.in.IsOffered(w.Context(), mine.Data()) {
			t.Error("another's is")
		}
		if n := len(adapters.Unfolding{Binding: mine.Binding, Kinds: "thp", From: 1e12, To: 1e12}.Data()); n > 64 {
			t.Errorf("its data has %d bytes", n)
		}
	})
}
