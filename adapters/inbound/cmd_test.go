package inbound_test

import (
	"bytes"
	"fmt"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// inChat runs a test in a bubble, with one session "agent" bound to the group, which
// has printed something and shows a screen.
func inChat(t *testing.T, test func(w *world, id sessions.ID)) {
	t.Helper()
	inWorld(t, func(w *world) {
		w.hub.maxFile = 1 << 20
		w.panes.screen = sessions.Screen{Width: 20, Height: 4, Rows: []string{"\x1b[31mred\x1b[0m ```", "┌──┐ 中文", "", ""}}
		id := w.idOf("agent")
		w.prints(id, "first line", "the second Line", "100% of_it")
		test(w, id)
	})
}

func (w *world) idOf(name string) sessions.ID {
	w.Helper()
	s, err := w.manager.Get(name)
	if err != nil {
		w.Fatal(err)
	}
	return s.ID
}

func (w *world) prints(id sessions.ID, texts ...string) {
	w.Helper()
	b := polling.Batch{Session: id}
	for _, text := range texts {
		b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: text, At: time.Now()})
	}
	if _, err := w.store.Append(w.Context(), b); err != nil {
		w.Fatal(err)
	}
}

// state has a session be so.
func (w *world) state(id sessions.ID, s sessions.State) {
	w.manager.Output(sessions.OutputEvent{Session: id, State: s})
}

// ask says something and returns all that came back.
func (w *world) ask(person, text string) string {
	w.Helper()
	w.say(person, text)
	return said(w.hub.take())
}

