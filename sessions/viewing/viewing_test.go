package viewing_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/viewing"
)

// fakePane is a pane whose program writes when told to.
type fakePane struct {
	mu      sync.Mutex
	content int
	reads   time.Duration // after which tmux has read what's written
	takes   time.Duration // a capture
	slow    int           // each so many captures one takes 20 ms; 0: none does
	fails   bool
	deaf    bool // nothing tells of writes
	looks   int
	watches map[*fakeWatch]struct{}
}

func (p *fakePane) screen(ctx context.Context, _ sessions.ID) (sessions.Screen, error) {
	p.mu.Lock()
	takes := p.takes
	p.looks++
	if p.slow > 0 && p.looks%p.slow == 0 {
		takes = 20 * time.Millisecond
	}
	p.mu.Unlock()
	if err := sessions.Pause(ctx, takes); err != nil {
		return sessions.Screen{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails {
		return sessions.Screen{}, fmt.Errorf("%w: tmux hangs", sessions.ErrUnavailable)
	}
	return sessions.Screen{Width: 80, Height: 1, Rows: []string{fmt.Sprint(p.content)}, TTY: "/dev/pts/1"}, nil
}

func (p *fakePane) write() {
	p.mu.Lock()
	for w := range p.watches {
		select {
		case w.wrote <- struct{}{}:
		default:
		}
	}
	reads := p.reads
	p.mu.Unlock()
	time.Sleep(reads)
	p.mu.Lock()
	p.content++
	p.mu.Unlock()
}

func (p *fakePane) watch(string) (polling.WriteWatch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf {
		return nil, errors.ErrUnsupported
	}
	w := &fakeWatch{pane: p, wrote: make(chan struct{}, 1), broken: make(chan struct{})}
	p.watches[w] = struct{}{}
	return w, nil
}

func (p *fakePane) setDeaf(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = deaf
	for w := range p.watches {
		close(w.broken)
		delete(p.watches, w)
	}
}

func (p *fakePane) looked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.looks
}

func (p *fakePane) drawn() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprint(p.content)
}

func (p *fakePane) set(change func(p *fakePane)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

type fakeWatch struct {
	pane   *fakePane
	wrote  chan struct{}
	broken chan struct{}
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
	w.pane.set(func(p *fakePane) { delete(p.watches, w) })
	return nil
}

// watcher is a viewer who reads frames, and takes a while for each.
type watcher struct {
	*viewing.Viewer
	stop context.CancelFunc
	done sync.WaitGroup

	mu    sync.Mutex
	shown string
	n     int64
	back  bool // a frame had a smaller number than one before
}

func openWatcher(g *viewing.Gallery, takes time.Duration) *watcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{Viewer: g.Open("pb_1"), stop: cancel}
	w.done.Go(func() {
		for ctx.Err() == nil {
			f, err := w.Next(ctx)
			w.mu.Lock()
			if err == nil {
				w.back = w.back || f.N <= w.n
				w.shown, w.n = f.Screen.Rows[0], f.N
			}
			w.mu.Unlock()
			_ = sessions.Pause(ctx, takes)
		}
	})
	return w
}

func (w *watcher) close() {
	w.stop()
	w.done.Wait()
	w.Close()
}

func (w *watcher) state() (shown string, n int64, back bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown, w.n, w.back
}

// awaitDrawn waits until what's shown is what's drawn. It looks each millisecond of a bubble's time.
func (w *watcher) awaitDrawn(p *fakePane) {
	for shown := ""; shown != p.drawn(); shown, _, _ = w.state() {
		time.Sleep(time.Millisecond)
		synctest.Wait()
	}
}

type viewStep struct {
	what string
	ms   int
}

