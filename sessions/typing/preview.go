package typing

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// previewWithin is how long a preview may take to be submitted, once it's in the input box.
const previewWithin = 30 * time.Second

// TypePreview types a preview into the session's pane.
func (h *Hand) TypePreview(ctx context.Context, p sessions.Preview) (sent bool, why string, err error) {
	t := newPreview(h, p)
	if sent, why, err = t.typeNow(ctx); sent {
		h.noteTyped(t.receipt.Text)
	}
	return sent, why, err
}

// FinishPreview submits a preview that stands in the session's input box.
func (h *Hand) FinishPreview(ctx context.Context, p sessions.Preview) (end sessions.PreviewEnd, why string) {
	t := newPreview(h, p)
	if end, why = t.finishLeft(ctx); end == sessions.PreviewFinished {
		h.noteTyped(t.receipt.Text)
	}
	return end, why
}

// preview is the policy of a preview: it's typed now or not at all. Once it's in the pane it waits for
// others for a while, and says then what it has waited for.
type preview struct {
	*typist

	text sessions.Preview
	// isUncertain says that nobody knows whether it was pasted. A look that failed leaves no doubt.
	isUncertain bool
}

func newPreview(h *Hand, p sessions.Preview) *preview {
	now := time.Now()
	receipt := sessions.Receipt{Text: p.Text, Submit: true, CreatedAt: now, UpdatedAt: now}
	t := &preview{typist: &typist{Hand: h, readBox: p.Box, receipt: receipt, strict: true, again: true}, text: p}
	t.policy = t
	return t
}

func (t *preview) typeNow(ctx context.Context) (sent bool, why string, err error) {
	switch err := t.pasteText(ctx); {
	case t.isUncertain:
		return false, "", fmt.Errorf("type the preview: %w", err)
	case err != nil:
		return false, err.Error(), nil //nolint:nilerr // it's the reason
	}
	return true, t.submitTyped(ctx, t.settleText), nil
}

// submitTyped does what's to be done before Enter, and submits what stands in the box. It says what has kept it
// from being submitted; "": nothing.
func (t *preview) submitTyped(ctx context.Context, before func(context.Context) error) (why string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), previewWithin) // what's in the input box has to be submitted
	defer cancel()
	err := before(ctx)
	if err == nil {
		err = t.pressEnter(ctx)
	}
	pressing, isPressing := errors.AsType[*enterError](err)
	_, isUnseen := errors.AsType[*unseenError](err)
	switch {
	case errors.Is(err, errDone), errors.Is(err, errTakenAway), // or somebody has sent it
		errors.Is(err, sessions.ErrEnded), errors.Is(err, sessions.ErrUnknown):
		return ""
	case isPressing:
		return "it's typed, but Enter may not be: " + pressing.err.Error()
	case errors.Is(err, errNotShown):
		return previewHeld[heldUnshown]
	case errors.Is(err, errNotTaken), errors.Is(err, errNothingChanged):
		return "it's typed, but two Enters didn't submit it"
	case t.entered && (isUnseen || ctx.Err() != nil):
		return ""
	case errors.Is(err, errStop), ctx.Err() != nil:
		return previewHeld[t.heldFor]
	case isUnseen:
		return "it's typed, but the session can't be seen: " + err.Error()
	}
	return err.Error()
}

var previewHeld = map[holdCause]string{ //nolint:gochecknoglobals // a constant table
	heldElse:     "it's typed, but Enter wasn't pressed",
	heldByDialog: "it's typed, but a dialog is open: Enter wasn't pressed",
	heldNoBox:    "it's typed, but its input box isn't on the screen: Enter wasn't pressed",
	heldBeside:   "it's typed, but somebody goes on writing beside it: Enter wasn't pressed",
	heldByFront:  "it's typed, but another program has the foreground: Enter wasn't pressed",
	heldUnshown:  "it was typed, but it doesn't stand in its input box: Enter wasn't pressed",
}

