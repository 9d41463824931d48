package polling_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// fakeSource is a tmux server with panes that print when told to.
type fakeSource struct {
	mu       sync.Mutex
	panes    map[string]*fakePane
	hang     bool // answers nothing
	hangs    bool // answers no captures
	refuse   bool // captures
	captures int
	all      int    // looks at all panes
	looks    int    // at panes
	listed   int    // panes that other looks showed
	before   func() // called before each capture
}

type fakePane struct {
	rows     []string
	activity int64
	state    string                   // what a look sees; "" changes with the rows
	change   func(*sessions.Snapshot) // what snapshots show besides the rows; nil: nothing
}

func newFakeSource(panes ...string) *fakeSource {
	f := &fakeSource{panes: map[string]*fakePane{}}
	for _, p := range panes {
		f.panes[p] = &fakePane{}
	}
	return f
}

// print adds a line; hidden: no look sees it.
func (f *fakeSource) print(pane, line string, hidden bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.panes[pane]
	p.rows = append(p.rows, line)
	if !hidden {
		p.activity, p.state = time.Now().Unix(), fmt.Sprint(len(p.rows))
	}
}

func (f *fakeSource) remove(pane string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.panes, pane)
}

func (f *fakeSource) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.captures
}

func (f *fakeSource) setRefuse(refuse bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

func (f *fakeSource) wait(ctx context.Context) error {
	f.mu.Lock()
	hang := f.hang
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (f *fakeSource) Glances(ctx context.Context, since int64) ([]sessions.Glance, bool, error) {
	if err := f.wait(ctx); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	var out []sessions.Glance
	for id, p := range f.panes {
		if p.activity >= since {
			out = append(out, sessions.Glance{Pane: id, Activity: p.activity, State: p.state})
		}
	}
	if since == 0 {
		f.all++
	} else {
		f.listed += len(out)
	}
	return out, since == 0, nil
}

func (f *fakeSource) Snapshot(ctx context.Context, pane string, _ sessions.RowWindow) (sessions.Snapshot, error) {
	if err := f.wait(ctx); err != nil {
		return sessions.Snapshot{}, err
	}
	f.mu.Lock()
	hangs := f.hangs
	f.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return sessions.Snapshot{}, ctx.Err()
	}
	if f.before != nil {
		f.before()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.captures++
	if f.refuse {
		return sessions.Snapshot{}, sessions.ErrUnavailable
	}
	p := f.panes[pane]
	if p == nil {
		return sessions.Snapshot{}, sessions.ErrUnknown
	}
	const height = 10
	s := sessions.Snapshot{Pane: pane, PID: 1, TTY: "/dev/" + pane, Width: 80, Height: height, HistoryLimit: 10_000, CursorVisible: true, Activity: p.activity}
	s.Rows = append(slices.Clone(p.rows), "")
	s.HistorySize = max(0, len(s.Rows)-height)
	s.CursorY = len(s.Rows) - 1 - s.HistorySize
	for len(s.Rows) < height {
		s.Rows = append(s.Rows, "")
	}
	s.Wrapped = make([]bool, len(s.Rows))
	if p.change != nil {
		p.change(&s)
	}
	return s, nil
}

// rig is a coordinator over fake servers, in a bubble of its own time.
type rig struct {
	*testing.T
	log   *memLog
	owner *owner
	coord *polling.PollingCoordinator
	stop  func() // ends all pollers, as the daemon's end does
	hangs atomic.Int64
	said  bytes.Buffer // its log; read when all is at rest
}

func newRig(t *testing.T, log polling.Log, mem *memLog, sources map[string]polling.PaneSource) *rig {
	t.Helper()
	return newRigWith(t, log, mem, sources, polling.Options{})
}

func newRigWith(t *testing.T, log polling.Log, mem *memLog, sources map[string]polling.PaneSource, opt polling.Options) *rig {
	t.Helper()
	r := &rig{T: t, log: mem, owner: &owner{ended: make(chan string, 10)}}
	opt.Hung, opt.Logger = func() { r.hangs.Add(1) }, slog.New(slog.NewTextHandler(&r.said, nil))
	r.coord = polling.NewCoordinator(sources, log, opt)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.coord.Run(ctx, r.owner) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	synctest.Wait()
	return r
}

func (r *rig) start(id sessions.ID, server, pane string) {
	r.Helper()
	if err := r.coord.Start(polling.PolledPane{Session: id, Server: server, Pane: pane}); err != nil {
		r.Fatal(err)
	}
}

// after lets time pass.
func (r *rig) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) want(lines ...string) {
	r.Helper()
	if got := r.log.text(); !slices.Equal(got, lines) {
		r.Errorf("lines %q, want %q", got, lines)
	}
}

// Of many who start a poller for one session, one does.
func TestOnePollerPerSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := &memLog{}
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": newFakeSource("%1")})
		var started, refused atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				switch err := r.coord.Start(polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1"}); {
				case err == nil:
					started.Add(1)
				case errors.Is(err, polling.ErrRunning):
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if started.Load() != 1 || refused.Load() != 49 {
			t.Errorf("%d started, %d refused", started.Load(), refused.Load())
		}
		if err := r.coord.Start(polling.PolledPane{Session: "pb_2", Server: "t", Pane: "%1"}); !errors.Is(err, polling.ErrRunning) {
			t.Errorf("a second session in the same pane: %v", err)
		}
		if err := r.coord.Start(polling.PolledPane{Session: "pb_3", Server: "x", Pane: "%1"}); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("an unknown server: %v", err)
		}
	})
}

