package viewing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// ScreenFrame is a pane's screen at one moment.
type ScreenFrame struct {
	N      int64 // larger than those of frames before, those of earlier starts of the daemon too
	Screen sessions.Screen
}

// Options configure a Gallery. All are needed.
type Options struct {
	// Screen captures a session's pane. It blocks while tmux works.
	Screen func(ctx context.Context, id sessions.ID) (sessions.Screen, error)
	// WatchWrites watches a terminal by its path. An error means that nothing tells of its writes.
	WatchWrites func(tty string) (polling.WriteWatch, error)
}

const (
	lookTimeout = 5 * time.Second
	frameGap    = 16 * time.Millisecond  // between a frame and the next look, at least
	lookShare   = 8                      // see polling.LookBudget
	lookBurst   = 150 * time.Millisecond // the same: the echo of a key is looked for several times
	lookAnyway  = 250 * time.Millisecond // after which it's looked although nothing tells of a change: of a size, of the kernel's echo, or of what was written to /dev/tty
	lookUntold  = 50 * time.Millisecond  // the same where nothing tells of writes
	afterError  = time.Second
	keptFrames  = 256             // of which the times are known
	keptFor     = 5 * time.Second // the same when nobody looks any more: keys may be on their way
)

// looksAfter are the pauses before the looks that follow a write or a key: tmux may not have read what was written at the
// first, and a program takes a moment to answer a key.
var looksAfter = []time.Duration{0, 4 * time.Millisecond, 8 * time.Millisecond, 20 * time.Millisecond} //nolint:gochecknoglobals // a constant table

// Gallery has the panes that somebody looks at. Its methods may be called by several goroutines.
type Gallery struct {
	opt Options

	mu     sync.Mutex
	panes  map[sessions.ID]*viewedPane
	left   map[sessions.ID]leftPane
	frames int64 // the number of the last
}

// NewGallery returns a Gallery.
func NewGallery(opt Options) *Gallery {
	return &Gallery{opt: opt, panes: map[sessions.ID]*viewedPane{}, left: map[sessions.ID]leftPane{}, frames: time.Now().UnixMicro()}
}

// viewedPane is one pane with those who look at it.
type viewedPane struct {
	id      sessions.ID
	gallery *Gallery
	stop    context.CancelFunc
	look    chan struct{} // somebody wants to see what's new; capacity 1

	// run's:
	looks     polling.LookBudget
	took      []time.Duration // the last looks, costOf's
	notBefore time.Time       // the next look, for the last found a frame

	// Guarded by Gallery.mu:
	viewers map[*Viewer]struct{}
	last    ScreenFrame
	err     error       // why there's no frame after the last
	times   []frameTime // of the last frames, the oldest first
}

type frameTime struct {
	n  int64
	at time.Time // when the last look began that found the screen so
}

// leftPane is a pane that nobody looks at any more.
type leftPane struct {
	times []frameTime
	until time.Time // they're kept
}

// Viewer is somebody who looks at a pane.
type Viewer struct {
	view *viewedPane
	news chan struct{} // there's another frame or error; capacity 1
	seen int64         // number of the last frame that was returned
}

// Open begins to look at a session's pane. It doesn't block. Close has to be called.
func (g *Gallery) Open(id sessions.ID) *Viewer {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.panes[id]
	if v == nil {
		ctx, cancel := context.WithCancel(context.Background()) // until nobody looks any more
		v = &viewedPane{id: id, gallery: g, stop: cancel, look: make(chan struct{}, 1), looks: polling.LookBudget{Share: lookShare, Burst: lookBurst}, viewers: map[*Viewer]struct{}{}}
		g.panes[id] = v
		go v.run(ctx)
	}
	w := &Viewer{view: v, news: make(chan struct{}, 1)}
	v.viewers[w] = struct{}{}
	w.notify()
	return w
}

// Close ends the looking. Others go on.
func (w *Viewer) Close() {
	g := w.view.gallery
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(w.view.viewers, w)
	if len(w.view.viewers) == 0 {
		w.view.stop()
		if g.panes[w.view.id] == w.view {
			delete(g.panes, w.view.id)
			now := time.Now()
			maps.DeleteFunc(g.left, func(_ sessions.ID, l leftPane) bool { return l.until.Before(now) })
			g.left[w.view.id] = leftPane{w.view.times, now.Add(keptFor)}
		}
	}
}

func (w *Viewer) notify() {
	select {
	case w.news <- struct{}{}:
	default: // something is new already
	}
}

// Next blocks until there's another frame than the one that it returned last, and returns the newest. The error is that of a
// capture, after which it may be called again, or ctx'.
func (w *Viewer) Next(ctx context.Context) (ScreenFrame, error) {
	for {
		select {
		case <-ctx.Done():
			return ScreenFrame{}, ctx.Err()
		case <-w.news:
		}
		w.view.gallery.mu.Lock()
		f, err := w.view.last, w.view.err
		w.view.gallery.mu.Unlock()
		switch {
		case err != nil:
			return ScreenFrame{}, err
		case f.N > w.seen:
			w.seen = f.N
			return f, nil
		}
	}
}

// Look has a session's pane be looked at now, if somebody looks at it: keys were pressed. It doesn't block.
func (g *Gallery) Look(id sessions.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v := g.panes[id]; v != nil {
		select {
		case v.look <- struct{}{}:
		default: // it's due already
		}
	}
}

// ErrOldFrame means that it isn't known any more when a frame was shown.
var ErrOldFrame = fmt.Errorf("%w: the screen has changed since: look at it and press again", sessions.ErrConflict)