// Whoever looks has the newest screen soon after it was drawn, whatever came before; a pane that nobody looks at isn't looked at.
func TestViewersSeeTheNewestScreen(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) viewStep {
			return viewStep{
				rapid.SampledFrom([]string{"write", "write", "write", "open", "slow", "close", "key", "fail", "work", "deaf", "hear", "busy", "idle"}).Draw(rt, "what"),
				rapid.SampledFrom([]int{0, 1, 5, 40, 300, 2500}).Draw(rt, "ms"),
			}
		}), 1, 40).Draw(rt, "steps")
		var problem string
		synctest.Test(t, func(t *testing.T) { problem = playViewing(t, steps) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

func playViewing(t *testing.T, steps []viewStep) string {
	t.Helper()
	p := &fakePane{takes: time.Millisecond, reads: time.Millisecond, watches: map[*fakeWatch]struct{}{}}
	g := viewing.NewGallery(viewing.Options{Screen: p.screen, WatchWrites: p.watch})
	var watchers []*watcher
	defer func() {
		for _, w := range watchers {
			w.close()
		}
		time.Sleep(time.Second)
	}()
	for i, s := range steps {
		switch s.what {
		case "write":
			p.write()
		case "open":
			watchers = append(watchers, openWatcher(g, 0))
		case "slow":
			watchers = append(watchers, openWatcher(g, 50*time.Millisecond))
		case "close":
			if n := len(watchers); n > 0 {
				watchers[0].close()
				watchers = watchers[1:]
			}
		case "key":
			g.Look("pb_1")
		case "fail", "work":
			p.set(func(p *fakePane) { p.fails = s.what == "fail" })
		case "deaf", "hear":
			p.setDeaf(s.what == "deaf")
		case "busy", "idle":
			p.set(func(p *fakePane) {
				p.takes = map[string]time.Duration{"busy": 20 * time.Millisecond, "idle": time.Millisecond}[s.what]
			})
		}
		time.Sleep(time.Duration(s.ms) * time.Millisecond)
		synctest.Wait()
		if s.ms == 300 || s.ms == 2500 {
			if problem := checkViewing(p, g, watchers, s.ms); problem != "" {
				return fmt.Sprintf("after step %d (%s): %s", i, s.what, problem)
			}
		}
	}
	return ""
}

func checkViewing(p *fakePane, g *viewing.Gallery, watchers []*watcher, ms int) string {
	p.mu.Lock()
	content, fails, busy, deaf, looks, watches := fmt.Sprint(p.content), p.fails, p.takes > time.Millisecond, p.deaf, p.looks, len(p.watches)
	p.mu.Unlock()
	if len(watchers) == 0 {
		time.Sleep(time.Minute)
		synctest.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.looks > looks+1 || g.Viewed() != 0 || watches != 0 && ms == 2500 {
			return fmt.Sprintf("nobody looks: %d looks, %d panes, %d watches", p.looks-looks, g.Viewed(), watches)
		}
		return ""
	}
	for i, w := range watchers {
		shown, n, back := w.state()
		switch {
		case back:
			return "frames went back"
		case fails || ms < 2500 && (busy || deaf || n == 0): // after an error it's tried again in a second
		case shown != content && ms == 2500:
			return fmt.Sprintf("viewer %d sees %s after %d ms, want %s", i, shown, ms, content)
		}
		if _, err := g.TimeOf("pb_1", n); n > 0 && err != nil && shown == content && !fails {
			return fmt.Sprintf("when frame %d was isn't known: %v", n, err)
		}
	}
	return ""
}

// A write is seen in some milliseconds by whoever looks, and what stands still is known to stand until the last look.
func TestAFrameComesSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePane{takes: time.Millisecond, reads: 2 * time.Millisecond, watches: map[*fakeWatch]struct{}{}}
		g := viewing.NewGallery(viewing.Options{Screen: p.screen, WatchWrites: p.watch})
		w := openWatcher(g, 0)
		defer w.close()
		time.Sleep(5 * time.Second)
		for range 50 {
			began := time.Now()
			p.write()
			w.awaitDrawn(p)
			if took := time.Since(began); took > 10*time.Millisecond {
				t.Errorf("a write is seen after %v", took)
			}
			time.Sleep(300 * time.Millisecond)
			_, n, _ := w.state()
			if at, err := g.TimeOf("pb_1", n); err != nil || at.Before(began.Add(20*time.Millisecond)) {
				t.Errorf("the screen is known to stand until %v after the write: %v", at.Sub(began), err)
			}
		}
		if _, err := g.TimeOf("pb_1", 1); !errors.Is(err, viewing.ErrOldFrame) {
			t.Errorf("a frame that never was: %v", err)
		}
		if _, err := g.TimeOf("pb_2", 1); !errors.Is(err, viewing.ErrOldFrame) {
			t.Errorf("a frame of a session that nobody looks at: %v", err)
		}
	})
}

