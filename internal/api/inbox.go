package api

import (
	"context"
	"net/http"

	"github.com/panebridge/panebridge/internal/inbox"
)

// Inbox announces mail. It's there on the Unix socket only: who can reach the port of
// this machine shouldn't be able to have something typed.
type Inbox interface {
	// Announce has a recipient's waiting previews and pings typed, or sent to a person's chats. It
	// returns when they are, or can't be for now.
	Announce(ctx context.Context, to inbox.Address) error
}

// Announce is the body of POST /api/v1/inbox/announce.
type Announce struct {
	To inbox.Address `json:"to"`
}

func (a *api) announce(w http.ResponseWriter, r *http.Request) error {
	body, err := a.readAnnounce(w, r)
	if err != nil {
		return err
	}
	if err := a.opts.Inbox.Announce(r.Context(), body.To); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) readAnnounce(w http.ResponseWriter, r *http.Request) (body Announce, err error) {
	if a.opts.Inbox == nil {
		return body, &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "mail is announced through the Unix socket"}
	}
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return body, err
	}
	if body.To == "" {
		return body, badRequest(`"to" is missing: whose mail is to be announced`)
	}
	return body, nil
}

// FleetChange is the body of POST /api/v1/fleets: what a command is about to change. The
// command writes the store itself, as all do that work while the daemon is stopped.
type FleetChange struct {
	Change   string   `json:"change"` // "new", "add", "remove" or "drop"; "subscribe to" or "unsubscribe from" sessions
	Fleet    string   `json:"fleet,omitempty"`
	Sessions []string `json:"sessions,omitempty"`
	Director bool     `json:"director,omitempty"` // the session directs it
}

// changeFleet serves POST /api/v1/fleets: the answer says that the caller may make the
// change.
func (a *api) changeFleet(w http.ResponseWriter, r *http.Request) error {
	var body FleetChange
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// mailbox serves GET /api/v1/sessions/{id}/mailbox and /api/v1/people/{name}/mailbox: the
// answer says that the caller may read and write that mail, which the store has.
func (a *api) mailbox(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}