// TimeOf returns until when a session's screen is known to have been as its frame n shows it. ErrOldFrame if that's too many frames ago.
func (g *Gallery) TimeOf(id sessions.ID, n int64) (time.Time, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var times []frameTime
	if l := g.left[id]; time.Now().Before(l.until) {
		times = l.times
	}
	if v := g.panes[id]; v != nil {
		times = slices.Concat(times, v.times)
	}
	if at := slices.IndexFunc(times, func(t frameTime) bool { return t.n == n }); at >= 0 {
		return times[at].at, nil
	}
	return time.Time{}, ErrOldFrame
}

// Viewed is how many panes somebody looks at.
func (g *Gallery) Viewed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.panes)
}

// run takes frames until nobody looks any more.
func (v *viewedPane) run(ctx context.Context) {
	for ctx.Err() == nil {
		screen, err := v.takeFrame(ctx)
		if err != nil {
			_ = sessions.Pause(ctx, afterError)
			continue
		}
		watch, err := v.gallery.opt.WatchWrites(screen.TTY)
		if err != nil { // nothing tells of its writes: it's asked again after a while
			end := time.Now().Add(lookAnyway)
			v.lookWhile(ctx, nil, lookUntold, func(string) bool { return time.Now().Before(end) })
			continue
		}
		v.lookAtWrites(ctx, watch, screen.TTY)
		_ = watch.Close()
	}
}

// lookAtWrites looks whenever a program has written to its terminal, until the pane has another or can't be looked at.
func (v *viewedPane) lookAtWrites(ctx context.Context, watch polling.WriteWatch, tty string) {
	ctx, cancel := context.WithCancel(ctx)
	wrote := make(chan error) // a token for each time that something was written; then the error
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for {
			err := watch.Wait(ctx)
			select {
			case wrote <- err:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
	defer waiting.Wait()
	defer cancel()
	v.lookWhile(ctx, wrote, lookAnyway, func(now string) bool { return now == tty })
}

// lookWhile looks at each write and key, as often afterwards as is needed to see what follows, and anyway after a while.
// A write or key between those looks begins them anew: what it draws isn't waited for longer than if nothing had been before.
// It ends with ctx, with the watch, when the pane can't be looked at, and when goesOn says so of the pane's terminal.
func (v *viewedPane) lookWhile(ctx context.Context, wrote <-chan error, anyway time.Duration, goesOn func(tty string) bool) {
	looks := 0 // at first for what was written before
	if wrote == nil {
		looks = len(looksAfter) // which nothing tells of
	}
	for ; ; looks++ {
		pause := anyway
		if looks < len(looksAfter) {
			pause = looksAfter[looks]
		}
		select {
		case <-ctx.Done():
			return
		case err := <-wrote:
			if err != nil {
				return
			}
			looks = 0
		case <-v.look:
			looks = 0
		case <-time.After(pause):
		}
		if sessions.Pause(ctx, max(time.Until(v.notBefore), time.Until(v.looks.NextAt()))) != nil {
			return
		}
		screen, err := v.takeFrame(ctx)
		if err != nil || !goesOn(screen.TTY) {
			return
		}
	}
}

// takeFrame captures the pane, and tells viewers if it isn't as it was.
func (v *viewedPane) takeFrame(ctx context.Context) (sessions.Screen, error) {
	bounded, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	at := time.Now()
	screen, err := v.gallery.opt.Screen(bounded, v.id)
	if ctx.Err() != nil {
		return screen, ctx.Err()
	}
	now := time.Now()
	v.looks.Charge(now, v.costOf(now.Sub(at)))
	if v.publish(at, screen, err) {
		v.notBefore = now.Add(frameGap)
	}
	return screen, err
}

// costOf returns what a look that took so long has cost: as much as the shortest of the last few. What others took longer, on a busy
// machine, they waited for their turn, and to wait for many times as long once more would only show it late.
func (v *viewedPane) costOf(took time.Duration) time.Duration {
	const last = 4
	v.took = append(v.took, took)
	v.took = v.took[max(0, len(v.took)-last):]
	return slices.Min(v.took)
}

// publish gives viewers a frame, or tells them why there's none. It reports whether there was something to tell.
func (v *viewedPane) publish(at time.Time, screen sessions.Screen, err error) bool {
	g := v.gallery
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err != nil && v.err != nil && err.Error() == v.err.Error():
		return false
	case err != nil:
		v.err = err
	case v.err == nil && len(v.times) > 0 && isSame(v.last.Screen, screen):
		v.times[len(v.times)-1].at = at // whoever sees that frame sees what there was until now
		return false
	default:
		g.frames++
		v.last, v.err = ScreenFrame{g.frames, screen}, nil
		if v.times = append(v.times, frameTime{g.frames, at}); len(v.times) > keptFrames {
			v.times = v.times[1:]
		}
	}
	for w := range v.viewers {
		w.notify()
	}
	return true
}

// isSame reports whether two screens look the same.
func isSame(a, b sessions.Screen) bool {
	rows := slices.Equal(a.Rows, b.Rows)
	a.Rows, b.Rows = nil, nil
	return rows && sameButRows(a) == sameButRows(b)
}

// sameButRows is what of a screen but its rows is compared.
func sameButRows(s sessions.Screen) any {
	return [...]any{s.Width, s.Height, s.CursorX, s.CursorY, s.CursorVisible, s.Alternate, s.Title, s.Dead}
}
