package inbound_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// speech is what a transcriber hears in recordings, by their content.
type speech struct {
	heard map[string]string
	calls int
	hears func() (string, error) // if set, what it hears in whatever it's given
}

func (s *speech) transcribe(_ context.Context, path string) (string, error) {
	s.calls++
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if s.hears != nil {
		return s.hears()
	}
	if text, ok := s.heard[string(content)]; ok {
		return text, nil
	}
	return "", errors.New("nothing was understood")
}

// inSpeech runs a test in a bubble where voice notes become text, in a session of an agent.
func inSpeech(t *testing.T, confirm bool, test func(w *world, s *speech, id sessions.ID)) {
	t.Helper()
	inWorld(t, func(w *world) {
		s := &speech{heard: map[string]string{"a": "run the tests", "b": "/clear", "c": "rm all files", "d": "!ls"}}
		w.chat.files = map[string]string{"a": "a", "b": "b", "c": "c", "d": "d", "noise": "noise"}
		w.opt = func(opt *inbound.Options) {
			opt.Voice = inbound.Transcription{Transcribe: s.transcribe, Confirm: confirm}
		}
		w.restart()
		id := w.manager.List()[0].ID
		if err := w.manager.Choose(id, sessions.Source{Program: "claude", Transcript: "/t", Conversation: "1"}); err != nil {
			w.Fatal(err)
		}
		test(w, s, id)
	})
}

func voiceNote(id string) intake.Attachment { return intake.Attachment{ID: id, Kind: intake.FileVoice} }

func TestWhatIsSpokenIsShownAndTyped(t *testing.T) {
	inSpeech(t, false, func(w *world, _ *speech, _ sessions.ID) {
		ev := w.send("", voiceNote("a"))
		w.wantSaid(said(w.hub.take()), "🎤 run the tests")
		w.do(ev) // it comes again
		w.pass(10 * time.Second)
		w.send("please", voiceNote("a"))
		w.wantSaid(said(w.hub.take()), "🎤 please run the tests")
		w.wantTyped("run the tests", "please run the tests")
		if left := w.saved(); len(left) > 0 {
			w.Errorf("recordings are left: %q", left)
		}
	})
}

// Where there's no text the session is given the file, and it's said why.
func TestWhatIsNotUnderstoodIsGivenAsAFile(t *testing.T) {
	inSpeech(t, false, func(w *world, _ *speech, _ sessions.ID) {
		w.send("", voiceNote("noise"))
		w.wantSaid(said(w.hub.take()), "Not transcribed: nothing was understood. The session is given the recording.")
		typed := w.panes.typed()
		if len(typed) != 1 || !strings.Contains(typed[0], "/.panebridge/in/voice-") {
			w.Fatalf("typed %q", typed)
		}
		if content, err := os.ReadFile(typed[0]); err != nil || string(content) != "noise" {
			w.Errorf("%s has %q, %v", typed[0], content, err)
		}
	})
}

// What was spoken is no command, neither of panebridge nor of the agent, and runs in no shell, unless its speaker has read it
// and says so.
func TestSpokenCommandsAreAskedAbout(t *testing.T) {
	inSpeech(t, false, func(w *world, _ *speech, id sessions.ID) {
		for note, text := range map[string]string{"b": "/clear", "d": "!ls"} {
			w.send("", voiceNote(note))
			posts := w.hub.take()
			w.wantSaid(said(posts), "🎤 "+text)
			w.wantTyped()
			w.press(bob, w.button(posts, "Type it"))
			w.press(ann, w.button(posts, "Don't"))
			w.press(ann, w.button(posts, "Type it"))
			w.pass(10 * time.Second)
			w.wantTyped()
			w.hub.take()
		}
		w.send("", voiceNote("b"))
		posts := w.hub.take()
		w.restart()
		for range 2 {
			w.press(ann, w.button(posts, "Type it"))
			w.pass(10 * time.Second)
		}
		w.wantTyped("/clear")
		w.hub.take()

		if err := w.manager.Choose(id, sessions.Source{}); err != nil { // the agent has ended: a shell has the foreground
			w.Fatal(err)
		}
		w.send("", voiceNote("c"))
		posts = w.hub.take()
		w.button(posts, "Type it")
		w.wantTyped("/clear")
	})
}

// A word that agents read as a command without a sign before it is asked about, too, however it's written; in a sentence it's none.
func TestASpokenWordThatEndsAnAgentIsAskedAbout(t *testing.T) {
	inSpeech(t, false, func(w *world, s *speech, _ sessions.ID) {
		for _, text := range []string{"exit", "Exit.", "quit", "QUIT!", ":q"} {
			s.hears = func() (string, error) { return text, nil }
			w.send("", voiceNote("a"))
			w.button(w.hub.take(), "Type it")
			w.wantTyped()
		}
		s.hears = func() (string, error) { return "exit the loop early", nil }
		w.send("", voiceNote("a"))
		w.wantTyped("exit the loop early")
	})
}

func TestEachSpokenTextIsAskedAboutIfWanted(t *testing.T) {
	inSpeech(t, true, func(w *world, _ *speech, _ sessions.ID) {
		w.send("", voiceNote("a"))
		posts := w.hub.take()
		w.wantTyped()
		w.press(ann, w.button(posts, "Type it"))
		w.pass(10 * time.Second)
		w.wantTyped("run the tests")
	})
}

// Only who may type is listened to.
func TestWhoMayNotTypeIsNotListenedTo(t *testing.T) {
	inSpeech(t, false, func(w *world, s *speech, _ sessions.ID) {
		ev := w.event(bob, intake.Said{Files: []intake.Attachment{voiceNote("a")}})
		w.do(ev)
		w.pass(10 * time.Second)
		w.wantTyped()
		if s.calls > 0 {
			w.Errorf("%d recordings of a viewer were transcribed", s.calls)
		}
	})
}

