package typing

import (
	"context"
	"slices"

	"github.com/panebridge/panebridge/sessions"
)

// keysTries is how often keys are tried on a screen that changes meanwhile.
const keysTries = 20

// PressKeys presses keys as soon as the screen is one on which they may be.
func (h *Hand) PressKeys(ctx context.Context, p sessions.KeyPress) (out sessions.Outcome, err error) {
	s, srv, err := h.desk.Living()
	if err != nil {
		return "", err
	}
	if refuses(p.Keys) {
		return srv.Press(ctx, sessions.Guard{Pane: s.Pane.ID, Server: s.Pane.Identity}, p.Keys...)
	}
	for range keysTries {
		snap, err := srv.Snapshot(ctx, s.Pane.ID, sessions.Window{})
		if err == nil {
			err = snap.Ended(s.Pane.Identity)
		}
		if err != nil {
			return "", err
		}
		g, err := h.keysGuard(&snap, p)
		if err != nil {
			return "", err
		}
		if out, err = srv.Press(ctx, g, p.Keys...); err != nil || out != sessions.Moved && (out != sessions.Held || !p.Answers) {
			return out, err
		}
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return "", err
		}
	}
	return out, nil
}

// refuses reports whether keys can only refuse what's asked.
func refuses(keys []string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return k != "Escape" && k != "C-c" })
}

// keysGuard says when keys may be pressed: while no dialog is open, or while the one that
// the person has seen stands there, if it's theirs to answer.
func (h *Hand) keysGuard(snap *sessions.Snapshot, p sessions.KeyPress) (sessions.Guard, error) {
	t := &typist{Hand: h, pane: snap.Pane}
	g, open := t.guard(snap)
	d := h.opt.Dialogs.Read(h.desk.ID(), snap, nil)
	if !open && d == nil {
		g.Saw, g.Front = nil, "" // a spinner, or what's printed, changes nothing
		if len(g.Rows) > 0 {
			g.Saw = snap
		}
		return g, nil
	}
	switch {
	case !p.Answers:
		return g, sessions.ErrNotToAnswer
	case !h.desk.HadSeen(d, p.Seen):
		return g, sessions.ErrNewDialog
	}
	g.Phrases, g.Saw, g.Rows = nil, snap, nil
	if d != nil {
		g.Rows = sessions.TellingRows(snap.Rows, d.First, d.Last, checkedRows)
	}
	return g, nil
}
