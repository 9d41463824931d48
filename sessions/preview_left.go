package sessions

import (
	"context"
	"errors"
	"strings"
	"unicode"
)

// PreviewEnd is what became of a preview whose typing was cut off.
type PreviewEnd int

// The ends.
const (
	// PreviewUnknown: it's gone, or it can't be told.
	PreviewUnknown PreviewEnd = iota
	// PreviewFinished: it stood in the input box, and is submitted.
	PreviewFinished
	// PreviewUnclear: what's in the way may pass.
	PreviewUnclear
)

// FinishPreview looks what became of a preview that was being typed into a session by
// somebody who has ended, and submits it if it stands in the input box with nothing
// beside it. It's not typed again. why says what has kept it from being submitted, or
// why nobody knows. That the program is working, or nothing is known of it yet, is no
// reason to wait, as it is for one that isn't typed: what stands in the box keeps others
// from typing, and hides what an agent's state is read from.
func (m *Manager) FinishPreview(ctx context.Context, id ID, p Preview) (end PreviewEnd, why string) {
	t, s, e, err := m.previewer(id, p)
	if err != nil {
		return PreviewUnknown, err.Error()
	}
	if s.State == StateWaiting {
		return PreviewUnclear, m.whyWaits(s)
	}
	if err := e.keyboard.takeWithin(ctx, previewKeyboard); err != nil {
		return PreviewUnclear, "an input is being typed"
	}
	defer e.keyboard.giveBack()
	end, why = PreviewUnknown, errPreviewPanicked.Error()
	m.containPanic(ctx, id, WorkerPreview, func() { end, why = t.finish(ctx) })
	if end == PreviewFinished {
		m.opt.Pollers.Typed(id, t.text.Text)
	}
	return end, why
}

// FinishLonelyPreview does the same for a pane of which no manager knows: see TypePreview.
func FinishLonelyPreview(ctx context.Context, srv Server, pane Pane, p Preview, phrases []string, dialog func(rows []string) string) (end PreviewEnd, why string) {
	t := previewer{srv: srv, pane: pane, text: p, phrases: phrases, dialog: dialog, stop: p.Stop}
	return t.finish(ctx)
}

func (t *previewer) finish(ctx context.Context) (end PreviewEnd, why string) {
	snap, term, err := t.settled(ctx)
	switch {
	case errors.Is(err, ErrEnded), errors.Is(err, ErrUnknown):
		return PreviewUnknown, err.Error()
	case err != nil:
		return PreviewUnclear, err.Error()
	case term.Unread > 0:
		return PreviewUnclear, "it hasn't read what was typed before"
	}
	t.fit(&snap)
	switch box := t.text.Box(&snap); {
	case t.dialog(snap.Rows) != "" && !tells(box):
		return PreviewUnclear, "a dialog is open"
	case !t.text.Command && (box.Shell || t.text.Shell(&snap)):
		return PreviewUnknown, "a shell is in its foreground, which would run what stands before it"
	case !box.Known:
		return PreviewUnknown, "what stands in its input box can't be read"
	case !box.Open:
		return PreviewUnclear, "its input box isn't on the screen"
	case box.Text == "":
		return PreviewUnknown, "it doesn't stand in its input box"
	case withoutSpace(box.Text) != withoutSpace(t.text.Text):
		return PreviewUnknown, "something else stands in its input box, or something beside it"
	}
	t.shown = true
	return PreviewFinished, t.submit(context.WithoutCancel(ctx), &snap)
}

// settled looks when what may have been pasted just now must be on the screen.
func (t *previewer) settled(ctx context.Context) (Snapshot, Terminal, error) {
	ctx, cancel := context.WithTimeout(ctx, previewWithin)
	defer cancel()
	snap, term, err := t.look(ctx)
	if err != nil || term.Unread > 0 {
		return snap, term, err
	}
	if _, err := t.settle(ctx, &snap); err != nil {
		return snap, term, err
	}
	return t.look(ctx)
}

// withoutSpace is a text as it's compared with what a box shows of it, which breaks rows
// where it likes.
func withoutSpace(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}
