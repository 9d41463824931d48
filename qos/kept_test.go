package qos_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

var errDisk = errors.New("disk full")

// moody is a ledger whose loads and writes take time and fail apart.
type moody struct {
	qos.Ledger
	load, write func() error // nil: all is well
}

func (l *moody) Load(ctx context.Context, since time.Time) (qos.KeptBudget, error) {
	if l.load != nil {
		if err := l.load(); err != nil {
			return qos.KeptBudget{}, err
		}
	}
	return l.Ledger.Load(ctx, since)
}

func (l *moody) Write(ctx context.Context, entries []qos.LedgerEntry) error {
	if l.write != nil {
		if err := l.write(); err != nil {
			return err
		}
	}
	return l.Ledger.Write(ctx, entries)
}

// TestNothingGoesBeforeItIsKept: a call waits until its slot is durable, and isn't
// made if that fails.
func TestNothingGoesBeforeItIsKept(t *testing.T) {
	var fails atomic.Bool
	ledger := &moody{Ledger: qostest.NewMemLedger().Process()}
	ledger.write = func() error {
		time.Sleep(3 * time.Second)
		if fails.Load() {
			return errDisk
		}
		return nil
	}
	inArena(t, qos.Options{}, func() qos.Budget { return qos.NewLocalBudget(ledger) }, func(a *arena) {
		a.post(group, "x", qos.Interactive)
		a.pass(2999 * time.Millisecond)
		if n := len(a.made(nil)); n != 0 {
			t.Fatal("a call was made while its slot was being written")
		}
		a.pass(time.Second)
		if n := len(a.made(nil)); n != 1 {
			t.Fatalf("%d calls, want 1 when its slot was written", n)
		}
		a.pass(time.Minute)
		fails.Store(true)
		a.post(group, "y", qos.Interactive)
		a.pass(time.Minute)
		if n := len(a.made(nil)); n != 1 {
			t.Errorf("%d calls, want none whose slot couldn't be written", n)
		}
		fails.Store(false)
		a.pass(20 * time.Second)
		if n := len(a.made(nil)); n != 2 {
			t.Errorf("%d calls when the ledger works again, want 2", n)
		}
	})
}

// TestASlowDiskOnlyDelays: however the writes of several chats' slots fall, each of
// their calls is made. A write that takes nearly as long as a question may wait for an
// answer must not make each answer come too late.
func TestASlowDiskOnlyDelays(t *testing.T) {
	for write := 500 * time.Millisecond; write <= 4500*time.Millisecond; write += 500 * time.Millisecond {
		t.Run(write.String(), func(t *testing.T) {
			ledger := &moody{Ledger: qostest.NewMemLedger().Process()}
			ledger.write = func() error { time.Sleep(write); return nil }
			inArena(t, qos.Options{}, func() qos.Budget { return qos.NewLocalBudget(ledger) }, func(a *arena) {
				const chats, rounds = 4, 8
				for round := range rounds {
					for chat := range chats {
						a.post(qos.ChatKey(fmt.Sprint("-", chat)), fmt.Sprint(round), qos.Interactive)
						a.pass(1300 * time.Millisecond)
					}
					a.pass(30 * time.Second)
					if n, want := len(a.made(nil)), (round+1)*chats; n != want {
						t.Fatalf("%d calls of %d", n, want)
					}
				}
			})
		})
	}
}

