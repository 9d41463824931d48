package api

import (
	"context"
	"net/http"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/diffs"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

// DiffOf returns what a session has changed in its repository since it began, or since a commit, in all files or in one;
// open: also what's kept back by its name. It runs git, for some seconds, and is called by many requests at once. The error
// is a sentence for people.
type DiffOf func(ctx context.Context, s sessions.Session, since, file string, open bool) (diffs.Changes, error)

// diff serves GET /api/v1/sessions/{id}/diff: what a session has changed in its repository, with the queries since, a
// commit, and file. Secrets are masked, but for an admin who asks for them.
func (a *api) diff(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Diff == nil {
		return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "there are no diffs here"}
	}
	show, err := a.showsSecrets(r)
	if err != nil {
		return err
	}
	since := r.URL.Query().Get("since")
	if since != "" && !a.may(r.Context(), access.Operator) {
		return &Error{Status: http.StatusForbidden, Code: codeRole, Message: "to name a commit takes the role operator: it may show what the session hasn't changed"}
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	c, err := a.opts.Diff(r.Context(), s, since, r.URL.Query().Get("file"), show)
	if err != nil {
		return &Error{Status: http.StatusUnprocessableEntity, Code: "invalid", Message: a.shownText(err.Error())}
	}
	if !show {
		c.Root, c.Diff = a.hiddenText(c.Root), toolview.MaskDiff(a.opts.Masker, c.Diff)
		for i := range c.Notes {
			c.Notes[i] = a.hiddenText(c.Notes[i])
		}
	}
	writeJSON(w, http.StatusOK, c)
	return nil
}

// Changes is what GET /api/v1/sessions/{id}/diff returns.
type Changes = diffs.Changes
