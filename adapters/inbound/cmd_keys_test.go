package inbound_test

import (
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

func (w *world) wantKeys(want ...string) {
	w.Helper()
	w.panes.mu.Lock()
	defer w.panes.mu.Unlock()
	if !slices.Equal(w.panes.keys, want) {
		w.Errorf("keys %q, want %q", w.panes.keys, want)
	}
	w.panes.keys = nil
}

func TestTheKeyboardPressesKeys(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		w.say(ann, "/keys")
		posts := w.hub.take()
		w.restart()
		for _, c := range []struct{ label, key string }{
			{"Esc", "Escape"}, {"↑", "Up"}, {"↓", "Down"}, {"←", "Left"}, {"→", "Right"}, {"Tab", "Tab"}, {"⇧Tab", "BTab"}, {"Ctrl-C", "C-c"}, {"1", "1"}, {"0", "0"},
		} {
			for range 2 { // a key isn't used up
				w.press(dora, w.button(posts, c.label))
				w.wantAnswer(c.label)
				w.wantKeys(c.key)
			}
		}
		w.press(ann, w.button(posts, "Enter"))
		w.wantAnswer("Enter")
		w.press(bob, w.button(posts, "1"))
		w.wantAnswer("takes the role operator")
		w.press(evil, w.button(posts, "1"))
		w.wantKeys()
		w.wantPosts()
		w.press(bob, w.button(posts, "Look"))
		w.wantPosts("red")
		if err := w.manager.Close(w.Context(), w.idOf("agent")); err != nil {
			w.Fatal(err)
		}
		w.chat.take()
		w.press(ann, w.button(posts, "1"))
		w.wantAnswer("has ended")
		w.wantKeys()
	})
}

// Where answers don't vanish by themselves, a pressed key leaves none; what went wrong is
// said.
func TestKeysLeaveNothingBehind(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		w.say(ann, "/keys")
		up := w.button(w.hub.take(), "↑")
		for _, person := range []string{ann, bob} {
			w.do(w.event(person, intake.Pressed{Data: up, Token: "t", Stays: true}))
		}
		w.wantKeys("Up")
		if got := w.chat.take(); !slices.Equal(got, []string{"", "This takes the role operator."}) {
			w.Errorf("answered %q", got)
		}
	})
}

// Keys answer questions, which takes more than typing; what says no doesn't.
func TestKeysThatMayAnswerAQuestionAreForApprovers(t *testing.T) {
	inChat(t, func(w *world, id sessions.ID) {
		w.say(ann, "/keys")
		posts := w.hub.take()
		w.state(id, sessions.StateWaiting)
		for _, label := range []string{"1", "Enter", "↓", "Tab", "⇧Tab"} {
			w.press(ann, w.button(posts, label))
			w.wantAnswer("takes the role approver")
		}
		w.wantSaid(w.ask(ann, "/keys Escape 1"), "takes the role approver")
		w.wantKeys()
		w.press(ann, w.button(posts, "Esc"))
		w.press(ann, w.button(posts, "Ctrl-C"))
		w.wantSaid(w.ask(ann, "/esc"), "Pressed Escape")
		w.wantKeys("Escape", "C-c", "Escape")
		w.press(dora, w.button(posts, "1"))
		w.press(cleo, w.button(posts, "2"))
		w.wantKeys("1", "2")
	})
}

func TestEachAgentIsInterruptedInItsWay(t *testing.T) {
	inChat(t, func(w *world, _ sessions.ID) {
		w.manager.SetAgents(map[string]sessions.Agent{"quick": {}, "my-opencode": {}, "vim": {}})
		w.interrupt = func(s sessions.Session) []string { // by what runs, whatever it's called
			return map[string][]string{"quick": {"Escape"}, "my-opencode": {"Escape", "Escape"}}[s.Agent]
		}
		for agent, want := range map[string][]string{
			"quick": {"Escape"}, "my-opencode": {"Escape", "Escape"}, "vim": {"C-c"}, "": {"C-c"},
		} {
			s, err := w.manager.New(w.Context(), sessions.NewRequest{Agent: agent, Cwd: w.dir, Name: "of-" + agent, Command: []string{"x"}})
			if err != nil {
				w.Fatal(err)
			}
			began := time.Now()
			w.ask(ann, "/stop "+s.Name)
			w.wantKeys(want...)
			if took := time.Since(began); len(want) > 1 && took < 400*time.Millisecond { // one alone, to opencode
				w.Errorf("two keys within %s", took)
			}
		}
	})
}
