package adapters

import (
	"errors"
	"fmt"
	"time"
)

// Lost is what's known of the threads made for a document that couldn't be written to. What's
// lost once is made anew at once. When the new one can't be written to either, or is lost
// soon after, everything's shown in the chat itself, and a thread is tried again seldom.
type Lost struct {
	At    time.Time `json:"at"`             // when the last one was lost
	Times int       `json:"times"`          // how many were, each soon after the one before
	Again time.Time `json:"again,omitzero"` // no thread is made before; zero: one may be made
	Why   string    `json:"why,omitempty"`  // what the platform said, as a sentence
	// Unmade says that none could be made.
	Unmade bool `json:"unmade,omitempty"`
	// Nowhere says that the chat takes nothing beside its threads: nothing is shown meanwhile.
	Nowhere bool `json:"nowhere,omitempty"`
}

const (
	// soonLost is how long a thread must have been in use to count as a good one.
	soonLost = 10 * time.Minute
	// firstTry is how long after threads couldn't be written to another one is tried, and
	// lastTry the longest that grows to, twice as long each time; four times where none can be
	// made: mostly a person has to change that, which the platform tells.
	firstTry = 10 * time.Minute
	lastTry  = 6 * time.Hour
)

// losesThread is the document when its thread can't be written to.
func (d Document) losesThread(shape Shape, now time.Time, why error) Document {
	l := Lost{At: now, Times: 1, Nowhere: shape.OnlyThreads}
	if why != nil {
		l.Why = reasonOf(why)
	}
	if was := d.Lost; was != nil && (was.Unmade && d.Thread == "" || now.Before(laterTime(was.At, was.Again).Add(soonLost))) {
		l.Times = was.Times + 1
	}
	if !d.Proven || l.Times > 1 {
		l.Again = now.Add(min(firstTry<<min(l.Times-1, 10), lastTry))
	}
	d.Thread, d.Title, d.Proven, d.Tail, d.Stale, d.Lost = "", "", false, nil, nil, &l
	return d
}

// forgetLost is the document when it may get a thread again, if it has lost its own in a certain way.
func (d Document) forgetLost(which func(l Lost) bool) Document {
	if d.Lost != nil && which(*d.Lost) && d.Thread == "" && !d.Lost.Nowhere {
		d.Lost = nil
	}
	return d
}

func (l Lost) isUnmade() bool { return l.Unmade }

// reasonOf is what an error says of why, without what wasn't done, where an adapter's error knows it.
func reasonOf(err error) string {
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		return r.Reason()
	}
	return err.Error()
}

// trouble is what's wrong with a thread.
func (l *Lost) trouble() string {
	if l.Unmade {
		return "can't be made"
	}
	return "can't be written to"
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// astray says that the document has no thread of its own because none can be written to:
// it's shown in the chat itself, if anything can.
func (d Document) astray(shape Shape, now time.Time) bool {
	return shape.OwnThread && d.Thread == "" && d.Lost != nil && !d.Lost.Nowhere && now.Before(d.Lost.Again)
}

func (s *sight) astray() bool { return s.doc.astray(s.shape, s.now) }

// problem says what's wrong with where a document is shown, as a sentence; "": nothing is.
func (d Document) problem(shape Shape, now time.Time) string {
	if !shape.OwnThread || d.Thread != "" || d.Lost == nil || d.Lost.Nowhere || d.Lost.Again.IsZero() {
		return ""
	}
	when := "with its next output"
	if d.astray(shape, now) {
		when = "at " + d.Lost.Again.Format(time.TimeOnly)
	}
	return fmt.Sprintf("its %s %s (%s), so it's shown in the chat itself; another is tried %s", shape.Threads, d.Lost.trouble(), d.Lost.Why, when)
}

// astrayText is the notice at the top of a message that's shown in the chat itself in place
// of a thread; "": it belongs there.
func (s *sight) astrayText() string {
	switch form := s.withheld(); {
	case !s.astray():
		return ""
	case form == FormFile || form == FormNotice: // its name may be what's refused
		return "[a session's " + s.shape.Threads + " " + s.doc.Lost.trouble() + ", so it's shown here]"
	}
	return s.astrayName()
}

// astrayName is the notice with the session's name.
func (s *sight) astrayName() string {
	return "[" + threadTitle(s.session) + ": its " + s.shape.Threads + " " + s.doc.Lost.trouble() + ", so it's shown here]"
}
