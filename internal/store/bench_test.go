package store

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// BenchmarkTick is one tick of ten busy sessions, each of which appends three
// lines and 2 KiB of engine state at the same moment. The baseline commits each
// in a transaction of its own.
func BenchmarkTick(b *testing.B) {
	grouped := func(s *Store, batch polling.Batch) error {
		_, err := s.Append(b.Context(), batch)
		return err
	}
	var mu sync.Mutex
	alone := func(s *Store, batch polling.Batch) error {
		batch, err := prepareBatch(batch)
		if err != nil {
			return err
		}
		r := &writeRequest{apply: func(ctx context.Context) error {
			_, err := s.write.append(ctx, batch, DefaultLogMaxLines)
			return err
		}}
		mu.Lock()
		defer mu.Unlock()
		s.write.commitBatch(context.WithoutCancel(b.Context()), []*writeRequest{r})
		return r.err
	}
	for _, c := range []struct {
		name   string
		append func(*Store, polling.Batch) error
	}{{"commits=alone", alone}, {"commits=grouped", grouped}} {
		b.Run(c.name, func(b *testing.B) {
			s := mustOpen(b, dbPath(b), Options{})
			var ids []sessions.ID
			for i := range 10 {
				ids = append(ids, sessions.ID(fmt.Sprintf("pb_%012d", i)))
			}
			mustPut(b, s, ids...)
			lines := paneLines(1_000_000, 3)
			engine := make([]byte, 2048)
			b.ReportAllocs()
			for b.Loop() {
				var wg sync.WaitGroup
				for _, id := range ids {
					wg.Go(func() {
						if err := c.append(s, polling.Batch{Session: id, Lines: lines, Engine: engine}); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
			}
		})
	}
}

// BenchmarkCatchUp appends 5000 lines at once, which is what a capture holds at
// most.
func BenchmarkCatchUp(b *testing.B) {
	s := mustOpen(b, dbPath(b), Options{})
	mustPut(b, s, "pb_1")
	lines := paneLines(1_000_000, 5000)
	b.ReportAllocs()
	for b.Loop() {
		mustAppend(b, s, polling.Batch{Session: "pb_1", Lines: lines})
	}
}

// BenchmarkReadSince is what an idle and a busy reader of a long log cost.
func BenchmarkReadSince(b *testing.B) {
	s := mustOpen(b, dbPath(b), Options{})
	mustPut(b, s, "pb_1")
	for range 20 {
		mustAppend(b, s, polling.Batch{Session: "pb_1", Lines: paneLines(1_000_000, 5000)})
	}
	for _, n := range []int64{0, 3, 1000} {
		b.Run(fmt.Sprintf("lines=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, _, err := s.ReadSince(b.Context(), "pb_1", Cursor{Line: 100_000 - n}, 0)
				if err != nil || int64(len(out.Lines)) != n {
					b.Fatal(len(out.Lines), err)
				}
			}
		})
	}
}
