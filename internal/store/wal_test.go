package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// The write-ahead log is cut at a drawn place and moment while sessions print: nothing is acknowledged into
// the gap, its health says it, all that was acknowledged is in the file that's written in its place, and where
// the daemon ends before, the next start knows that something is lost.
func TestACutLogIsNoticed(t *testing.T) {
	drawtest.CheckTimes(t, drawtest.Times(100, 30, 20), func(rt *rapid.T) {
		ctx, ids, heads := t.Context(), []sessions.ID{"pb_1", "pb_2", "pb_3"}, make([]atomic.Int64, 3)
		s, path := openWithSessions(t, ids)
		defer func() { _ = s.Close() }()
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for n, id := range ids {
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					a, err := s.Append(ctx, polling.Batch{Session: id, Lines: []sessions.Line{{Kind: sessions.KindPane, Text: fmt.Sprint(i)}}})
					switch {
					case err == nil:
						heads[n].Store(a.Head)
						_, _ = s.Read(ctx, id, 0, 0) // which may meet the gap before anybody looks, and end when it's mended
					case !errors.Is(err, ErrCut) && !errors.Is(err, ErrDamaged):
						t.Errorf("%s: %v", id, err)
						return
					}
				}
			})
		}
		acknowledged := func() (sum int64) {
			for i := range heads {
				sum += heads[i].Load()
			}
			return sum
		}
		for range rapid.IntRange(1, 3).Draw(rt, "times") {
			for more := acknowledged() + int64(rapid.IntRange(1, 300).Draw(rt, "lines")); acknowledged() < more && !t.Failed(); {
				time.Sleep(time.Millisecond)
			}
			info, err := os.Stat(path + walSuffix)
			if err != nil {
				rt.Fatal(err)
			}
			keep := int64(float64(info.Size()) * rapid.SampledFrom([]float64{0, 0.001, 0.1, 0.5, 0.9}).Draw(rt, "what's left"))
			// Nobody writes at this moment: the rest of the log may be of what it held before it was begun anew.
			if err := s.write.queue.doAlone(ctx, func(context.Context) error {
				frames := s.write.wal.frames
				keep = min(keep, walHeaderBytes+frames*(walFrameBytes+s.write.wal.page)-1)
				return os.Truncate(path+walSuffix, keep)
			}); err != nil {
				rt.Fatal(err)
			}
			if err := s.Health(ctx); !errors.Is(err, ErrCut) {
				rt.Fatalf("%d bytes are left: its health is %v", keep, err)
			}
			if err := Unsound(path); !errors.Is(err, ErrDamaged) {
				rt.Fatalf("for the next start it's %v", err)
			}
			if _, err := s.Append(ctx, polling.Batch{Session: ids[0], Lines: []sessions.Line{{Kind: sessions.KindPane}}}); !errors.Is(err, ErrCut) {
				rt.Fatalf("a line is answered with %v", err)
			}
			if err := s.Rescue(ctx); err != nil {
				rt.Fatal(err)
			}
			if err := errors.Join(s.Health(ctx), Unsound(path)); err != nil && !errors.Is(err, ErrLittleRoom) {
				rt.Fatalf("after the rescue its health is %v", err)
			}
		}
		close(stop)
		wg.Wait()
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		again, err := Open(ctx, path, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		if err := again.Check(ctx); err != nil {
			rt.Fatal(err)
		}
		for n, id := range ids {
			if end, err := again.End(ctx, id); err != nil || end.Line != heads[n].Load() {
				rt.Fatalf("%s: %d lines were acknowledged, and there are %d, %v", id, heads[n].Load(), end.Line, err)
			}
		}
	})
}

// What was cut off and isn't known any more, since another process has written meanwhile, is damage: it's told,
// nothing new is acknowledged, and the next start knows.
func TestACutLogThatNobodyKnowsIsDamage(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	for range 50 {
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(0, 1)})
	}
	mustExec(t, s.write.conn, "PRAGMA shrink_memory")
	if err := os.Truncate(path+walSuffix, walHeaderBytes); err != nil {
		t.Fatal(err)
	}
	if err := s.Health(ctx); !errors.Is(err, ErrCut) {
		t.Errorf("its health is %v", err)
	}
	if err := s.Rescue(ctx); !errors.Is(err, ErrDamaged) {
		t.Errorf("a rescue says %v", err)
	}
	if err := s.Health(ctx); !errors.Is(err, ErrDamaged) {
		t.Errorf("then its health is %v", err)
	}
	if err := s.PutReceipt(ctx, sessions.Receipt{ID: "in_1", Session: "pb_1", State: sessions.ReceiptStored}); !errors.Is(err, sessions.ErrUnavailable) {
		t.Errorf("an input is answered with %v", err)
	}
	if err := Unsound(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("for the next start it's %v", err)
	}
}

// A log that's shorter because all of it is in the database, whoever has seen to it, isn't cut.
func TestALogThatIsEmptiedIsWell(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	other := raw(t, path)
	empty := map[string]func() error{
		"by itself":  func() error { return s.Erase(ctx) },
		"by another": func() error { _, err := other.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); return err },
		"by another, who goes on": func() error {
			_, err := other.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE); UPDATE sessions SET reason = 'x'")
			return err
		},
		"begun anew by another": func() error {
			_, err := other.ExecContext(ctx, "PRAGMA wal_checkpoint(RESTART); UPDATE sessions SET reason = 'y'")
			return err
		},
	}
	for name, empty := range empty {
		for range 20 {
			mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(0, 3)})
		}
		if err := empty(); err != nil {
			t.Fatal(err)
		}
		if err := s.Health(ctx); err != nil && !errors.Is(err, ErrLittleRoom) {
			t.Errorf("%s: its health is %v", name, err)
		}
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(0, 3)})
		if err := Unsound(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
