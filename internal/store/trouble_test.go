package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/host/hosttest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// While several write, the disk becomes full, may only be read, or somebody else holds the
// database, at drawn moments and for drawn times: what's refused says so and isn't there, what
// was taken is there, now and after a restart, health is red at the next look, and all is well by
// itself when the trouble is over.
func TestTroubleAtAnyMomentLosesNothing(t *testing.T) {
	lives := drawtest.Times(3, 3, 1)
	for seed := range drawtest.Seeds(t, lives) {
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

// acknowledged are the names of what was taken by several at once: inputs, and mails of other processes.
type acknowledged struct {
	mu      sync.Mutex
	inputs  []string
	mails   []string
	refused int
}

// write has inputs, and mails unless mail is nil, be stored until over is closed.
func (a *acknowledged) write(t *testing.T, s *Store, mail *Inbox, over <-chan struct{}, writers *sync.WaitGroup) {
	t.Helper()
	for kind, put := range map[string]func(id string) error{
		"in": func(id string) error {
			return s.PutReceipt(t.Context(), sessions.Receipt{ID: id, Session: "pb_000000000000", Text: strings.Repeat("x", 400), State: sessions.ReceiptStored})
		},
		"m": func(id string) error {
			return mail.AddMail(t.Context(), []inbox.Mail{{ID: id, To: "pb_000000000000", Text: strings.Repeat("x", 400)}})
		},
	} {
		if kind == "m" && mail == nil {
			continue
		}
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				id := fmt.Sprint(kind, "_", i)
				err := put(id)
				a.mu.Lock()
				switch {
				case err == nil && kind == "m":
					a.mails = append(a.mails, id)
				case err == nil:
					a.inputs = append(a.inputs, id)
				case !errors.Is(err, sessions.ErrUnavailable):
					t.Errorf("%s: %v", id, err)
				default:
					a.refused++
				}
				a.mu.Unlock()
			}
		})
	}
}

// refusals is how many inputs and mails were refused so far.
func (a *acknowledged) refusals() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// await waits until something is so, a minute at most.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal(what)
		}
	}
}

// check looks for all of it.
func (a *acknowledged) check(t *testing.T, s *Store, mail *Inbox) {
	t.Helper()
	for _, id := range a.inputs {
		if r, err := s.Receipt(t.Context(), id); err != nil || r.State != sessions.ReceiptStored {
			t.Fatalf("of %d inputs that were acknowledged %s is %+v, %v", len(a.inputs), id, r, err)
		}
	}
	if len(a.inputs) == 0 {
		t.Error("no input was acknowledged")
	}
	if mail == nil {
		return
	}
	all, err := mail.Mail(t.Context(), inbox.Query{To: "pb_000000000000"})
	if err != nil || len(all) != len(a.mails) {
		t.Fatalf("%d mails were acknowledged, and there are %d, %v", len(a.mails), len(all), err)
	}
	if len(a.mails) == 0 {
		t.Error("no mail was acknowledged")
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
	var beside acknowledged
	beside.write(t, s, nil, over, &writers)
	all := troubles(t, s, path)
	for range 12 {
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		what := []string{"full", "read-only", "locked"}[random.IntN(3)]
		before := beside.refusals()
		end := all[what]()
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		await(t, "nothing is refused", func() bool { return beside.refusals() > before+1 })
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
	beside.check(t, s, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, path, Options{})
	check(again)
	beside.check(t, again, nil)
}

// A real disk that becomes full, and has room again: what's acknowledged is there, and health is red until then.
func TestARealDiskThatIsFull(t *testing.T) {
	if !inMountNamespace(t) {
		return
	}
	folder := t.TempDir()
	if err := hosttest.MountMemory(folder, "size=6m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hosttest.Unmount(folder) })
	ctx, path := t.Context(), filepath.Join(folder, "pb.db")
	s, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mail, err := OpenInbox(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "pb_000000000000")
	over, writers, all := make(chan struct{}), sync.WaitGroup{}, acknowledged{}
	all.write(t, s, mail, over, &writers)
	for range 3 {
		fill := filepath.Join(folder, "fill")
		if err := os.WriteFile(fill, make([]byte, 8<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
			t.Fatalf("it takes all: %v", err)
		}
		taken := func() int { all.mu.Lock(); defer all.mu.Unlock(); return len(all.inputs) }
		before := all.refusals()
		await(t, "nothing is refused", func() bool { return all.refusals() > before+2 })
		if err := s.Health(ctx); !errors.Is(err, ErrFull) && !errors.Is(err, ErrLittleRoom) {
			t.Errorf("its health is %v", err)
		}
		if _, err := s.Append(ctx, polling.Batch{Session: "pb_000000000000", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: strings.Repeat("x", 1<<20)}}}); !errors.Is(err, ErrFull) {
			t.Errorf("a large line is answered with %v", err)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		more := taken() + 20
		await(t, "nothing is taken again", func() bool { return taken() > more })
	}
	close(over)
	writers.Wait()
	all.check(t, s, mail)
	if err := errors.Join(s.Close(), mail.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		t.Fatal(err)
	}
	if mail, err = OpenInbox(ctx, path); err != nil {
		t.Fatal(err)
	}
	all.check(t, s, mail)
	if err := errors.Join(s.Check(ctx), s.Close(), mail.Close()); err != nil {
		t.Fatal(err)
	}
	if err := hosttest.ForbidWrites(folder); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(tryDisk(path), ErrReadOnly) || tryDisk(dbPath(t)) != nil {
		t.Error("a disk that may only be read isn't told from others")
	}
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
