package polling_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
)

// fakeKernel tells of writes to terminals, as ttywatch does.
type fakeKernel struct {
	mu      sync.Mutex
	watches map[*fakeWatch]string // the open ones, and their terminals
	refuses bool
	opened  int
}

type fakeWatch struct {
	kernel *fakeKernel
	wrote  chan struct{} // capacity 1
	broken chan struct{} // closed when it's of no use any more
}

func (k *fakeKernel) watch(tty string) (polling.WriteWatch, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuses {
		return nil, errors.ErrUnsupported
	}
	k.opened++
	w := &fakeWatch{kernel: k, wrote: make(chan struct{}, 1), broken: make(chan struct{})}
	k.watches[w] = tty
	return w, nil
}

func (k *fakeKernel) write(tty string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for w, of := range k.watches {
		if of != tty {
			continue
		}
		select {
		case w.wrote <- struct{}{}:
		default: // the kernel merges what's equal
		}
	}
}

// breakAll ends all watches, as when a terminal is gone.
func (k *fakeKernel) breakAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for w := range k.watches {
		close(w.broken)
		delete(k.watches, w)
	}
}

func (k *fakeKernel) setRefuses(refuses bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refuses = refuses
}

func (k *fakeKernel) open() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.watches)
}

func (w *fakeWatch) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.broken:
		return os.ErrClosed
	case <-w.wrote:
		return nil
	}
}

func (w *fakeWatch) Close() error {
	w.kernel.mu.Lock()
	defer w.kernel.mu.Unlock()
	delete(w.kernel.watches, w)
	return nil
}

// followStep is one of a drawn history: what's done, and for how long it's waited then.
type followStep struct {
	what string
	then time.Duration
	late time.Duration // after which tmux has read what's printed
}

var followSteps = []string{"print", "print", "print", "follow", "unfollow", "type", "break", "refuse", "tell", "restart"}

