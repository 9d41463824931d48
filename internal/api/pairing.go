package api

import (
	"context"
	"net/http"
	"time"
)

// PairRequest is the body of POST /api/v1/pairings.
type PairRequest struct {
	Role string `json:"role"` // viewer, operator, approver or admin; "": operator
}

// Pairing is a code that lets a person in who writes "/pair CODE" to a bot, once.
type Pairing struct {
	Code    string    `json:"code"`
	Role    string    `json:"role"`
	Expires time.Time `json:"expires"`
}

// Pair makes a code. by says who asked for it. The error wraps sessions.ErrInvalid
// for a role that there isn't, sessions.ErrConflict while too many codes wait.
type Pair func(ctx context.Context, role, by string) (Pairing, error)

// pair gives access to chats, so only the command line may: a browser that
// may use the page is of less weight than being the daemon's own user.
func (a *api) pair(w http.ResponseWriter, r *http.Request) error {
	if a.author != authorCLI {
		return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: "pairing codes are made in the terminal: panebridge pair"}
	}
	var body PairRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if a.opts.Pair == nil {
		return noOutbound
	}
	p, err := a.opts.Pair(r.Context(), body.Role, authorCLI)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, p)
	return nil
}