func said(posts []adapters.Post) string {
	var all []string
	for _, p := range posts {
		all = append(all, strings.ReplaceAll(p.Text, `\`, ""))
	}
	return strings.Join(all, "\n---\n")
}

func (w *world) wantSaid(got, want string) {
	w.Helper()
	if !strings.Contains(got, want) {
		w.Errorf("said %q, want %q in it", got, want)
	}
}

// Every command: who may, what it says in a place with one session, and in a place
// without one.
func TestCommands(t *testing.T) {
	needsSession := "This place mirrors no session"
	for _, c := range []struct {
		text    string
		role    access.Role
		want    string // where there's a session
		without string // where there's none
	}{
		{"/sessions", access.Viewer, "[agent](<chat:-1#>)", "Working: 1"},
		{"/new", access.Operator, "Where should the shell work?", "Where should the shell work?"},
		{"/new nonsense", access.Operator, "neither an agent nor a folder of that name; the agents are shell", "neither an agent"},
		{"/screen", access.Viewer, "**agent** ", needsSession},
		{"/screen text", access.Viewer, "````\nred ```\n┌──┐ 中文\n````", needsSession},
		{"/screen 4k", access.Viewer, "Write /screen for a picture, or /screen text.", needsSession},
		{"/keys", access.Operator, "red ```", needsSession},
		{"/keys up Ctrl-C x", access.Operator, "Pressed Up C-c x in **agent**.", needsSession},
		{"/keys Upp", access.Operator, "key \"Upp\": give names like", needsSession},
		{"/keys " + strings.Repeat("x ", 21), access.Operator, "At most 20 keys at a time, these are 21.", needsSession},
		{"/stop", access.Operator, "Pressed C-c in **agent**.", needsSession},
		{"/stop other", access.Operator, "There's no session of that name", needsSession},
		{"/esc", access.Operator, "Pressed Escape in **agent**.", needsSession},
		{"/history", access.Viewer, "lines 1 to 3\n\n```\nfirst line\nthe second Line\n100% of_it\n```", needsSession},
		{"/history 2", access.Viewer, "lines 2 to 3\n\n```\nthe second Line", needsSession},
		{"/history 0", access.Viewer, "a number of lines from 1 to 20000", needsSession},
		{"/history -1", access.Viewer, "a number of lines from 1 to 20000", needsSession},
		{"/history 99999999999999999999", access.Viewer, "a number of lines from 1 to 20000", needsSession},
		{"/search ->", access.Viewer, "Write a word to look for, with letters or digits.", "Write a word to look for"},
		{"/search", access.Viewer, "Write /search and the words", "Write /search and the words"},
		{"/search " + strings.Repeat("x", 10_000), access.Viewer, "at most 400 letters", "at most 400 letters"},
		{"/send", access.Operator, "Write /send and the path", needsSession},
		{"/view final", access.Operator, "shows each turn when it has ended.", needsSession},
		{"/view", access.Operator, "Write /view stream", needsSession},
		{"/view big", access.Operator, "Write /view stream", needsSession},
		{"/show", access.Operator, "this place shows tools: all, thinking: none, prompts: all, output: head and tail in 30 rows of a phone; what isn't shown is in /history.", needsSession},
		{"/show tools brief prompts none", access.Operator, "this place shows tools: brief, thinking: none, prompts: none,", needsSession},
		{"/show tools", access.Operator, "Write /show tools brief", needsSession},
		{"/show tools some", access.Operator, "Write /show tools brief", needsSession},
		{"/mute", access.Operator, "Here: nothing rings until /mute off.", "Here: nothing rings until /mute off."},
		{"/mute nobody", access.Operator, "Write /mute (until /mute off)", "Write /mute"},
		{"/status", access.Viewer, "**agent**, starting: view stream", "No session is mirrored here."},
		{"/bind agent final input off", access.Operator, "**agent** is mirrored here: each turn when it has ended. What's written there isn't typed.", "**agent** is mirrored here"},
		{"/bind", access.Operator, "**agent** is mirrored here: lines as they come. What's written there is typed.", "Which session should be mirrored here?"},
		{"/bind nobody", access.Operator, "no session nobody, and no view of that name", "no session nobody"},
		{"/bind agent upside", access.Operator, "and upside is none", "and upside is none"},
		{"/bind agent input", access.Operator, "Write input on or input off.", "Write input on"},
		{"/bind agent quotes maybe", access.Operator, "Write quotes on or quotes off.", "Write quotes on"},
		{"/bind agent quotes on", access.Operator, "What's written there is typed, to an agent with what it answers.", "is mirrored here"},
		{"/show output 60 tools brief", access.Operator, "output: head and tail in 60 rows of a phone", needsSession},
		{"/show output all", access.Operator, "prompts: all, output: all;", needsSession},
		{"/show output 9", access.Operator, "from 10 to 500", needsSession},
		{"/unbind", access.Operator, "**agent** isn't mirrored here any more", needsSession},
		{"/unbind nobody", access.Operator, "There's no session of that name", needsSession},
		{"/close", access.Operator, "End **agent**? Its pane and its program end.", needsSession},
		{"/close nobody", access.Operator, "There's no session of that name", needsSession},
		{"/reopen", access.Operator, "Nothing rests here.", "Nothing rests here."},
		{"/reopen agent", access.Operator, "Nothing of agent rests in this chat.", "Nothing of agent rests in this chat."},
		{"/reopen nobody", access.Operator, "There's no session of that name", "There's no session of that name"},
		{"/pair", access.Admin, "private chat", "private chat"},
		{"/help", access.Viewer, "/sessions: All sessions", "/sessions: All sessions"},
		{"/nonsense", access.Viewer, "There's no command /nonsense.", "There's no command"},
	} {
		t.Run(c.text[:min(len(c.text), 30)], func(t *testing.T) {
			inChat(t, func(w *world, _ sessions.ID) {
				name, _, _ := strings.Cut(c.text, " ")
				may := map[access.Role][]string{
					access.Viewer: {bob, ann, cleo}, access.Operator: {ann, dora}, access.Admin: {cleo},
				}[c.role]
				for _, person := range []string{bob, ann} {
					if !slices.Contains(may, person) {
						w.wantSaid(w.ask(person, c.text), name+" takes the role "+string(c.role)+".")
					}
				}
				person := may[0]
				ev := w.event(person, intake.Said{Text: c.text})
				if c.role != access.Admin {
					ev.Place, ev.Private = adapters.Target{Adapter: "chat", Chat: "1"}, true
				}
				w.do(ev)
				w.wantSaid(said(w.hub.take()), c.without)
				w.wantSaid(w.ask(person, c.text), c.want)
				w.say(evil, c.text)
				w.wantPosts()
			})
		})
	}
}

// Every command with hostile arguments: nothing typed, no error, one answer at most.
func TestHostileArguments(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		for _, c := range commands.Commands() {
			for _, args := range []string{
				"../../../etc/passwd", "/etc/passwd", "\x00", "a\x00b", "\x1b[2J", strings.Repeat("A", 10_000), strings.Repeat("../", 3000), "'; DROP TABLE lines; --",
				"%", "_", "\\", "\xff\xfe", "🏳️‍🌈", "-1", "--help", "agent\nagent", "-l", "~root", "*", "$(id)", "`id`", "{}", "9223372036854775807h",
			} {
				if c.Name == "mute" && args == "-1" {
					continue
				}
				for _, person := range []string{cleo, bob} {
					w.say(person, "/"+c.Name+" "+args)
					if posts := w.hub.take(); len(posts) != 1 {
						w.Errorf("/%s %q: %d posts", c.Name, args, len(posts))
					} else if len(posts[0].Text) > 20_000 || posts[0].File != nil {
						w.Errorf("/%s %q: %d bytes and file %v", c.Name, args, len(posts[0].Text), posts[0].File != nil)
					}
				}
			}
		}
		w.wantTyped()
		w.pass(time.Minute)
		if len(w.panes.ended) > 0 {
			w.Errorf("panes %q were ended", w.panes.ended)
		}
		if all := w.manager.List(); len(all) != 1 {
			w.Errorf("there are %d sessions, want 1", len(all))
		}
	})
}

