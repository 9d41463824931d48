package sessions

import (
	"context"
	"strings"
)

// unjoin waits while somebody at the pane has something of theirs beside the text in the
// input box: an Enter would submit both.
func (t *typist) unjoin(ctx context.Context) error {
	for t.joined(t.box(&t.at)) {
		t.release()
		t.hold(ctx, ReceiptTyped, "somebody at the pane has typed something beside it; Enter is pressed when that was taken away")
		if err := t.wait(ctx, heldEvery); err != nil {
			return err
		}
		if err := t.take(ctx); err != nil {
			return err
		}
		var err error
		if t.at, err = t.look(ctx); err != nil {
			return err
		}
		if b := t.box(&t.at); b.Open && b.Text == "" {
			return errTakenAway
		}
	}
	return nil
}

// joined reports whether there's something beside the text in a box in which it has stood
// alone before.
func (t *typist) joined(b Box) bool {
	if !t.alone || !b.Open {
		return false
	}
	before, behind, there := strings.Cut(letters(b.Text), letters(t.receipt.Text))
	return there && (before != "" || behind != "" && !completes(t.receipt.Text))
}

// noteAlone notes that the text stands in a box, and nothing else does.
func (t *typist) noteAlone(b Box) {
	own := letters(t.receipt.Text)
	t.alone = t.alone || b.Open && own != "" && letters(b.Text) == own
}

// completes reports whether a program may put something behind a text: the rest of the
// file or command that its last word begins.
func completes(text string) bool {
	words := strings.Fields(text)
	return len(words) == 0 || strings.HasPrefix(words[len(words)-1], "@") || strings.HasPrefix(words[len(words)-1], "/")
}
