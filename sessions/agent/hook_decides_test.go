package agent

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// While a slow hook of the person's own decides about a permission of Codex, no dialog is
// drawn and nobody is asked: the program works, and says that a hook runs. What's drawn
// afterwards is waited for, and a hook of panebridge's that waits is, too.
func TestAPersonsOwnHookDecides(t *testing.T) {
	h := newHost(t)
	h.running[1000] = Process{PID: 1<<30 + 7, Name: "codex", Args: []string{"codex"}, Cwd: h.cwd, Started: h.now, Environ: func() map[string]string { return map[string]string{"HOME": h.home} }}
	p := h.pane(1000)
	const foot = "\n\n› Ask Codex to do anything\n\n  mock-model default · /srv/proj\n"
	look := func(screen string) sessions.Observation {
		t.Helper()
		h.now = h.now.Add(time.Second)
		s := snapshot(screen)
		s.PID = 1000
		return p.see(sessions.Poll{Screen: s, Dialog: p.o.Dialog(s.Rows), Now: h.now})
	}
	tell := func(signal Signal) {
		p.w.Hook(Hook{Agent: "codex", Event: string(signal), Signal: signal, Conversation: "c", Session: string(p.id), Cwd: h.cwd, PIDs: []int{1<<30 + 7, 1000}, At: h.now})
	}
	look("› list it\n" + foot)
	tell(PromptSent)
	look("› list it\n\n• Working (1s • esc to interrupt)\n" + foot)
	tell(Asking)
	const hook = "› list it\n\n• Working (3s • esc to interrupt) · Running hook\n" + foot
	for range 60 {
		s := look(hook)
		if s.State != sessions.StateWorking || s.Prompt != nil {
			t.Fatalf("%s (%s), %+v", s.State, s.Reason, s.Prompt)
		}
	}
	p.o.known.deciders = []*decider{{}}
	if s := look(hook); s.State != sessions.StateWaiting {
		t.Errorf("while panebridge's own waits: %s (%s)", s.State, s.Reason)
	}
	p.o.known.deciders = nil
	if s := look("› list it\n\n  Would you like to run the following command?\n\n  $ ls -la\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel\n"); s.State != sessions.StateWaiting {
		t.Errorf("behind it: %s (%s)", s.State, s.Reason)
	}
}
