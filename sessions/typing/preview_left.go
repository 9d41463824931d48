package typing

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
)

// FinishPreview does the same for a pane of which no manager knows: see TypePreview.
func FinishPreview(ctx context.Context, srv sessions.Server, pane sessions.Pane, p sessions.Preview, phrases []string, dialog func(rows []string) string) (end sessions.PreviewEnd, why string) {
	t := previewer{srv: srv, pane: pane, text: p, phrases: phrases, dialog: dialog, stop: p.Stop}
	return t.finish(ctx)
}

func (t *previewer) finish(ctx context.Context) (end sessions.PreviewEnd, why string) {
	snap, term, err := t.settled(ctx)
	switch {
	case errors.Is(err, sessions.ErrEnded), errors.Is(err, sessions.ErrUnknown):
		return sessions.PreviewUnknown, err.Error()
	case err != nil:
		return sessions.PreviewUnclear, err.Error()
	case term.Unread > 0:
		return sessions.PreviewUnclear, "it hasn't read what was typed before"
	}
	t.fit(&snap)
	switch box := t.text.Box(&snap); {
	case t.dialog(snap.Rows) != "" && !tells(box):
		return sessions.PreviewUnclear, "a dialog is open"
	case !t.text.Command && (box.Shell || t.text.Shell(&snap)):
		return sessions.PreviewUnknown, "a shell is in its foreground, which would run what stands before it"
	case !box.Known:
		return sessions.PreviewUnknown, "what stands in its input box can't be read"
	case !box.Open:
		return sessions.PreviewUnclear, "its input box isn't on the screen"
	case box.Text == "":
		return sessions.PreviewUnknown, "it doesn't stand in its input box"
	case withoutSpace(box.Text) != withoutSpace(t.text.Text):
		return sessions.PreviewUnknown, "something else stands in its input box, or something beside it"
	}
	t.shown = true
	return sessions.PreviewFinished, t.submit(context.WithoutCancel(ctx), &snap)
}

// settled looks when what may have been pasted just now must be on the screen.
func (t *previewer) settled(ctx context.Context) (sessions.Snapshot, sessions.Terminal, error) {
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
