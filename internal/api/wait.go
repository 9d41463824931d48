package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Wait waits for output of a session until it has come, its time-out or the context is over. note is
// called from the same goroutine, first with sessions.WaitBegun. Errors wrap those of
// package sessions.
type Wait func(ctx context.Context, s sessions.Session, r sessions.WaitRequest, note func(sessions.WaitNote)) (sessions.WaitResult, error)

// WaitRequest is the body of POST /api/v1/sessions/{id}/wait.
type WaitRequest struct {
	Patterns   []string `json:"patterns,omitempty"`
	Stops      []string `json:"stops,omitempty"`
	Regex      bool     `json:"regex,omitempty"`
	MatchCase  bool     `json:"match_case,omitempty"`
	TimeoutMS  int64    `json:"timeout_ms,omitempty"`  // 0: 8 s; at most what the configuration allows
	IntervalMS int64    `json:"interval_ms,omitempty"` // 0: 50 ms; else at least 10
}

// What a WaitEvent can be besides a note of package sessions.
const (
	WaitDone   = "result"
	WaitFailed = "error"
)

// WaitEvent is one line of the answer: JSON objects, one a line, of which the last is
// WaitDone or WaitFailed.
type WaitEvent struct {
	sessions.WaitNote

	Result *sessions.WaitResult `json:"result,omitempty"`
	Error  *Error               `json:"error,omitempty"`
}

// maxWaitMS is more than anybody waits for.
const maxWaitMS = int64(30*24*time.Hour) / int64(time.Millisecond)

func (a *api) wait(w http.ResponseWriter, r *http.Request) error {
	var body WaitRequest
	if err := readJSON(w, r, maxInputBodyBytes, &body); err != nil {
		return err
	}
	for name, ms := range map[string]int64{"timeout_ms": body.TimeoutMS, "interval_ms": body.IntervalMS} {
		if ms < 0 || ms > maxWaitMS {
			return badRequest(fmt.Sprintf("%s must be a number from 0 to %d, not %d", name, maxWaitMS, ms))
		}
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	if a.opts.Wait == nil {
		return fmt.Errorf("wait: %w here", sessions.ErrUnavailable)
	}
	ctx, done, err := a.streams.begin(r.Context())
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.cancelAtQuit(ctx, func() { cancel(fmt.Errorf("%w: the daemon is being stopped", sessions.ErrUnavailable)) })
	out := &waitWriter{w: w, control: http.NewResponseController(w), timeout: a.opts.Timeouts.Write, cancel: cancel}
	result, err := a.opts.Wait(ctx, s, sessions.WaitRequest{
		Patterns: body.Patterns, Stops: body.Stops, Regex: body.Regex, MatchCase: body.MatchCase,
		Timeout: time.Duration(body.TimeoutMS) * time.Millisecond, Interval: time.Duration(body.IntervalMS) * time.Millisecond,
	}, out.note)
	switch {
	case err != nil && !out.begun:
		return err
	case err != nil:
		out.event(WaitEvent{WaitNote: sessions.WaitNote{Event: WaitFailed}, Error: toError(err)})
	default:
		if a.author != authorCLI {
			a.hideWait(&result)
		}
		out.event(WaitEvent{WaitNote: sessions.WaitNote{Event: WaitDone}, Result: &result})
	}
	return nil
}

// hideWait masks secrets, as in all that's shown outside the command line.
func (a *api) hideWait(r *sessions.WaitResult) {
	r.Lines, r.Tail = a.hidden(r.Lines), a.hidden(r.Tail)
	if r.Match != nil {
		m := *r.Match
		m.Line, m.Text = a.hidden([]string{m.Line})[0], a.hidden([]string{m.Text})[0]
		r.Match = &m
	}
}

// waitWriter writes the events of a wait. Every write has a deadline; a client that has
// gone ends the wait.
type waitWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	cancel  context.CancelCauseFunc
	begun   bool
}

func (w *waitWriter) note(n sessions.WaitNote) { w.event(WaitEvent{WaitNote: n}) }

func (w *waitWriter) event(e WaitEvent) {
	if err := w.write(e); err != nil {
		w.cancel(errors.Join(context.Canceled, err))
	}
}

func (w *waitWriter) write(e WaitEvent) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("encode the answer of a wait: %w", err)
	}
	if !w.begun {
		w.begun = true
		// The server's read timeout would end the wait: it also runs while the server
		// looks whether the client has gone.
		if err := w.control.SetReadDeadline(time.Time{}); err != nil {
			return fmt.Errorf("prepare the answer of a wait: %w", err)
		}
		w.w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
		w.w.WriteHeader(http.StatusOK)
	}
	if err := w.control.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return fmt.Errorf("set the deadline of a wait's answer: %w", err)
	}
	if _, err := w.w.Write(line.Bytes()); err != nil {
		return err
	}
	return w.control.Flush()
}