func TestHelpSaysWhatAPersonMayDoHere(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		count := func(help string) int { return strings.Count("\n"+help, "\n/") }
		for person, want := range map[string]struct{ first, all int }{bob: {4, 9}, ann: {8, 26}, cleo: {8, 29}} {
			w.say(person, "/help")
			posts := w.hub.take()
			help := said(posts)
			all := said(w.pressedBy(person, posts, "All commands"))
			if count(help) != want.first || count(all) != want.all {
				w.Errorf("%s is shown %d and then %d commands, want %v:\n%s\n%s", person, count(help), count(all), want, help, all)
			}
			if n := phoneRows(help); n > 24 {
				w.Errorf("the help for %s has %d rows of a phone, more than a screen:\n%s", person, n, help)
			}
			if adapters.UTF16Len(all) > 3000 {
				w.Errorf("all commands for %s have %d letters: that's more than a message", person, adapters.UTF16Len(all))
			}
		}
		s, err := w.manager.Get(string(id))
		if err != nil {
			w.Fatal(err)
		}
		w.wantSaid(w.ask(ann, "/help"), "typed into **"+s.Name+"**")
		w.wantSaid(w.ask(bob, "/help"), "What you write isn't typed")
		if err := w.hub.Unbind(t.Context(), w.hub.BindingsAt(group)[0].ID); err != nil {
			w.Fatal(err)
		}
		help := w.ask(ann, "/help")
		w.wantSaid(help, "No session is mirrored here")
		if strings.Contains(help, "/screen") {
			w.Errorf("where there's no session, the help has\n%s", help)
		}
	})
}

// phoneRows is how many rows a phone shows a text in.
func phoneRows(text string) (rows int) {
	const columns = 42
	for line := range strings.Lines(text) {
		rows += max(1, (len([]rune(strings.TrimRight(line, "\n")))+columns-1)/columns)
	}
	return rows
}

// Telegram's own button for a new bot writes /start, with what was in the link behind it.
func TestStartIsHelp(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		for _, text := range []string{"/start", "/start@our_bot from-a-link"} {
			if got, want := w.ask(ann, text), w.ask(ann, "/help"); got != want {
				w.Errorf("%s is answered %q", text, got)
			}
		}
		if help := w.ask(ann, "/help"); strings.Contains(help, "/start") {
			w.Error("the help offers it")
		}
	})
}

func TestRename(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		was, err := w.manager.Get(string(id))
		if err != nil {
			w.Fatal(err)
		}
		w.wantSaid(w.ask(ann, "/rename the site"), "**"+was.Name+"** is called **the site** now.")
		if now, _ := w.manager.Get(string(id)); now.Name != "the site" {
			w.Errorf("it's called %q", now.Name)
		}
		w.wantSaid(w.ask(ann, "/rename "+string(id)+" site"), "**the site** is called **site** now.")
		w.wantSaid(w.ask(ann, "/rename"), "Write the new name behind it")
		w.wantSaid(w.ask(ann, "/rename site"), "Write the new name behind it") // it names the session
		w.wantSaid(w.ask(ann, "/rename a\nb"), "nvalid")
		w.wantSaid(w.ask(bob, "/rename mine"), "takes the role operator")
		if now, _ := w.manager.Get(string(id)); now.Name != "site" {
			w.Errorf("it's called %q", now.Name)
		}
	})
}

