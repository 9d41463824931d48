package store

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// Pages of the database are overwritten at drawn places and moments while lines and inputs are written: it's red at the
// next touch or at the daily check, nothing new is taken from then on, and all that was acknowledged is there after the
// next start, or the start says that some of its kind is lost.
func TestDamageUnderLoadIsFoundAndTold(t *testing.T) {
	red := 0
	drawtest.CheckTimes(t, drawtest.Times(100, 20, 20), func(rt *rapid.T) {
		ctx, ids, heads := t.Context(), []sessions.ID{"pb_000000000000", "pb_1", "pb_2"}, make([]int64, 3)
		s, path := openWithSessions(t, ids)
		defer func() { _ = s.Close() }()
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = file.Close() }() // last: it takes the locks of this process on the file with it
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
					a, err := s.Append(ctx, polling.Batch{Session: id, Lines: []sessions.Line{{Kind: sessions.KindPane, Text: fmt.Sprintf("%d %0400d", i, 0)}}})
					if err == nil {
						heads[n] = a.Head
					}
				}
			})
		}
		var all acknowledged
		all.write(t, s, nil, over, &wg)
		taken := func() int { all.mu.Lock(); defer all.mu.Unlock(); return len(all.inputs) }
		for more, began := rapid.IntRange(50, 600).Draw(rt, "inputs"), time.Now(); taken() < more; time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				rt.Fatal("nothing is taken")
			}
		}
		info, err := file.Stat()
		if err != nil {
			rt.Fatal(err)
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "noise"), 1))
		for range rapid.IntRange(1, 5).Draw(rt, "pages") {
			page := make([]byte, 4096)
			for i := range page {
				page[i] = byte(random.Uint32())
			}
			if _, err := file.WriteAt(page, 4096*(1+random.Int64N(max(1, info.Size()/4096-1)))); err != nil {
				rt.Fatal(err)
			}
		}
		time.Sleep(time.Duration(rapid.IntRange(0, 20).Draw(rt, "ms")) * time.Millisecond)
		_ = s.Check(ctx) // the daily one
		found := s.Health(ctx)
		if errors.Is(found, ErrDamaged) {
			red++
			if err := s.PutReceipt(ctx, sessions.Receipt{ID: "in_new", Session: ids[0], State: sessions.ReceiptStored}); !errors.Is(err, ErrDamaged) {
				rt.Fatalf("once it's red an input is answered with %v", err)
			}
		} else if found != nil && !errors.Is(found, ErrLittleRoom) {
			rt.Fatalf("its health is %v", found)
		}
		end()
		_ = s.Close()
		// The next start: see internal/app.
		var lost Salvaged
		unsound := Unsound(path)
		if errors.Is(found, ErrDamaged) && unsound == nil {
			rt.Fatal("the next start doesn't know")
		}
		if unsound != nil {
			if lost, err = Salvage(ctx, path, slog.New(slog.DiscardHandler)); err != nil {
				rt.Fatal(err)
			}
		}
		again, err := Open(ctx, path, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		if err := again.Check(ctx); err != nil {
			rt.Fatalf("what was found is %v, and after the start %v", found, err)
		}
		for _, id := range all.inputs {
			if _, err := again.Receipt(ctx, id); err != nil && !lost.Lacks("receipts", "sessions") {
				rt.Fatalf("of %d inputs that were acknowledged %s is gone, %v; what's lost is said to be %q", len(all.inputs), id, err, lost)
			}
		}
		for n, id := range ids {
			if at, err := again.End(ctx, id); (err != nil || at.Line < heads[n]) && !lost.Lacks("lines", "logs", "sessions") {
				rt.Fatalf("%s: %d lines were acknowledged, and there are %d, %v; what's lost is said to be %q", id, heads[n], at.Line, err, lost)
			}
		}
	})
	if red == 0 {
		t.Error("no damage was found: the pages were none that are used")
	}
}
