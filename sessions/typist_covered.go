package sessions

import (
	"context"
	"errors"
	"strings"
)

// covered reports whether a dialog has taken the box's place before it was seen whether
// the text had left the box: it may have come while the text stood there still. A text
// that stands on the screen as often as with the box was submitted.
func (t *typist) covered(before, now *Snapshot) bool {
	if t.box(now).Open || t.m.opt.Dialog(now.Rows) == "" {
		return false
	}
	text := letters(t.receipt.Text)
	text = text[:min(len(text), coveredBytes)]
	count := func(s *Snapshot) int { return strings.Count(letters(strings.Join(s.Rows, "")), text) }
	n := count(now)
	return text == "" || n == 0 || n < count(before)
}

// errTakenAway says that Enter waited for something, and then there was nothing to submit.
var errTakenAway = errors.New("it was typed, but is no longer in the session's input box: somebody at the pane may have sent it, or taken it away; look at the session")

// coveredBytes is how much of a text is looked for: more may be cut.
const coveredBytes = 40

// uncover waits while a dialog is there. Somebody may answer it.
func (t *typist) uncover(ctx context.Context) error {
	t.release()
	t.hold(ctx, ReceiptTyped, "a dialog has opened; whether the text was submitted shows when it has closed")
	return t.wait(ctx, heldEvery)
}
