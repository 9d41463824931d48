package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/viewing"
)

// The events of GET /api/v1/sessions/{id}/terminal.
const (
	EventFrame   = "frame"   // a FrameEvent
	EventUnframe = "unframe" // an UnframeEvent: the screen can't be seen for now, or any more
)

// FrameEvent is what changed on a session's screen.
type FrameEvent struct {
	N      int64 `json:"n"` // the frame's number, which goes with keys that are pressed at it
	Width  int   `json:"width"`
	Height int   `json:"height"`
	// Rows are the rows that aren't as in the frame before, by their number from 0, in the HTML of GET …/screen?format=html
	// without its newline. In the first frame, and where the size changed, they're all rows.
	Rows map[int]string `json:"rows"`
	Dead bool           `json:"dead,omitempty"` // the program has ended
}

// UnframeEvent says why there's no frame.
type UnframeEvent struct {
	Message string `json:"message"`
	Ended   bool   `json:"ended,omitempty"` // and there will be none
}

// terminal serves GET /api/v1/sessions/{id}/terminal?secrets=mask|show: the session's screen as it changes, as server-sent events.
func (a *api) terminal(w http.ResponseWriter, r *http.Request) error {
	show, err := a.showsSecrets(r)
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	if a.opts.Terminals == nil {
		return &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "screens aren't shown here"}
	}
	ctx, done, err := a.streams.begin(r.Context())
	if err != nil {
		return err
	}
	defer done()
	if a.opts.Follow != nil { // so that a question is known as soon as it's seen
		defer a.opts.Follow(s.ID)()
	}
	viewer := a.opts.Terminals.Open(s.ID) //nolint:contextcheck // the pane's watching may outlive this viewer
	defer viewer.Close()
	out, err := newSSEWriter(w, a.opts.Timeouts.Write)
	if err != nil {
		return err
	}
	t := &terminalStream{api: a, id: s.ID, out: out, shows: show}
	t.run(ctx, viewer)
	return nil
}

// terminalStream carries frames to one client.
type terminalStream struct {
	api   *api
	id    sessions.ID
	out   *sseWriter
	shows bool // secrets

	rows  []string // of the last frame that was sent
	width int
}

// run sends frames until the client, the request, the session or the server ends.
func (t *terminalStream) run(ctx context.Context, viewer *viewing.Viewer) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer afterClosed(t.api.quit, cancel)()
	for {
		bounded, done := context.WithTimeout(ctx, t.api.opts.Timeouts.Heartbeat)
		f, err := viewer.Next(bounded)
		isQuiet := errors.Is(bounded.Err(), context.DeadlineExceeded)
		done()
		switch {
		case err == nil:
			err = t.send(ctx, f)
		case ctx.Err() != nil:
			return
		case isQuiet:
			err = t.out.heartbeat()
		default:
			ended := errors.Is(err, sessions.ErrEnded) || errors.Is(err, sessions.ErrUnknown)
			if t.explain(err, ended) != nil || ended {
				return
			}
			err = nil
		}
		if err != nil {
			return // the client has gone
		}
	}
}

// afterClosed calls fn when a channel is closed, unless stop is called first.
func afterClosed(closed <-chan struct{}, fn func()) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-closed:
			fn()
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}

// send sends what changed.
func (t *terminalStream) send(ctx context.Context, f viewing.ScreenFrame) error {
	screen := f.Screen
	if !t.shows {
		screen.Rows = t.api.hiddenScreen(ctx, t.id, screen.Rows)
	}
	rows := strings.Split(strings.TrimSuffix(screenHTML(screen), "\n"), "\n")
	ev := FrameEvent{N: f.N, Width: screen.Width, Height: len(rows), Rows: map[int]string{}, Dead: screen.Dead}
	isWhole := t.width != screen.Width || len(t.rows) != len(rows)
	for i, row := range rows {
		if isWhole || t.rows[i] != row {
			ev.Rows[i] = row
		}
	}
	t.rows, t.width = rows, screen.Width
	if err := t.out.event(EventFrame, "", ev); err != nil {
		return err
	}
	return t.out.flush()
}

// explain says why there's no frame. The next one is whole.
func (t *terminalStream) explain(err error, ended bool) error {
	t.rows = nil
	if err := t.out.event(EventUnframe, "", UnframeEvent{Message: toError(err).Message, Ended: ended}); err != nil {
		return err
	}
	return t.out.flush()
}

// seenAt is until when the screen was as a person saw it who pressed keys at the frame n of a session; 0: at no frame.
func (a *api) seenAt(id sessions.ID, n int64) (time.Time, error) {
	switch {
	case n != 0 && a.opts.Terminals != nil:
		return a.opts.Terminals.TimeOf(id, n)
	case n != 0:
		return time.Time{}, viewing.ErrOldFrame
	case a.author == authorCLI:
		return time.Time{}, nil // whoever is there
	}
	return time.Now().Add(-seenAgo), nil
}
