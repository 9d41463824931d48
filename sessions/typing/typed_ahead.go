package typing

import (
	"regexp"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// What somebody types while a command runs is echoed where the cursor stands then, and
// waits in the terminal for the shell's next line. A shell that edits its line shows it
// there. One that lets the kernel do that (dash) draws its prompt behind it, and the line
// looks empty: "half-# ".

// typedAhead says that something may have been typed so.
const typedAhead = "something stands before the shell's prompt, which may have been typed while a command ran, and would be run with the text; it's typed when a new prompt stands there"

// maxPrompts bounds the prompts of a session that are known.
const maxPrompts = 8

// promptAlone are prompts before which nothing stands surely: a sign alone, the shell's name,
// or the words of a folder or a host.
var promptAlone = regexp.MustCompile(`^\s*(?:\S*sh(?:-[\d.]+)?|.*[/@:~].*|.*[\])}])?\s*\S\s*$`) //nolint:gochecknoglobals // a constant

// mayBeAhead reports whether something may have been typed before the prompt that ends at
// the cursor of a shell that doesn't edit its line. What surely hasn't is known from then on.
func (h *Hand) mayBeAhead(s *sessions.Snapshot, term sessions.Terminal) bool {
	if !term.Canonical || len(s.Marks) > 0 {
		return false
	}
	prompt, _ := aroundCursor(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case slices.Contains(h.prompts, prompt):
		return false
	case len(h.prompts) == 0 && !promptAlone.MatchString(prompt),
		slices.ContainsFunc(h.prompts, func(known string) bool { return strings.HasSuffix(prompt, known) }):
		return true
	}
	h.prompts = append(h.prompts, prompt)
	h.prompts = h.prompts[max(0, len(h.prompts)-maxPrompts):]
	return false
}
