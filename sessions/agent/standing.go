package agent

import (
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// lateAfter is how long after its dialog was seen first an agent may have told of a call. All that
// were measured tell before they draw it, or at most 15 ms after (opencode 1.18.33): what's told
// later is another call's.
const lateAfter = 10 * time.Second

// standing is what's known of how long a dialog has stood on a session's screen.
type standing struct {
	// open says that the program was seen without one: what was asked before the observer's first
	// look has been answered.
	open bool
	// letters are those of the dialog of the last look; "": none was seen since one had gone.
	letters string
	// since is when it was seen first; zero: it may have stood there before the first look.
	since time.Time
	// recorded says that it was shown by its call's record.
	recorded bool
}

// noteLook takes in what a look read, nil: no dialog. Open says that the program's input box, or its
// screen where none is known, shows that none stands there. A dialog that's drawn otherwise,
// or not at all for a moment, is the same until then, unless its call was known.
func (s *standing) noteLook(d *sessions.Dialog, open bool, now time.Time) {
	if d == nil {
		if open {
			*s = standing{open: true}
		}
		return
	}
	letters := squeezed(strings.Join(d.Above, "") + strings.Join(d.Drawn, "") + d.Form)
	if s.letters == "" && s.open || s.letters != letters && s.recorded {
		s.since, s.recorded = now, false
	}
	s.letters = letters
}

// isLate reports whether a call was told of too late to be that of the dialog that stands there.
func (s *standing) isLate(one *call) bool {
	return s.letters != "" && !one.told.IsZero() && one.told.After(s.since.Add(lateAfter))
}

// callsFor are the calls as the dialog that stands there may be about them: one that was told of later is
// none's record, as those that have gone, but may be drawn alike.
func (c calls) callsFor(s *standing) calls {
	out := make(calls, len(c))
	copy(out, c)
	for i := range out {
		if one := &out[i]; !one.served && !one.lost && s.isLate(one) {
			one.gone = true
		}
	}
	return out
}

// noteStanding takes in what a look read, nil: no dialog.
func (o *Observer) noteStanding(d *sessions.Dialog, l sessions.Poll) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	s, p := &o.known.standing, o.profile()
	if heard := o.known.heard; o.program == nil && o.given == nil {
		if p = nil; heard != nil { // it isn't known to run, but tells
			p = o.w.opt.Profiles.Get(heard.Agent)
		}
	}
	open := d == nil && p != nil && (!s.open || s.letters != "") && p.takesText(l.Screen)
	s.noteLook(d, open, l.Now)
}

// takesText reports whether a program's empty input box is on the screen. One whose box isn't known
// is taken to show it.
func (p *Profile) takesText(screen *sessions.Snapshot) bool {
	box := p.Box(screen)
	return !box.Known || box.Open && box.Text == "" // a dialog's rows may look like one that isn't empty
}

// endDialogs takes in that the program has ended, and with it what it asked.
func (k *observerNews) endDialogs() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.standing, k.raw, k.read = standing{open: true}, rawCalls{}, ""
}
