package inbound_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

func resumers() map[string]sessions.Agent {
	return map[string]sessions.Agent{
		"claude": {Command: []string{"claude"}, Resume: []string{"--resume", "{id}"}, Width: 100, Height: 30}, "codex": {Command: []string{"x"}},
	}
}

// inPast runs a test in a home folder in which an agent has had conversations.
func inPast(t *testing.T, test func(w *world, home string)) {
	t.Helper()
	inHome(t, func(w *world, home string) {
		dir := folder(w.T, home, "src", "x")
		w.had = conversations{"claude " + dir: {
			{ID: "11-aa", Title: "fix  the *login*\nbug that shows when nobody has signed in for a long time, and the token is old", Changed: time.Now().Add(-2 * time.Hour)},
			{ID: "22-bb"},
		}}
		w.restart()
		w.manager.SetAgents(resumers())
		test(w, home)
	})
}

// pressed presses a button and returns what came.
func (w *world) pressed(posts []adapters.Post, label string) []adapters.Post {
	w.Helper()
	return w.pressedBy(ann, posts, label)
}

func (w *world) pressedBy(person string, posts []adapters.Post, label string) []adapters.Post {
	w.Helper()
	ev := w.event(person, intake.Pressed{Data: w.button(posts, label), Token: "t"})
	ev.Message = "picker"
	w.do(ev)
	return w.hub.take()
}

func TestResume(t *testing.T) {
	for _, text := range []string{"/resume claude ~/src/x", "/new claude resume src/x"} {
		inPast(t, func(w *world, home string) {
			w.say(ann, text)
			posts := w.hub.take()
			w.wantSaid(said(posts), "1. fix the *login* bug that shows when nobody")
			w.wantSaid(said(posts), "(2 h ago)")
			want := []string{"1 · fix the *login* bug that shows …", "2 · (without words)", "A new conversation"}
			if got := labels(posts); !slices.Equal(got, want) {
				w.Errorf("buttons %q, want %q", got, want)
			}
			w.pass(time.Second)
			w.wantSaid(said(w.pressed(posts, want[0])), "**claude-1** begins in ~/src/x.")
			if s := w.newest(); s.Cwd != filepath.Join(home, "src", "x") {
				w.Errorf("it begins in %s", s.Cwd)
			}
			if got := w.panes.made[len(w.panes.made)-1]; got != "claude --resume 11-aa 100x30" {
				w.Errorf("it runs %q", got)
			}
			w.chat.take()
			w.pressed(posts, want[2])
			w.wantAnswer("Already used by")
		})
	}
}

// Without arguments it's about the agent and the folder of the place's session; what's a
// living session's conversation isn't offered.
func TestResumeWhereOneIs(t *testing.T) {
	inPast(t, func(w *world, _ string) {
		w.pass(time.Second)
		w.say(ann, "/new claude ~/src/x")
		w.hub.take()
		s := w.newest()
		if err := w.manager.Choose(s.ID, sessions.Source{Program: "claude", Transcript: "/t", Conversation: "11-aa"}); err != nil {
			w.Fatal(err)
		}
		w.say(ann, "/resume")
		posts := w.hub.take()
		w.wantSaid(said(posts), "which is the session **claude-1**")
		if got := labels(posts); !slices.Equal(got, []string{"2 · (without words)", "A new conversation"}) {
			w.Errorf("buttons %q", got)
		}
		w.pass(time.Second)
		w.wantSaid(said(w.pressed(posts, "A new conversation")), "**claude-2** begins")
		if got := w.panes.made[len(w.panes.made)-1]; got != "claude 100x30" {
			w.Errorf("it runs %q", got)
		}
	})
}

func TestResumeAsksForAFolder(t *testing.T) {
	inPast(t, func(w *world, home string) {
		folder(w.T, home, "empty")
		w.wantSaid(w.ask(ann, "/resume codex ~/src/x"), "codex keeps none")
		w.wantSaid(w.ask(ann, "/resume shell ~/src/x"), "There are no conversations")
		w.say(ann, "/resume claude")
		posts := w.pressed(w.pressed(w.pressed(w.hub.take(), "Other folders …"), "src"), "x")
		w.wantSaid(said(w.pressed(posts, "✓ ~/src/x")), "Conversations of **claude** in ~/src/x:")
		w.say(ann, "/resume claude ~/empty")
		posts = w.hub.take()
		w.wantSaid(said(posts), "There are no conversations of **claude** in ~/empty.")
		w.wantSaid(w.ask(bob, "/resume claude ~/src/x"), "takes the role operator")
	})
}