// A note that waited for something else, for its session to be named or for its sender to say that it's still wanted, waits for
// its button behind that, too.
func TestWhatIsSpokenWaitsTwice(t *testing.T) {
	inSpeech(t, true, func(w *world, s *speech, _ sessions.ID) {
		ev := w.event(ann, intake.Said{Files: []intake.Attachment{voiceNote("a")}})
		ev.At = ev.At.Add(-time.Hour)
		w.do(ev)
		w.press(ann, w.button(w.hub.take(), "Run"))
		w.press(ann, w.button(w.hub.take(), "Type it"))
		w.pass(10 * time.Second)
		w.wantTyped("run the tests")
		w.hub.take()

		other := w.session("other")
		if err := w.manager.Choose(other, sessions.Source{Program: "claude", Transcript: "/u", Conversation: "2"}); err != nil {
			w.Fatal(err)
		}
		w.bind(other, group, true)
		w.send("", voiceNote("c"))
		w.press(ann, w.button(w.hub.take(), "agent"))
		w.press(ann, w.button(w.hub.take(), "Type it"))
		w.pass(10 * time.Second)
		w.wantTyped("run the tests", "rm all files")
		if s.calls != 2 {
			w.Errorf("%d recordings were transcribed", s.calls)
		}
	})
}

// A transcriber that's asked again, since the daemon was killed at whatever step, may hear something else. What's shown, and
// agreed to, is what's typed, once.
func TestWhatIsShownOfSpeechIsWhatIsTyped(t *testing.T) {
	for _, confirm := range []bool{false, true} {
		for at, survived := 1, false; !survived && !t.Failed(); at++ {
			inSpeech(t, confirm, func(w *world, s *speech, id sessions.ID) {
				s.hears = func() (string, error) { return fmt.Sprintf("delete folder %d", s.calls), nil }
				ev := w.event(ann, intake.Said{Files: []intake.Attachment{voiceNote("a")}})
				w.process.mu.Lock()
				w.process.steps, w.process.killAt = 0, at
				w.process.mu.Unlock()
				_ = w.in.Handle(w.Context(), ev)
				w.pass(time.Minute)
				survived = !w.process.killed()
				begun := w.process.intent.Load() // it was being typed: then its speaker is told that nobody knows
				w.restart()
				if err := w.manager.Choose(id, sessions.Source{Program: "claude", Transcript: "/t", Conversation: "1"}); err != nil {
					w.Fatal(err)
				}
				w.do(ev)
				w.pass(time.Minute)
				var shown []adapters.Post
				for _, p := range w.hub.take() {
					if strings.HasPrefix(p.Text, "🎤") {
						shown = append(shown, p)
					}
				}
				if len(shown) == 0 {
					w.Fatalf("killed at step %d: nothing is shown", at)
				}
				first := strings.TrimPrefix(shown[0].Text, "🎤 ")
				if confirm {
					for _, p := range shown {
						w.press(ann, w.button([]adapters.Post{p}, "Type it"))
						w.pass(time.Minute)
					}
				}
				for _, p := range shown {
					if p.Text != shown[0].Text {
						w.Errorf("killed at step %d: it shows %q", at, said(shown))
					}
				}
				if typed := strings.Join(w.panes.typed(), "|"); typed != first && (!begun || confirm || typed != "" && typed != first+" (not submitted)") {
					w.Errorf("killed at step %d: typed %q, shown %q", at, typed, first)
				}
			})
		}
	}
}

// All of what somebody is asked about can be read.
func TestWhatIsSpokenIsShownWhole(t *testing.T) {
	inSpeech(t, true, func(w *world, s *speech, _ sessions.ID) {
		w.hub.maxFile = 1 << 20
		text := strings.Repeat("and then *this*, ", 400) + "and delete it"
		s.hears = func() (string, error) { return text, nil }
		w.send("", voiceNote("a"))
		posts := w.hub.take()
		if len(posts) != 1 || posts[0].File == nil || string(posts[0].File.Data) != text+"\n" || !strings.Contains(posts[0].Text, "in the file") {
			w.Fatalf("posts %q", said(posts))
		}
		w.press(ann, w.button(posts, "Type it"))
		w.pass(10 * time.Second)
		w.wantTyped(text)
	})
}

// Where a program asks for a line, whether it may go on say, what's spoken would be its answer: its speaker is asked.
func TestWhatIsSpokenAnswersNoProgramByItself(t *testing.T) {
	inSpeech(t, false, func(w *world, s *speech, id sessions.ID) {
		s.hears = func() (string, error) { return "yes", nil }
		p := w.question("pr_line", sessions.Dialog{Kind: sessions.PromptLine, Title: "Overwrite? [y/n]"})
		w.hub.take()
		w.send("", voiceNote("a"))
		posts := w.hub.take()
		w.wantSaid(said(posts), "asks for a line, and this would answer it")
		w.button(posts, "Type it")
		w.wantTyped()
		w.close(p, "it was answered")
		w.hub.take()
		for _, answer := range []string{"1", "yes", "#1"} { // with a dialog open it waits, as any text does
			s.hears = func() (string, error) { return answer, nil }
			w.question("pr_"+answer, permission())
			w.hub.take()
			w.send("", voiceNote("a"))
			if w.hub.take(); len(w.asks.Took()) > 0 {
				w.Errorf("%q has answered a question", answer)
			}
		}
	})
}
