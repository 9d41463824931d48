package api

import (
	"context"
	"net/http"
)

// Reloaded is what became of reading the configuration again.
type Reloaded struct {
	File        string   `json:"file"`
	Applied     []string `json:"applied"`      // keys that have changed and are in force; never null
	NeedRestart []string `json:"need_restart"` // keys that have changed and are in force after a restart; never null
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
