package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// While several write, the disk becomes full, may only be read, or somebody else holds the
// database, at drawn moments and for drawn times: what's refused says so and isn't there, what
// was taken is there, now and after a restart, health is red at the next look, and all is well by
// itself when the trouble is over.
func TestTroubleAtAnyMomentLosesNothing(t *testing.T) {
	lives := 3
	if testing.Short() {
		lives = 1
	}
	for range lives {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playTrouble(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

// troubles are what becomes of a store, and end.
func troubles(t *testing.T, s *Store, path string) map[string]func() (end func()) {
	t.Helper()
	other := raw(t, path)
	pragma := func(text string) { mustExec(t, s.write.conn, "PRAGMA "+text) }
	return map[string]func() func(){
		"full": func() func() {
			pragma("max_page_count = 1") // which is as many as there are
			return func() { pragma("max_page_count = 1073741823") }
		},
		"read-only": func() func() {
			pragma("query_only = ON")
			return func() { pragma("query_only = OFF") }
		},
		"locked": func() func() {
			for {
				if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err == nil {
					return func() { mustExec(t, other, "ROLLBACK") }
				}
			}
		},
	}
}

func playTrouble(t *testing.T, random *rand.Rand) {
	t.Helper()
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustExec(t, s.write.conn, "PRAGMA busy_timeout = 20")
	var writers sync.WaitGroup
	over := make(chan struct{})
	const sessionsN = 3
	taken, refused := make([][]string, sessionsN), make([]int, sessionsN)
	for n := range sessionsN {
		id := sessions.ID(fmt.Sprintf("pb_%012d", n))
		mustPut(t, s, id)
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				text := fmt.Sprintf("%d-%d %0400d", n, i, 0)
				_, err := s.Append(ctx, polling.Batch{Session: id, Lines: []sessions.Line{{Kind: sessions.KindPane, Text: text}}})
				switch {
				case err == nil:
					taken[n] = append(taken[n], text)
				case !errors.Is(err, sessions.ErrUnavailable):
					t.Errorf("line %d-%d: %v", n, i, err)
				default:
					refused[n]++
				}
			}
		})
	}
	all := troubles(t, s, path)
	for range 12 {
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		what := []string{"full", "read-only", "locked"}[random.IntN(3)]
		end := all[what]()
		time.Sleep(time.Duration(50+random.IntN(150)) * time.Millisecond)
		if err := s.Health(ctx); !errors.Is(err, sessions.ErrUnavailable) {
			t.Errorf("%s: health says %v", what, err)
		}
		end()
	}
	time.Sleep(100 * time.Millisecond)
	if err := s.Health(ctx); err != nil {
		t.Errorf("when all is over health says %v", err)
	}
	close(over)
	writers.Wait()
	check := func(s *Store) {
		t.Helper()
		for n, want := range taken {
			var lines []sessions.Line
			for from := int64(1); ; from = int64(len(lines)) + 1 {
				out, err := s.Read(ctx, sessions.ID(fmt.Sprintf("pb_%012d", n)), from, 0)
				if err != nil {
					t.Fatal(err)
				}
				if lines = append(lines, out.Lines...); len(out.Lines) == 0 {
					break
				}
			}
			if len(lines) != len(want) {
				t.Fatalf("session %d: %d lines are there, %d were taken", n, len(lines), len(want))
			}
			for i, l := range lines {
				if l.Text != want[i] {
					t.Fatalf("session %d: line %d is %.20q, want %.20q", n, i+1, l.Text, want[i])
				}
			}
			if len(want) == 0 || refused[n] == 0 {
				t.Errorf("session %d: %d lines were taken, %d refused", n, len(want), refused[n])
			}
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(mustOpen(t, path, Options{}))
}

// A daemon that ends doesn't wait for somebody else's lock as long as one that goes on: what was asked for is
// refused, and a second write, too, before the first would have been.
func TestWhoHurriesWaitsForNoLock(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	mustExec(t, raw(t, path), "BEGIN IMMEDIATE")
	s.HurryUp()
	began := time.Now()
	for range 2 {
		if _, err := s.Append(t.Context(), polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: "x"}}}); !errors.Is(err, ErrLocked) {
			t.Errorf("got %v, want ErrLocked", err)
		}
	}
	if took := time.Since(began); took > busyTimeout {
		t.Errorf("two writes took %s", took)
	}
}
