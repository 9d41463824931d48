package sessions

import "time"

// Base is a session's repository as it was when the session began: what has changed since is the
// session's.
type Base struct {
	Root   string `json:"root"`             // the repository's folder
	Commit string `json:"commit,omitempty"` // "": it had none yet
	// Before are the files that weren't as in the commit, by their paths from the root: what each had in
	// it, as a digest; "": it wasn't there. Unknown says that they aren't known, or not all.
	Before  map[string]string `json:"before,omitempty"`
	Unknown bool              `json:"unknown,omitempty"`
	At      time.Time         `json:"at"`
}
