package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// Programs tells of the programs in sessions' panes. Its methods are called by many
// requests at once.
type Programs interface {
	// Insight is what's known of the program in a session's pane. It reads small files.
	Insight(id sessions.ID) agent.Insight
	// Record gives tell what happens in a session, a format.Head first and a format.End
	// last, until ctx ends, the session does, or tell returns an error, which it returns.
	// What's secret is masked; private: what's no sign of the program's is unreadable.
	// Errors before the first item wrap those of package sessions.
	Record(ctx context.Context, id sessions.ID, private bool, tell func(format.Item) error) error
}

// programs answers with what's known of the programs of all sessions that live.
func (a *api) programs(w http.ResponseWriter, _ *http.Request) error {
	all := []agent.Insight{}
	for _, s := range a.opts.Sessions.List() {
		if s.State != sessions.StateEnded && a.opts.Programs != nil {
			all = append(all, a.opts.Programs.Insight(s.ID))
		}
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}

// MaxRecording is how long a recording may go on.
const MaxRecording = time.Hour

// record answers with lines of JSON, one for each format.Item, as they come. As with
// hooks it's there on the Unix socket only: it has more than the page shows.
func (a *api) record(w http.ResponseWriter, r *http.Request) error {
	if a.author != authorCLI || a.opts.Programs == nil {
		return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "recordings are made through the Unix socket"}
	}
	length, private, err := recordQuery(r)
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	ctx, cancel := a.atMost(r.Context(), length)
	defer cancel()
	out := &lineWriter{w: w, control: http.NewResponseController(w), timeout: a.opts.Timeouts.Write}
	err = a.opts.Programs.Record(ctx, s.ID, private, out.write)
	if out.begun {
		return nil // who reads it sees that there's no end
	}
	return err
}

// atMost is a context for an answer that takes its time: it ends after a while, and when
// the daemon is being stopped.
func (a *api) atMost(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	go func() {
		select {
		case <-a.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func recordQuery(r *http.Request) (length time.Duration, private bool, err error) {
	q := r.URL.Query()
	if length, err = time.ParseDuration(q.Get("for")); err != nil || length <= 0 || length > MaxRecording {
		return 0, false, badRequest(fmt.Sprintf(`"for" must be a length of time above 0 and up to %s, such as 60s, not %q`, MaxRecording, q.Get("for")))
	}
	if text := q.Get("private"); text != "" {
		if private, err = strconv.ParseBool(text); err != nil {
			return 0, false, badRequest(fmt.Sprintf(`"private" must be true or false, not %q`, text))
		}
	}
	return length, private, nil
}

// lineWriter writes lines of JSON, each at once.
type lineWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	begun   bool
}

func (l *lineWriter) write(it format.Item) error {
	if !l.begun {
		l.begun = true
		if err := l.control.SetReadDeadline(time.Time{}); err != nil {
			return fmt.Errorf("prepare the recording: %w", err)
		}
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.w.WriteHeader(http.StatusOK)
	}
	if err := l.control.SetWriteDeadline(time.Now().Add(l.timeout)); err != nil {
		return fmt.Errorf("set the deadline of a recording: %w", err)
	}
	e := json.NewEncoder(l.w)
	e.SetEscapeHTML(false)
	if err := e.Encode(it); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return l.control.Flush()
}
