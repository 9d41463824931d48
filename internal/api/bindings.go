package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/panebridge/panebridge/sessions"
)

// Binding is one chat that mirrors a session.
type Binding struct {
	ID        string `json:"id"`
	To        string `json:"to"`                 // ADAPTER:CHAT or ADAPTER:CHAT/THREAD
	View      string `json:"view"`               // stream, final or screen
	Input     bool   `json:"input"`              // what's written there goes to the session
	Origin    string `json:"origin"`             // rule or hand
	Disabled  string `json:"disabled,omitempty"` // why it does nothing
	Problem   string `json:"problem,omitempty"`  // what's wrong though it does something
	Delivered int64  `json:"delivered"`          // the last line that's there
	Behind    int64  `json:"behind"`             // lines that should be there and aren't yet
}

// Trouble is why the chat doesn't show the session as it should; "": it does.
func (b Binding) Trouble() string { return cmp.Or(b.Disabled, b.Problem) }

// Lack says the same with the chat's name, behind that of the session; "": it lacks nothing.
func (b Binding) Lack() string {
	switch {
	case b.Disabled != "":
		return "isn't shown in " + b.To + ": " + b.Disabled
	case b.Problem != "":
		return "isn't shown as it should be in " + b.To + ": " + b.Problem
	default:
		return ""
	}
}

// Bind is the body of POST /api/v1/sessions/{id}/bindings.
type Bind struct {
	To    string `json:"to"`
	View  string `json:"view"` // "": stream
	Input bool   `json:"input"`
}

// Outbound is what the API needs of the chat platforms. All methods may be called
// by many requests at once. Errors wrap those of package sessions.
type Outbound interface {
	// Adapters returns how the platforms are. It waits for their schedulers.
	Adapters(ctx context.Context) ([]Adapter, error)
	// Bindings returns a session's bindings, oldest first. It does no I/O.
	Bindings(id sessions.ID) []Binding
	// Bind has a chat mirror a session from its newest line on, or changes how it
	// does.
	Bind(ctx context.Context, id sessions.ID, b Bind) (Binding, error)
	// Unbind ends that.
	Unbind(ctx context.Context, bindingID string) error
}

func (a *api) bindings(id sessions.ID) []Binding {
	out := []Binding{}
	if a.opts.Outbound != nil {
		out = append(out, a.opts.Outbound.Bindings(id)...)
	}
	return out
}

// noOutbound answers where there's no chat platform at all.
var noOutbound = &Error{ //nolint:gochecknoglobals // a constant
	Status: http.StatusConflict, Code: "conflict",
	Message: "no chat platform is configured: enable one below adapters: in the configuration",
}

func (a *api) bind(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	var body Bind
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if a.opts.Outbound == nil {
		return noOutbound
	}
	b, err := a.opts.Outbound.Bind(r.Context(), s.ID, body)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, b)
	return nil
}

func (a *api) unbind(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Outbound == nil {
		return noOutbound
	}
	if err := a.opts.Outbound.Unbind(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
