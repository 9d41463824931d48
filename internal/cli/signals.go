package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

// stopSignal is the cause of a context that a signal has ended.
type stopSignal struct{ sig os.Signal }

func (s *stopSignal) Error() string { return fmt.Sprintf("stopped by signal: %v", s.sig) }

// untilSignal returns a context that ends with the first of the signals. A
// second one then does what it always does: whoever is in a hurry presses
// Ctrl-C twice. Call stop when it's not needed any more.
func untilSignal(ctx context.Context, sigs ...os.Signal) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, sigs...)
	go func() {
		defer signal.Stop(ch)
		select {
		case sig := <-ch:
			cancel(&stopSignal{sig})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stoppedBy reports whether that signal ended the context.
func stoppedBy(ctx context.Context, sig os.Signal) bool {
	s, ok := errors.AsType[*stopSignal](context.Cause(ctx))
	return ok && s.sig == sig
}
