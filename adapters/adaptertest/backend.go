package adaptertest

import (
	"context"
	"errors"
	"sync"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Backend is a store and output log that histories run on. It outlives the
// processes that use it.
type Backend interface {
	adapters.Store
	adapters.Log
	// AddSession makes a session's log. It's new then: see adapters.Store.NewSessions.
	AddSession(ctx context.Context, s sessions.Session) error
	// Append stores a batch and returns what it was in the log.
	Append(ctx context.Context, b Batch) (Appended, error)
}

// Batch is what one poll of a session adds to its log, as in polling.Batch.
type Batch struct {
	Session sessions.ID
	Lines   []sessions.Line
	Gaps    []sessions.Gap // After counts the lines of this batch before the gap
	Turn    *sessions.Turn // FirstLine and LastLine count within the batch from 1, 0 leaves them
}

// Appended is a stored batch.
type Appended struct {
	Lines []sessions.Line
	Gaps  []sessions.Gap
	Turn  sessions.Turn
}

// ErrKilled is what a Process says that was killed.
var ErrKilled = errors.New("the process was killed")

// Process is one process's access to a Backend's bindings and documents.
type Process struct {
	adapters.Store

	mu     sync.Mutex
	killed bool
	fault  func(d adapters.Document) error
}

// SetFault has a function asked before each write of a document; what it returns is
// the write's error. Nil: no fault.
func (p *Process) SetFault(fault func(d adapters.Document) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// Kill ends the process's access: nothing is written any more, as if it had died at
// this instruction.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
}

// Killed says whether the process was killed.
func (p *Process) Killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// PutBinding implements adapters.Store.
func (p *Process) PutBinding(ctx context.Context, b adapters.Binding, d *adapters.Document) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.PutBinding(ctx, b, d)
}

// DropBinding implements adapters.Store.
func (p *Process) DropBinding(ctx context.Context, id adapters.BindingID) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.DropBinding(ctx, id)
}

// PutDocument implements adapters.Store.
func (p *Process) PutDocument(ctx context.Context, id adapters.BindingID, d adapters.Document, sent *adapters.Message) error {
	p.mu.Lock()
	fault := p.fault
	p.mu.Unlock()
	if fault != nil {
		if err := fault(d); err != nil {
			return err
		}
	}
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.PutDocument(ctx, id, d, sent)
}

// TakeUp implements adapters.Store.
func (p *Process) TakeUp(ctx context.Context, id sessions.ID) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.TakeUp(ctx, id)
}

// PutMove implements adapters.Store.
func (p *Process) PutMove(ctx context.Context, m adapters.Move) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.PutMove(ctx, m)
}
