package qostest

import (
	"context"
	"errors"
	"sync"
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
func (p *Process) Load(ctx context.Context, since time.Time) (qos.Kept, error) {
	if err := p.fault(ctx); err != nil {
		return qos.Kept{}, err
	}
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	var kept qos.Kept
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
func (p *Process) Write(ctx context.Context, entries []qos.Entry) error {
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

func (l *MemLedger) apply(e qos.Entry) {
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

func (l *MemLedger) rekey(from, to qos.Chat) {
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