// TestUnreadableLedgerGrantsNothing: as long as nobody knows what was taken before.
func TestUnreadableLedgerGrantsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := qostest.NewMemLedger()
		first := newArena(t, qos.Options{}, qos.NewLocalBudget(kept.Process()))
		for i := range 20 {
			first.post(group, fmt.Sprint(i), qos.Interactive)
		}
		first.pass(19 * time.Second) // one a second
		first.close()

		var broken atomic.Bool
		broken.Store(true)
		ledger := &moody{Ledger: kept.Process(), load: func() error {
			if broken.Load() {
				return errDisk
			}
			return nil
		}}
		second := newArena(t, qos.Options{}, qos.NewLocalBudget(ledger))
		defer second.close()
		for i := range 20 {
			second.post(group, fmt.Sprint(i), qos.Interactive)
		}
		second.pass(20 * time.Second)
		if n := len(second.made(nil)); n != 0 || second.snapshot().Bot.BudgetErr == nil {
			t.Errorf("%d calls while the ledger couldn't be read; said: %v", n, second.snapshot().Bot.BudgetErr)
		}
		broken.Store(false)
		second.pass(19 * time.Second)
		if n := len(second.made(nil)); n != 0 {
			t.Errorf("%d calls in a window that's full", n)
		}
		second.pass(time.Minute)
		if n := len(second.made(nil)); n != 20 {
			t.Errorf("%d calls, want all when slots have come back", n)
		}
	})
}

// TestFailedWritesKeepTheirOrder: what comes during a write that fails is written after
// it. Else an order of silence would be replaced by one that's older and shorter.
func TestFailedWritesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := qostest.NewMemLedger()
		tries := 0
		budget := qos.NewLocalBudget(&moody{Ledger: kept.Process(), write: func() error {
			time.Sleep(time.Second)
			if tries++; tries == 1 {
				return errDisk
			}
			return nil
		}})
		budget.Configure(qostest.Limits())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- budget.Run(ctx, func(qos.Penalty) {}, func(qos.ChatKey) {}) }()
		scope := qos.Scope{Chat: group, AllFamilies: true}
		synctest.Wait()
		now := time.Now()
		budget.Penalize(now, qos.Penalty{Scope: scope, Until: now.Add(time.Hour), Multiplier: 0.7})
		time.Sleep(500 * time.Millisecond) // it's being written
		budget.Penalize(now, qos.Penalty{Scope: scope, Until: now.Add(14 * time.Hour), Multiplier: 0.49})
		time.Sleep(10 * time.Second)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		got, err := kept.Process().Load(t.Context(), now)
		if err != nil || len(got.Penalties) != 1 || got.Penalties[0].Until.Sub(now) != 14*time.Hour {
			t.Errorf("kept: %+v, %v; want 14 h", got.Penalties, err)
		}
	})
}

// TestClockThatWasSetBack: a slot that seems to be from the future holds its chat up for
// a call's time and a window, not for as long as the clock is behind. An order of
// silence holds to its last second.
func TestClockThatWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := qostest.NewMemLedger()
		ahead := time.Now().Add(10 * time.Hour)
		err := kept.Process().Write(t.Context(), []qos.LedgerEntry{
			{Kind: qos.EntryTake, Slot: qos.Slot{Permit: 1, Chat: group, Stamp: ahead}},
			{Kind: qos.EntryPenalty, Penalty: qos.Penalty{Scope: qos.Scope{Chat: "-200", AllFamilies: true}, Until: ahead, Multiplier: 0.7}},
		})
		if err != nil {
			t.Fatal(err)
		}
		a := newArena(t, qos.Options{GroupMPM: 2}, qos.NewLocalBudget(kept.Process()))
		defer a.close()
		for _, chat := range []qos.ChatKey{group, "-200"} {
			a.post(chat, "x", qos.Interactive)
			a.post(chat, "y", qos.Interactive)
		}
		a.pass(7 * time.Minute) // 5 min 5 s is the most that a call may take, and then a window
		if n := len(a.made(nil)); n != 2 {
			t.Errorf("%d calls after 7 min, want 2", n)
		}
		a.pass(9*time.Hour + 52*time.Minute)
		if n := len(a.made(nil)); n != 2 {
			t.Errorf("%d calls within a penalty", n)
		}
		a.pass(10 * time.Minute)
		if n := len(a.made(nil)); n != 4 {
			t.Errorf("%d calls after it, want 4", n)
		}
	})
}
