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

const (
	previewWithin = 30 * time.Second // until it's submitted, once it's in the input box
)

// TypePreview types a preview into the session's pane.
func (h *Hand) TypePreview(ctx context.Context, p sessions.Preview) (sent bool, why string, err error) {
	t, err := h.previewer(p)
	if err != nil {
		return false, err.Error(), nil //nolint:nilerr // it's the reason
	}
	if sent, why, err = t.run(ctx); sent {
		h.desk.Typed(t.text.Text)
	}
	return sent, why, err
}

// FinishPreview submits a preview that stands in the session's input box.
func (h *Hand) FinishPreview(ctx context.Context, p sessions.Preview) (end sessions.PreviewEnd, why string) {
	t, err := h.previewer(p)
	if err != nil {
		return sessions.PreviewUnknown, err.Error()
	}
	if end, why = t.finish(ctx); end == sessions.PreviewFinished {
		h.desk.Typed(t.text.Text)
	}
	return end, why
}

// previewer is for the session's pane.
func (h *Hand) previewer(p sessions.Preview) (*previewer, error) {
	s, srv, err := h.desk.Living()
	if err != nil {
		return nil, err
	}
	t := &previewer{srv: srv, pane: s.Pane, text: p, phrases: h.opt.Phrases, dialog: h.opt.Dialog, young: isYoung(&s), stop: p.Stop}
	t.stranger = h.stranger
	t.ahead = h.mayBeAhead
	return t, nil
}

// stranger names the program that has the foreground in place of the one that people write
// to; "": that one has it.
func (h *Hand) stranger(s *sessions.Snapshot) string {
	front := h.frontOf(s)
	one, _, err := h.desk.Living()
	if err != nil || h.desk.Reaches(one.Addressee, front, time.Now()) {
		return ""
	}
	return front.Name
}

// TypePreview does the same for a pane of which no manager knows. phrases and dialog are
// as in Options.
func TypePreview(ctx context.Context, srv sessions.Server, pane sessions.Pane, p sessions.Preview, phrases []string, dialog func(rows []string) string) (sent bool, why string, err error) {
	t := previewer{srv: srv, pane: pane, text: p, phrases: phrases, dialog: dialog, stop: p.Stop}
	return t.run(ctx)
}

// previewer types one preview.
type previewer struct {
	srv     sessions.Server
	pane    sessions.Pane
	text    sessions.Preview
	phrases []string
	dialog  func(rows []string) string
	stop    <-chan struct{} // closed when only what needs no waiting is still done; nil: never
	shown   bool            // the text was seen in the input box
	young   bool            // the session has just begun, and its program may not have yet
	// stranger names the program that has the foreground in place of the one that people
	// write to; "": that one has it. Nil: it isn't known whom they write to.
	stranger func(s *sessions.Snapshot) (name string)
	// ahead reports whether something may have been typed before a shell's prompt. Nil: it
	// isn't known.
	ahead func(*sessions.Snapshot, sessions.Terminal) bool
}

func (t *previewer) run(ctx context.Context) (sent bool, why string, err error) {
	hand := context.WithoutCancel(ctx) // what's in the input box has to be submitted
	for tries := 1; ; tries++ {
		snap, term, err := t.look(ctx)
		if err != nil {
			return false, err.Error(), nil //nolint:nilerr // nothing was touched
		}
		t.choose(&snap)
		if why := t.against(&snap, term); why != "" {
			return false, why, nil
		}
		paste := step{srv: t.srv, guard: t.guard(&snap), text: t.text.Text}
		switch out, err := paste.touch(ctx); {
		case errors.Is(err, sessions.ErrUncertain):
			return false, "", fmt.Errorf("type the preview: %w", err)
		case err != nil:
			return false, err.Error(), nil
		case out == sessions.Dead:
			return false, "its program has ended", nil
		case out == sessions.Held:
			return false, "a dialog is open", nil
		case out == sessions.Moved && (tries >= movedTries || t.await(ctx) != nil):
			return false, "its screen is changing", nil
		case out == sessions.Moved:
			continue
		}
		return true, t.submit(hand, &snap), nil
	}
}

// choose has the plain text typed where the program isn't known to be an agent, and fits
// what's typed.
func (t *previewer) choose(s *sessions.Snapshot) {
	if !t.text.Command && !t.text.Box(s).Known {
		t.text.Text = t.text.Plain
	}
	t.fit(s)
}

