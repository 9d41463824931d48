package agent

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// unreadable puts a folder in a transcript's place: reading it fails, whoever reads.
func (f *file) unreadable() (repair func()) {
	f.Helper()
	aside := f.path + ".aside"
	if err := os.Rename(f.path, aside); err != nil {
		f.Fatal(err)
	}
	if err := os.Mkdir(f.path, 0o700); err != nil {
		f.Fatal(err)
	}
	return func() {
		f.Helper()
		if err := os.Remove(f.path); err != nil {
			f.Fatal(err)
		}
		if err := os.Rename(aside, f.path); err != nil {
			f.Fatal(err)
		}
	}
}

// A transcript that can't be read for a moment is read on, and nothing else is told
// meanwhile.
func TestTranscriptThatCantBeReadForAMoment(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	p.hook(SessionStart, f)
	f.user("first")
	p.look(time.Second, atWorkOn("first"))
	repair := f.unreadable()
	p.look(time.Second, atWorkOn("first"))
	if p.text != sessions.TextHeld {
		t.Errorf("its text is %s's", p.text)
	}
	p.restart()
	p.look(time.Second, atWorkOn("first"))
	repair()
	f.answer("of first")
	for range 3 {
		p.look(3*time.Second, atWorkOn("first"))
	}
	if p.text != sessions.TextTranscript {
		t.Errorf("its text is %s's", p.text)
	}
	p.want("user first", "answer of first")
}

// Where the place at which a transcript was left isn't known, as behind another version that
// kept it otherwise, nothing is told twice, and what's new is told.
func TestWhatWasToldIsntToldAgainWithoutACursor(t *testing.T) {
	for _, back := range []bool{false, true} { // the conversation goes on; or is come back to
		h := newHost(t)
		h.run(1, 1, h.now.Add(-time.Minute))
		p, f := h.pane(1), h.file("one")
		p.hook(SessionStart, f)
		f.user("first")
		p.look(time.Second, atWorkOn("first"))
		f.answer("of first")
		p.look(time.Second, atWorkOn("first"))
		other := h.file("two")
		if back {
			f.end()
			p.look(time.Second, atRest("first"))
			p.hook(SessionStart, other)
			other.user("second")
			p.look(time.Second, atWorkOn("second"))
			other.end()
			p.look(time.Second, atRest("second"))
		}
		kept := strings.ReplaceAll(string(p.kept), `"cursor":{"v":1,`, `"cursor":{"v":99,`)
		if kept == string(p.kept) {
			t.Fatalf("there's no cursor in %s", kept)
		}
		p.kept = []byte(kept)
		p.restart()
		want := []string{"user first", "answer of first"}
		if back {
			want = append(want, "user second")
			p.hook(SessionStart, f)
		}
		p.now = p.now.Add(time.Second)
		f.answer("and more")
		for range 3 {
			p.look(time.Second, atWorkOn("first"))
		}
		p.want(append(want, "answer and more")...)
	}
}

// One that can't be read for good is given up: the pane tells what comes.
func TestTranscriptThatCantBeRead(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	p.hook(SessionStart, f)
	f.user("first")
	p.look(time.Second, atWorkOn("first"))
	f.unreadable()
	for range 15 {
		p.look(time.Second, atWorkOn("first"))
	}
	if p.text != sessions.TextPane {
		t.Errorf("its text is %s's", p.text)
	}
	p.want("user first")
}

// Codex' hooks run below a daemon that the first pane has started: what they say of
// their conversation is surer than their processes.
func TestHooksBelowASharedDaemon(t *testing.T) {
	h := newHost(t)
	first, second := h.pane(1), h.pane(2)
	shared := Process{PID: 1 << 30}
	for p, name := range map[*pane]string{first: "one", second: "two"} {
		p.o.known.pids = []int{p.pid, 1<<30 + p.pid}
		p.o.known.ref = &transcript.Ref{Format: transcript.Codex, Path: "/x/" + name, Session: name}
	}
	first.o.known.pids = append(first.o.known.pids, shared.PID)
	for _, hook := range []struct {
		Hook
		want *pane
	}{
		{Hook{Agent: "codex", Conversation: "two", PIDs: []int{shared.PID}}, second},
		{Hook{Agent: "codex", Transcript: "/x/two", PIDs: []int{shared.PID}}, second},
		{Hook{Agent: "codex", Conversation: "one", PIDs: []int{shared.PID}}, first},
		{Hook{Agent: "codex", Conversation: "three", PIDs: []int{shared.PID}}, first},
		{Hook{Agent: "claude", Conversation: "two", PIDs: []int{shared.PID}}, first},
	} {
		if got := h.w.observerOf(hook.Hook); got != hook.want.o {
			t.Errorf("a hook of %s in %s%s isn't that of %s", hook.Agent, hook.Conversation, hook.Transcript, hook.want.id)
		}
	}
}
