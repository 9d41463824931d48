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
	w := &pressing{Hand: h, srv: srv, pane: s.Pane, keys: p}
	err = run(ctx, w)
	return w.out, err
}

// pressing presses keys that a person has chosen.
type pressing struct {
	*Hand

	srv   sessions.Server
	pane  sessions.Pane
	keys  sessions.KeyPress
	tries int
	out   sessions.Outcome // of the last try
}

func (w *pressing) next(ctx context.Context) (step, error) {
	s := step{srv: w.srv, guard: sessions.Guard{Pane: w.pane.ID, Server: w.pane.Identity}, keys: w.keys.Keys}
	if refuses(w.keys.Keys) {
		return s, nil
	}
	snap, err := w.srv.Snapshot(ctx, w.pane.ID, sessions.Window{})
	if err == nil {
		err = snap.Ended(w.pane.Identity)
	}
	if err == nil {
		s.guard, err = w.keysGuard(&snap, w.keys)
	}
	return s, err
}

func (w *pressing) after(ctx context.Context, _ step, out sessions.Outcome, err error) (done bool, failed error) {
	w.out = out
	if w.tries++; err != nil || refuses(w.keys.Keys) || out != sessions.Moved && (out != sessions.Held || !w.keys.Answers) {
		return true, err
	}
	err = sessions.Pause(ctx, lookEvery)
	return w.tries == keysTries, err
}

// refuses reports whether keys can only refuse what's asked.
func refuses(keys []string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return k != "Escape" && k != "C-c" })
}

// keysGuard says when keys may be pressed: while no dialog is open, or while the one that
// the person has seen stands there, if it's theirs to answer.
func (h *Hand) keysGuard(snap *sessions.Snapshot, p sessions.KeyPress) (sessions.Guard, error) {
	t := &typist{Hand: h, pane: snap.Pane}
	g, open := t.guardScreen(snap)
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
