package typing

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// submit presses Enter when the program has read the text, and looks whether the screen
// took it. It's pressed while the program it was typed into has the foreground, since another may be a shell, and
// nothing else stands in the input box: somebody may have begun to write behind the text. It says what has kept it
// from being submitted.
func (t *previewer) submit(ctx context.Context, before *sessions.Snapshot) (why string) {
	ctx, cancel := context.WithTimeout(ctx, previewWithin)
	defer cancel()
	echoed, err := t.settle(ctx, before)
	began, pressed, moved := time.Now(), 0, 0
	for why = "it's typed, but Enter wasn't pressed"; err == nil; {
		var snap sessions.Snapshot
		var term sessions.Terminal
		if snap, term, err = t.look(ctx); err != nil {
			break
		}
		if snap.Front != before.Front {
			why = "it's typed, but another program has the foreground: Enter wasn't pressed"
			err = t.await(ctx)
			continue
		}
		switch t.stands(&snap) {
		case standsAlone:
		case standsNowhere:
			return "" // somebody has sent it, or taken it away
		case standsNotYet:
			why = "it was typed, but it doesn't stand in its input box: Enter wasn't pressed"
			if err = t.await(ctx); err == nil && time.Since(began) > shownWithin {
				return why
			}
			continue
		case standsJoined:
			why = "it's typed, but somebody goes on writing beside it: Enter wasn't pressed"
			err = t.await(ctx)
			continue
		}
		guard := t.enterGuard(&snap)
		if moved >= movedTries {
			guard.Saw, guard.Rows = nil, nil // a screen that never stands still
		}
		press := step{srv: t.srv, guard: guard, keys: enterKey}
		out, failed := press.touch(ctx)
		switch {
		case failed != nil:
			return "it's typed, but Enter may not be: " + failed.Error()
		case out == sessions.Dead:
			return ""
		case out == sessions.Moved:
			moved++
			err = sessions.Pause(ctx, lookEvery)
			continue
		case out == sessions.Held:
			why = "it's typed, but a dialog is open: Enter wasn't pressed"
			err = t.await(ctx)
			continue
		case term.Canonical || !echoed && !t.shown || t.left(ctx, &snap):
			return ""
		}
		if pressed++; pressed > 1 {
			return "it's typed, but two Enters didn't submit it"
		}
	}
	switch {
	case errors.Is(err, sessions.ErrEnded), errors.Is(err, sessions.ErrUnknown):
		return ""
	case errors.Is(err, errStop), ctx.Err() != nil:
		return why
	}
	return "it's typed, but the session can't be seen: " + err.Error()
}

// textRows is how many rows of the box Enter is guarded by.
const textRows = 16

// enterGuard has Enter pressed only while the text stands in the box as it was seen. Not
// all programs have the cursor behind it, so a letter that somebody adds shows in its last
// row alone.
func (t *previewer) enterGuard(s *sessions.Snapshot) sessions.Guard {
	g := t.guard(s)
	if len(g.Rows) == 0 {
		return g
	}
	first, end := g.Rows[0], lastLetters(t.text.Text)
	for y := first; y < len(s.Rows) && end != ""; y++ {
		if strings.Contains(sessions.Letters(strings.Join(s.Rows[first:y+1], "")), end) {
			g.Rows = sessions.TellingRows(s.Rows, first, max(y, g.Rows[len(g.Rows)-1]), textRows)
			break
		}
	}
	return g
}

// errStop ends waiting for others.
var errStop = errors.New("stopping")

// await waits a little for what others do at the pane.
func (t *previewer) await(ctx context.Context) error {
	select {
	case <-t.stop:
		return errStop
	case <-time.After(lookEvery):
		return ctx.Err()
	}
}

// standing says where the preview stands once it's typed.
type standing int

const (
	standsAlone   standing = iota // in the input box, or nobody can tell
	standsNotYet                  // not in the box
	standsNowhere                 // not in the box any more
	standsJoined                  // beside something else in it
)

// stands looks at the input box. A long text may be shown by something else in brackets.
func (t *previewer) stands(s *sessions.Snapshot) standing {
	box := t.text.Box(s)
	around := places(t.text.Text, box.Text)
	gone := t.shown && around == nil
	t.shown = t.shown || box.Open && around != nil
	switch {
	case !box.Open:
		return standsAlone
	case gone:
		return standsNowhere
	case around != nil && strings.Join(around, "") == "":
		return standsAlone
	case around == nil && box.Text == "":
		return standsNotYet
	case around == nil && strings.HasPrefix(box.Text, "[") && strings.HasSuffix(box.Text, "]"):
		return standsAlone
	}
	return standsJoined
}

// settle waits until the program has read the text and had time to work it in.
func (t *previewer) settle(ctx context.Context, before *sessions.Snapshot) (echoed bool, err error) {
	for read := time.Now(); time.Since(read) < settleFor; {
		snap, term, err := t.look(ctx)
		if err != nil {
			return echoed, err
		}
		t.stands(&snap)
		if echoed = echoed || !sameScreen(before, &snap); term.Canonical {
			return echoed, nil // the kernel makes the line
		}
		if term.Unread > 0 {
			read = time.Now()
		}
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return echoed, err
		}
	}
	return echoed, nil
}

// left waits for the screen to show that the program took Enter: the text has left its
// box or, where none can be read, something has changed.
func (t *previewer) left(ctx context.Context, before *sessions.Snapshot) bool {
	was := t.text.Box(before)
	var away time.Time // since when its box isn't on the screen; zero: it is
	for read := time.Now(); time.Since(read) < reactWithin; {
		if sessions.Pause(ctx, lookEvery) != nil {
			return false
		}
		snap, term, err := t.look(ctx)
		box := t.text.Box(&snap)
		switch {
		case err != nil, term.Canonical:
			return true
		case !was.Open:
			if !sameScreen(before, &snap) {
				return true
			}
		case box.Open && places(t.text.Text, box.Text) == nil && box.Text != was.Text:
			return true
		case box.Open:
			away = time.Time{}
		case away.IsZero():
			away = time.Now() // it may be half drawn
		case time.Since(away) >= awayFor:
			return true
		}
		if term.Unread > 0 {
			read = time.Now()
		}
	}
	return false
}
