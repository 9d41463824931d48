package sessions

import "time"

// Exhibit is a file or picture that a program shows people by panebridge, as it was when it was shown.
type Exhibit struct {
	ID      string    `json:"id"` // "ex_" and 12 hexadecimal digits
	Session ID        `json:"session"`
	Name    string    `json:"name"`              // of the file, without folders
	Path    string    `json:"path"`              // from the session's folder, or whole if Outside
	Caption string    `json:"caption,omitempty"` // what's said of it
	Size    int64     `json:"size"`              // bytes
	Type    string    `json:"type"`              // its media type, as far as its content tells
	Outside bool      `json:"outside,omitempty"` // it's from outside of the session's folder
	Digest  string    `json:"digest"`            // stands for what was shown, as Inquiry.Digest does
	At      time.Time `json:"at"`
	// Done says that it's in all chats that it's for; Places are those, as far as they're settled.
	Done   bool           `json:"done"`
	Places []ExhibitPlace `json:"places,omitempty"`
}

// ExhibitState says what became of an exhibit in a chat.
type ExhibitState string

// The states of an exhibit in a chat.
const (
	ExhibitShown    ExhibitState = "shown"
	ExhibitTooLarge ExhibitState = "too_large" // the chat has a message that says so
	ExhibitGone     ExhibitState = "gone"      // the chat doesn't show the session any more, or has refused it for a day
)

// ExhibitPlace is a chat that an exhibit is for.
type ExhibitPlace struct {
	Binding string       `json:"binding"` // its id
	Place   string       `json:"place"`   // as a target of adapters
	State   ExhibitState `json:"state"`
	Limit   int64        `json:"limit,omitempty"` // of ExhibitTooLarge: bytes that the chat takes
	At      time.Time    `json:"at"`
}

// PlaceOf returns the place of a binding; false: it isn't settled.
func (e *Exhibit) PlaceOf(binding string) (ExhibitPlace, bool) {
	for _, p := range e.Places {
		if p.Binding == binding {
			return p, true
		}
	}
	return ExhibitPlace{}, false
}

// ExhibitRequest is what's to be shown.
type ExhibitRequest struct {
	Key     string // as InquiryRequest.Key
	Path    string // from the session's folder, or whole
	Caption string
}

// ExhibitFile is a file that's to be shown, as it was read.
type ExhibitFile struct {
	Path    string // see Exhibit
	Outside bool
	Data    []byte
}

// MaxExhibitCaption bounds an exhibit's caption, in runes.
const MaxExhibitCaption = 600
