package inbound

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// A worker that panicked is begun anew after panicPause, and after twice as long each
// time it panics again within the last pause and panicPauseMax.
const (
	panicPause    = time.Second
	panicPauseMax = time.Minute
)

// keepRunning runs a worker until it returns or ctx ends, and begins it anew when it
// panics. It blocks. A worker takes up what it left from the store, as after a restart.
func (in *Inbound) keepRunning(ctx context.Context, worker string, run func(ctx context.Context)) {
	for pause := panicPause; ; pause = min(2*pause, panicPauseMax) {
		began := time.Now()
		if in.containPanic(worker, func() { run(ctx) }) {
			return
		}
		if time.Since(began) > panicPauseMax {
			pause = panicPause
		}
		if intake.Pause(ctx, pause) != nil {
			return
		}
	}
}

// containPanic runs work and reports whether it returned. A panic is logged with its
// stack and counted.
func (in *Inbound) containPanic(worker string, work func()) (returned bool) {
	defer func() {
		if r := recover(); r != nil {
			in.Log.Error("a worker panicked; it's begun anew", "worker", worker, "err", sessions.PanicError(r), "stack", string(debug.Stack()))
			in.opt.Panicked(worker)
		}
	}()
	work()
	return true
}