// What a write draws is seen as soon as ever when others came before it, if the pause behind their frames is over: it doesn't
// wait for the looks that follow those.
func TestAWriteAmidTheLooksAfterAnotherIsSeen(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		gaps := append(rapid.SliceOfN(rapid.IntRange(0, 60), 0, 5).Draw(rt, "ms before each write"), rapid.IntRange(40, 70).Draw(rt, "ms before the last"))
		keys := rapid.Bool().Draw(rt, "keys before each")
		var took time.Duration
		synctest.Test(t, func(*testing.T) {
			p := &fakePane{takes: time.Millisecond / 4, reads: time.Millisecond / 2, watches: map[*fakeWatch]struct{}{}}
			g := viewing.NewGallery(viewing.Options{Screen: p.screen, WatchWrites: p.watch})
			w := openWatcher(g, 0)
			defer w.close()
			time.Sleep(5 * time.Second)
			for _, gap := range gaps {
				time.Sleep(time.Duration(gap) * time.Millisecond)
				if keys {
					g.Look("pb_1")
				}
				p.write()
			}
			began := time.Now()
			w.awaitDrawn(p)
			took = time.Since(began)
		})
		if took > 5*time.Millisecond { // tmux may not have read it by the first look
			rt.Fatalf("the last write was seen after %v", took)
		}
	})
}

// Captures that take long now and then, as on a busy machine, delay what somebody types by as much, and by no multiple of it.
func TestSlowCapturesDelayNoMoreThanThemselves(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		slow, gaps := rapid.IntRange(2, 8).Draw(rt, "one slow look in"), rapid.SliceOfN(rapid.IntRange(60, 250), 1, 40).Draw(rt, "ms before each key")
		var worst time.Duration
		synctest.Test(t, func(*testing.T) {
			p := &fakePane{takes: time.Millisecond, slow: slow, reads: time.Millisecond, watches: map[*fakeWatch]struct{}{}}
			g := viewing.NewGallery(viewing.Options{Screen: p.screen, WatchWrites: p.watch})
			w := openWatcher(g, 0)
			defer w.close()
			time.Sleep(5 * time.Second)
			for _, gap := range gaps {
				time.Sleep(time.Duration(gap) * time.Millisecond)
				g.Look("pb_1")
				p.write()
				began := time.Now()
				w.awaitDrawn(p)
				worst = max(worst, time.Since(began))
			}
		})
		if worst > 2*20*time.Millisecond+5*time.Millisecond { // one that was under way, and one of its own
			rt.Fatalf("a key's echo was seen after %v", worst)
		}
	})
}

// A program that writes without end is looked at some 60 times a second, and no more than a ninth of the time.
func TestAFloodIsLookedAtInMeasure(t *testing.T) {
	for _, takes := range []time.Duration{time.Millisecond, 50 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			p := &fakePane{takes: takes, watches: map[*fakeWatch]struct{}{}}
			g := viewing.NewGallery(viewing.Options{Screen: p.screen, WatchWrites: p.watch})
			w := openWatcher(g, 0)
			time.Sleep(time.Second)
			before := p.looked()
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
				p.write()
				time.Sleep(time.Millisecond)
			}
			looks := p.looked() - before
			w.close()
			if most := int(10 * time.Second / max(16*time.Millisecond, 9*takes)); looks > most+2 || looks < most/2 {
				t.Errorf("%d looks in 10 s that take %v each, want about %d", looks, takes, most)
			}
		})
	}
}
