package standin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// Kind says what an Entry is about.
type Kind string

// The kinds of entries.
const (
	Ready     Kind = "ready"     // the input box is there
	Opened    Kind = "opened"    // a dialog was drawn
	Shown     Kind = "shown"     // the terminal has it
	Gone      Kind = "gone"      // it's no longer there
	Cleared   Kind = "cleared"   // the terminal has that
	Pressed   Kind = "pressed"   // a key, or a text as one, was read
	Submitted Kind = "submitted" // a text was taken as a message
	Refused   Kind = "refused"   // a text was taken, and refused
	Left      Kind = "left"      // a text has long stood in the box, and nobody does anything about it
	Lost      Kind = "lost"      // what was read before the box was there
	Done      Kind = "done"      // all dialogs were asked
)

// Why a dialog is gone.
const (
	ByKeys   = "keys"    // of panebridge, or of whoever isn't told apart from it
	ByPerson = "person"  // whose keys are told apart: see Person
	ByItself = "itself"  // the program went on
	ByOther  = "another" // the program asks something else instead
)

// Entry is one line of a journal.
type Entry struct {
	At     time.Time `json:"at"`
	Kind   Kind      `json:"kind"`
	Dialog int       `json:"dialog,omitempty"` // its number, from 1; 0: none is open
	// Of Opened: the dialog as panebridge should read it.
	Form    string   `json:"form,omitempty"`
	Tag     string   `json:"tag,omitempty"` // stands in its title or body, and in no other's
	Title   string   `json:"title,omitempty"`
	Options []string `json:"options,omitempty"`
	Multi   bool     `json:"multi,omitempty"`
	Takes   bool     `json:"takes,omitempty"` // it takes a text
	// Of Gone: what was chosen of Options, or the text; neither: it was denied, or just
	// went.
	By     string   `json:"by,omitempty"`
	Chosen []string `json:"chosen,omitempty"`
	Taken  bool     `json:"taken,omitempty"` // something was chosen, if only none of several
	// Of Pressed: who, and whether it was sent before the screen could be seen that it
	// acted on.
	Key    string `json:"key,omitempty"`
	Person bool   `json:"person,omitempty"`
	Early  bool   `json:"early,omitempty"`
	Box    string `json:"box,omitempty"` // what stood in the input box before
	// Of Submitted, Refused and Lost, and the text of a Gone.
	Text string `json:"text,omitempty"`
}

// journal writes entries.
type journal struct{ file *os.File }

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &journal{f}, nil
}

func (j *journal) put(e Entry) {
	e.At = time.Now()
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	if _, err := j.file.Write(append(b, '\n')); err != nil {
		panic(err)
	}
}

// ReadJournal reads the entries that are in a journal by now; a file that isn't there
// has none.
func ReadJournal(path string) ([]Entry, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	var out []Entry
	for line := range bytes.Lines(b) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it's being written
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}
