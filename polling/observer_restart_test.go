package polling_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// Behind a restart more has come than one capture has: none of it is the session's
// while a transcript is.
func TestLongAbsenceUnderATranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src, p := &memLog{}, newFakeSource("%1"), &program{text: sessions.TextPane}
		log := &brokenLog{memLog: mem}
		r := newRig(t, log, mem, map[string]polling.PaneSource{"t": windowed{src}})
		r.startObserved(p)
		src.print("%1", "$ agent", false)
		r.after(5 * time.Second)
		p.set(sessions.TextTranscript)
		src.print("%1", "drawn", false)
		r.after(5 * time.Second)
		log.failures.Store(2) // and the poller begins anew
		for i := range 9_000 {
			src.print("%1", fmt.Sprint("drawn ", i), true)
		}
		src.print("%1", "drawn", false)
		p.write("said")
		r.after(time.Minute)
		r.want("$ agent", "said")
		if len(log.tried) == 0 {
			t.Error("storing never failed")
		}
	})
}

// windowed captures no more than it's asked for.
type windowed struct{ *fakeSource }

func (w windowed) Snapshot(ctx context.Context, pane string, win sessions.RowWindow) (sessions.Snapshot, error) {
	s, err := w.fakeSource.Snapshot(ctx, pane, win)
	if err != nil {
		return s, err
	}
	s.First = max(0, s.HistorySize+win.Start)
	s.Rows, s.Wrapped = s.Rows[s.First:], s.Wrapped[min(s.First, len(s.Wrapped)):]
	if win.Rows > 0 && win.Rows < len(s.Rows) {
		s.Rows, s.Wrapped = s.Rows[:win.Rows], s.Wrapped[:min(win.Rows, len(s.Wrapped))]
	}
	return s, nil
}

// listener notes what it's told was typed.
type listener struct {
	polling.PlainProfile
	mu    sync.Mutex
	typed []string
}

func (l *listener) Close() error { return nil }

func (l *listener) Observe(_ context.Context, look sessions.Poll) (sessions.Observation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range look.Typed {
		l.typed = append(l.typed, t.Text)
	}
	return sessions.Observation{Text: sessions.TextPane}, nil
}

// What was typed is told again to the next observer if the look can't be stored.
func TestTypedIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		log := &brokenLog{memLog: mem}
		r := newRig(t, log, mem, map[string]polling.PaneSource{"t": src})
		var heard []*listener
		observe := func([]byte) (polling.Observer, error) {
			heard = append(heard, &listener{})
			return heard[len(heard)-1], nil
		}
		if err := r.coord.Start(polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1", Observe: observe}); err != nil {
			t.Fatal(err)
		}
		r.after(5 * time.Second)
		log.failures.Store(2)
		src.print("%1", "a change", false)
		r.coord.NoteTyped("pb_1", "hello")
		r.after(time.Minute)
		if n := len(heard); n < 2 || !slices.Equal(heard[n-1].typed, []string{"hello"}) {
			t.Errorf("the last of %d observers heard %q", n, heard[n-1].typed)
		}
	})
}
