package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Exhibits shows people files of programs: showing.Showcase. Errors wrap those of packages sessions and showing.
type Exhibits interface {
	// Known returns what was shown by a request; sessions.ErrUnknown: nothing. It does disk I/O.
	Known(ctx context.Context, id sessions.ID, r sessions.ExhibitRequest) (sessions.Exhibit, error)
	// Read reads a file, wherever it is, as it may be shown. The error is a sentence for people.
	Read(s sessions.Session, path string) (sessions.ExhibitFile, error)
	// Show shows a file. The same key of a session shows once. It does disk I/O.
	Show(ctx context.Context, s sessions.Session, r sessions.ExhibitRequest, f sessions.ExhibitFile) (sessions.Exhibit, error)
	// Exhibit returns one by its id, and Exhibits those of a session, the newest first. They do disk I/O.
	Exhibit(ctx context.Context, id string) (sessions.Exhibit, error)
	Exhibits(ctx context.Context, id sessions.ID) ([]sessions.Exhibit, error)
	// Await returns one when it's in all of its chats, or as it stands after that time.
	Await(ctx context.Context, id string, within time.Duration) (sessions.Exhibit, error)
	// Content returns what's in one, without secrets, and its name. It does disk I/O.
	Content(ctx context.Context, e sessions.Exhibit) (name string, data []byte, err error)
	// Newest returns the id of what a session has shown last; "": nothing. It does no I/O.
	Newest(id sessions.ID) string
}

// ShowRequest is the body of POST /api/v1/sessions/{id}/exhibits.
type ShowRequest struct {
	// Key is the caller's name for what's shown, 16 to 64 letters and digits: the same key shows once.
	Key     string `json:"key"`
	Path    string `json:"path"` // from the session's folder, or whole
	Caption string `json:"caption,omitempty"`
}

// Exhibit is a file that a session's program has shown people, as the API tells of it: without secrets.
type Exhibit struct {
	ID      string      `json:"id"`
	Session sessions.ID `json:"session"`
	Name    string      `json:"name"`
	Path    string      `json:"path"`
	Caption string      `json:"caption,omitempty"`
	Size    int64       `json:"size"`              // bytes, before secrets are masked
	Type    string      `json:"type"`              // its media type
	Outside bool        `json:"outside,omitempty"` // it's from outside of the session's folder
	At      time.Time   `json:"at"`
	// Done says that it's in all chats that it's for; Places are those, as far as they're settled. Never null.
	Done   bool                    `json:"done"`
	Places []sessions.ExhibitPlace `json:"places"`
}

func (a *api) newExhibit(e sessions.Exhibit) Exhibit {
	text := func(s string) string { return a.shownText(sessions.Legible(s)) }
	out := Exhibit{
		ID: e.ID, Session: e.Session, Name: text(e.Name), Path: text(e.Path), Caption: text(e.Caption), Size: e.Size, Type: e.Type,
		Outside: e.Outside, At: e.At, Done: e.Done, Places: e.Places,
	}
	if out.Places == nil {
		out.Places = []sessions.ExhibitPlace{}
	}
	return out
}

// newestExhibit is Session.Exhibit.
func (a *api) newestExhibit(id sessions.ID) string {
	if a.opts.Exhibits == nil {
		return ""
	}
	return a.opts.Exhibits.Newest(id)
}

var errNoExhibits = &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "nothing is shown to anybody here"}

// show serves POST /api/v1/sessions/{id}/exhibits. What's from outside of the session's folder takes somebody's word
// where a program in a pane shows it, and isn't there for browsers.
func (a *api) show(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Exhibits == nil {
		return errNoExhibits
	}
	var body ShowRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	req := sessions.ExhibitRequest{Key: body.Key, Path: body.Path, Caption: body.Caption}
	e, err := a.opts.Exhibits.Known(r.Context(), s.ID, req)
	if errors.Is(err, sessions.ErrUnknown) {
		e, err = a.showNew(w, r, s, req)
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newExhibit(e))
	return nil
}

// maxShowing is how many files of a door are in memory at a time to be shown, of 20 MB at most. Those about which people
// are asked don't count: these are few (see package callers).
const maxShowing = 4

