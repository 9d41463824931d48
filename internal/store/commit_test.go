package store

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// slowQueue commits for one second and notes the sizes of its batches.
func slowQueue() (*queue, *[]int) {
	var sizes []int
	return newQueue(func(ctx context.Context, batch []*writeRequest) {
		time.Sleep(time.Second)
		sizes = append(sizes, len(batch))
		for _, r := range batch {
			r.err = r.apply(ctx)
		}
	}), &sizes
}

func nothing(context.Context) error { return nil }

func TestRequestsThatComeDuringACommitShareTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, sizes := slowQueue()
		var wg sync.WaitGroup
		start := time.Now()
		for range 10 {
			wg.Go(func() {
				if err := q.do(t.Context(), 1, nothing); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		diff(t, "batches", []int{1, 9}, *sizes)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %v, want 2 s", took)
		}
	})
}

// Pollers that are woken together append together: one commit a tick. A goroutine
// may be interrupted anywhere, so it's not so each time.
func TestRequestsThatComeTogetherShareACommit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // else one of them may really be first
	const rounds = 20
	shared := 0
	for range rounds {
		synctest.Test(t, func(t *testing.T) {
			q, sizes := slowQueue()
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					if err := q.do(t.Context(), 1, nothing); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if len(*sizes) == 1 {
				shared++
			}
		})
	}
	if shared < rounds/2 {
		t.Errorf("10 requests shared one commit in %d of %d rounds, want nearly all", shared, rounds)
	}
}

func TestABatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, sizes := slowQueue()
		var wg sync.WaitGroup
		for _, rows := range []int{1, maxBatchRows - 1, 1, 1, maxBatchRows + 1, 1} {
			wg.Go(func() { _ = q.do(t.Context(), rows, nothing) })
			synctest.Wait()
		}
		wg.Wait()
		diff(t, "batches", []int{1, 2, 1, 1, 1}, *sizes)
	})
}

func TestACancelledRequestIsNotWrittenUnlessItHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := slowQueue()
		wrote := map[string]bool{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		run := func(ctx context.Context, name string, want error) {
			wg.Go(func() {
				err := q.do(ctx, 1, func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					wrote[name] = true
					return nil
				})
				if !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("%s: got %v, want %v", name, err, want)
				}
			})
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		run(ctx, "begun", nil)
		run(ctx, "waiting", context.Canceled)
		run(t.Context(), "not cancelled", nil)
		cancel()
		synctest.Wait()
		run(ctx, "cancelled before", context.Canceled)
		wg.Wait()
		diff(t, "written", map[string]bool{"begun": true, "not cancelled": true}, wrote)
	})
}

func TestClosingWaitsForWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, sizes := slowQueue()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := q.do(t.Context(), 1, nothing); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wg.Go(q.drain)
		synctest.Wait()
		if err := q.do(t.Context(), 1, nothing); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		q.drain()
		diff(t, "batches", []int{1, 2}, *sizes)
		wg.Wait()
	})
}

// gate holds the writer in a commit until the returned function is called.
func gate(t *testing.T, s *Store) (open func()) {
	t.Helper()
	release, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.write.queue.do(t.Context(), 1, func(context.Context) error { <-release; return nil })
	}()
	waitQueued(s, 0)
	return func() {
		close(release)
		<-ended
	}
}

// waitQueued returns when somebody commits and n requests wait.
func waitQueued(s *Store, n int) {
	q := s.write.queue
	for {
		q.mu.Lock()
		reached := q.leading && len(q.waiting) == n
		q.mu.Unlock()
		if reached {
			return
		}
		runtime.Gosched()
	}
}

func TestAPanicLeavesNobodyWaiting(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	open := gate(t, s)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() { _ = recover() }()
		_ = s.write.queue.do(t.Context(), 1, func(context.Context) error { panic("bug") })
	})
	waitQueued(s, 1)
	for range 3 {
		wg.Go(func() {
			if err := s.PutReceipt(t.Context(), sessions.Receipt{ID: "in_1"}); !errors.Is(err, errInterrupted) {
				t.Errorf("a write in the batch that panicked: got %v, want %v", err, errInterrupted)
			}
		})
	}
	waitQueued(s, 4)
	open()
	wg.Wait()
	if a := mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 1)}); a.Head != 1 {
		t.Errorf("after the panic: got head %d, want 1", a.Head)
	}
}

// together has the writes share a batch and returns their errors.
func together(t *testing.T, s *Store, writes ...func() error) []error {
	t.Helper()
	open := gate(t, s)
	errs := make([]error, len(writes))
	var wg sync.WaitGroup
	for i, write := range writes {
		wg.Go(func() { errs[i] = write() })
		waitQueued(s, i+1)
	}
	open()
	wg.Wait()
	return errs
}

func TestABadRequestFailsAlone(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1", "pb_2")
	add := func(id sessions.ID, gaps ...sessions.Gap) func() error {
		return func() error {
			a, err := s.Append(t.Context(), polling.Batch{Session: id, Lines: paneLines(1, 2), Gaps: gaps})
			if err == nil {
				diff(t, "gaps of "+string(id), gaps, a.Gaps)
			}
			return err
		}
	}
	errs := together(t, s, add("pb_1", sessions.Gap{After: 1}), add("pb_unknown"), add("pb_2", sessions.Gap{After: 2}))
	if errs[0] != nil || !errors.Is(errs[1], sessions.ErrUnknown) || errs[2] != nil {
		t.Errorf("got %v, want the second alone to fail with ErrUnknown", errs)
	}
	for _, id := range []sessions.ID{"pb_1", "pb_2"} {
		out, err := s.Read(t.Context(), id, 0, 0)
		if err != nil || len(out.Lines) != 2 {
			t.Errorf("%s: got %+v, %v; want 2 lines", id, out, err)
		}
	}
}
