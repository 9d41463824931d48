package store

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
)

// level is SQLite's synchronous as a transaction finds it: 1 NORMAL, 2 FULL.
func level(ctx context.Context, tb testing.TB, s *Store) int {
	tb.Helper()
	var n int
	if err := s.write.conn.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestOnlyWhatMustSurviveThePowerWaitsForTheDisk(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	doc := adapters.NewDocument(0, adapters.LogProgress{})
	if err := s.PutBinding(t.Context(), adapters.Binding{ID: "bd_1", Session: "pb_1"}, &doc); err != nil {
		t.Fatal(err)
	}
	ledger := s.Ledger("telegram")
	write := func(kinds ...qos.LedgerEntryKind) func() error {
		return func() error {
			var entries []qos.LedgerEntry
			for _, k := range kinds {
				entries = append(entries, qos.LedgerEntry{Kind: k, Slot: qos.Slot{Permit: 1, Stamp: at}, Before: at})
			}
			return ledger.Write(t.Context(), entries)
		}
	}
	put := func(in *adapters.Intent) func() error {
		d := doc
		d.Intent = in
		return func() error { return s.PutDocument(t.Context(), "bd_1", d, nil) }
	}
	tests := []struct {
		name string
		do   func() error
		want int
	}{
		{"output", func() error { mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 1)}); return nil }, 1},
		{"a slot that's taken", write(qos.EntryStamp, qos.EntryTake), 2},
		{"a slot that's given back", write(qos.EntryStamp, qos.EntryRefund, qos.EntryForget), 1},
		{"a penalty", write(qos.EntryPenalty), 2},
		{"a chat that has moved", write(qos.EntryRekey), 2},
		{"an intent", put(&adapters.Intent{Kind: adapters.KindSend, At: at}), 2},
		{"a receipt", put(nil), 1},
	}
	for _, tt := range tests {
		if err := tt.do(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		// The level of the last transaction stays until another needs another one.
		if got := level(t.Context(), t, s); got != tt.want {
			t.Errorf("%s was committed at level %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestADurableWriteHasItsWholeGroupWait(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1", "pb_2")
	levels := make(chan int, 2)
	look := func(ctx context.Context) error {
		levels <- level(ctx, t, s)
		return nil
	}
	errs := together(
		t, s,
		func() error { return s.write.queue.do(t.Context(), 1, look) },
		func() error { return s.write.queue.doDurable(t.Context(), 1, look) },
	)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if a, b := <-levels, <-levels; a != 2 || b != 2 {
		t.Errorf("committed at levels %d and %d, want 2 for both", a, b)
	}
}

// BenchmarkDurable is what a taken slot costs: alone, and beside the output of three
// sessions, where it's the output's waiting that counts. The baseline is the same
// write without waiting for the disk.
func BenchmarkDurable(b *testing.B) {
	for _, c := range []struct {
		name string
		do   func(q *queue, ctx context.Context, rows int, apply func(context.Context) error) error
	}{{"commit=normal", (*queue).do}, {"commit=durable", (*queue).doDurable}} {
		take := func(ctx context.Context, s *Store, n int) error {
			l := ledger{store: s, bot: "telegram"}
			e := qos.LedgerEntry{Kind: qos.EntryTake, Slot: qos.Slot{Permit: qos.PermitID(n), Chat: "-100", Stamp: at}}
			return c.do(s.write.queue, ctx, 1, func(ctx context.Context) error { return l.apply(ctx, e) })
		}
		b.Run("alone/"+c.name, func(b *testing.B) {
			s := mustOpen(b, dbPath(b), Options{})
			for n := 0; b.Loop(); n++ {
				if err := take(b.Context(), s, n); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("beside-output/"+c.name, func(b *testing.B) { besideOutput(b, take) })
	}
}

func besideOutput(b *testing.B, take func(ctx context.Context, s *Store, n int) error) {
	b.Helper()
	s := mustOpen(b, dbPath(b), Options{})
	mustPut(b, s, crashSessions...)
	lines := paneLines(1_000_000, 3)
	var waits []time.Duration
	var mu sync.Mutex
	for n := 0; b.Loop(); n++ {
		var wg sync.WaitGroup
		wg.Go(func() { _ = take(b.Context(), s, n) })
		for _, id := range crashSessions {
			wg.Go(func() {
				began := time.Now()
				mustAppend(b, s, polling.Batch{Session: id, Lines: lines})
				mu.Lock()
				waits = append(waits, time.Since(began))
				mu.Unlock()
			})
		}
		wg.Wait()
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "append-p50-µs")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "append-p99-µs")
}
