package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// UsageLog returns what was used since a day ("2026-11-30"; "": from the beginning), by session, day and
// agent. It does disk I/O.
type UsageLog func(ctx context.Context, since string) ([]sessions.UsageSum, error)

// Continuations are texts that are typed by themselves when limits are over.
type Continuations interface {
	// ContinuationOf returns the one of a session. It does no I/O.
	ContinuationOf(id sessions.ID) (sessions.Continuation, bool)
	// Schedule has one be typed; author asks for it, whom people call name. sessions.ErrConflict: the session
	// isn't limited, or nobody knows until when. It does disk I/O.
	Schedule(ctx context.Context, id sessions.ID, author, name string) (sessions.Continuation, error)
	// Cancel takes it back; sessions.ErrUnknown: there's none, sessions.ErrConflict: it's typed. It does disk I/O.
	Cancel(ctx context.Context, id sessions.ID) (sessions.Continuation, error)
}

// Continuation is the text that a session goes on with when its limit is over.
type Continuation struct {
	Due  time.Time `json:"due"`
	Text string    `json:"text"`
	By   string    `json:"by"` // who asked for it
}

// UsageSum is what was used, in GET /api/v1/usage. Of Session, Agent and Day, it has what is summed by.
type UsageSum struct {
	sessions.UsageSum

	Name string `json:"name,omitempty"` // the session's; "": it's forgotten
}

// usage serves GET /api/v1/usage: with the query "by" (session, agent or day), and "since", a day.
func (a *api) usage(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Usage == nil {
		return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "nobody counts what's used"}
	}
	by, since := sessions.UsageBy(r.URL.Query().Get("by")), r.URL.Query().Get("since")
	switch by {
	case "":
		by = sessions.BySession
	case sessions.BySession, sessions.ByAgent, sessions.ByDay:
	default:
		return badRequest(`"by" is session, agent or day`)
	}
	if _, err := time.Parse(time.DateOnly, since); err != nil && since != "" {
		return badRequest(fmt.Sprintf(`"since" is a day, as in %s`, time.Now().Format(time.DateOnly)))
	}
	all, err := a.opts.Usage(r.Context(), since)
	if err != nil {
		return err
	}
	out := []UsageSum{}
	for _, u := range sessions.SumUsage(all, by) {
		one := UsageSum{UsageSum: u}
		if s, err := a.opts.Sessions.Get(string(u.Session)); u.Session != "" && err == nil {
			one.Name = a.shownText(s.Name)
		}
		out = append(out, one)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// continuationOf shows the continuation of a session; nil: it has none.
func (a *api) continuationOf(id sessions.ID) *Continuation {
	if a.opts.Continuations == nil {
		return nil
	}
	c, ok := a.opts.Continuations.ContinuationOf(id)
	if !ok {
		return nil
	}
	return a.newContinuation(c)
}

func (a *api) newContinuation(c sessions.Continuation) *Continuation {
	return &Continuation{Due: c.Due, Text: a.shownText(c.Text), By: a.shownText(c.By())}
}

// schedule serves POST /api/v1/sessions/{id}/continuation.
func (a *api) schedule(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	if a.opts.Continuations == nil {
		return sessions.Refuse("no session goes on by itself here")
	}
	author, name := a.authorOf(r)
	c, err := a.opts.Continuations.Schedule(r.Context(), s.ID, author, name)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newContinuation(c))
	return nil
}

// unschedule serves DELETE /api/v1/sessions/{id}/continuation.
func (a *api) unschedule(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	if a.opts.Continuations == nil {
		return sessions.Refuse("no session goes on by itself here")
	}
	if _, err := a.opts.Continuations.Cancel(r.Context(), s.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
