package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// KeyPress is keys that a person presses in a session's pane.
type KeyPress struct {
	Keys   []string // 1 to 100, by tmux's names for them
	Author string   // who presses them
	// Answers says that the person may answer dialogs. Without it only keys that refuse
	// (Escape, C-c) are pressed while one is open.
	Answers bool
	// Seen is when the person saw the screen at the latest: a dialog that has come up since
	// isn't what the keys are for. Zero: it isn't known, and isn't asked.
	Seen time.Time
}

// maxKeys bounds one KeyPress.
const maxKeys = 100

// ErrNotToAnswer says that keys would answer a dialog, which isn't that person's to do.
var ErrNotToAnswer = Refuse("a question is on the screen, which these keys may answer; that takes somebody who may answer questions")

// ErrNewDialog says that a person can't have seen the dialog on the screen.
var ErrNewDialog = Refuse("a question has just come up, or has changed, on the screen; look at it before you press keys")

// Keys presses keys in a session's pane. They may answer a dialog: so the check for one
// and the keys are one step, and what changes on the screen without one doesn't matter.
// ErrConflict says that a dialog is in the way, ErrInvalid that a key has no such name.
func (m *Manager) Keys(ctx context.Context, id ID, p KeyPress) error {
	if len(p.Keys) == 0 || len(p.Keys) > maxKeys {
		return fmt.Errorf("%w keys: give 1 to %d", ErrInvalid, maxKeys)
	}
	for _, k := range p.Keys {
		if !keyName(k) {
			return fmt.Errorf("%w key %q: give names like Enter, Escape, Tab, BTab, BSpace, Up, PageDown, F5, C-c, M-x, or single characters", ErrInvalid, k)
		}
	}
	e, err := m.handed(id)
	if err != nil {
		return err
	}
	out, err := e.hand.PressKeys(ctx, p)
	switch {
	case err != nil:
		return err
	case out == Dead:
		return fmt.Errorf("%s: %w: its program has ended", id, ErrEnded)
	case out == Held:
		return ErrNewDialog
	case out == Moved:
		return fmt.Errorf("%w: the screen with the question doesn't stand still; press again", ErrUnavailable)
	}
	m.log.Info("keys pressed", "session", id, "count", len(p.Keys), "author", p.Author)
	m.opt.Pollers.Typed(id, "")
	return nil
}

// keyName reports whether tmux takes s as the name of one key.
func keyName(s string) bool {
	base := s
	for len(base) > 2 && (strings.HasPrefix(base, "C-") || strings.HasPrefix(base, "M-") || strings.HasPrefix(base, "S-")) {
		base = base[2:]
	}
	switch base {
	case "Enter", "Escape", "Tab", "BTab", "BSpace", "Space", "Up", "Down", "Left", "Right", "Home", "End",
		"PageUp", "PageDown", "PPage", "NPage", "IC", "DC", "Insert", "Delete",
		"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12":
		return true
	}
	r, n := utf8.DecodeRuneInString(base)
	return n == len(base) && r > ' ' && r != 0x7f && r != utf8.RuneError
}
