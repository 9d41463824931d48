package polling_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
)

// newMarkedRig polls a pane in which a turn marker ends turns.
func newMarkedRig(t *testing.T, mem *memLog, src *fakeSource) *rig {
	t.Helper()
	r := &rig{T: t, log: mem, owner: &owner{ended: make(chan string, 10)}}
	r.coord = polling.NewCoordinator(map[string]polling.PaneSource{"t": src}, mem, polling.Options{Marker: polling.NewMarker(done, nil)})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.coord.Run(ctx, r.owner) })
	r.stop = func() { cancel(); wg.Wait() }
	t.Cleanup(r.stop)
	synctest.Wait()
	r.start("pb_1", "t", "%1")
	return r
}

// say prints lines, and lets them settle.
func (r *rig) say(src *fakeSource, lines ...string) {
	for _, l := range lines {
		src.print("%1", l, false)
	}
	r.after(5 * time.Second)
}

// wantTurn: the turn that ended last took about as long as it should, and began with
// a line.
func (r *rig) wantTurn(number int64, took time.Duration, first string) {
	r.Helper()
	got, _ := r.log.turns()
	is := got.EndedAt.Sub(got.StartedAt)
	if got.Number != number || got.Open || is < took-3*time.Second || is > took+3*time.Second || r.log.text()[got.FirstLine-1] != first {
		r.Errorf("turn %+v took %s, of %q; want about %s, from %q", got, is, r.log.text(), took, first)
	}
}

// A turn begins with what's typed, not with what the program said by itself before:
// its banner, what comes behind the end of a turn. An input into a turn changes nothing.
func TestATurnBeginsWithItsInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newMarkedRig(t, mem, src)
		r.say(src, "a banner", "", "its second line")
		r.after(10 * time.Minute)
		r.coord.NoteTyped("pb_1", "hello")
		r.say(src, "> hello")
		r.after(20 * time.Second)
		r.coord.NoteTyped("pb_1", "and more")
		r.after(20 * time.Second)
		r.say(src, "● hello yourself", done)
		r.wantTurn(1, 45*time.Second, "> hello")

		r.say(src, "", "")
		if turn, _ := mem.turns(); turn.Open {
			r.Errorf("blank lines opened %+v", turn)
		}
		r.say(src, "a tip of the day")
		r.after(10 * time.Minute)
		r.coord.NoteTyped("pb_1", "")
		r.coord.NoteTyped("pb_1", "next")
		r.say(src, "> next")
		r.after(20 * time.Second)
		r.say(src, done)
		r.wantTurn(2, 25*time.Second, "> next")
	})
}

// The first turn can be seen to begin where somebody types at the pane's keyboard, too:
// nothing had changed for a while.
func TestABannerIsNoPartOfTheFirstTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newMarkedRig(t, mem, src)
		r.say(src, "a banner")
		r.after(10 * time.Minute)
		r.say(src, "> hello")
		r.after(20 * time.Second) // it thinks without a sign of it
		r.say(src, "● hello yourself", done)
		r.wantTurn(1, 25*time.Second, "> hello")
	})
}

// A daemon that was started anew between banner and input knows no less.
func TestABannerBeforeARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newMarkedRig(t, mem, src)
		r.say(src, "a banner")
		r.stop()
		time.Sleep(10 * time.Minute)
		r = newMarkedRig(t, mem, src)
		r.after(10 * time.Minute)
		r.coord.NoteTyped("pb_1", "hello")
		r.say(src, "> hello")
		r.after(20 * time.Second)
		r.say(src, done)
		r.wantTurn(1, 25*time.Second, "> hello")
	})
}

// An answer to a question is no input: the turn that asks had begun before.
func TestAnAnswerBeginsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src, a := &memLog{}, newFakeSource("%1"), &asker{}
		r := newMarkedRig(t, mem, src)
		if err := r.coord.Stop(t.Context(), "pb_1"); err != nil {
			t.Fatal(err)
		}
		target := polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1", Observe: func([]byte) (polling.Observer, error) { return a, nil }}
		a.asks("", true)
		if err := r.coord.Start(target); err != nil {
			t.Fatal(err)
		}
		r.say(src, "hello", done)
		r.say(src, "> typed at the keyboard")
		a.asks("1", true)
		r.say(src, "may I?")
		r.after(20 * time.Second)
		r.coord.NoteTyped("pb_1", "a text for an answer")
		r.after(time.Second)
		a.asks("", true)
		r.say(src, done)
		turn, _ := mem.turns()
		if took := turn.EndedAt.Sub(turn.StartedAt); took < 25*time.Second {
			t.Errorf("%+v took %s", turn, took)
		}
	})
}