// finishLeft looks what became of a preview whose typing was cut off: see Manager.FinishPreview.
func (t *preview) finishLeft(ctx context.Context) (end sessions.PreviewEnd, why string) {
	switch err := t.awaitDrawn(ctx); {
	case errors.Is(err, sessions.ErrEnded), errors.Is(err, sessions.ErrUnknown):
		return sessions.PreviewUnknown, err.Error()
	case err != nil:
		return sessions.PreviewUnclear, err.Error()
	case t.term.Unread > 0:
		return sessions.PreviewUnclear, "it hasn't read what was typed before"
	}
	s := &t.before
	t.fitText(s)
	switch box := t.text.Box(s); {
	case t.opt.Dialog(s.Rows) != "" && !showsBox(box):
		return sessions.PreviewUnclear, "a dialog is open"
	case !t.text.Command && (box.Shell || t.text.Shell(s)):
		return sessions.PreviewUnknown, "a shell is in its foreground, which would run what stands before it"
	case !box.Known:
		return sessions.PreviewUnknown, "what stands in its input box can't be read"
	case !box.Open:
		return sessions.PreviewUnclear, "its input box isn't on the screen"
	case box.Text == "":
		return sessions.PreviewUnknown, "it doesn't stand in its input box"
	case withoutSpace(box.Text) != withoutSpace(t.receipt.Text):
		return sessions.PreviewUnknown, "something else stands in its input box, or something beside it"
	}
	t.into = t.frontOf(s)
	t.receipt.To = t.into.Addressee()
	t.noteTarget()
	t.echoed = true
	return sessions.PreviewFinished, t.submitTyped(ctx, func(context.Context) error { t.noteAlone(s); return nil })
}

// awaitDrawn looks when what may have been pasted just now must be on the screen.
func (t *preview) awaitDrawn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, previewWithin)
	defer cancel()
	var err error
	if t.before, err = t.lookAtPane(ctx); err != nil || t.term.Unread > 0 {
		return err
	}
	if err := t.awaitRead(ctx); err != nil {
		return err
	}
	t.before, err = t.lookAtPane(ctx)
	return err
}

type unseenError struct{ err error }

func (e *unseenError) Error() string { return e.err.Error() }

func (e *unseenError) Unwrap() error { return e.err }

func (t *preview) handleUnseen(_ context.Context, err error) error { return &unseenError{err} }

// errStop ends waiting for others.
var errStop = errors.New("stopping")

