package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// world is a log that's written to while it's indexed, and its registry.
type world struct {
	mu    sync.Mutex
	log   memLog
	ends  map[sessions.ID]int64 // number of the newest line
	clock int64
	feed  sessions.Feed
}

func (w *world) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, err := w.log.Read(ctx, id, from, limit)
	if err == nil && len(w.log[id]) == 0 {
		out.Oldest = w.ends[id] + 1
	}
	return out, err
}

func (w *world) list() (all []sessions.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.log {
		all = append(all, sessions.Session{ID: id, Lines: w.ends[id]})
	}
	return all
}

func (w *world) write(id sessions.ID, texts []string) {
	w.mu.Lock()
	var lines []sessions.Line
	for _, text := range texts {
		w.ends[id]++
		w.clock++
		lines = append(lines, sessions.Line{N: w.ends[id], Text: text, At: time.Unix(w.clock, 0)})
	}
	w.log[id] = append(w.log[id], lines...)
	w.mu.Unlock()
	w.feed.PublishOutput(sessions.OutputEvent{Session: id, Lines: lines})
}

// step is what happens to a log, its index, or the daemon, and what's looked for two seconds later.
type step struct {
	kind  string
	id    sessions.ID
	texts []string
	part  int // thousandths
	query string
}

func drawStep(rt *rapid.T) step {
	return step{
		kind:  rapid.SampledFrom([]string{"write", "write", "write", "trim", "forget", "anew", "damage", "restart"}).Draw(rt, "step"),
		id:    sessions.ID(rapid.SampledFrom([]string{"pb_1", "pb_2", "pb_3"}).Draw(rt, "session")),
		texts: rapid.SliceOfN(drawnText(0, 20), 1, 30).Draw(rt, "lines"),
		part:  rapid.IntRange(0, 999).Draw(rt, "part"),
		query: drawnText(1, 3).Draw(rt, "query"),
	}
}

// trim drops the oldest lines of a log; anew the newest, as if an older state of the database took its place.
func (w *world) trim(id sessions.ID, part int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if lines, isThere := w.log[id]; isThere {
		w.log[id] = lines[len(lines)*part/1000:]
	}
}

func (w *world) anew(id sessions.ID, part int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if lines, isThere := w.log[id]; isThere && len(lines) > 0 {
		w.ends[id] = lines[len(lines)*part/1000].N - 1
		w.log[id] = lines[:len(lines)*part/1000]
	}
}

func (w *world) forget(id sessions.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.log, id)
	delete(w.ends, id)
}

// indexing is an indexer that runs over a world.
type indexing struct {
	*Index
	indexer *Indexer
	stop    func()
}

func (w *world) index(t *testing.T, path string) indexing {
	t.Helper()
	return w.indexOf(t, w, path, "")
}

// indexOf is index where the log masks by some rules.
func (w *world) indexOf(t *testing.T, log Log, path, masks string) indexing {
	t.Helper()
	x, err := OpenIndex(t.Context(), path, log)
	if err != nil {
		t.Fatal(err)
	}
	x.maxLen, x.mostSmall, x.fewRows, x.tailLines = 7, 3, 5, 1
	w.feed = sessions.Feed{}
	ix := &Indexer{Index: x, List: w.list, Logger: slog.New(slog.DiscardHandler)}
	if err := ix.SetMasks(t.Context(), masks); err != nil {
		t.Fatal(err)
	}
	ix.Follow(&w.feed)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	return indexing{x, ix, func() {
		cancel()
		if err := errors.Join(<-done, x.Close()); err != nil {
			t.Error(err)
		}
	}}
}

// spoil overwrites a page of the index' file, which is closed.
func spoil(path string, part int) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	const page = 4096
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, page), info.Size()/page*int64(part)/1000*page)
	return errors.Join(err, f.Close())
}

// All lines are found two seconds after they were written, whatever is trimmed, forgotten, begun anew, damaged and started
// again meanwhile; and nothing is found that isn't there.
func TestLinesAreFoundSoon(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		var steps []step
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			steps = append(steps, drawStep(rt))
		}
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			w := &world{log: memLog{}, ends: map[sessions.ID]int64{}}
			path := filepath.Join(t.TempDir(), File)
			x := w.index(t, path)
			defer func() { x.stop() }()
			for _, s := range steps {
				switch s.kind {
				case "write":
					w.write(s.id, s.texts)
				case "trim":
					w.trim(s.id, s.part)
				case "forget":
					w.forget(s.id)
					if err := x.Forget(t.Context(), s.id); err != nil {
						t.Fatal(err)
					}
				case "anew":
					w.anew(s.id, s.part)
				case "damage":
					x.stop()
					if err := spoil(path, s.part); err != nil {
						t.Fatal(err)
					}
					x = w.index(t, path)
				case "restart":
					x.stop()
					x = w.index(t, path)
				}
				time.Sleep(2 * time.Second)
				if wrong = w.compare(t.Context(), x.Index, s.query); wrong != "" {
					return
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// compare says what's wrong about what's found.
func (w *world) compare(ctx context.Context, x *Index, query string) string {
	q, err := ParseQuery(query)
	if err != nil {
		return ""
	}
	want := w.log.newestOf(q)
	got, err := x.Find(ctx, w, q, 10)
	if errors.Is(err, sessions.ErrUnavailable) { // it's damaged
		time.Sleep(time.Minute)
		got, err = x.Find(ctx, w, q, 10)
	}
	if err != nil || !slices.EqualFunc(got.Hits, want[:min(10, len(want))], func(a, b Hit) bool { return a.Session == b.Session && a.Line.N == b.Line.N }) {
		return fmt.Sprintf("%s found %v, %v; there are %v", q.match, got.Hits, err, want)
	}
	return ""
}

func TestNothingIsLeftToIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{log: memLog{}, ends: map[sessions.ID]int64{}}
		x, err := OpenIndex(t.Context(), filepath.Join(t.TempDir(), File), w)
		if err != nil {
			t.Fatal(err)
		}
		ix := &Indexer{Index: x, List: w.list, Logger: slog.Default()}
		ix.Follow(&w.feed)
		for i := range 5 {
			var texts []string
			for n := range 3000 {
				texts = append(texts, fmt.Sprint("word", n))
			}
			w.write(sessions.ID(fmt.Sprint("pb_", i)), texts)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- ix.Run(ctx) }()
		time.Sleep(10 * time.Second)
		if n := ix.Behind(); n != 0 {
			t.Errorf("%d lines aren't indexed", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
}
