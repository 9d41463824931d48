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

// The index of the write-ahead log, which is shared memory, is cut at drawn places and moments while lines, inputs and
// mails are written and read: nothing crashes, what's refused can be tried again, all goes on by itself, and what was
// acknowledged is there, now and for whoever opens the files as a kill would leave them.
func TestACutIndexIsMadeAnew(t *testing.T) {
	drawtest.CheckTimes(t, drawtest.Times(100, 20, 20), func(rt *rapid.T) {
		ctx, ids, heads := t.Context(), []sessions.ID{"pb_000000000000", "pb_1", "pb_2"}, make([]atomic.Int64, 3)
		s, path := openWithSessions(t, ids)
		defer func() { _ = s.Close() }()
		mail, err := OpenInbox(ctx, path)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = mail.Close() }()
		var wg sync.WaitGroup
		over := make(chan struct{})
		end := sync.OnceFunc(func() { close(over); wg.Wait() })
		defer end()
		for n, id := range ids {
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-over:
						return
					default:
					}
					a, err := s.Append(ctx, polling.Batch{Session: id, Lines: []sessions.Line{{Kind: sessions.KindPane, Text: fmt.Sprintf("%d %0200d", i, 0)}}})
					switch {
					case err == nil && a.Head != heads[n].Load()+1:
						t.Errorf("%s: behind line %d comes line %d", id, heads[n].Load(), a.Head)
					case err == nil:
						heads[n].Store(a.Head)
					case !errors.Is(err, sessions.ErrUnavailable):
						t.Errorf("%s: %v", id, err)
					}
					if _, err := s.Read(ctx, id, 0, 0); err != nil && !errors.Is(err, sessions.ErrUnavailable) && !errors.Is(err, sessions.ErrUnknown) {
						t.Errorf("read %s: %v", id, err)
					}
				}
			})
		}
		var all acknowledged
		all.write(t, s, mail, over, &wg)
		taken := func() int { all.mu.Lock(); defer all.mu.Unlock(); return len(all.inputs) }
		for range rapid.IntRange(1, 4).Draw(rt, "times") {
			more := taken() + rapid.IntRange(1, 200).Draw(rt, "inputs")
			for began := time.Now(); taken() < more && !t.Failed(); time.Sleep(time.Millisecond) {
				if time.Since(began) > time.Minute {
					rt.Fatalf("nothing is taken any more: %v", s.Health(ctx))
				}
			}
			info, err := os.Stat(path + indexSuffix)
			if err != nil {
				rt.Fatal(err)
			}
			keep := rapid.SampledFrom([]int64{0, 20, 100, 4096, 9000, 16_384, 20_000, 32_000, info.Size() - 1, info.Size() - 9000}).Draw(rt, "what's left")
			if err := os.Truncate(path+indexSuffix, max(0, min(keep, info.Size()))); err != nil {
				rt.Fatal(err)
			}
		}
		more := taken() + 20
		for began := time.Now(); taken() < more && !t.Failed(); time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				rt.Fatalf("nothing is taken any more: %v", s.Health(ctx))
			}
		}
		end()
		check := func(s *Store, when string) {
			if err := errors.Join(s.Check(ctx), s.Health(ctx), Unsound(s.path)); err != nil && !errors.Is(err, ErrLittleRoom) {
				rt.Fatalf("%s its health is %v", when, err)
			}
			for n, id := range ids {
				if end, err := s.End(ctx, id); err != nil || end.Line != heads[n].Load() {
					rt.Fatalf("%s: %s: %d lines were acknowledged, and there are %d, %v", when, id, heads[n].Load(), end.Line, err)
				}
			}
			for _, id := range all.inputs {
				if r, err := s.Receipt(ctx, id); err != nil || r.State != sessions.ReceiptStored {
					rt.Fatalf("%s: of %d inputs that were acknowledged %s is %+v, %v", when, len(all.inputs), id, r, err)
				}
			}
			var mails int
			if err := s.write.conn.QueryRowContext(ctx, "SELECT count(*) FROM mail").Scan(&mails); err != nil || mails < len(all.mails) {
				rt.Fatalf("%s: %d mails were acknowledged, and there are %d, %v", when, len(all.mails), mails, err)
			}
		}
		check(s, "in the end")
		killed := path + "-killed"
		if err := s.write.queue.doAlone(ctx, func(context.Context) error { // nobody writes, and nobody copies the log
			for _, suffix := range []string{"", walSuffix} {
				data, err := os.ReadFile(path + suffix)
				if err := errors.Join(err, os.WriteFile(killed+suffix, data, 0o600)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		again, err := Open(ctx, killed, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		check(again, "after a kill")
	})
}

// What was committed is known by the index, also where the log was begun anew for it.
func TestWhatWasCommittedIsKnown(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	for _, before := range []string{"", "PRAGMA wal_checkpoint(RESTART)", ""} {
		if before != "" {
			mustExec(t, s.write.conn, before)
		}
		begun, err := s.write.index.check()
		if err != nil || begun.committedSince(begun) {
			t.Fatalf("%q: it has %+v, %v", before, begun, err)
		}
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(0, 1)})
		is, err := s.write.index.check()
		if err != nil || !is.committedSince(begun) || begun.committedSince(is) {
			t.Errorf("%q: a line leads from %+v to %+v, %v", before, begun, is, err)
		}
		if before != "" && is.salts == begun.salts {
			t.Error("the log wasn't begun anew")
		}
	}
}
