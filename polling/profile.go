package polling

import (
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// Profile is what's known about a program's way of using the screen. It's the
// place where an agent's own signs come in; methods are pure.
type Profile interface {
	// Drawing reports whether the program is drawing on the screen, so that
	// nothing visible is settled. It's asked for the normal screen only.
	Drawing(s *sessions.Snapshot) bool
	// Dialog returns the phrase by which an open dialog is recognised in the
	// visible rows, or "".
	Dialog(rows []string) string
	// DialogPhrases are the same as regular expressions for tmux's own search
	// (sessions.Guard).
	DialogPhrases() []string
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

// dialogPhrases are short, so that they don't wrap, in lower case, and without
// characters that mean something in a regular expression. All were seen on the
// screens of real agents (Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Qwen
// Code 0.15, opencode 1.18).
var dialogPhrases = []string{ //nolint:gochecknoglobals // a constant table
	"do you want to proceed",
	"do you want to create",
	"do you want to make this edit",
	"do you want to overwrite",
	"would you like to run the following",
	"would you like to make the following",
	"allow execution of",
	"apply this change",
	"permission required",
	"enter to select",
	"enter to submit answer",
	"tab to amend",
	"make auto mode your default",
	"do you trust",
	"trust and continue",
	"review hooks",
	"press enter to confirm",
}

// DialogPhrases are the dialogs of the agents that were tried.
func (Generic) DialogPhrases() []string { return dialogPhrases }

// Dialog finds the first of DialogPhrases that's on the screen, in one pass: it's
// asked with every capture, and a search for each in a copy in lower case was a
// tenth of the daemon's CPU.
func (Generic) Dialog(rows []string) string {
	first := len(dialogPhrases)
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			for _, n := range dialogStarts[letters(row[i-1], row[i])] {
				if n < first && hasPrefixFold(row[i-1:], dialogPhrases[n]) {
					first = n
				}
			}
		}
	}
	if first == len(dialogPhrases) {
		return ""
	}
	return dialogPhrases[first]
}

// dialogStarts has the phrases by the letters with which they begin: few places
// of a screen are looked at twice.
var dialogStarts = func() (starts [1 << 10][]int) { //nolint:gochecknoglobals // a constant table
	for n, phrase := range dialogPhrases {
		at := letters(phrase[0], phrase[1])
		starts[at] = append(starts[at], n)
	}
	return starts
}()

// letters is a number for two letters, the same for capitals. Other characters
// share it with some letter.
func letters(a, b byte) int { return int(a&31)<<5 | int(b&31) }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
