package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/sessions"
)

const (
	defaultHits  = 50
	maxHits      = 200
	mostSearched = 1000 // lines that are read for an answer, with those that were left out
	searchFor    = 10 * time.Second
)

// SearchResult is what GET /api/v1/search returns.
type SearchResult struct {
	Hits   []SearchHit `json:"hits"`             // the newest first; never null
	More   bool        `json:"more,omitempty"`   // there may be older ones
	Behind int64       `json:"behind,omitempty"` // lines that can't be found yet, about
}

// SearchHit is a line that was found.
type SearchHit struct {
	Session sessions.ID `json:"session"`
	Name    string      `json:"name"` // the session's
	sessions.Line

	Secrets []Secret `json:"secrets,omitempty"` // in the line, as those of Output
}

// search finds lines of all sessions, or of one, by the words of the parameter q; skip leaves out so many of the newest. Whoever sees lines masked finds what
// masking leaves.
func (a *api) search(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Search == nil {
		return &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "nothing can be searched: the log says why"}
	}
	q, err := search.ParseQuery(r.URL.Query().Get("q"))
	if err != nil {
		return badRequest("q: " + err.Error())
	}
	limit, err := queryInt(r, "limit", defaultHits)
	if err != nil {
		return err
	}
	if limit == 0 || limit > maxHits {
		return badRequest(fmt.Sprintf("limit must be 1 to %d", maxHits))
	}
	skip, err := queryInt(r, "skip", 0)
	if err != nil {
		return err
	}
	if skip > mostSearched-limit {
		return badRequest(fmt.Sprintf("skip and limit together must be at most %d: look for something rarer, or in one session", mostSearched))
	}
	var only []sessions.ID
	if name := r.URL.Query().Get("session"); name != "" {
		s, err := a.opts.Sessions.Get(name)
		if err != nil {
			return err
		}
		only = append(only, s.ID)
	}
	ctx, cancel := context.WithTimeout(r.Context(), searchFor)
	defer cancel()
	found, err := a.opts.Search.Index.Find(ctx, shownLog{a}, q, int(skip+limit), only...)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: fmt.Sprintf("it took more than %d s and was given up; look for something rarer, or in one session", searchFor/time.Second)}
	case err != nil:
		return err
	}
	out := SearchResult{Hits: []SearchHit{}, More: found.More, Behind: a.opts.Search.Behind()}
	for _, h := range found.Hits[min(int(skip), len(found.Hits)):] {
		hit := SearchHit{Session: h.Session, Line: h.Line}
		if s, err := a.opts.Sessions.Get(string(h.Session)); err == nil {
			hit.Name = a.shownText(s.Name)
		}
		if a.may(ctx, access.Admin) { // to anybody else it was masked as it was read
			hit.Secrets = a.secrets(ctx, h.Session, []sessions.Line{h.Line})
		}
		out.Hits = append(out.Hits, hit)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// shownLog is the log as the caller sees it whom a context is of.
type shownLog struct{ *api }

// Read reads lines as [Log] does.
func (l shownLog) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	out, err := l.opts.Output.Read(ctx, id, from, limit)
	if err == nil {
		out.Lines, _ = l.shownLines(ctx, id, out.Lines, false)
	}
	return out, err
}