// fit makes the text one for the program in the pane, once.
func (t *previewer) fit(s *sessions.Snapshot) {
	if t.text.Fit != nil {
		t.text.Text, t.text.Plain = t.text.Fit(t.text.Text, s), t.text.Fit(t.text.Plain, s)
		t.text.Fit = nil
	}
}

// look takes a snapshot of the pane.
func (t *previewer) look(ctx context.Context) (sessions.Snapshot, sessions.Terminal, error) {
	snap, err := t.srv.Snapshot(ctx, t.pane.ID, sessions.Window{Styled: true})
	if err == nil {
		err = snap.Ended(t.pane.Identity)
	}
	if err != nil {
		return snap, sessions.Terminal{}, err
	}
	term, err := t.srv.Terminal(snap.TTY)
	return snap, term, err
}

// tells says whether a box is seen to be on the screen: then a dialog's phrase there is
// only quoted, for no program draws both. A shell that has the foreground asks nothing;
// that it has it is a part of the guard.
func tells(box sessions.Box) bool { return box.Open && (len(box.Rows) > 0 || box.Shell) }

// guard has something typed only while the screen is as it was seen, with the box in it.
func (t *previewer) guard(s *sessions.Snapshot) sessions.Guard {
	g := sessions.Guard{Pane: t.pane.ID, Server: t.pane.Identity, Phrases: t.phrases, Saw: s, Front: s.Front}
	box := t.text.Box(s)
	if !tells(box) {
		return g
	}
	g.Rows, g.Phrases = box.Rows, absent(t.phrases, s)
	return g
}

// bareSign is a row of an unknown program up to the cursor, with nothing in it but a sign
// that says "write here".
var bareSign = regexp.MustCompile(`^[\s│┃|]*[>❯›»]?\s*$`) //nolint:gochecknoglobals // a constant

// barePrompt is the same of a shell.
var barePrompt = regexp.MustCompile(`(^|\s|[\])~\w])[$%#>❯»➜]\s*$`) //nolint:gochecknoglobals // a constant

// against says what speaks against typing; "": nothing. What isn't known for sure does.
func (t *previewer) against(s *sessions.Snapshot, term sessions.Terminal) string {
	if t.stranger != nil {
		if name := t.stranger(s); name != "" {
			return name + " has the foreground"
		}
	}
	box := t.text.Box(s)
	switch {
	case t.dialog(s.Rows) != "" && !tells(box):
		return "a dialog is open"
	case box.Shell && !t.text.Command:
		return "a shell is in its foreground, which would run the text"
	case box.Known && !box.Open:
		return "its input box isn't on the screen"
	case box.Known && box.Text != "":
		return "a half-typed text stands in its input box"
	case term.Unread > 0:
		return "it hasn't read what was typed before"
	case box.Shell && t.ahead != nil && t.ahead(s, term):
		return "something may have been typed before its prompt"
	case box.Known:
		return ""
	case t.young && blank(s):
		return "the program isn't ready for input yet"
	}
	before, behind := aroundCursor(s)
	shell := t.text.Shell(s)
	switch {
	case shell && !t.text.Command:
		return "a shell is in its foreground, which would run the text"
	case strings.TrimSpace(behind) != "":
		return "a half-typed text stands behind its cursor"
	case t.text.Text == "":
		return "it's no agent that's known, and may run the text"
	case shell && !barePrompt.MatchString(before):
		return "a half-typed text stands in its prompt, or it has another"
	case shell:
		return ""
	case term.Canonical && s.CursorX > 0:
		return "a half-typed line stands before its cursor"
	case term.Canonical && longest(t.text.Text) > term.MaxLine:
		return fmt.Sprintf("its terminal cuts lines at %d bytes", term.MaxLine)
	case !term.Canonical && !bareSign.MatchString(before):
		return "it can't be seen whether something stands in its input box"
	}
	return ""
}

// longest is the length in bytes of the longest line.
func longest(text string) int {
	most := 0
	for line := range strings.SplitSeq(text, "\n") {
		most = max(most, len(line))
	}
	return most
}

// aroundCursor is the cursor's row before and from the cursor on. A wide character counts
// as one cell, which errs to the side of seeing text.
func aroundCursor(s *sessions.Snapshot) (before, behind string) {
	y := s.HistorySize + s.CursorY - s.First
	if y < 0 || y >= len(s.Rows) {
		return "", ""
	}
	row, n := s.Rows[y], s.CursorX
	for i := range row {
		if n == 0 {
			return row[:i], row[i:]
		}
		n--
	}
	return row, ""
}
