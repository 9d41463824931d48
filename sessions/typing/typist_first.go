package typing

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// A program that starts may draw its input box before it works in what it reads, and may
// empty the box when it's done: Qwen Code was seen to lose a text so. That the box is empty
// doesn't tell then that a text was submitted: something else has to be seen of the first
// that a run of a program takes, and of those in its first readyWithin and in as long behind
// that one: one that's slow to begin may be at it still.

// lostAtStart is what's known of a text that left its box, of which nothing else was seen.
var lostAtStart = unverified("the text has left the input box, but the program had just begun and shows nothing else of it; look at the session before you send it again")

// leftLate is what's known of a text that left its box long behind Enter, of which nothing
// else was seen. A program may have refused it, and somebody at the pane taken it away.
var leftLate = unverified("the text has left the input box, but long after Enter was pressed, and the program shows nothing else of it; somebody at the pane may have taken it away")

// confirm waits, where the text is the first that this run of the program takes, or it was
// taken late, until something of it is seen elsewhere than in its box. It returns what's to
// be known of it.
func (t *typist) confirm(ctx context.Context, before *sessions.Snapshot) (verdict, error) {
	first := t.isFirst(before)
	if !first && !t.late || t.ended || t.strict {
		return verdict{}, nil
	}
	stands := lineWithout
	for began := time.Now(); time.Since(began) < lateWithin; {
		s, err := t.look(ctx)
		if err != nil {
			return verdict{}, err
		}
		if t.wasEnded(&s) {
			t.ended = true
			return verdict{}, nil
		}
		if t.isHeardOf(before, &s) {
			t.noteTaken(t.into.Run)
			return verdict{}, nil
		}
		stands = t.lineState(&s)
		if err := t.wait(ctx, lookEvery); err != nil {
			return verdict{}, err
		}
	}
	switch has := stands == lineHasIt || stands == lineHasMore; {
	case has && !first:
		return verdict{}, errNotTaken
	case t.late:
		return leftLate, nil
	case has:
		return verdict{}, errors.New("the program had just begun and has taken the text without its Enter; it stands in the session's input box: send it or take it away there")
	}
	return lostAtStart, nil
}

// isFirst reports whether no text was seen to be taken by this run of a program with an
// input box, or it may still be starting. A command of the program's own may show nothing,
// and there's nothing to be seen of a text without letters.
func (t *typist) isFirst(s *sessions.Snapshot) bool {
	if b := t.box(s); !b.Known || b.Shell || strings.HasPrefix(t.receipt.Text, "/") || sessions.Letters(t.receipt.Text) == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.hasTaken || t.takenBy != t.into.Run || time.Since(t.into.Started) < readyWithin || time.Since(t.takenAt) < readyWithin
}

// isHeardOf reports whether the program has the text: it says so, shows it, or keeps some
// text until it has time, or has begun to work since Enter was pressed. The last two may be
// others' texts where this one was taken late.
func (t *typist) isHeardOf(before, now *sessions.Snapshot) bool {
	if t.isProved() || !t.late && (t.queued || t.box(now).Queued || t.desk.TurnBeganSince(before.At)) {
		return true
	}
	text := sessions.Letters(t.receipt.Text)
	text = text[:min(len(text), coveredBytes)]
	count := func(rows []string) int { return strings.Count(sessions.Letters(strings.Join(rows, "")), text) }
	b := t.box(now)
	n := count(now.Rows) - count([]string{b.Text})
	return n > 0 && n >= count(before.Rows)
}

// noteTaken notes that a run of a program has taken a text.
func (h *Hand) noteTaken(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasTaken || h.takenBy != run {
		h.hasTaken, h.takenBy, h.takenAt = true, run, time.Now()
	}
}
