package typing

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// standsAlone looks, and waits until Enter is for the text and nothing else, where that was seen to
// stand in the input box: somebody at the pane may have typed something beside it, which
// Enter would submit too, or have sent it, or the screen is half drawn. A dialog is waited
// for elsewhere.
func (t *typist) standsAlone(ctx context.Context) error {
	var away time.Time // since when the box isn't on the screen; zero: it is
	for gone, torn := 0, 0; ; {
		var err error
		if t.at, err = t.look(ctx); err != nil {
			return err
		}
		if err := t.checkReach(ctx, &t.at); err != nil {
			return err
		}
		t.noteAlone(&t.at) // a dialog may have covered it until now
		if t.isTorn(&t.at) {
			if torn++; torn > tornLooks {
				t.before = t.at
				return t.wipe(ctx, errTorn)
			}
			if err := t.wait(ctx, lookEvery); err != nil {
				return err
			}
			continue
		}
		if !t.alone && !t.strict {
			return nil
		}
		pause, b := lookEvery, t.lineOrBox(&t.at)
		if b.Open {
			away = time.Time{}
		}
		without := t.without(&t.at, b)
		if !without {
			gone = 0
		}
		switch {
		case !b.Known, !b.Open && t.opt.Dialog(t.at.Rows) != "":
			return nil
		case !b.Open && away.IsZero():
			away = time.Now()
		case !b.Open && time.Since(away) >= awayFor:
			t.release()
			t.hold(ctx, heldNoBox, sessions.ReceiptTyped, "the program shows something else than its input box; Enter is pressed when the box is back")
			pause = heldEvery
		case !b.Open:
		case without && t.size.broken():
			gone = 0
		case without: // a screen that's half drawn may show a box without it
			if gone++; gone > 1 {
				return errTakenAway
			}
		case t.strict && t.alone && !t.isIn(b): // something else has its place
			return errTakenAway
		case t.joined(b), t.beside && !t.onlyOwnIn(b), !t.isIn(b) && t.strict:
			t.beside = true
			t.release()
			t.hold(ctx, heldBeside, sessions.ReceiptTyped, "somebody at the pane has typed something beside it; Enter is pressed when that was taken away")
			pause = heldEvery
		case t.strict || t.keys != nil:
			return nil
		default:
			if err := t.take(ctx); err != nil {
				return err
			}
		}
		if err := t.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// tornLooks is in how many looks an input box must have the end of a text alone until it isn't
// one that's half drawn.
const tornLooks = 5

// errTorn says that only the end of a text has come to stand in its input box: what opened as
// it was typed has taken the rest as keys.
var errTorn = errors.New("its beginning went to something that opened as it was typed, a question perhaps; the rest was not submitted")

// isTorn reports whether only the end of the text has come to stand in an agent's box. That
// box has one row: of a text of several some programs show the last ones. A sign that the
// text begins with may have changed what the box is for.
func (t *typist) isTorn(s *sessions.Snapshot) bool {
	b, own := t.box(s), withoutSpace(t.receipt.Text)
	if !t.boxed || t.whole || !b.Open || b.Shell || b.Text == "" || strings.Contains(b.Text, "\n") {
		return false
	}
	head, ok := strings.CutSuffix(own, withoutSpace(b.Text))
	return ok && sessions.Letters(head) != ""
}

// isIn reports whether the text is seen in its box, or something that the program shows in place of a
// long one.
func (t *typist) isIn(b sessions.Box) bool {
	return places(t.receipt.Text, b.Text) != nil || strings.HasPrefix(b.Text, "[") && strings.HasSuffix(b.Text, "]")
}

// onlyOwnIn reports whether all of the text is seen in its box, and nothing else.
func (t *typist) onlyOwnIn(b sessions.Box) bool {
	return !t.joined(b) && places(t.receipt.Text, b.Text) != nil
}

// lineOrBox reads the box, or the row before the cursor where the program's box isn't
// known, but the text was seen to stand in that row.
func (t *typist) lineOrBox(s *sessions.Snapshot) sessions.Box {
	b := t.box(s)
	if b.Known || !t.inRow {
		return b
	}
	before, _ := aroundCursor(s)
	text := lastLine(t.receipt.Text)
	at := strings.LastIndex(before, text)
	if at < 0 {
		return b
	}
	return sessions.Box{Known: true, Open: true, Text: strings.TrimSpace(t.receipt.Text + before[at+len(text):])}
}

// lastLine is the last line of a text.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// joined reports whether there's something beside the text in its box.
func (t *typist) joined(b sessions.Box) bool {
	around := places(t.receipt.Text, b.Text)
	return around != nil && (around[0] != "" || around[1] != "" && !completes(t.receipt.Text))
}

// noteAlone notes that the text stands in a box that can be read, or before the cursor of
// a program whose box isn't known: then what else stands there is somebody's. The box had
// nothing in it before.
func (t *typist) noteAlone(s *sessions.Snapshot) {
	b := t.box(s)
	if before, _ := aroundCursor(s); !b.Known && strings.TrimSpace(lastLine(t.receipt.Text)) != "" && strings.Contains(before, lastLine(t.receipt.Text)) {
		t.alone, t.inRow = true, true
		return
	}

	own := sessions.Letters(t.receipt.Text)
	t.whole = t.whole || b.Open && withoutSpace(b.Text) == withoutSpace(t.receipt.Text)
	t.alone = t.alone || b.Open && own != "" && (sessions.Letters(b.Text) == own || t.boxed && places(t.receipt.Text, b.Text) != nil)
}

// completes reports whether a program may put something behind a text: the rest of the
// file or command that its last word begins.
func completes(text string) bool {
	words := strings.Fields(text)
	return len(words) == 0 || strings.HasPrefix(words[len(words)-1], "@") || strings.HasPrefix(words[len(words)-1], "/")
}

// textRows is how many rows of the box Enter is guarded by.
const textRows = 16

// keepRows has Enter pressed only while the text stands in the box as it was seen. Not
// all programs have the cursor behind it, so a letter that somebody adds shows in its last
// row alone.
func (t *typist) keepRows(g *sessions.Guard) {
	s := &t.at
	g.Saw = s
	box := t.box(s)
	if !tells(box) {
		return
	}
	g.Rows, g.Phrases = box.Rows, absent(t.opt.Phrases, s)
	if len(g.Rows) == 0 {
		return
	}
	first, end := g.Rows[0], lastLetters(t.receipt.Text)
	for y := first; y < len(s.Rows) && end != ""; y++ {
		if strings.Contains(sessions.Letters(strings.Join(s.Rows[first:y+1], "")), end) {
			g.Rows = sessions.TellingRows(s.Rows, first, max(y, g.Rows[len(g.Rows)-1]), textRows)
			break
		}
	}
}