// Stop reads a last time, and when it has returned nothing is told any more; the
// session can be started again.
func TestStopCleansUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		src.print("%1", "one", false)
		r.start("pb_1", "t", "%1")
		r.after(5 * time.Second)
		src.print("%1", "two", true)
		if err := r.coord.Stop(t.Context(), "pb_1"); err != nil {
			t.Fatal(err)
		}
		r.want("one", "two")
		told := len(r.owner.all())
		src.print("%1", "three", false)
		r.after(2 * time.Minute)
		if n := len(r.owner.all()); n != told {
			t.Errorf("%d events after the end", n-told)
		}
		if err := r.coord.Stop(t.Context(), "pb_1"); err != nil {
			t.Errorf("stopped a second time: %v", err)
		}
		r.start("pb_1", "t", "%1")
		r.after(5 * time.Second)
		r.want("one", "two", "three")
	})
}

// brokenLog fails for a while.
type brokenLog struct {
	*memLog
	failures atomic.Int64
	tried    []time.Time
}

func (l *brokenLog) Append(ctx context.Context, b polling.Batch) (polling.Appended, error) {
	if l.failures.Add(-1) >= 0 {
		l.tried = append(l.tried, time.Now())
		return polling.Appended{}, errors.New("disk full")
	}
	return l.memLog.Append(ctx, b)
}

// A log that fails: the session says so, tries again ever later, and loses
// nothing.
func TestLogFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		log := &brokenLog{memLog: mem}
		r := newRig(t, log, mem, map[string]polling.PaneSource{"t": src})
		r.start("pb_1", "t", "%1")
		src.print("%1", "one", false)
		r.after(5 * time.Second)
		log.failures.Store(4)
		src.print("%1", "two", false)
		r.after(10 * time.Second)
		src.print("%1", "three", false)
		r.after(2 * time.Minute)
		r.want("one", "two", "three")
		if len(r.log.gaps) > 0 {
			t.Errorf("gaps %v", r.log.gaps)
		}
		for i := 2; i < len(log.tried); i++ {
			if before, now := log.tried[i-1].Sub(log.tried[i-2]), log.tried[i].Sub(log.tried[i-1]); now < before {
				t.Errorf("tried again after %v, then after %v", before, now)
			}
		}
		var states []sessions.State
		for _, ev := range r.owner.all() {
			if ev.State != "" {
				states = append(states, ev.State)
			}
		}
		if i := slices.Index(states, sessions.StateError); i < 0 || i == len(states)-1 {
			t.Errorf("states %v", states)
		}
	})
}

