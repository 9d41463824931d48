package polling

import (
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// Profile is what's known about a program's way of using the screen. Methods are
// pure.
type Profile interface {
	// Drawing reports whether the program is drawing on the screen, so that
	// nothing visible is settled. It's asked for the normal screen only.
	Drawing(s *sessions.Snapshot) bool
	// Dialog returns the phrase by which an open dialog is recognised in the
	// visible rows, or "".
	Dialog(rows []string) string
	// Prompt returns the dialog that's open on the screen, with the rows that it stands
	// in; nil: none is, or it isn't known which rows are its. It's asked for the normal
	// screen only.
	Prompt(s *sessions.Snapshot) *sessions.Dialog
}

// Generic is the profile of a program nothing is known about.
type Generic struct{}

// Drawing holds when the cursor is hidden or something stands below it: a
// printer's cursor is at the end of its text.
func (Generic) Drawing(s *sessions.Snapshot) bool {
	if !s.CursorVisible {
		return true
	}
	below := s.HistorySize + s.CursorY + 1 - s.First
	for _, row := range s.Rows[min(max(below, 0), len(s.Rows)):] {
		if strings.TrimSpace(row) != "" {
			return true
		}
	}
	return false
}

// Dialog finds none: what dialogs look like is known to observers.
func (Generic) Dialog([]string) string { return "" }

// Prompt finds none either.
func (Generic) Prompt(*sessions.Snapshot) *sessions.Dialog { return nil }
