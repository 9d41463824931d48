package api

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// AuditedCall is a call by the page that changes something.
type AuditedCall struct {
	Key     string // of this one call
	At      time.Time
	Author  string      // as of what's typed
	Name    string      // of the device; "": it's the owner's browser
	Call    string      // method and pattern, such as "POST /api/v1/sessions/{id}/input"
	Session sessions.ID // "": it's about none
	Outcome string      // "done", or an error's code; "" as it begins
}

// Audit keeps who has changed what by the page. Its methods do disk I/O.
type Audit interface {
	// BeginCall keeps that a call is made, before it's made. After an error it isn't made.
	BeginCall(ctx context.Context, c AuditedCall) error
	// EndCall keeps what became of it.
	EndCall(ctx context.Context, c AuditedCall) error
}

// audited makes a call and keeps that it's made, if it changes something and comes by the page.
func (a *api) audited(w http.ResponseWriter, r *http.Request, rt route) error {
	if a.opts.Audit == nil || a.author == authorCLI || reads(r) || rt.inside == free {
		return rt.do(w, r)
	}
	c := AuditedCall{Key: authorWeb + ":" + rand.Text(), At: time.Now(), Call: r.Method + " " + r.Pattern}
	c.Author, c.Name = a.authorOf(r)
	if s, err := a.session(r); err == nil {
		c.Session = s.ID
	}
	if err := a.opts.Audit.BeginCall(r.Context(), c); err != nil {
		return err
	}
	err := rt.do(w, r)
	c.Outcome = "done"
	if err != nil {
		c.Outcome = toError(err).Code
	}
	if lost := a.opts.Audit.EndCall(context.WithoutCancel(r.Context()), c); lost != nil {
		a.opts.Log.Error("the audit log doesn't have what became of a call by the page", "call", c.Call, "err", lost)
	}
	return err
}