func TestScreenIsAPictureOfTheWholePane(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		w.say(bob, "/screen")
		posts := w.hub.take()
		img, err := png.Decode(bytes.NewReader(posts[0].Picture))
		if err != nil {
			w.Fatal(err)
		}
		small := img.Bounds()
		w.press(bob, w.button(posts, "As text"))
		w.wantPosts("red")
		w.restart()
		w.panes.screen.Width, w.panes.screen.Height, w.panes.screen.Rows = 40, 8, make([]string, 8)
		w.press(bob, w.button(posts, "Screen"))
		img, err = png.Decode(bytes.NewReader(w.hub.take()[0].Picture))
		if err != nil {
			w.Fatal(err)
		}
		// Twice as many cells in both directions: all but the margin doubles.
		if b := img.Bounds(); b.Dx() <= small.Dx()*3/2 || b.Dx() >= small.Dx()*2 || b.Dy() <= small.Dy()*3/2 || b.Dy() >= small.Dy()*2 {
			w.Errorf("20 by 4 cells have %v, 40 by 8 have %v", small, b)
		}
		w.panes.screen.Width, w.panes.screen.Height = 2000, 1000
		w.wantSaid(w.ask(bob, "/screen"), "Only 300 columns and the last 200 rows are drawn.")
		w.panes.screen = sessions.Screen{}
		w.wantSaid(w.ask(bob, "/screen"), "The screen has no rows at the moment")
		w.wantSaid(w.ask(bob, "/screen text"), "(an empty screen)")
	})
}

func TestLongTextComesAsAFile(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		var want []string
		for i := range 300 {
			want = append(want, fmt.Sprintf("line %d of a longer text", i))
		}
		w.prints(id, want...)
		w.say(bob, "/history 300")
		post := w.hub.take()[0]
		if post.File == nil || post.File.Name != "lines-4-303.txt" || string(post.File.Data) != strings.Join(want, "\n")+"\n" {
			w.Errorf("post %q with file %v", post.Text, post.File)
		}
		w.hub.maxFile = 0
		text := w.ask(bob, "/history 300")
		if n := adapters.UTF16Len(text); n > 4096 || n < 3500 || !strings.Contains(text, "Only the last fit here") || !strings.Contains(text, want[299]) {
			w.Errorf("%d letters: %q", n, text)
		}
	})
}

func TestSeveralSessionsAreAskedAbout(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		w.bind(w.session("other"), group, true)
		for _, c := range []struct{ text, want string }{
			{"/stop", "Pressed C-c in **other**."},
			{"/view screen", "Of **other** this place shows the screen"},
			{"/bind screen input off", "**other** is mirrored here: the screen"},
			{"/close", "End **other**?"},
			{"/unbind", "**other** isn't mirrored here any more"},
		} {
			w.say(ann, c.text)
			posts := w.hub.take()
			w.wantSaid(said(posts), "Which session?")
			w.restart()
			w.press(bob, w.button(posts, "other"))
			w.wantAnswer("isn't for you")
			w.press(ann, w.button(posts, "other"))
			w.wantSaid(said(w.hub.take()), c.want)
			w.press(ann, w.button(posts, "agent"))
			w.chat.take()
			w.wantPosts()
		}
		w.wantSaid(w.ask(ann, "/unbind other"), "This place doesn't mirror other")
		w.wantSaid(w.ask(ann, "/stop other"), "Pressed C-c in **other**.")
	})
}

