package agent

import (
	"strings"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// Profile is what's known about one agent program. It's made by Load and doesn't
// change; its methods are pure and may be called by many at once.
type Profile struct {
	name string
	spec spec
	// phrases finds the dialogs of spec.
	phrases phraseIndex
	others  []*Profile // whose dialogs it has, too
}

// Name is how the profile is called in the configuration.
func (p *Profile) Name() string { return p.name }

// MadeFrom are the versions of the program whose screens the profile was made from.
func (p *Profile) MadeFrom() []string { return p.spec.MadeFrom }

// Format is how the program keeps its transcript; "": it keeps none that can be read.
func (p *Profile) Format() transcript.Format { return p.spec.Transcript }

// Shell reports whether the program starts others, which then have the screen.
func (p *Profile) Shell() bool { return p.spec.Shell }

// InterruptKeys are the keys that end the turn, as tmux names them, to be pressed
// one after the other.
func (p *Profile) InterruptKeys() []string { return p.spec.Interrupt }

// ResumeArgs are arguments with which the program goes on with a conversation, for whose
// id "{id}" stands; none: it isn't known how.
func (p *Profile) ResumeArgs() []string { return p.spec.Resume }

// Drawing reports whether the program is drawing on the screen, so that nothing
// visible is settled: its input box stands there, its cursor is hidden, or something
// stands below the cursor, which a printer has at the end of its text.
func (p *Profile) Drawing(s *sessions.Snapshot) bool {
	if !s.CursorVisible || len(p.spec.Screen.Foot) > 0 && p.footOf(visibleRows(s)) >= 0 {
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

// Dialog returns the phrase by which an open dialog is recognised in the visible
// rows, or "". A phrase that's only quoted there counts as well: it's what keeps text
// from being typed into a dialog.
func (p *Profile) Dialog(rows []string) string { return p.phrases.findPhrase(rows) }

// DialogPhrases are the same as regular expressions for tmux's own search.
func (p *Profile) DialogPhrases() []string { return p.phrases.phrases }
