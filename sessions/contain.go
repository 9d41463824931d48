package sessions

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// The workers whose panics are contained: see Options.Panicked.
const (
	WorkerTypist  = "typist"  // types one input
	WorkerPreview = "preview" // types one preview
	WorkerAnswer  = "answer"  // gives one answer to a dialog
	WorkerLook    = "look"    // looks whether an answered dialog stands there again
	WorkerWhole   = "whole"   // reads a dialog whole of which the screen shows a part
	WorkerLife    = "life"    // compares the registry with tmux, and ends sessions
)

// containPanic runs work for a session and reports whether it returned. A panic in it
// is logged with its stack, counted, and told in the session's log; id is "" where it's
// the work of no single session. All of Manager's locks are released by defer, or
// around code that can't panic: what was contained leaves none of them held.
func (m *Manager) containPanic(ctx context.Context, id ID, worker string, work func()) (returned bool) {
	defer func() {
		if r := recover(); r != nil {
			m.reportPanic(context.WithoutCancel(ctx), id, worker, r)
		}
	}()
	work()
	return true
}

// PanicError returns what recover returned as an error. It keeps the words of the runtime's
// own errors alone: others may have a person's words in them.
func PanicError(r any) error {
	if known, ok := r.(runtime.Error); ok {
		return fmt.Errorf("panic: %w", known)
	}
	return fmt.Errorf("panic: a %T", r)
}

// reportPanic says that a worker panicked.
func (m *Manager) reportPanic(ctx context.Context, id ID, worker string, r any) {
	m.log.Error("a worker panicked; it's begun anew", "session", id, "worker", worker, "err", PanicError(r), "stack", string(debug.Stack()))
	m.opt.Panicked(worker)
	if id == "" {
		return
	}
	defer func() { _ = recover() }() // the fault may be in telling; it's logged above
	if err := m.Note(ctx, id, "panebridge had a fault in its own work here ("+worker+"); it's in the log, and the work was begun anew"); err != nil {
		m.log.Warn("a fault isn't told in the session's log", "session", id, "err", err)
	}
}
