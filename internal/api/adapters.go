package api

import (
	"net/http"
	"time"
)

// Adapter is one chat platform's state: what its scheduler is doing.
type Adapter struct {
	Name      string `json:"name"` // as in targets
	Mode      string `json:"mode"` // of qos: off, coalesce_only, strict
	InFlight  int    `json:"in_flight"`
	Documents int    `json:"documents"`
	// How fast it goes, in the chat in which that's slowest: seconds between two streams; 0:
	// there's no pace.
	Tick           float64    `json:"tick_s"`
	ActiveSessions float64    `json:"active_sessions"`        // that print, averaged, of all chats
	OldestAge      float64    `json:"oldest_s"`               // how long the oldest of what waits has waited
	Errors         uint64     `json:"errors"`                 // calls that failed since the daemon's start
	PenaltyUntil   time.Time  `json:"penalty_until,omitzero"` // the whole bot is to be silent until then
	Multiplier     float64    `json:"multiplier"`             // of the pace, 0.3 to 1; below 1 after a penalty
	Error          string     `json:"error,omitempty"`        // why no slot can be granted
	Totals         CallTotals `json:"totals"`
	Chats          []Chat     `json:"chats"` // never null; those that have something to say
}

// CallTotals count since the daemon's start.
type CallTotals struct {
	Calls     map[string]uint64 `json:"calls"`    // by class
	Outcomes  map[string]uint64 `json:"outcomes"` // of all calls
	Updates   uint64            `json:"updates"`
	Coalesced uint64            `json:"coalesced"` // updates that needed no call of their own
	Shed      uint64            `json:"shed"`      // cosmetic calls that weren't made
	Penalties uint64            `json:"penalties"`
}

// Chat is one chat's budget and what waits for it.
type Chat struct {
	Chat         string             `json:"chat"`
	Windows      []WindowUse        `json:"windows"` // never null
	Reserve      int                `json:"reserve"` // slots kept from streams now
	InFlight     bool               `json:"in_flight"`
	NextSlot     time.Time          `json:"next_slot_at,omitzero"`  // zero: when something changes
	PenaltyUntil time.Time          `json:"penalty_until,omitzero"` // zero: none
	BackoffUntil time.Time          `json:"backoff_until,omitzero"` // zero: none
	Multiplier   float64            `json:"multiplier"`
	Waiting      map[string]Waiting `json:"waiting"`   // by class, never null; classes in which nothing waits are left out
	Documents    []Document         `json:"documents"` // never null; those that wait
}

// WindowUse is how far one window of a chat is used up.
type WindowUse struct {
	Family  string    `json:"family"` // of methods; "" are messages
	Calls   int       `json:"calls"`  // so many are allowed …
	Seconds float64   `json:"per_s"`  // … in so many seconds
	Used    int       `json:"used"`
	FreeAt  time.Time `json:"free_at,omitzero"` // zero: one is free now
}

// Waiting is what waits in one class.
type Waiting struct {
	Count     int     `json:"count"`
	OldestAge float64 `json:"oldest_s"`
}

// Document is one binding's document that waits for a slot.
type Document struct {
	Binding   string  `json:"binding"`
	Session   string  `json:"session"`
	Class     string  `json:"class"`
	Delivered int64   `json:"delivered"` // the last line that reached the chat
	Wanted    int64   `json:"wanted"`    // the last line that should
	Age       float64 `json:"age_s"`     // how long the oldest change has waited
	Uncertain bool    `json:"uncertain"` // a call may or may not have arrived
}

// adapters lists the chat platforms.
func (a *api) adapters(w http.ResponseWriter, r *http.Request) error {
	list := []Adapter{}
	if a.opts.Outbound != nil {
		all, err := a.opts.Outbound.Adapters(r.Context())
		if err != nil {
			return err
		}
		list = append(list, all...)
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}
