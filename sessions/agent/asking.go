package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// How long the screen must read the same before it counts: programs draw in several
// writes, some milliseconds apart, and opencode 1.18.33 fills in what a dialog is about
// later.
const (
	shownAfter   = 200 * time.Millisecond  // a dialog
	partialAfter = 3 * time.Second         // one of which a part is yet to be drawn
	unreadAfter  = 1200 * time.Millisecond // one that no form knows, or a line that's asked for
	goneAfter    = 50 * time.Millisecond   // none
	clearedAfter = time.Second             // none, and no input box either: it may be drawn anew
)

// dialogWatch is what an observer makes of the dialogs that it sees: one counts, or has gone,
// when two looks in succession read the same. It's for one goroutine.
type dialogWatch struct {
	read  string    // fingerprint of what was read last; "": none
	since time.Time // since when; zero: nothing was read
	sure  bool
	shown *sessions.Dialog // the last that was sure
}

// noteDialog works in what a look read, nil: no dialog; cleared: nor anything else that the program
// always draws, where a dialog was shown that's known. It reports whether that's sure, and when to look again if it isn't.
func (a *dialogWatch) noteDialog(d *sessions.Dialog, cleared bool, now time.Time) (sure bool, again time.Time) {
	seen := ""
	if d != nil {
		seen = d.Print
	}
	if a.since.IsZero() || seen != a.read {
		// Nothing that's there from the first look on is no change.
		a.sure = a.since.IsZero() && d == nil
		a.read, a.since = seen, now
	}
	after := shownAfter
	switch {
	case d == nil && cleared:
		after = clearedAfter
	case d == nil:
		after = goneAfter
	case d.Kind == sessions.PromptUnread, d.Kind == sessions.PromptLine:
		after = unreadAfter
	case d.Partial:
		after = partialAfter
	}
	if !a.sure && now.Sub(a.since) >= after {
		a.sure = true
	}
	if a.sure {
		return true, time.Time{}
	}
	return false, a.since.Add(after + 10*time.Millisecond)
}

// addDialog adds the dialog on the screen to an observation.
func (o *Observer) addDialog(s *sessions.Observation, l sessions.Poll) {
	switch {
	case l.Last:
		s.Prompts, o.asking.shown = true, nil // the program ends, and with it what it asks
		o.tellWaitingHooks(nil)
		o.noteDialogGone(nil)
		return
	case l.Screen == nil:
		return
	}
	var d *sessions.Dialog
	if l.Dialog != "" {
		d = o.profile().promptOrPart(l.Screen, nil)
	}
	o.noteStanding(d, l)
	d = o.recorded(d)
	u := o.lookUnread(s, l.Screen, d != nil)
	if d == nil {
		d = o.w.unread(o.profile(), l.Screen, u)
	}
	if d == nil && s.Asks != "" {
		d = o.asksFor
	}
	was := o.asking.shown
	cleared := d == nil && was != nil && was.Form != "" && o.profile().Box(l.Screen).Missing()
	sure, again := o.asking.noteDialog(d, cleared, l.Now)
	if sure {
		o.noteDialogGone(d)
		o.asking.shown = d
		s.Prompt, s.Prompts = d, true
		o.tellWaitingHooks(d)
	} else {
		s.Again = sooner(s.Again, again)
	}
	if o.hookDecides(s, l.Screen, d) {
		s.State, s.Reason = sessions.StateWorking, "a hook runs, which may decide about a permission"
	}
	if shown := o.asking.shown; s.Known && shown != nil && shown.Kind == sessions.PromptUnread && s.State != sessions.StateWaiting {
		s.State, s.Reason = sessions.StateWaiting, "its screen looks like a question, which isn't recognised"
	}
}

// hookDecides reports whether what a program is said to wait for is decided by a hook of the
// person's own: no dialog is drawn meanwhile, and no hook of panebridge's waits for somebody.
func (o *Observer) hookDecides(s *sessions.Observation, screen *sessions.Snapshot, d *sessions.Dialog) bool {
	if !s.Known || s.State != sessions.StateWaiting || d != nil {
		return false
	}
	o.known.mu.Lock()
	waits := len(o.known.deciders) > 0
	o.known.mu.Unlock()
	p := o.profile()
	return !waits && p.runsHook(p.layout(screen, true))
}

// Read reads the dialog on a session's screen, as sessions.Dialogs has it.
func (w *Watchers) Read(id sessions.ID, s *sessions.Snapshot, styled *sessions.Screen) *sessions.Dialog {
	if s == nil {
		return nil
	}
	w.mu.Lock()
	o := w.observers[id]
	w.mu.Unlock()
	if o == nil {
		return w.profileOf(id).Prompt(s, styled)
	}
	if d := o.recorded(w.profileOf(id).promptOrPart(s, styled)); d != nil {
		o.known.noteRead(d)
		return d
	}
	o.known.mu.Lock()
	p, u := o.known.dialogs, o.known.unread
	o.known.mu.Unlock()
	return w.unread(p, s, u)
}

// Next says what to do next on the way to an answer, as sessions.Dialogs has it.
func (w *Watchers) Next(id sessions.ID, d *sessions.Dialog, a sessions.Answer) (sessions.DialogStep, error) {
	switch {
	case d == nil:
		return sessions.DialogStep{}, fmt.Errorf("%w answer: no dialog is open", sessions.ErrInvalid)
	case d.Nth > 0 && a.Text == "" && len(a.Options) == 0:
		return sessions.DialogStep{}, fmt.Errorf("%w answer: nothing was chosen of all that's asked", sessions.ErrInvalid)
	case d.Nth > 0:
		return sessions.DialogStep{}, fmt.Errorf("%w: the agent's hook doesn't wait for it any more", sessions.ErrUnavailable)
	case d.Only != "" && slices.ContainsFunc(a.Options, func(i int) bool { return i < 0 || i >= len(d.Options) || !d.Options[i].Refuses }):
		return sessions.DialogStep{}, fmt.Errorf("%w: the agent's hook doesn't wait for it any more", sessions.ErrUnavailable)
	case d.Kind == sessions.PromptUnread && a.Text == "" && len(a.Options) == 1 && a.Options[0] >= 0 && a.Options[0] < len(d.Options):
		return sessions.DialogStep{Keys: []string{d.Options[a.Options[0]].Key}, Last: true}, nil
	}
	return w.profileOf(id).Next(d, a)
}

// profileOf is the profile of the program that runs in a session.
func (w *Watchers) profileOf(id sessions.ID) *Profile {
	w.mu.Lock()
	o := w.observers[id]
	w.mu.Unlock()
	if o == nil {
		return w.opt.Profiles.Generic()
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	if o.known.dialogs == nil {
		return w.opt.Profiles.Generic()
	}
	return o.known.dialogs
}
