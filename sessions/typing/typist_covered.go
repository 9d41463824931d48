package typing

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// covered reports whether a dialog has taken the box's place before it was seen whether
// the text had left the box: it may have come while the text stood there still. A text
// that stands on the screen as often as with the box was submitted.
func (t *typist) covered(before, now *sessions.Snapshot) bool {
	if t.box(now).Open || t.opt.Dialog(now.Rows) == "" {
		return false
	}
	text := sessions.Letters(t.receipt.Text)
	text = text[:min(len(text), coveredBytes)]
	count := func(s *sessions.Snapshot) int { return strings.Count(sessions.Letters(strings.Join(s.Rows, "")), text) }
	n := count(now)
	return text == "" || n == 0 || n < count(before)
}

// errTakenAway says that Enter waited for something, and then there was nothing to submit.
var errTakenAway = errors.New("it was typed, but is no longer in the session's input box: somebody at the pane may have sent it, or taken it away; look at the session")

// errEmptied says that the program has emptied its box behind a dialog: the text is to be typed again.
var errEmptied = errors.New("the program has emptied its input box behind a dialog")

// emptied is why a text doesn't stand in its box behind a dialog that opened before Enter. Some
// programs draw the box before they ask something as they start, and begin anew when that's answered:
// Gemini CLI asks so whether it may trust the folder. Where the program had just begun, no Enter was pressed, the box stays empty,
// and nothing of the text is seen anywhere, it's typed again, once.
func (t *typist) emptied(ctx context.Context) error {
	if t.entered || t.again || !t.early || sessions.Letters(t.receipt.Text) == "" {
		return errTakenAway
	}
	for began, since := time.Now(), time.Now(); time.Since(since) < emptyFor; {
		s, err := t.look(ctx)
		if err != nil {
			return err
		}
		b := t.box(&s)
		switch {
		case b.Text != "", t.isHeardOf(&t.before, &s), time.Since(began) > readyWithin:
			return errTakenAway
		case !b.Open:
			since = time.Now()
		}
		if err := t.wait(ctx, lookEvery); err != nil {
			return err
		}
	}
	return errEmptied
}

// emptyFor is how long a box must stay empty behind a dialog until it isn't one that's half drawn.
const emptyFor = 2 * time.Second

// coveredBytes is how much of a text is looked for: more may be cut.
const coveredBytes = 40

// uncover waits while a dialog is there. Somebody may answer it.
func (t *typist) uncover(ctx context.Context) error {
	t.release()
	t.hold(ctx, heldByDialog, sessions.ReceiptTyped, "a dialog has opened; whether the text was submitted shows when it has closed")
	return t.wait(ctx, heldEvery)
}