func TestNewOffersWhatMayBeMeant(t *testing.T) {
	inPast(t, func(w *world, home string) {
		folder(w.T, home, "src", "xylo")
		folder(w.T, home, "src", "other")
		for _, c := range []struct {
			text string
			want []string
		}{
			{"/new claude ~/src/xy", []string{"~/src/xylo", "~/src/x", "~/src", "Other folders …"}},
			{"/new claude src/xylo/deep/er", []string{"~/src/xylo", "Other folders …"}},
			{"/new claude ~/nowhere", []string{"Other folders …"}},
			{"/new claude /etc/nowhere", []string{"Other folders …"}},
			{"/new claude ../..", []string{"Other folders …"}},
			{"/new cloud ~/src/x", []string{"claude", "codex", "a shell"}},
			{"/new shel", []string{"a shell", "claude", "codex"}},
		} {
			w.say(ann, c.text)
			if got := labels(w.hub.take()); !slices.Equal(got, c.want) {
				w.Errorf("%s: %q, want %q", c.text, got, c.want)
			}
		}
		w.say(ann, "/new claude ~/src/xy")
		w.pass(time.Second)
		w.wantSaid(said(w.pressed(w.hub.take(), "~/src/xylo")), "**claude-1** begins in ~/src/xylo.")
		w.say(ann, "/new cloud ~/src/x")
		w.pass(time.Second)
		w.wantSaid(said(w.pressed(w.hub.take(), "claude")), "**claude-2** begins in ~/src/x.")
		w.say(ann, "/new cloud")
		w.wantSaid(said(w.pressed(w.hub.take(), "claude")), "Where should **claude** work?")
	})
}

func TestRestart(t *testing.T) {
	inPast(t, func(w *world, _ string) {
		w.pass(time.Second)
		w.say(ann, "/new claude ~/src/x")
		w.hub.take()
		s := w.newest()
		if err := w.manager.Choose(s.ID, sessions.Source{Program: "claude", Transcript: "/t", Conversation: "11-aa"}); err != nil {
			w.Fatal(err)
		}
		w.wantSaid(w.ask(ann, "/restart "+s.Name), "The program of **claude-1** was started anew by Somebody.")
		if got, want := w.panes.respawned, []string{s.Pane.ID + " claude --resume 11-aa"}; !slices.Equal(got, want) {
			w.Errorf("respawned %q, want %q", got, want)
		}
		// One that's at work is asked about.
		w.manager.Output(sessions.OutputEvent{Session: s.ID, State: sessions.StateWorking})
		w.say(ann, "/restart "+s.Name)
		posts := w.hub.take()
		w.wantSaid(said(posts), "It's working.")
		w.wantSaid(said(w.pressed(posts, "Leave it")), "**claude-1** goes on.")
		w.say(ann, "/restart "+s.Name)
		w.wantSaid(said(w.pressed(w.hub.take(), "Start it anew")), "was started anew")
		if n := len(w.panes.respawned); n != 2 {
			w.Errorf("respawned %d times", n)
		}
		// One that has ended begins in another session, with its conversation.
		if err := w.manager.Close(w.Context(), s.ID); err != nil {
			w.Fatal(err)
		}
		w.pass(time.Second)
		w.wantSaid(w.ask(ann, "/restart "+string(s.ID)), "**claude-1** begins in ~/src/x.")
		if got := w.panes.made[len(w.panes.made)-1]; got != "claude --resume 11-aa 100x30" {
			w.Errorf("it runs %q", got)
		}
		w.wantSaid(w.ask(bob, "/restart claude-1"), "takes the role operator")
	})
}

func TestWhatCantBeResumed(t *testing.T) {
	inPast(t, func(w *world, home string) {
		for _, c := range []struct {
			req  sessions.NewRequest
			want string
		}{
			{sessions.NewRequest{Agent: "codex", Resume: "x"}, "agents.codex.resume"},
			{sessions.NewRequest{Resume: "x"}, "only an agent"},
			{sessions.NewRequest{Agent: "claude", Resume: "--help"}, "isn't the id"},
			{sessions.NewRequest{Agent: "claude", Resume: strings.Repeat("x", 300)}, "isn't the id"},
			{sessions.NewRequest{Agent: "claude", Resume: "x", Command: []string{"y"}}, "only an agent"},
		} {
			c.req.Cwd = home
			if _, err := w.manager.New(w.Context(), c.req); !errors.Is(err, sessions.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				w.Errorf("%+v: %v, want %q", c.req, err, c.want)
			}
		}
	})
}