// wait waits for others until they're to wait no more.
func (t *preview) wait(ctx context.Context, d time.Duration) error {
	var stop <-chan struct{}
	if t.waits {
		stop = t.text.Stop
	}
	select {
	case <-stop:
		return errStop
	case <-time.After(min(d, lookEvery)):
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (t *preview) allowPaste(_ context.Context, tries *int) (g sessions.PaneGuard, ok bool, err error) {
	s := &t.before
	t.chooseText(s)
	if why := t.reasonAgainst(s, t.term); why != "" {
		return g, false, errors.New(why)
	}
	t.into = t.frontOf(s)
	t.receipt.To = t.into.Addressee()
	t.noteTarget()
	g = sessions.PaneGuard{Pane: t.pane, Server: s.Server, Phrases: t.opt.Phrases, Saw: s, Front: s.Front}
	box := t.text.Box(s)
	if showsBox(box) {
		g.Rows, g.Phrases = box.Rows, absentPhrases(t.opt.Phrases, s)
	}
	return t.pasteGuard(g, box.Shell || t.text.Shell(s), *tries), true, nil
}

func (t *preview) notePasted(context.Context) error { return nil }

func (t *preview) handleNotPasted(ctx context.Context, out sessions.GuardOutcome, err error, tries int) error {
	t.isUncertain = errors.Is(err, sessions.ErrUncertain)
	switch {
	case err != nil:
		return err
	case out == sessions.Dead:
		return errors.New("its program has ended")
	case out == sessions.Held:
		return errors.New("a dialog is open")
	case tries < movedTries && t.waitForOthers(ctx, heldElse, lookEvery) == nil:
		return nil
	}
	return errors.New("its screen is changing")
}

// keepReceipt keeps it nowhere.
func (t *preview) keepReceipt(_ context.Context, change func(*sessions.Receipt) bool) (sessions.Receipt, bool) {
	change(&t.receipt)
	return t.receipt, true
}

// chooseText has the plain text typed where the program isn't known to be an agent, and fits
// what's typed.
func (t *preview) chooseText(s *sessions.Snapshot) {
	t.fitText(s)
	if t.receipt.Text = t.text.Text; !t.text.Command && !t.text.Box(s).Known {
		t.receipt.Text = t.text.Plain
	}
}

// fitText makes the texts ones for the program in the pane, once.
func (t *preview) fitText(s *sessions.Snapshot) {
	if t.text.Fit != nil {
		t.text.Text, t.text.Plain = t.text.Fit(t.text.Text, s), t.text.Fit(t.text.Plain, s)
		t.text.Fit = nil
	}
	t.receipt.Text = t.text.Text
}

// nameStranger names the program that has the foreground in place of the one that people write
// to; "": that one has it, or nobody knows.
func (t *preview) nameStranger(s *sessions.Snapshot) string {
	if t.desk == nil {
		return ""
	}
	front := t.frontOf(s)
	one, _, err := t.desk.Living()
	if err != nil || t.desk.Reaches(one.Addressee, front, time.Now()) {
		return ""
	}
	return front.Name
}

// bareSign is a row of an unknown program up to the cursor, with nothing in it but a sign
// that says "write here".
var bareSign = regexp.MustCompile(`^[\s│┃|]*[>❯›»]?\s*$`)

// barePrompt is the same of a shell.
var barePrompt = regexp.MustCompile(`(^|\s|[\])~\w])[$%#>❯»➜]\s*$`)

// reasonAgainst says what speaks against typing; "": nothing. What isn't known for sure does.
func (t *preview) reasonAgainst(s *sessions.Snapshot, term sessions.Terminal) string {
	if name := t.nameStranger(s); name != "" {
		return name + " has the foreground"
	}
	box := t.text.Box(s)
	switch {
	case t.opt.Dialog(s.Rows) != "" && !showsBox(box):
		return "a dialog is open"
	case box.Shell && !t.text.Command:
		return "a shell is in its foreground, which would run the text"
	case box.Known && !box.Open:
		return "its input box isn't on the screen"
	case box.Known && box.Text != "", box.Unfinished != "" && !t.beganCommand(box.Unfinished):
		return "a half-typed text stands in its input box"
	case term.Unread > 0:
		return "it hasn't read what was typed before"
	case t.mayShow(s):
		return "it has read a text and shows nothing of it yet"
	case box.Shell && t.desk != nil && t.mayBeAhead(s, term):
		return "something may have been typed before its prompt"
	case box.Known:
		return ""
	case t.young && isBlankScreen(s):
		return "the program isn't ready for input yet"
	}
	before, behind := aroundCursor(s)
	shell := t.text.Shell(s)
	switch {
	case shell && !t.text.Command:
		return "a shell is in its foreground, which would run the text"
	case strings.TrimSpace(behind) != "":
		return "a half-typed text stands behind its cursor"
	case t.receipt.Text == "":
		return "it's no agent that's known, and may run the text"
	case shell && !barePrompt.MatchString(before):
		return "a half-typed text stands in its prompt, or it has another"
	case shell:
		return ""
	case term.Canonical && s.CursorX > 0:
		return "a half-typed line stands before its cursor"
	case term.Canonical && longestLine(t.receipt.Text) > term.MaxLine:
		return fmt.Sprintf("its terminal cuts lines at %d bytes", term.MaxLine)
	case !term.Canonical && !bareSign.MatchString(before):
		return "it can't be seen whether something stands in its input box"
	}
	return ""
}

func longestLine(text string) int {
	most := 0
	for line := range strings.SplitSeq(text, "\n") {
		most = max(most, len(line))
	}
	return most
}
