package journaltest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// Memory is a journal that outlives processes, but not the test.
type Memory struct {
	mu    sync.Mutex
	rows  []*row // by number
	known map[string]bool
	last  int64
}

type row struct {
	intake.Update
	outcome intake.UpdateOutcome // "": it waits
}

// NewMemory returns an empty one.
func NewMemory() *Memory { return &Memory{known: map[string]bool{}} }

// Process is the journal as one process has it open.
type Process struct {
	memory *Memory
	// Hook, if set, is called before each call has its effect and, done, after it.
	// Its error is the call's; before, there's no effect then.
	Hook func(method string, done bool) error
	dead bool
}

var _ intake.Journal = (*Process)(nil)

// Process opens the journal.
func (m *Memory) Process() *Process { return &Process{memory: m} }

// ErrKilled is what a killed process's calls fail with.
var ErrKilled = errors.New("the process was killed")

// Kill ends the process's access at once.
func (p *Process) Kill() {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	p.dead = true
}

// call does one thing, atomically.
func (p *Process) call(ctx context.Context, method string, do func(m *Memory)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.hook(method, false); err != nil {
		return err
	}
	if err := p.locked(do); err != nil {
		return err
	}
	return p.hook(method, true)
}

func (p *Process) hook(method string, done bool) error {
	if p.Hook == nil {
		return nil
	}
	return p.Hook(method, done)
}

func (p *Process) locked(do func(m *Memory)) error {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	if p.dead {
		return ErrKilled
	}
	do(p.memory)
	return nil
}

// Keep implements intake.Journal.
func (p *Process) Keep(ctx context.Context, updates []intake.Update) (fresh []intake.Update, err error) {
	err = p.call(ctx, "keep", func(m *Memory) {
		for _, u := range updates {
			if m.known[u.Key] {
				continue
			}
			m.known[u.Key] = true
			m.last++
			u.Seq, u.Tries, u.Raw = m.last, 0, slices.Clone(u.Raw)
			m.rows = append(m.rows, &row{Update: u})
			fresh = append(fresh, u)
		}
	})
	return fresh, err
}

// Waiting implements intake.Journal.
func (p *Process) Waiting(ctx context.Context, after int64, limit int) (list []intake.Update, err error) {
	err = p.call(ctx, "waiting", func(m *Memory) {
		for _, r := range m.rows[m.find(after+1):] {
			if len(list) == limit {
				break
			}
			if r.outcome == "" {
				list = append(list, r.Update)
			}
		}
	})
	return list, err
}

// Try implements intake.Journal.
func (p *Process) Try(ctx context.Context, seq int64, tries int) error {
	return p.call(ctx, "try", func(m *Memory) { m.waits(seq, func(r *row) { r.Tries = tries }) })
}

// Settle implements intake.Journal.
func (p *Process) Settle(ctx context.Context, seq int64, o intake.UpdateOutcome) error {
	return p.call(ctx, "settle", func(m *Memory) { m.waits(seq, func(r *row) { r.outcome, r.Raw = o, nil }) })
}

// find returns where the rows from a number on begin.
func (m *Memory) find(seq int64) int {
	i, _ := slices.BinarySearchFunc(m.rows, seq, func(r *row, seq int64) int { return cmp.Compare(r.Seq, seq) })
	return i
}

// waits calls f for the update of that number, if it waits.
func (m *Memory) waits(seq int64, f func(r *row)) {
	if i := m.find(seq); i < len(m.rows) && m.rows[i].Seq == seq && m.rows[i].outcome == "" {
		f(m.rows[i])
	}
}

// Forget implements intake.Journal.
func (p *Process) Forget(ctx context.Context, before time.Time, most int) error {
	return p.call(ctx, "forget", func(m *Memory) {
		settled := 0
		for _, r := range m.rows {
			if r.outcome != "" {
				settled++
			}
		}
		m.rows = slices.DeleteFunc(m.rows, func(r *row) bool {
			if r.outcome == "" {
				return false
			}
			forgotten := settled > most || r.KeptAt.Before(before)
			settled--
			if forgotten {
				delete(m.known, r.Key)
			}
			return forgotten
		})
	})
}

// Outcome returns what became of an update; "": it waits.
func (m *Memory) Outcome(key string) (o intake.UpdateOutcome, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if r.Key == key {
			return r.outcome, true
		}
	}
	return "", false
}

// Outcomes returns what became of each update, by key; "" waits.
func (m *Memory) Outcomes() map[string]intake.UpdateOutcome {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]intake.UpdateOutcome{}
	for _, r := range m.rows {
		all[r.Key] = r.outcome
	}
	return all
}
