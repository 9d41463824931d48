package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions/agent"
)

// HookVersion is the version of HookCall that's written. A later one may add fields,
// which an older daemon passes over, and changes the meaning of none.
const HookVersion = 1

// HookCall is the body of POST /api/v1/hooks.
type HookCall struct {
	Version int `json:"version"`
	agent.Hook
}

// Hooks hears of each call of an agent's hook. It must not block: an agent waits.
// It's called by many requests at once; Hook.At says which came first.
type Hooks func(agent.Hook)

// Reminder is what an agent is told in answer to a hook, as text for the model; "":
// nothing. An agent waits: it takes some ms at most.
type Reminder func(ctx context.Context, h agent.Hook) string

// HookAnswer is the answer to a hook that's told something; others get none.
type HookAnswer struct {
	Context string `json:"context"`
}

// Bounds of a call, in bytes. What's longer wasn't written by `panebridge hook`.
const (
	maxHookName = 256
	maxHookPath = 4096
	maxHookText = 16 << 10
	maxHookPIDs = 64
	// maxHookBytes bounds the body: what's quoted in it may be six times as long as it is.
	maxHookBytes = 6*agent.MaxHookInput + maxBodyBytes
)

// hooks takes the call of an agent's hook. The answer doesn't wait for what becomes of it.
func (a *api) hooks(w http.ResponseWriter, r *http.Request) error {
	call, err := a.hook(w, r)
	if err != nil {
		return err
	}
	if a.opts.Hooks != nil {
		a.opts.Hooks(call.Hook)
	}
	if a.opts.Reminder != nil {
		if text := a.opts.Reminder(r.Context(), call.Hook); text != "" {
			writeJSON(w, http.StatusOK, HookAnswer{text})
			return nil
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// hook reads the call of an agent's hook. It's there on the Unix socket only: who can
// reach the port of this machine, an agent's tools among them, shouldn't be able to say
// that an agent has finished.
func (a *api) hook(w http.ResponseWriter, r *http.Request) (HookCall, error) {
	call, err := readHook(w, r)
	if err != nil {
		return call, err
	}
	if err := checkHook(call.Hook); err != nil {
		return call, err
	}
	if len(call.Input) > agent.MaxHookInput {
		call.Input, call.Lost = nil, true
	}
	if now := time.Now(); call.At.IsZero() || call.At.After(now) {
		call.At = now
	}
	return call, nil
}

// readHook is readJSON for a body that may come from another version of panebridge
// than this: fields it doesn't know are passed over.
func readHook(w http.ResponseWriter, r *http.Request) (HookCall, error) {
	var call HookCall
	if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != "application/json" {
		return call, &Error{
			Status: http.StatusUnsupportedMediaType, Code: codeMediaType,
			Message: "the Content-Type must be application/json",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHookBytes))
	if err != nil {
		return call, bodyError(err)
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&call); err != nil {
		return call, bodyError(err)
	}
	return call, nil
}

// checkHook refuses what `panebridge hook` wouldn't have written. Agents and signals
// aren't looked up: those of another version are heard, and say nothing here.
func checkHook(h agent.Hook) error {
	if h.Agent == "" {
		return badRequest(`"agent" is missing: the name of its profile, such as "claude"`)
	}
	for name, value := range map[string]string{
		"agent": h.Agent, "event": h.Event, "signal": string(h.Signal), "conversation": h.Conversation,
		"tool": h.Tool, "pane": h.Pane, "session": h.Session,
	} {
		if len(value) > maxHookName || strings.ContainsAny(value, "\x00\r\n") {
			return badRequest(fmt.Sprintf("%q must be one line of at most %d bytes", name, maxHookName))
		}
	}
	for name, value := range map[string]string{"transcript": h.Transcript, "cwd": h.Cwd, "tmux_socket": h.TmuxSocket} {
		if value != "" && (len(value) > maxHookPath || !filepath.IsAbs(value) || strings.ContainsRune(value, 0)) {
			return badRequest(fmt.Sprintf("%q must be an absolute path of at most %d bytes", name, maxHookPath))
		}
	}
	if len(h.Text) > maxHookText {
		return badRequest(fmt.Sprintf(`"text" must have at most %d bytes`, maxHookText))
	}
	if len(h.PIDs) > maxHookPIDs {
		return badRequest(fmt.Sprintf(`"pids" takes at most %d numbers`, maxHookPIDs))
	}
	return nil
}

// AwaitDecision waits until the dialog that a hook was called for is answered in a way that
// the hook can tell its agent; "" if that doesn't happen before the context ends.
type AwaitDecision func(ctx context.Context, h agent.Hook) agent.Told

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
