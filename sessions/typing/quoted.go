package typing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// How a text is sent though a dialog's phrase is on the screen.
const (
	// stillSeconds is how long nothing has to come out of a pane until its screen is one
	// that a person can look at.
	stillSeconds = 2
	// restlessFor is how long Enter waits for a screen that doesn't stand still before
	// that's said.
	restlessFor = 10 * time.Second
)

// isPhraseQuoted reports whether only a dialog's phrase is on a screen: no dialog is known or
// recognised there. Of a program whose input box is known, and isn't on the screen, it
// isn't taken as quoted: that's rather a dialog of a form that nobody knows yet.
func (t *typist) isPhraseQuoted(s *sessions.Snapshot) bool {
	return t.opt.Dialog(s.Rows) != "" && !t.readInputBox(s).Known && t.opt.Dialogs.Read(t.id(), s, nil) == nil && (t.desk == nil || !t.desk.AsksNow())
}

// holdForDialog says what keeps a text back (ReceiptHeld), or its Enter (ReceiptTyped): a
// dialog, or only its phrase. Then it may be sent anyway once the screen stands still.
func (t *typist) holdForDialog(ctx context.Context, s *sessions.Snapshot, state sessions.ReceiptState) {
	dialog, sent := "a dialog is open in the session; it's typed when the dialog has closed", "it's typed"
	if state == sessions.ReceiptTyped {
		dialog, sent = "a dialog has opened; Enter is pressed when it has closed", "Enter is pressed"
	}
	if !t.isPhraseQuoted(s) {
		t.stood = ""
		t.holdBack(ctx, heldByDialog, state, dialog)
		return
	}
	words := "a dialog's words, “" + t.opt.Dialog(s.Rows) + "”, are on the screen"
	now := t.printScreen(s)
	stands := now == t.stood && !t.isRestless(s) && t.asked.Unix()-s.Activity >= stillSeconds
	t.stood = now
	if !stands {
		t.holdBack(ctx, heldByDialog, state, words+"; "+sent+" when they have gone")
		return
	}
	t.holdBackAs(ctx, heldByDialog, state, words+", but no dialog is recognised; "+sent+" when they have gone, or at once if somebody who may answer dialogs sends it anyway", now)
}

// printScreen stands for a screen: see Receipt.Quoted. It's another one after each go-ahead
// that came to nothing.
func (t *typist) printScreen(s *sessions.Snapshot) string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, s.Server, s.Pane, s.PID, s.Width, s.Height, s.HistorySize, s.CursorX, s.CursorY, s.Alternate, sessions.Letters(s.Title), t.refused)
	for _, row := range s.Rows {
		_, _ = fmt.Fprintln(h, strings.TrimRight(row, " \t"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// guardStillness is the guard that has something typed only while nothing has come out of the
// pane since it was looked at. What else it checks says the same in other ways.
func (t *typist) guardStillness(s *sessions.Snapshot) sessions.Guard {
	rows := sessions.TellingRows(s.Rows, 0, len(s.Rows), checkedRows)
	rows = slices.DeleteFunc(rows, func(row int) bool { // tmux has the mark in it still
		return slices.ContainsFunc(s.Marks, func(m sessions.Mark) bool { return m.Row == row })
	})
	return sessions.Guard{Pane: t.pane, Server: s.Server, Phrases: absent(t.opt.Phrases, s), Saw: s, Rows: rows, Still: true, Front: s.Front}
}

// isRestless reports whether something came out of the pane in the second in which it was
// looked at: then nobody could say whether more did. Or the program hasn't read yet what
// was typed, and may open a dialog by it.
func (t *typist) isRestless(s *sessions.Snapshot) bool {
	return t.asked.Unix() <= s.Activity || t.term.Unread > 0
}

// takeAhead takes the go-ahead for the receipt, if somebody has left one.
func (t *typist) takeAhead() {
	if t.strict {
		return // nobody sends a preview anyway
	}
	if ahead := t.desk.TakeGoAhead(t.receipt.ID); ahead != nil {
		t.ahead = ahead
	}
}

// answerAhead says what came of a go-ahead, if there's one.
func (t *typist) answerAhead(err error) {
	if t.ahead == nil {
		return
	}
	if err != nil {
		t.refused++
	}
	t.ahead.Answer(err)
	t.ahead = nil
}

// dropAhead is for a go-ahead that comes to nothing because the receipt is final, or
// panebridge stops.
func (t *typist) dropAhead(ctx context.Context) {
	err := sessions.Refuse("the input isn't held any more")
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: panebridge is stopping", sessions.ErrUnavailable)
	}
	t.answerAhead(err)
	t.takeAhead()
	t.answerAhead(err)
}

// guardAsSeen is guardScreen for the very screen that somebody has looked at before sending the text
// anyway; false: it isn't that one.
func (t *typist) guardAsSeen(s *sessions.Snapshot) (sessions.Guard, bool) {
	if t.ahead == nil || t.printScreen(s) != t.ahead.Quoted || !t.isPhraseQuoted(s) || t.isRestless(s) {
		return sessions.Guard{}, false
	}
	t.by = t.ahead.By
	seen := *s
	t.cleared = &seen
	return t.guardStillness(s), true
}

// asCleared reports whether a screen is the one on which the text was sent anyway, with
// nothing new but the text: what stood above the cursor does so still, and elsewhere
// there's no phrase in what has changed, but the text's own. The text is shown there:
// where it has gone again something else may have the screen, with the same words on it.
func (t *typist) asCleared(s *sessions.Snapshot) bool {
	was := t.cleared
	if was == nil || was.PID != s.PID || was.Width != s.Width || was.Height != s.Height || was.Alternate != s.Alternate || !t.isPhraseQuoted(s) {
		return false
	}
	up := s.HistorySize - was.HistorySize // rows that have gone up since
	if up < 0 {
		return false
	}
	var changed []string
	for i := range max(len(s.Rows), was.CursorY-up) {
		same := i < len(s.Rows) && i+up < len(was.Rows) && strings.TrimRight(s.Rows[i], " \t") == strings.TrimRight(was.Rows[i+up], " \t")
		switch {
		case same:
		case i+up < was.CursorY:
			return false
		default:
			changed = append(changed, s.Rows[i])
		}
	}
	return t.onlyOwn(changed) && (sameScreen(was, s) || t.showsOwn(changed))
}

// showsOwn reports whether the text's last line is among rows, however they are broken.
func (t *typist) showsOwn(rows []string) bool {
	shown, own := strings.Join(rows, ""), lastLine(t.receipt.Text)
	if only := sessions.Letters(own); only != "" {
		return strings.Contains(sessions.Letters(shown), only)
	}
	return strings.Contains(withoutSpace(shown), withoutSpace(own))
}

// onlyOwn reports whether rows have no phrases but those of the text that was pasted
// there. How the program breaks rows and draws around them is no matter.
func (t *typist) onlyOwn(rows []string) bool {
	shown := sessions.Letters(strings.ToLower(strings.Join(rows, "")))
	for line := range strings.SplitSeq(strings.ToLower(t.receipt.Text), "\n") {
		if own := sessions.Letters(line); t.hasPhrase(own) {
			before, behind, _ := strings.Cut(shown, own)
			shown = before + "\x00" + behind
		}
	}
	return !t.hasPhrase(shown)
}

// hasPhrase reports whether one of the phrases is among some letters.
func (t *typist) hasPhrase(shown string) bool {
	return slices.ContainsFunc(t.opt.Phrases, func(phrase string) bool { return strings.Contains(shown, sessions.Letters(phrase)) })
}