// A server that doesn't answer delays nobody else, and when it answers again
// nothing is missing.
func TestHangingServerDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, hung, fine := &memLog{}, newFakeSource("%1"), newFakeSource("%1")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"hung": hung, "fine": fine})
		r.start("pb_1", "hung", "%1")
		r.start("pb_2", "fine", "%1")
		r.after(5 * time.Second)
		hung.mu.Lock()
		hung.hang = true
		hung.mu.Unlock()
		hung.print("%1", "late", false)
		fine.print("%1", "soon", false)
		r.after(5 * time.Second)
		r.want("soon")
		r.after(time.Minute)
		hung.mu.Lock()
		hung.hang = false
		hung.mu.Unlock()
		r.after(20 * time.Second)
		r.want("soon", "late")
	})
}

// A server that doesn't answer, at all or captures alone, is logged and counted once, however
// long that lasts, and again when it happens again.
func TestHangIsToldOnce(t *testing.T) {
	for name, set := range map[string]func(f *fakeSource, hangs bool){
		"the server": func(f *fakeSource, hangs bool) { f.hang = hangs },
		"captures":   func(f *fakeSource, hangs bool) { f.hangs = hangs },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem, src := &memLog{}, newFakeSource("%1")
				r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
				r.start("pb_1", "t", "%1")
				hang := func(hangs bool) {
					src.mu.Lock()
					set(src, hangs)
					src.mu.Unlock()
				}
				for n := int64(1); n <= 3; n++ {
					r.after(20 * time.Second)
					hang(true)
					src.print("%1", "late", false)
					r.after(2 * time.Minute)
					hang(false)
					r.after(20 * time.Second)
					said := r.said.String()
					if r.hangs.Load() != n || strings.Count(said, "tmux doesn't answer") != int(n) || strings.Count(said, "tmux answers again") != int(n) {
						t.Errorf("after %d hangs, %d were counted, and said:\n%s", n, r.hangs.Load(), said)
					}
				}
			})
		})
	}
}

// A poller that panics is started anew; the others don't notice.
func TestPanicIsContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, bad, fine := &memLog{}, newFakeSource("%1"), newFakeSource("%1")
		var left atomic.Int64
		left.Store(3)
		bad.before = func() {
			if left.Add(-1) >= 0 {
				panic("no such thing")
			}
		}
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"bad": bad, "fine": fine})
		bad.print("%1", "bad", false)
		fine.print("%1", "fine", false)
		r.start("pb_1", "bad", "%1")
		r.start("pb_2", "fine", "%1")
		r.after(time.Minute)
		r.want("fine", "bad")
	})
}

// What no look shows is found by the slow sweep.
func TestSweepFindsHiddenChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1", "%2")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.start("pb_1", "t", "%1")
		r.after(10 * time.Second)
		before := src.count()
		src.print("%1", "hidden", true)
		r.after(5 * time.Second)
		if n := src.count() - before; n > 1 {
			t.Errorf("%d captures though no look shows a change", n)
		}
		r.after(10 * time.Minute) // a sweep takes five
		r.want("hidden")
	})
}

// A pane that's gone, or a whole server: pollers end, with what was seen last.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1", "%2", "%3")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		for i, id := range []sessions.ID{"pb_1", "pb_2", "pb_3"} {
			r.start(id, "t", fmt.Sprint("%", i+1))
		}
		r.after(5 * time.Second)
		src.remove("%1")
		r.after(5 * time.Second)
		if len(r.owner.ended) != 1 {
			t.Errorf("%d ended, want 1", len(r.owner.ended))
		}
		r.coord.ServerGone("t")
		synctest.Wait()
		if len(r.owner.ended) != 3 {
			t.Errorf("%d ended, want 3", len(r.owner.ended))
		}
	})
}