// showNew shows what wasn't shown before. It waits for its turn.
func (a *api) showNew(w http.ResponseWriter, r *http.Request, s sessions.Session, req sessions.ExhibitRequest) (sessions.Exhibit, error) {
	select {
	case a.showing <- struct{}{}:
	case <-r.Context().Done():
		return sessions.Exhibit{}, r.Context().Err()
	}
	giveBack := sync.OnceFunc(func() { <-a.showing })
	defer giveBack()
	f, err := a.opts.Exhibits.Read(s, req.Path)
	if err != nil {
		return sessions.Exhibit{}, &Error{Status: http.StatusUnprocessableEntity, Code: "file", Message: a.shownText(err.Error())}
	}
	if f.Outside {
		if a.opts.placeOf(r.Context()).Inside {
			giveBack() // people take their time
		}
		if err := a.askToShow(w, r, f, req.Caption); err != nil {
			return sessions.Exhibit{}, err
		}
	}
	return a.opts.Exhibits.Show(r.Context(), s, req, f)
}

// askToShow returns nil if a file from outside of a session's folder may be shown. What people allow is what was read.
func (a *api) askToShow(w http.ResponseWriter, r *http.Request, f sessions.ExhibitFile, caption string) error {
	if a.author != authorCLI {
		return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: "only files in the session's folder can be shown from here"}
	}
	place := a.opts.placeOf(r.Context())
	if !place.Inside {
		return nil
	}
	if place.Ending {
		return errEnding
	}
	text, err := json.Marshal(struct {
		Path    string `json:"path"`
		Bytes   int    `json:"bytes"`
		Caption string `json:"caption,omitempty"`
	}{f.Path, len(f.Data), caption})
	if err != nil {
		return fmt.Errorf("say what's to be shown: %w", err)
	}
	shown := r.Clone(r.Context())
	shown.Body = io.NopCloser(bytes.NewReader(text))
	rt := route{inside: asked, does: "show people a file from outside its session's folder"}
	if err := a.ask(w, shown, rt, place); err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			return e
		}
		return &Error{Status: http.StatusForbidden, Code: codeInside, Message: f.Path + " is outside of the session's folder, so it takes somebody's word in a chat or on the page to show it. " + sentence(err.Error())}
	}
	return nil
}

// exhibitOf finds the exhibit that a request is about.
func (a *api) exhibitOf(r *http.Request) (sessions.Exhibit, error) {
	if a.opts.Exhibits == nil {
		return sessions.Exhibit{}, errNoExhibits
	}
	s, err := a.session(r)
	if err != nil {
		return sessions.Exhibit{}, err
	}
	e, err := a.opts.Exhibits.Exhibit(r.Context(), r.PathValue("n"))
	if err == nil && e.Session != s.ID {
		err = fmt.Errorf("%w file of %s", sessions.ErrUnknown, s.Name)
	}
	return e, err
}

// exhibits serves GET /api/v1/sessions/{id}/exhibits: the newest first.
func (a *api) exhibits(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Exhibits == nil {
		return errNoExhibits
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	all, err := a.opts.Exhibits.Exhibits(r.Context(), s.ID)
	if err != nil {
		return err
	}
	out := []Exhibit{}
	for _, e := range all {
		out = append(out, a.newExhibit(e))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// exhibit serves GET /api/v1/sessions/{id}/exhibits/{n}: with the query wait_ms it waits so long until it's in all of its
// chats, at most 25 s.
func (a *api) exhibit(w http.ResponseWriter, r *http.Request) error {
	within, err := awaitOf(r)
	if err != nil {
		return err
	}
	e, err := a.exhibitOf(r)
	if err == nil && within > 0 && !e.Done {
		ctx, cancel := a.untilQuit(r)
		defer cancel()
		if e, err = a.opts.Exhibits.Await(ctx, e.ID, within); ctx.Err() != nil {
			return errEnding
		}
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newExhibit(e))
	return nil
}

// exhibitContent serves GET /api/v1/sessions/{id}/exhibits/{n}/content: as giveFile.
func (a *api) exhibitContent(w http.ResponseWriter, r *http.Request) error {
	e, err := a.exhibitOf(r)
	if err != nil {
		return err
	}
	name, data, err := a.opts.Exhibits.Content(r.Context(), e)
	if err != nil {
		return err
	}
	writeAttachment(w, name, data)
	return nil
}

// writeAttachment answers with a file. To a browser it's nothing that it shows or runs, whatever is in it.
func writeAttachment(w http.ResponseWriter, name string, data []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", cmp.Or(mime.FormatMediaType("attachment", map[string]string{"filename": name}), "attachment"))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) //nolint:gosec // a browser takes it for no page; a client that has gone is no error
}
