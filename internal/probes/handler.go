package probes

import (
	"encoding/json"
	"net/http"
	"time"
)

// ProbeAnswer is the body of an answer.
type ProbeAnswer struct {
	OK     bool    `json:"ok"`
	Faults []Fault `json:"faults"` // never null on the wire
}

// ServeHealthz answers whether the daemon can do its work: 200, or 503 if it has to be started anew.
func (b *Board) ServeHealthz(w http.ResponseWriter, _ *http.Request) {
	writeAnswer(w, b.ListUnhealthy(time.Now()))
}

// ServeReadyz answers whether the database, tmux and each configured platform are ready: 200, or 503.
func (b *Board) ServeReadyz(w http.ResponseWriter, _ *http.Request) {
	writeAnswer(w, b.ListUnready(time.Now()))
}

func writeAnswer(w http.ResponseWriter, faults []Fault) {
	v := ProbeAnswer{OK: len(faults) == 0, Faults: faults}
	status := http.StatusOK
	if !v.OK {
		status = http.StatusServiceUnavailable
	} else {
		v.Faults = []Fault{}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who has asked is gone otherwise
}
