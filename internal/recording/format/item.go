package format

import (
	"encoding/json"
	"time"
)

// Item is one thing that was recorded, and when. One of its parts is set.
type Item struct {
	T       float64         `json:"t"`                 // seconds since the start
	Head    *Head           `json:"head,omitempty"`    // the first item; again when more is known of the program
	Frame   *FrameChange    `json:"frame,omitempty"`   // what the pane shows
	Typed   *Typed          `json:"typed,omitempty"`   // by panebridge
	Hook    json.RawMessage `json:"hook,omitempty"`    // a hook as the daemon hears it: an agent.Hook
	Verdict *Verdict        `json:"verdict,omitempty"` // what's believed, when that changes
	Record  *Record         `json:"record,omitempty"`  // of the transcript
	End     *End            `json:"end,omitempty"`     // the last item
}

// Head says what is recorded: recording.json.
type Head struct {
	Agent   string    `json:"agent"` // its profile
	Version string    `json:"version"`
	Width   int       `json:"width"`
	Height  int       `json:"height"`
	Epoch   time.Time `json:"epoch"` // time 0
	Home    string    `json:"home"`
	Cwd     string    `json:"cwd"`
	// Heard says that it was recorded through the daemon: hooks and records are as it
	// heard them, and there's neither the program's own output nor its files.
	Heard bool `json:"heard"`
	// Private says that what's no sign of the program's is made unreadable.
	Private bool `json:"private,omitempty"`
	// By is the version of panebridge.
	By string `json:"by,omitempty"`
}

// Typed is text or keys that panebridge typed.
type Typed struct {
	Event string   `json:"event"` // "paste", or "keys": Enter among them
	Text  string   `json:"text,omitempty"`
	Keys  []string `json:"keys,omitempty"`
}

// Verdict is what the daemon believed.
type Verdict struct {
	State       string `json:"state"`
	Reason      string `json:"reason,omitempty"`
	Began       bool   `json:"began,omitempty"` // a turn
	Ended       bool   `json:"ended,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

// Record is what's kept of a record of the transcript.
type Record struct {
	Kind string `json:"kind"`
	Tool string `json:"tool,omitempty"`
	// Text is the beginning of an answer, to compare it with what a hook says of it, or
	// of why something failed.
	Text        string  `json:"text,omitempty"`
	Length      int     `json:"length,omitempty"` // of all of the text, in bytes
	At          float64 `json:"at,omitempty"`     // its own time, in seconds since the start; 0: it has none
	Failed      bool    `json:"failed,omitempty"`
	Interrupted bool    `json:"interrupted,omitempty"`
	Waits       bool    `json:"waits,omitempty"`
}

// End is how the recording ended.
type End struct {
	Why    string `json:"why"`
	Frames int    `json:"frames"` // how many there are, those that are like the one before included
}
