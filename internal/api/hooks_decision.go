package api

import (
	"context"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/sessions/agent"
)

// Decision waits until the dialog that a hook was called for is answered in a way that
// the hook can tell its agent; "" if that doesn't happen before the context ends.
type Decision func(ctx context.Context, h agent.Hook) agent.Told

// HookDecision is the answer to a hook that waits.
type HookDecision struct {
	agent.Told
}

// decision has the hook of an agent wait.
func (a *api) decision(w http.ResponseWriter, r *http.Request) error {
	call, err := a.hook(w, r)
	if err != nil {
		return err
	}
	if a.opts.Decision == nil {
		writeJSON(w, http.StatusOK, HookDecision{})
		return nil
	}
	ctx, cancel := a.atMost(r.Context(), agent.WaitFor)
	defer cancel()
	control := http.NewResponseController(w)
	// The read timeout also runs while the server looks whether the client has gone.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	answer := HookDecision{a.opts.Decision(ctx, call.Hook)}
	if err := control.SetWriteDeadline(time.Now().Add(a.opts.Timeouts.Write)); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}