func TestSessionsSayWhatNeedsSomebody(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		done, asks := w.session("done"), w.session("asks")
		w.bind(asks, adapters.Target{Adapter: "chat", Chat: "-1", Thread: "7"}, true)
		w.state(id, sessions.StateWorking)
		w.state(done, sessions.StateIdle)
		w.state(asks, sessions.StateWaiting)
		w.say(bob, "/sessions")
		posts := w.hub.take()
		text := said(posts)
		last := -1
		for _, want := range []string{"**Needs you: 1**", "[asks](<chat:-1/7#>)", "**Working: 1**", "[agent](<chat:-1#>)", "**Done: 1**", "- ○ done"} {
			if i := strings.Index(text, want); i <= last {
				w.Errorf("%q isn't in its place in %q", want, text)
			} else {
				last = i
			}
		}
		w.restart()
		w.pass(300 * 24 * time.Hour) // pinned
		w.state(asks, sessions.StateIdle)
		for range 3 {
			ev := w.event(bob, intake.Pressed{Data: w.button(posts, "Refresh")})
			ev.Message = "p9"
			w.do(ev)
			again := w.hub.take()
			if len(again) != 1 || again[0].Message != "p9" || !strings.Contains(again[0].Text, "Done: ") || w.button(again, "Refresh") != w.button(posts, "Refresh") {
				w.Errorf("refreshed to %+v", again)
			}
		}
		for i := range 60 {
			w.session(fmt.Sprint("many-", i))
		}
		w.wantSaid(w.ask(bob, "/sessions"), "- and ")
	})
}

func TestBindingAndViews(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		// A thread that was made for a session is where its binding is, not its target.
		w.hub.ownThread = true
		w.wantSaid(w.ask(ann, "/bind agent screen"), "**agent** gets a topic of its own")
		if b := w.hub.bindings; len(b) != 1 || b[0].View != adapters.ViewScreen || !b[0].Input {
			w.Errorf("bindings %+v", b)
		}
		w.hub.ownThread = false
		w.ask(ann, "/bind input off")
		if b := w.hub.bindings; len(b) != 1 || b[0].View != adapters.ViewScreen || b[0].Input {
			w.Errorf("bindings %+v", b)
		}
		w.ask(ann, "/view final")
		if b := w.hub.bindings; len(b) != 1 || b[0].View != adapters.ViewFinal || b[0].Input {
			w.Errorf("bindings %+v", b)
		}
		w.hub.bindings[0].Disabled = "the bot was removed"
		w.wantSaid(w.ask(bob, "/status"), "does nothing: the bot was removed")
		w.ask(ann, "/bind") // has it work again
		if b := w.hub.bindings; len(b) != 1 || b[0].Disabled != "" || !b[0].Input || b[0].View != adapters.ViewFinal {
			w.Errorf("bindings %+v", b)
		}
		elsewhere := adapters.Target{Adapter: "chat", Chat: "-9"}
		ev := w.event(cleo, intake.Said{Text: "/bind agent"})
		ev.Place = elsewhere
		w.do(ev)
		if b := w.hub.bindings; len(b) != 2 || b[1].Target != elsewhere || b[1].Session != id || !w.in.KnowsChat(elsewhere) {
			w.Errorf("bindings %+v, known: %v", b, w.in.KnowsChat(elsewhere))
		}
	})
}

func TestReopening(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		topic := adapters.Target{Adapter: "chat", Chat: "-1", Thread: "7"}
		b := w.bind(w.session("topical"), topic, true)
		view := func() string {
			ev := w.event(ann, intake.Said{Text: "/view final"})
			ev.Place = topic
			w.do(ev)
			return said(w.hub.take())
		}
		w.wantSaid(view(), "Of **topical** this place shows each turn")
		closed := w.event("", intake.ThreadClosed{})
		closed.Place = topic
		w.do(closed)
		w.wantSaid(w.ask(ann, "/status"), "**agent**")
		w.wantSaid(view(), "write /reopen first")
		ev := w.event(ann, intake.Said{Text: "/status"})
		ev.Place = topic
		w.do(ev)
		w.wantSaid(said(w.hub.take()), "rests; /reopen lets it go on")
		w.wantSaid(w.ask(ann, "/reopen"), "**topical** goes on where it was.")
		if !slices.Equal(w.hub.reopened, []adapters.Target{topic}) || w.hub.bindings[1].Resting || w.hub.bindings[1].ID != b.ID {
			w.Errorf("reopened %v, bindings %+v", w.hub.reopened, w.hub.bindings)
		}
		w.do(closed)
		w.hub.bindings[0].Resting = true
		w.say(ann, "/reopen")
		posts := w.hub.take()
		w.wantSaid(said(posts), "Which should go on?")
		w.press(ann, w.button(posts, "topical"))
		w.wantSaid(said(w.hub.take()), "**topical** goes on")
		if w.hub.bindings[1].Resting || !w.hub.bindings[0].Resting || w.hub.bindings[0].Session != id {
			w.Errorf("bindings %+v", w.hub.bindings)
		}
		w.do(closed)
		bind := w.event(ann, intake.Said{Text: "/bind topical"})
		bind.Place = topic
		w.do(bind)
		w.wantSaid(said(w.hub.take()), "**topical** is mirrored here: each turn")
		if w.hub.bindings[1].Resting || len(w.hub.reopened) != 3 {
			w.Errorf("reopened %v, bindings %+v", w.hub.reopened, w.hub.bindings)
		}
	})
}