// What's printed while somebody looks is a line within 50 ms, if the kernel tells of it and tmux reads it in time, and at the
// focus cadence else; whatever came before. Nothing is watched once nobody looks any more.
func TestFollowedOutputComesAtOnce(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) followStep {
			return followStep{
				what: rapid.SampledFrom(followSteps).Draw(rt, "step"),
				then: time.Duration(rapid.SampledFrom([]int{0, 1, 7, 60, 300, 1500, 40_000}).Draw(rt, "then")) * time.Millisecond,
				late: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 4, 6, 14, 40}).Draw(rt, "late")) * time.Millisecond,
			}
		}), 1, 40).Draw(rt, "steps")
		var problem string
		synctest.Test(t, func(t *testing.T) { problem = playFollowed(t, steps) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

// followedWorld is a session that's followed or isn't.
type followedWorld struct {
	*rig
	src      *fakeSource
	kernel   *fakeKernel
	unfollow []func()
	printed  []string
	reading  sync.Mutex           // is held from taking a line out of unread to printing it
	unread   chan string          // what tmux hasn't read yet
	readAt   time.Time            // when tmux has read all that was printed
	at       map[string]time.Time // when a line is due at the latest
}

func playFollowed(t *testing.T, steps []followStep) (problem string) {
	t.Helper()
	w := &followedWorld{src: newFakeSource("%1"), kernel: &fakeKernel{watches: map[*fakeWatch]string{}}, at: map[string]time.Time{}, unread: make(chan string, len(steps))}
	mem := &memLog{}
	w.rig = newRigWith(t, mem, mem, map[string]polling.PaneSource{"t": w.src}, polling.Options{WatchWrites: w.kernel.watch})
	w.start("pb_1", "t", "%1")
	w.after(6 * time.Second)
	for i, s := range steps {
		w.step(t, s, i)
		for end := time.Now().Add(s.then); ; {
			w.after(min(time.Millisecond, time.Until(end)))
			if problem := w.check(); problem != "" {
				return fmt.Sprintf("after step %d (%s): %s", i, s.what, problem)
			}
			if s.then > 2*time.Second && len(w.log.text()) == len(w.printed) {
				time.Sleep(time.Until(end))
			}
			if !time.Now().Before(end) {
				break
			}
		}
	}
	for _, unfollow := range w.unfollow {
		unfollow()
	}
	w.after(35 * time.Second)
	w.want(w.printed...)
	if n := w.kernel.open(); n != 0 {
		return fmt.Sprintf("%d terminals are watched for nobody", n)
	}
	before := w.src.count()
	w.kernel.write("/dev/%1")
	w.after(time.Second)
	if n := w.src.count() - before; n > 1 {
		return fmt.Sprintf("%d captures for nobody", n)
	}
	return ""
}

func (w *followedWorld) step(t *testing.T, s followStep, i int) {
	t.Helper()
	switch s.what {
	case "print":
		line := fmt.Sprint("line ", i)
		w.printed = append(w.printed, line)
		if at := time.Now().Add(s.late); at.After(w.readAt) {
			w.readAt = at
		}
		late := time.Until(w.readAt)
		w.at[line] = time.Now().Add(w.due(late))
		w.unread <- line
		time.AfterFunc(late, func() {
			w.reading.Lock()
			defer w.reading.Unlock()
			w.src.print("%1", <-w.unread, false) //nolint:forbidigo // a fake pane prints
		})
		w.kernel.write("/dev/%1")
	case "follow":
		w.unfollow = append(w.unfollow, w.coord.Follow("pb_1"))
	case "unfollow":
		if n := len(w.unfollow); n > 0 {
			w.unfollow[n-1]()
			w.unfollow[n-1]() // once more does nothing
			w.unfollow = w.unfollow[:n-1]
		}
		for line := range w.at { // it may not have been read yet
			if at := time.Now().Add(w.due(time.Until(w.readAt))); at.After(w.at[line]) {
				w.at[line] = at
			}
		}
	case "type":
		w.coord.NoteTyped("pb_1", "")
	case "break", "refuse":
		w.kernel.setRefuses(s.what == "refuse")
		w.kernel.breakAll()
		for line := range w.at { // the kernel may not have told of it yet
			w.at[line] = time.Now().Add(w.due(time.Until(w.readAt)))
		}
	case "tell":
		w.kernel.setRefuses(false)
	case "restart":
		if err := w.coord.Stop(t.Context(), "pb_1"); err != nil {
			t.Error(err)
		}
		w.after(0)
		w.start("pb_1", "t", "%1")
		for line := range w.at { // its terminal is known from the first look on
			w.at[line] = time.Now().Add(dueUnwatched)
		}
	}
	synctest.Wait()
}

// dueUnwatched is within what time a line comes that's looked for at the focus cadence.
const dueUnwatched = 3*200*time.Millisecond + 50*time.Millisecond

// due is within what time what's printed now, and is read late, is a line.
func (w *followedWorld) due(late time.Duration) time.Duration {
	switch {
	case w.kernel.open() > 0 && len(w.unfollow) > 0 && late < 15*time.Millisecond:
		return 50 * time.Millisecond
	case w.kernel.open() > 0 && len(w.unfollow) > 0:
		return 105 * time.Millisecond
	case len(w.unfollow) > 0:
		return dueUnwatched
	}
	return 3 * time.Second
}

// check says which line is late. One that was printed before somebody looked, or whose session was given up meanwhile, has
// the time that it had then.
func (w *followedWorld) check() string {
	got := w.log.text()
	for _, line := range w.printed {
		if time.Now().After(w.at[line]) && !slices.Contains(got, line) && len(w.unfollow) > 0 {
			return fmt.Sprintf("%q is late", line)
		}
	}
	return ""
}

// A look that takes long doesn't delay the line: its rows have stood since the write that was noted last. What's overwritten
// within that time is no line, however long looks take.
func TestRowsStandSinceTheirWrite(t *testing.T) {
	for _, took := range []time.Duration{0, 3 * time.Millisecond, 8 * time.Millisecond, 12 * time.Millisecond} {
		for _, overwritten := range []time.Duration{0, 2 * time.Millisecond, 9 * time.Millisecond, 15 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				src, kernel, mem := newFakeSource("%1"), &fakeKernel{watches: map[*fakeWatch]string{}}, &memLog{}
				src.before = func() { time.Sleep(took) }
				r := newRigWith(t, mem, mem, map[string]polling.PaneSource{"t": src}, polling.Options{WatchWrites: kernel.watch})
				r.start("pb_1", "t", "%1")
				defer r.coord.Follow("pb_1")()
				r.after(10 * time.Second)
				write := func(rows ...string) {
					src.mu.Lock()
					src.panes["%1"].rows = rows
					src.mu.Unlock()
					kernel.write("/dev/%1")
				}
				line := "a line"
				write(line)
				if overwritten > 0 {
					r.after(overwritten)
					line = "another"
					write(line)
				}
				began := time.Now()
				for len(mem.text()) == 0 && time.Since(began) < 5*time.Second {
					r.after(time.Millisecond)
				}
				// 5: while no other write is noted; 20: rows stand so long; the look that finds that.
				if most := max(took, 5*time.Millisecond) + 20*time.Millisecond + took + time.Millisecond; overwritten == 0 && time.Since(began) > most {
					t.Errorf("looks take %s: a line after %s, want %s", took, time.Since(began), most)
				}
				r.want(line)
			})
		}
	}
}
