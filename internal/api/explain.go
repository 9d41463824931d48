package api

import (
	"net/http"
	"time"
)

// Explanation says who gets a chat's next calls, when and why not before, if nothing else
// happens. It holds no text of a session.
type Explanation struct {
	Adapter        string      `json:"adapter"`
	Chat           string      `json:"chat"` // as the adapter's chats are listed
	At             time.Time   `json:"at"`
	Mode           string      `json:"mode"`
	Tick           float64     `json:"tick_s"`                 // seconds between two streams; 0: there's no pace
	ActiveSessions float64     `json:"active_sessions"`        // that print, averaged
	Reserve        int         `json:"reserve"`                // slots of a window that streams leave at their full pace
	Multiplier     float64     `json:"multiplier"`             // of the pace, 0.3 to 1; below 1 after a penalty
	CallsToPace    int         `json:"calls_to_pace"`          // so many accepted calls later the pace is whole
	PenaltyUntil   time.Time   `json:"penalty_until,omitzero"` // the chat is silent until then
	Windows        []WindowUse `json:"windows"`                // never null
	Error          string      `json:"error,omitempty"`        // why no slot can be granted
	Call           *CallBegun  `json:"call,omitempty"`         // under way
	Next           []NextCall  `json:"next"`                   // never null; in the order in which they're called, those without a time last
}

// CallBegun is a call that's under way.
type CallBegun struct {
	Session  string    `json:"session,omitempty"` // its name
	Class    string    `json:"class"`
	Began    time.Time `json:"began_at"`
	Deadline time.Time `json:"deadline"` // it's given up then
}

// NextCall is the next call for something that waits.
type NextCall struct {
	Binding string  `json:"binding,omitempty"` // whose text waits; "": a message that's none of a session's text
	Session string  `json:"session,omitempty"` // its name
	Class   string  `json:"class"`
	Family  string  `json:"family,omitempty"` // of methods; "" are messages
	Age     float64 `json:"age_s"`
	// LastCall is when the last call for it began; zero: there was none. One since the age began has brought a part of it, or failed.
	LastCall time.Time `json:"last_call_at,omitzero"`
	// At is when it's called; for all but the first it's taken that each call takes as long as the
	// chat's usually do. Zero: when something changes.
	At    time.Time `json:"at,omitzero"`
	Holds []Hold    `json:"holds"` // why not before, what decides first; never null
}

// Hold is a reason for which a call isn't made yet.
type Hold struct {
	Kind  string    `json:"kind"`           // as in qos.HoldKind
	Until time.Time `json:"until,omitzero"` // zero: until something changes
	Count int       `json:"count,omitempty"`
	Every float64   `json:"every_s,omitempty"`
	Knobs []Knob    `json:"knobs"` // of the configuration that would change it; never null
}

// Knob is a key of the configuration.
type Knob struct {
	Path  string `json:"path"`
	Value string `json:"value"` // now
	Try   string `json:"try"`   // what makes a call come earlier: "higher", "lower", or a value
}

// explain says who's next in a chat.
func (a *api) explain(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Outbound == nil {
		return noOutbound
	}
	chat := r.URL.Query().Get("chat")
	if chat == "" {
		return badRequest("say which chat: ?chat=")
	}
	x, err := a.opts.Outbound.Explain(r.Context(), chat)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, x)
	return nil
}