func TestClosingAsksFirst(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		w.state(id, sessions.StateWorking)
		w.say(ann, "/close")
		first := w.hub.take()
		w.wantSaid(said(first), "It's working.")
		w.press(dora, w.button(first, "Close it"))
		w.wantAnswer("isn't for you")
		w.press(ann, w.button(first, "Keep it"))
		w.wantSaid(said(w.hub.take()), "**agent** goes on.")
		w.chat.take()
		w.press(ann, w.button(first, "Close it"))
		w.wantAnswer("Already used")
		w.say(ann, "/close")
		second := w.hub.take()
		w.pass(10 * time.Minute)
		w.press(ann, w.button(second, "Close it"))
		w.wantAnswer("expired")
		w.say(ann, "/close agent")
		third := w.hub.take()
		w.restart()
		if s, err := w.manager.Get("agent"); err != nil || s.State == sessions.StateEnded || len(w.panes.ended) > 0 {
			w.Errorf("it's %s, %v; panes ended: %q", s.State, err, w.panes.ended)
		}
		w.press(ann, w.button(third, "Close it"))
		posts := w.hub.take()
		w.wantSaid(said(posts), "**agent** was closed by Somebody.")
		if s, err := w.manager.Get(string(id)); err != nil || s.State != sessions.StateEnded || !slices.Equal(w.panes.ended, []string{"%1"}) {
			w.Errorf("it's %s, %v; panes ended: %q", s.State, err, w.panes.ended)
		}
		if posts[0].Session != "" {
			w.Error("the answer goes with the session, which is gone")
		}
		w.wantSaid(w.ask(ann, "/close "+string(id)), "The session agent has ended already.")
	})
}

func TestStatusSaysHowTheLimitsStand(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		w.wantSaid(w.ask(bob, "/status"), "nothing was sent lately, and nothing waits")
		now := time.Now()
		w.hub.limits = adapters.LimitStatus{Mode: qos.Strict, Bot: qos.BotStatus{PenaltyUntil: now.Add(time.Minute)}, Chat: qos.ChatStatus{
			Windows:      []qos.WindowUse{{Window: qos.Window{Calls: 20, Per: time.Minute}, Used: 7}},
			PenaltyUntil: now.Add(10 * time.Minute), Multiplier: 0.49,
			Waiting: [qos.Cosmetic]qos.WaitingCount{qos.Final: {Count: 3, Oldest: 1500 * time.Millisecond}},
		}}
		text := w.ask(bob, "/status")
		for _, want := range []string{
			"Limits of this chat (strict)", "7 of 20 calls of 60 s used", "wants silence until " + now.Add(10*time.Minute).Local().Format("15:04:05"),
			"the pace is 49 %", "waiting: 3 of class final, the oldest for 1.5 s", "You are Somebody: viewer.",
		} {
			w.wantSaid(text, want)
		}
	})
}

func TestStatusSaysWhatWaitsToBeTyped(t *testing.T) {
	inWorld(t, func(w *world) {
		w.panes.setDialog(true)
		since := time.Now().Local().Format("15:04:05")
		w.say(ann, "first")
		w.pass(time.Minute)
		w.say(ann, "second")
		w.pass(5 * time.Second)
		w.wantSaid(w.ask(bob, "/status"), "2 texts wait to be typed since "+since+" (")
		w.panes.setDialog(false)
		w.pass(time.Minute)
		if text := w.ask(bob, "/status"); strings.Contains(text, "typed") {
			w.Errorf("nothing waits any more, and /status says %q", text)
		}
	})
}
