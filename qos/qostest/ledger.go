package qostest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// MemLedger is a Ledger in memory: what it holds outlives the schedulers that
// write to it through Process, as a file outlives processes.
type MemLedger struct {
	mu        sync.Mutex
	slots     map[qos.PermitID]qos.Slot
	penalties map[qos.Scope]qos.Penalty
}

// NewMemLedger returns an empty ledger.
func NewMemLedger() *MemLedger {
	return &MemLedger{slots: map[qos.PermitID]qos.Slot{}, penalties: map[qos.Scope]qos.Penalty{}}
}

// Process is one process's access to a MemLedger. It implements qos.Ledger.
type Process struct {
	ledger *MemLedger
	// Fault is asked before each Load and Write; what it returns is their error. It
	// may sleep. Nil: no fault.
	Fault func() error

	mu     sync.Mutex
	killed bool
}

var _ qos.Ledger = (*Process)(nil)

// ErrKilled is what a Process says that was killed.
var ErrKilled = errors.New("the process was killed")

// Process returns access for one process.
func (l *MemLedger) Process() *Process { return &Process{ledger: l} }

// Kill ends the process's access: nothing is written through it any more, as if
// the process had died at this instruction.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
}

// Load implements qos.Ledger.
func (p *Process) Load(ctx context.Context, since time.Time) (qos.KeptBudget, error) {
	if err := p.fault(ctx); err != nil {
		return qos.KeptBudget{}, err
	}
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	var kept qos.KeptBudget
	for _, s := range p.ledger.slots {
		if !s.Stamp.Before(since) {
			kept.Slots = append(kept.Slots, s)
		}
	}
	for _, q := range p.ledger.penalties {
		kept.Penalties = append(kept.Penalties, q)
	}
	return kept, nil
}

// Write implements qos.Ledger.
func (p *Process) Write(ctx context.Context, entries []qos.LedgerEntry) error {
	if err := p.fault(ctx); err != nil {
		return err
	}
	p.mu.Lock() // held while applying: a Kill comes before or after
	defer p.mu.Unlock()
	if p.killed {
		return ErrKilled
	}
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	for _, e := range entries {
		p.ledger.apply(e)
	}
	return nil
}

func (p *Process) fault(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.Fault != nil {
		if err := p.Fault(); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return ErrKilled
	}
	return nil
}

func (l *MemLedger) apply(e qos.LedgerEntry) {
	switch e.Kind {
	case qos.EntryTake:
		l.slots[e.Slot.Permit] = strip(e.Slot)
	case qos.EntryStamp:
		if s, ok := l.slots[e.Slot.Permit]; ok {
			s.Stamp = e.Slot.Stamp.Round(0)
			l.slots[e.Slot.Permit] = s
		}
	case qos.EntryRefund:
		delete(l.slots, e.Slot.Permit)
	case qos.EntryPenalty:
		e.Penalty.Until = e.Penalty.Until.Round(0)
		l.penalties[e.Penalty.Scope] = e.Penalty
	case qos.EntryRekey:
		l.rekey(e.From, e.To)
	case qos.EntryForget:
		l.forget(e.Before)
	}
}

// strip removes the monotonic reading, which no ledger keeps.
func strip(s qos.Slot) qos.Slot {
	s.Stamp = s.Stamp.Round(0)
	return s
}

func (l *MemLedger) rekey(from, to qos.ChatKey) {
	for id, s := range l.slots {
		if s.Chat == from {
			s.Chat = to
			l.slots[id] = s
		}
	}
	for scope, p := range l.penalties {
		if scope.Chat != from {
			continue
		}
		delete(l.penalties, scope)
		p.Scope.Chat = to
		if q, ok := l.penalties[p.Scope]; ok {
			p.Multiplier = min(p.Multiplier, q.Multiplier)
			if q.Until.After(p.Until) {
				p.Until = q.Until
			}
		}
		l.penalties[p.Scope] = p
	}
}

func (l *MemLedger) forget(before time.Time) {
	for id, s := range l.slots {
		if s.Stamp.Before(before) {
			delete(l.slots, id)
		}
	}
	for scope, p := range l.penalties {
		if p.Until.Before(before) {
			delete(l.penalties, scope)
		}
	}
}

