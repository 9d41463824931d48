package polling_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// front is an observer that knows what runs in the pane's foreground.
type front struct {
	polling.PlainProfile
	runs atomic.Pointer[string] // nil: nothing
}

func (f *front) run(program string) { f.runs.Store(&program) }

func (f *front) Observe(context.Context, sessions.Poll) (sessions.Observation, error) {
	obs := sessions.Observation{Text: sessions.TextPane}
	if runs := f.runs.Load(); runs != nil {
		obs.Front = *runs
	}
	return obs, nil
}

func (f *front) Close() error { return nil }

// set changes what snapshots of a pane show.
func (f *fakeSource) set(pane string, change func(*sessions.Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.panes[pane]
	p.change, p.activity, p.state = change, time.Now().Unix(), p.state+"'"
}

// A program that has the whole screen of a shell's pane (an editor, a pager) runs for as
// long as it has it, whether or not its command was seen to begin and however quiet it is.
func TestAFullScreenProgramOfAShell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src, f := &memLog{}, newFakeSource("%1"), &front{}
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		observe := func([]byte) (polling.Observer, error) { return f, nil }
		if err := r.coord.Start(polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1", Observe: observe}); err != nil {
			t.Fatal(err)
		}
		prompt := func(s *sessions.Snapshot) {
			row := s.HistorySize + s.CursorY
			s.Rows[row] = "$ "
			s.Marks = []sessions.Mark{{Row: row, At: 2, Kind: sessions.MarkPrompt, Status: 0, Width: 2}}
		}
		editor := func(s *sessions.Snapshot) {
			s.Alternate, s.CursorY = true, 0
			for i := range s.Height {
				s.Rows[s.HistorySize+i] = "~"
			}
		}
		want := func(state sessions.State, reason string) {
			t.Helper()
			r.after(10 * time.Second)
			got := r.owner.lastState()
			if got.State != state || got.Reason != reason {
				t.Errorf("%s, %q; want %s, %q", got.State, got.Reason, state, reason)
			}
		}
		src.set("%1", prompt)
		want(sessions.StateIdle, "its shell's prompt is back")
		f.run("vim")
		src.set("%1", editor)
		want(sessions.StateWorking, "its shell runs vim")
		src.set("%1", prompt)
		f.run("")
		want(sessions.StateIdle, "its shell's prompt is back")
		src.set("%1", editor) // and processes can't be looked at
		want(sessions.StateWorking, "its shell runs a full-screen program")
	})
}

// lastState is the event that told a state last.
func (o *owner) lastState() (last sessions.OutputEvent) {
	for _, ev := range o.all() {
		if ev.State != "" {
			last = ev
		}
	}
	return last
}