// A printing pane is captured once a tick, and what other panes don't print isn't
// asked for.
func TestOneCaptureATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1", "%2", "%3")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.start("pb_1", "t", "%1")
		r.after(10*time.Second + 500*time.Millisecond)
		src.mu.Lock()
		captures, all, listed := src.captures, src.all, src.listed
		src.mu.Unlock()
		var want []string
		for i := range 60 {
			want = append(want, fmt.Sprint("line ", i))
			src.print("%1", want[i], false)
			r.after(time.Second)
		}
		src.mu.Lock()
		captures, all, listed = src.captures-captures, src.all-all, src.listed-listed
		src.mu.Unlock()
		if captures < 59 || captures > 61 {
			t.Errorf("%d captures in 60 ticks", captures)
		}
		if all < 10 || all > 12 {
			t.Errorf("%d looks at all panes in a minute, want one in five seconds", all)
		}
		if listed != 60-all {
			t.Errorf("%d panes in the other %d looks, want the one that prints", listed, 60-all)
		}
		r.after(5 * time.Second)
		r.want(want...)
	})
}

// A pane whose capture failed is captured again at the next look, though that one
// doesn't show it: its output is long ago by then.
func TestFailedCaptureIsTriedAtTheNextLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.start("pb_1", "t", "%1")
		r.after(12*time.Second + 500*time.Millisecond)
		src.setRefuse(true)
		src.print("%1", "late", false)
		r.after(5 * time.Second)
		src.setRefuse(false)
		all := src.all
		r.after(2*time.Second + 400*time.Millisecond) // two captures make a line
		if src.all != all {
			t.Fatal("a look at all panes came in between, which would find it too")
		}
		r.want("late")
	})
}

// A thousand quiet panes are looked at, not captured.
func TestQuietPanesAreNotCaptured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panes []string
		for i := range 1000 {
			panes = append(panes, fmt.Sprint("%", i))
		}
		mem, src := &memLog{}, newFakeSource(panes...)
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		for _, p := range panes {
			r.start(sessions.ID("pb_"+p), "t", p)
		}
		r.after(30 * time.Second)
		before := src.count()
		r.after(5 * time.Minute)
		// The sweep takes each once in that time.
		if n := src.count() - before; n > 1100 {
			t.Errorf("%d captures of 1000 quiet panes in five minutes", n)
		}
	})
}

// Options that change while it runs hold at once: the pace of looks, how long a capture may take, and
// what ends a turn.
func TestTunedWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.start("pb_1", "t", "%1")
		r.after(5 * time.Second)
		looks := func(d time.Duration) int {
			before := src.looked()
			r.after(d)
			return src.looked() - before
		}
		if n := looks(time.Minute); n < 59 || n > 61 {
			t.Errorf("%d looks a minute, at one a second", n)
		}
		r.coord.Tune(polling.Tuning{Cadence: 10 * time.Second, CaptureTimeout: time.Second, Marker: polling.NewMarker("[Done]", nil)})
		r.after(10 * time.Second)
		if n := looks(time.Minute); n < 5 || n > 7 {
			t.Errorf("%d looks a minute, at one every ten seconds", n)
		}
		src.print("%1", "an answer", false)
		src.print("%1", "[Done]", false)
		r.after(time.Minute)
		if !slices.ContainsFunc(r.owner.all(), func(ev sessions.OutputEvent) bool { return ev.Complete }) {
			t.Error("the new marker ends no turn")
		}
		src.mu.Lock()
		src.hang = true
		src.mu.Unlock()
		r.after(12 * time.Second)
		if !strings.Contains(r.said.String(), "tmux doesn't answer") {
			t.Error("a hang isn't told after the new time-out")
		}
		r.coord.Tune(polling.Tuning{})
		r.after(12 * time.Second)
		src.mu.Lock()
		src.hang = false
		src.mu.Unlock()
		r.after(12 * time.Second)
		if n := looks(time.Minute); n < 59 || n > 61 {
			t.Errorf("%d looks a minute, at one a second again", n)
		}
	})
}

func (f *fakeSource) looked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.looks
}
