package api

import (
	"context"
	"net/http"
	"time"
)

// AccessEntry is a role that a person has, or had.
type AccessEntry struct {
	Person string `json:"person"` // "PLATFORM:123"
	Name   string `json:"name,omitempty"`
	Role   string `json:"role"`
	// By is who gave it: "configuration", "cli", "web" or a person.
	By       string    `json:"by"`
	At       time.Time `json:"at,omitzero"`
	Chat     string    `json:"chat,omitempty"` // the group that it goes by; "": none
	LastUsed time.Time `json:"last_used,omitzero"`
	Checked  time.Time `json:"checked,omitzero"` // when the person was seen in Chat last
	Void     string    `json:"void,omitempty"`   // why it doesn't count; "": it does
}

// AccessRequest is the body of POST /api/v1/access.
type AccessRequest struct {
	Person string `json:"person"`
	Role   string `json:"role"`
}

// AccessRevoked says what's left of a person's access.
type AccessRevoked struct {
	Rest    []string `json:"rest"` // roles that the configuration gives; never null
	Message string   `json:"message"`
}

// Access lists and changes who may do what in chats. Errors wrap those of package
// sessions.
type Access interface {
	List() []AccessEntry
	// Grant gives a role; by is "cli" or "web".
	Grant(ctx context.Context, person, role, by string) error
	// Revoke takes a role back that was given; "": all.
	Revoke(ctx context.Context, person, role, by string) (AccessRevoked, error)
}

func (a *api) listAccess(w http.ResponseWriter, _ *http.Request) error {
	if a.opts.Access == nil {
		return noOutbound
	}
	list := a.opts.Access.List()
	if list == nil {
		list = []AccessEntry{}
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

func (a *api) grantAccess(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Access == nil {
		return noOutbound
	}
	var body AccessRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if err := a.opts.Access.Grant(r.Context(), body.Person, body.Role, a.author); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// revokeAccess serves DELETE /api/v1/access/{person}?role=….
func (a *api) revokeAccess(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Access == nil {
		return noOutbound
	}
	done, err := a.opts.Access.Revoke(r.Context(), r.PathValue("person"), r.URL.Query().Get("role"), a.author)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, done)
	return nil
}
