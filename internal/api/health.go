package api

import (
	"context"
	"net/http"
	"time"
)

// HealthState is how well a part works.
type HealthState string

// The states of health.
const (
	HealthOK       HealthState = "ok"
	HealthDegraded HealthState = "degraded" // works, but not as it should
	HealthDown     HealthState = "down"
)

// Health is the health document.
type Health struct {
	State HealthState  `json:"state"`
	Parts []HealthPart `json:"parts"` // never null on the wire
	// Starting says that the daemon waits for what it needs to start: until then it refuses all other calls.
	Starting bool `json:"starting,omitempty"`
}

// PartAside is the name of the part that says which files were put aside beside the database: what's forgotten may
// be in them still.
const PartAside = "put aside"

// HealthPart is one part of the daemon: a tmux server, an adapter, the store.
type HealthPart struct {
	Name        string      `json:"name"`
	State       HealthState `json:"state"`
	Detail      string      `json:"detail,omitempty"`         // a sentence: what is wrong and what to do
	LastSuccess time.Time   `json:"last_success_at,omitzero"` // zero: never, or the part has none
	AgeSeconds  *float64    `json:"age_s,omitempty"`          // age of LastSuccess; set by the API
}

// health answers 200, or 503 with the same document when the daemon is down as
// a whole, so that a probe needs no JSON.
func (a *api) health(w http.ResponseWriter, _ *http.Request) error {
	doc := a.opts.Health()
	doc.Parts = withAges(doc.Parts, time.Now())
	status := http.StatusOK
	if doc.State == HealthDown {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, doc)
	return nil
}

func withAges(parts []HealthPart, now time.Time) []HealthPart {
	out := make([]HealthPart, 0, len(parts))
	for _, p := range parts {
		if !p.LastSuccess.IsZero() {
			age := now.Sub(p.LastSuccess).Round(time.Millisecond).Seconds()
			p.AgeSeconds = &age
		}
		out = append(out, p)
	}
	return out
}

// Reloaded is what became of reading the configuration again.
type Reloaded struct {
	File        string   `json:"file"`
	Applied     []string `json:"applied"`      // keys that have changed and are in force; never null
	NeedRestart []string `json:"need_restart"` // keys that have changed and are in force after a restart; never null
	Idle        []string `json:"idle"`         // keys that are given and do nothing, each with its place and why; never null
}

// Reload reads the configuration again. With an error, which wraps
// sessions.ErrInvalid if the configuration is wrong, the old one stays.
type Reload func(ctx context.Context) (Reloaded, error)

func (a *api) reload(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Reload == nil {
		return &Error{Status: http.StatusConflict, Code: "conflict", Message: "the configuration can't be read again here"}
	}
	done, err := a.opts.Reload(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, done)
	return nil
}
