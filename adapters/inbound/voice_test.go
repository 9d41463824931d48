package inbound_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// speech is what a transcriber hears in recordings, by their content.
type speech struct {
	heard map[string]string
	calls int
}

func (s *speech) transcribe(_ context.Context, path string) (string, error) {
	s.calls++
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
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
