package sessions

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Preview is a text that's typed and submitted now or not at all: it tells somebody of
// something that's kept elsewhere.
type Preview struct {
	Text string
	// Command says that the text is a command of panebridge's own, which a shell may run.
	// Any other text is typed into no shell.
	Command bool
	// Plain is what's typed in place of a text that isn't a command into a program that's no
	// known agent: it may run what it's given, as a shell at the other end of ssh does, or an
	// interpreter. So it has no words of others. "": nothing is.
	Plain string
	// Fit makes Text or Plain one for the program in the pane, which may need another word
	// for a command than others. Nil: it's typed as it is.
	Fit   func(text string, s *Snapshot) string
	Box   func(*Snapshot) Box  // reads the input box of the program in the pane
	Shell func(*Snapshot) bool // says whether that's a shell
	// Stop is closed when only what needs no waiting for others is still to be done. Nil:
	// never; a Manager's own Run sees to it.
	Stop <-chan struct{}
}

const (
	previewKeyboard = 2 * time.Second  // until nobody else types
	previewWithin   = 30 * time.Second // until it's submitted, once it's in the input box
)

// Preview types a preview into a session if nothing speaks against it: the program is
// working, a dialog is open, an input waits or something stands in the input box. sent is
// false if it surely isn't typed, and why says why. If it is, why says what has kept it
// from being submitted, "" for nothing. After an error it's unknown.
func (m *Manager) Preview(ctx context.Context, id ID, p Preview) (sent bool, why string, err error) {
	t, s, e, err := m.previewer(id, p)
	if err != nil {
		return false, err.Error(), nil //nolint:nilerr // it's the reason
	}
	m.mu.Lock()
	waiting := len(e.queue) > 0 || e.typing
	m.mu.Unlock()
	switch {
	case s.State == StateWorking || s.State == StateStarting:
		return false, "it's " + string(s.State) + "; it's told when it's idle", nil
	case s.State == StateWaiting:
		return false, m.whyWaits(s), nil
	case waiting:
		return false, "an input is being typed", nil
	}
	if err := e.keyboard.takeWithin(ctx, previewKeyboard); err != nil {
		return false, "an input is being typed", nil //nolint:nilerr // it's the reason
	}
	defer e.keyboard.giveBack()
	err = errPreviewPanicked
	m.containPanic(ctx, id, WorkerPreview, func() { sent, why, err = t.run(ctx) })
	if sent {
		m.opt.Pollers.Typed(id, t.text.Text)
	}
	return sent, why, err
}

// whyWaits says what a session that waits waits for: a dialog, or what its state says.
func (m *Manager) whyWaits(s Session) string {
	if shown, known := m.shownOf(s.ID); known && (shown == nil || shown.Kind == PromptLine) && s.Reason != "" {
		return s.Reason
	}
	return "a dialog is open"
}

// errPreviewPanicked says that nobody knows whether a preview was typed.
var errPreviewPanicked = fmt.Errorf("%w: panebridge failed while it typed the preview", ErrUncertain)

// previewer is for a session's pane, whose keyboard has to be taken yet.
func (m *Manager) previewer(id ID, p Preview) (*previewer, Session, *entry, error) {
	s, srv, err := m.living(id)
	if err != nil {
		return nil, s, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil {
		return nil, s, nil, errors.New("the session is gone")
	}
	t := &previewer{srv: srv, pane: s.Pane, text: p, phrases: m.opt.Phrases, dialog: m.opt.Dialog, young: e.young()}
	t.stranger = func(s *Snapshot) string { return m.strangerIn(id, s) }
	t.ahead = func(s *Snapshot, term Terminal) bool { return m.mayBeAhead(id, s, term) }
	if m.ctx != nil {
		t.stop = m.ctx.Done()
	}
	return t, s, e, nil
}

// TypePreview does the same for a pane of which no manager knows. phrases and dialog are
// as in Options.
func TypePreview(ctx context.Context, srv Server, pane Pane, p Preview, phrases []string, dialog func(rows []string) string) (sent bool, why string, err error) {
	t := previewer{srv: srv, pane: pane, text: p, phrases: phrases, dialog: dialog, stop: p.Stop}
	return t.run(ctx)
}

// previewer types one preview.
type previewer struct {
	srv     Server
	pane    Pane
	text    Preview
	phrases []string
	dialog  func(rows []string) string
	stop    <-chan struct{} // closed when only what needs no waiting is still done; nil: never
	shown   bool            // the text was seen in the input box
	young   bool            // the session has just begun, and its program may not have yet
	// stranger names the program that has the foreground in place of the one that people
	// write to; "": that one has it. Nil: it isn't known whom they write to.
	stranger func(s *Snapshot) (name string)
	// ahead reports whether something may have been typed before a shell's prompt. Nil: it
	// isn't known.
	ahead func(*Snapshot, Terminal) bool
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
		switch out, err := t.srv.Paste(hand, t.guard(&snap), t.text.Text); {
		case errors.Is(err, ErrUncertain):
			return false, "", fmt.Errorf("type the preview: %w", err)
		case err != nil:
			return false, err.Error(), nil
		case out == Dead:
			return false, "its program has ended", nil
		case out == Held:
			return false, "a dialog is open", nil
		case out == Moved && (tries >= movedTries || t.await(ctx) != nil):
			return false, "its screen is changing", nil
		case out == Moved:
			continue
		}
		return true, t.submit(hand, &snap), nil
	}
}

// choose has the plain text typed where the program isn't known to be an agent, and fits
// what's typed.
func (t *previewer) choose(s *Snapshot) {
	if !t.text.Command && !t.text.Box(s).Known {
		t.text.Text = t.text.Plain
	}
	t.fit(s)
}

// fit makes the text one for the program in the pane, once.
func (t *previewer) fit(s *Snapshot) {
	if t.text.Fit != nil {
		t.text.Text, t.text.Plain = t.text.Fit(t.text.Text, s), t.text.Fit(t.text.Plain, s)
		t.text.Fit = nil
	}
}

// look takes a snapshot of the pane.
func (t *previewer) look(ctx context.Context) (Snapshot, Terminal, error) {
	snap, err := t.srv.Snapshot(ctx, t.pane.ID, Window{Styled: true})
	if err == nil {
		err = snap.ended(t.pane.Identity)
	}
	if err != nil {
		return snap, Terminal{}, err
	}
	term, err := t.srv.Terminal(snap.TTY)
	return snap, term, err
}

// tells says whether a box is seen to be on the screen: then a dialog's phrase there is
// only quoted, for no program draws both. A shell that has the foreground asks nothing;
// that it has it is a part of the guard.
func tells(box Box) bool { return box.Open && (len(box.Rows) > 0 || box.Shell) }

// guard has something typed only while the screen is as it was seen, with the box in it.
func (t *previewer) guard(s *Snapshot) Guard {
	g := Guard{Pane: t.pane.ID, Server: t.pane.Identity, Phrases: t.phrases, Saw: s, Front: s.Front}
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
func (t *previewer) against(s *Snapshot, term Terminal) string {
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
func aroundCursor(s *Snapshot) (before, behind string) {
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