// Ledger is the conformance suite of qos.Ledger. open returns, for each part, a
// function that opens a new and empty ledger; called again, it opens the same one
// anew, as after a restart.
func Ledger(t *testing.T, open func(t *testing.T) func() qos.Ledger) {
	t.Helper()
	parts := []struct {
		name string
		test func(t *testing.T, b *book)
	}{
		{"an empty ledger is empty", func(t *testing.T, b *book) { t.Helper(); b.holds(t) }},
		{"slots are kept, to the microsecond at least and never earlier", keptSlots},
		{"stamps and refunds find their slot", stamps},
		{"entries apply in order, and twice is once", twice},
		{"load leaves out what's older", since},
		{"one penalty per scope", keptPenalties},
		{"a migrated chat's rows move", moved},
		{"forget deletes what's older", forgotten},
		{"many entries in one write", many},
		{"a context that has ended writes nothing", ended},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			p.test(t, &book{open: open(t), day: time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)})
		})
	}
}

type book struct {
	open func() qos.Ledger
	day  time.Time
}

// write writes entries and checks that a ledger opened anew holds what's wanted.
func (b *book) write(t *testing.T, entries ...qos.LedgerEntry) {
	t.Helper()
	ledger := b.open()
	if _, err := ledger.Load(context.Background(), b.day.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Write(context.Background(), entries); err != nil {
		t.Fatal(err)
	}
}

func (b *book) load(t *testing.T, since time.Time) qos.KeptBudget {
	t.Helper()
	kept, err := b.open().Load(context.Background(), since)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(kept.Slots, func(a, b qos.Slot) int { return cmp.Compare(a.Permit, b.Permit) })
	slices.SortFunc(kept.Penalties, func(a, b qos.Penalty) int {
		return cmp.Compare(fmt.Sprint(a.Scope), fmt.Sprint(b.Scope))
	})
	return kept
}

// holds wants these slots, and no others, in a ledger opened anew.
func (b *book) holds(t *testing.T, want ...qos.Slot) {
	t.Helper()
	got := b.load(t, b.day.Add(-time.Hour)).Slots
	if len(got) != len(want) {
		t.Fatalf("%d slots are kept, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		if g.Permit != w.Permit || g.Chat != w.Chat || g.Family != w.Family || !about(g.Stamp, w.Stamp) {
			t.Errorf("slot %+v is kept, want %+v", g, w)
		}
	}
}

// about says whether a kept time is as good as the one given.
func about(got, given time.Time) bool {
	d := got.Sub(given)
	return d >= 0 && d <= time.Microsecond
}

func (b *book) slot(id qos.PermitID, chat qos.ChatKey, family qos.Family, after time.Duration) qos.Slot {
	return qos.Slot{Permit: id, Chat: chat, Family: family, Stamp: b.day.Add(after)}
}

func take(s qos.Slot) qos.LedgerEntry { return qos.LedgerEntry{Kind: qos.EntryTake, Slot: s} }

func stamp(s qos.Slot) qos.LedgerEntry { return qos.LedgerEntry{Kind: qos.EntryStamp, Slot: s} }

func giveBack(id qos.PermitID) qos.LedgerEntry {
	return qos.LedgerEntry{Kind: qos.EntryRefund, Slot: qos.Slot{Permit: id}}
}

func keptSlots(t *testing.T, b *book) {
	t.Helper()
	s := b.slot(1, "-100", qos.FamilyMessage, 0)
	big := b.slot(1<<63+5, "channel/日本", qos.FamilyTyping, 1500*time.Nanosecond) // permits use all 64 bits
	b.write(t, take(s), take(big))
	b.holds(t, s, big)
}

func stamps(t *testing.T, b *book) {
	t.Helper()
	one, two := b.slot(1, "-100", "", 0), b.slot(2, "-100", "", 0)
	b.write(t, take(one), take(two))
	one.Stamp = one.Stamp.Add(-3 * time.Second)
	b.write(t, stamp(one), giveBack(2), stamp(b.slot(9, "-100", "", 0)), giveBack(10))
	b.holds(t, one)
}

func twice(t *testing.T, b *book) {
	t.Helper()
	s := b.slot(1, "-100", "", 0)
	later := s
	later.Stamp = s.Stamp.Add(time.Minute)
	entries := []qos.LedgerEntry{take(s), take(b.slot(2, "-100", "", 0)), giveBack(2), stamp(later)}
	b.write(t, entries...)
	b.write(t, entries...)
	b.holds(t, later)
}

func since(t *testing.T, b *book) {
	t.Helper()
	b.write(t, take(b.slot(1, "-100", "", -time.Minute)), take(b.slot(2, "-100", "", 0)), take(b.slot(3, "-100", "", time.Minute)))
	if got := b.load(t, b.day).Slots; len(got) != 2 || got[0].Permit != 2 {
		t.Fatalf("slots since %v: %+v, want those of permits 2 and 3", b.day, got)
	}
}

func (b *book) penalty(scope qos.Scope, after time.Duration, multiplier float64) qos.LedgerEntry {
	return qos.LedgerEntry{Kind: qos.EntryPenalty, Penalty: qos.Penalty{Scope: scope, Until: b.day.Add(after), Multiplier: multiplier}}
}

func (b *book) wantPenalties(t *testing.T, want ...qos.LedgerEntry) {
	t.Helper()
	got := b.load(t, b.day).Penalties
	if len(got) != len(want) {
		t.Fatalf("%d penalties are kept, want %d: %+v", len(got), len(want), got)
	}
	slices.SortFunc(want, func(a, b qos.LedgerEntry) int {
		return cmp.Compare(fmt.Sprint(a.Penalty.Scope), fmt.Sprint(b.Penalty.Scope))
	})
	for i, w := range want {
		if g := got[i]; g.Scope != w.Penalty.Scope || !about(g.Until, w.Penalty.Until) || g.Multiplier != w.Penalty.Multiplier {
			t.Errorf("penalty %+v is kept, want %+v", g, w.Penalty)
		}
	}
}

func keptPenalties(t *testing.T, b *book) {
	t.Helper()
	bot := b.penalty(qos.Scope{}, time.Hour, 0.7)
	chat := b.penalty(qos.Scope{Chat: "-100", AllFamilies: true}, 14*time.Hour, 0.49)
	messages := b.penalty(qos.Scope{Chat: "-100"}, -time.Hour, 0.1) // lifted: still kept, for its multiplier
	typing := b.penalty(qos.Scope{Chat: "-100", Family: qos.FamilyTyping}, time.Second, 1)
	b.write(t, bot, chat, messages, typing)
	b.wantPenalties(t, bot, chat, messages, typing)
	chat = b.penalty(chat.Penalty.Scope, 15*time.Hour, 0.343)
	b.write(t, chat)
	b.wantPenalties(t, bot, chat, messages, typing)
}

func moved(t *testing.T, b *book) {
	t.Helper()
	one, two, third := b.slot(1, "-100", "", 0), b.slot(2, "-200", "", 0), b.slot(3, "-300", "", 0)
	all := func(c qos.ChatKey) qos.Scope { return qos.Scope{Chat: c, AllFamilies: true} }
	b.write(t,
		take(one), take(two), take(third),
		b.penalty(all("-100"), time.Hour, 0.9), b.penalty(all("-200"), time.Minute, 0.5), b.penalty(qos.Scope{Chat: "-100"}, time.Second, 1),
		qos.LedgerEntry{Kind: qos.EntryRekey, From: "-100", To: "-200"},
	)
	one.Chat = "-200"
	b.holds(t, one, two, third)
	b.wantPenalties(t, b.penalty(all("-200"), time.Hour, 0.5), b.penalty(qos.Scope{Chat: "-200"}, time.Second, 1))
}

func forgotten(t *testing.T, b *book) {
	t.Helper()
	stays := b.slot(2, "-100", "", 0)
	staying := b.penalty(qos.Scope{Chat: "-2"}, 0, 0.5)
	b.write(t,
		take(b.slot(1, "-100", "", -time.Second)), take(stays),
		b.penalty(qos.Scope{Chat: "-1"}, -time.Second, 0.5), staying,
		qos.LedgerEntry{Kind: qos.EntryForget, Before: b.day},
	)
	b.holds(t, stays)
	b.wantPenalties(t, staying)
}

func many(t *testing.T, b *book) {
	t.Helper()
	var entries []qos.LedgerEntry
	var want []qos.Slot
	for i := range 2000 {
		s := b.slot(qos.PermitID(i+1), "-100", "", time.Duration(i)*time.Millisecond)
		entries = append(entries, take(s))
		want = append(want, s)
	}
	b.write(t, entries...)
	b.holds(t, want...)
}

func ended(t *testing.T, b *book) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ledger := b.open()
	if _, err := ledger.Load(ctx, b.day); err == nil {
		t.Error("Load with a context that has ended returns no error")
	}
	if err := ledger.Write(ctx, []qos.LedgerEntry{take(b.slot(1, "-100", "", 0))}); err == nil {
		t.Error("Write with a context that has ended returns no error")
	}
	b.holds(t)
}
