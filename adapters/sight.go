package adapters

import (
	"slices"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// sight is what's known when a slot comes: all that a plan depends on.
type sight struct {
	now time.Time
	// deafUntil is when threads are tried again in the chat, of which others can't be written to.
	deafUntil time.Time
	nonce     string // for a new message
	call      qos.Call
	binding   Binding
	doc       Document
	session   sessions.Session
	progress  Progress
	region            // the live region
	log       backlog // from the first line that a message to edit shows
	shape     Shape
	quiet     bool     // nothing may ring
	users     []string // who uses the place lately; see HubOptions.Users
	spared    bool     // the end of the turn rings nobody: whoever it's for is looking
	left      string   // id of the message to which nothing is added any more; "": none
	// held is the first line that isn't to be shown before until, since a secret may go on
	// behind it; 0: all may be. progress.Head is before it.
	held  int64
	until time.Time
	link  string // address of the message in which the newest turn begins; "": not known
	// words are Ending.Words of the turn whose end is to be announced, and begin in line
	// wordsAt; "": there are none.
	words   string
	wordsAt int64
	// earlier is Ending.Earlier, and earlierWhy its Why.
	earlier    int
	earlierWhy string

	waiting []Piece // what pending returns, once it was asked
}

// due says whether the end of a turn is to be announced.
func (s *sight) due() bool { return s.turnEnd() > 0 }

// turnEnd is the line at which the newest turn ended that's to be announced; 0: none
// is.
func (s *sight) turnEnd() int64 {
	p, d := s.progress, s.doc
	switch {
	case s.held > 0 && p.TurnEnd >= s.held:
		return 0
	case s.call.Final > max(d.Announced, p.TurnEnd):
		return s.call.Final // the log has forgotten that turn
	case p.Turn > d.Turn && p.TurnEnd > d.Announced:
		return p.TurnEnd
	default:
		return 0
	}
}

func (s *sight) ended() bool { return s.session.State == sessions.StateEnded }

// limit is the last line that's to be shown now. The message that announces a turn's
// end ends with it.
func (s *sight) limit() int64 {
	switch end := s.turnEnd(); {
	case s.ended():
		return s.progress.Head
	case end > 0:
		return end
	case s.binding.View == ViewFinal && s.held > 0 && s.progress.TurnEnd >= s.held:
		return s.doc.Delivered()
	case s.binding.View == ViewFinal:
		return s.progress.TurnEnd
	default:
		return s.progress.Head
	}
}

// pending is what's to be shown and isn't, as far as it's loaded. The document
// doesn't change any more when it's asked.
func (s *sight) pending() []Piece {
	if s.waiting == nil {
		s.waiting = s.log.between(s.doc.Shown, Place{Line: s.limit() + 1})
	}
	return s.waiting
}

// start is where pending begins: behind what's shown, or what the log has dropped.
func (s *sight) start() Place {
	return laterPlace(s.doc.Shown, Place{Line: min(s.log.first(), s.limit()+1)})
}

// behindHidden is the place behind lines that stand at a place and aren't shown: nothing of them
// is missing.
func (s *sight) behindHidden(at Place) Place {
	for _, p := range s.log.between(at, Place{Line: s.limit() + 1}) {
		if !p.blank() {
			break
		}
		if p.Hidden {
			at = p.end()
		}
	}
	return at
}

// all says whether pending is all there is.
func (s *sight) all() bool { return s.log.all || s.loaded() > s.limit() }

// loaded is the number of the first line behind what's loaded.
func (s *sight) loaded() int64 { return s.log.first() + int64(len(s.log.pieces)) }

// page is an empty page for what's pending.
func (s *sight) page() Page {
	p := Page{Astray: s.astrayText()}
	shown := s.doc.Shown.Line
	if end := s.start().Line; end > shown {
		p.Cut, p.Dropped = true, max(0, end-max(shown, s.doc.Doubt.To.Line))
	}
	p.Double = s.start().Before(s.doc.Doubt.To) || s.doc.Doubt.Screen && s.binding.View != ViewScreen
	return p
}

// nothing says that there's nothing to show and nothing to announce.
func (s *sight) nothing() bool {
	if s.binding.View == ViewScreen {
		return len(s.rows) == 0 && !s.due()
	}
	return !s.due() && !s.page().Cut && allBlank(s.pending())
}

// asks says that the session waits for somebody: what it asks is shown in its thread.
func (s *sight) asks() bool { return s.session.State == sessions.StateWaiting }

func (s *sight) needsThread() bool {
	return s.shape.OwnThread && s.doc.target(s.binding).Thread == "" && !s.astray()
}

// fillsThread says that there's something for a thread to be made for, or somebody who looks
// for it.
func (s *sight) fillsThread() bool {
	return !s.nothing() || s.beginsWriting() || s.asks() || s.binding.expected(s.session)
}

// leavesThread says that the thread made for the document is to be closed, once
// everything is in it.
func (s *sight) leavesThread() bool {
	return s.ended() && s.shape.ClosesThreads && s.doc.Thread != "" && !s.doc.Closed
}

// interrupted says that something else stands below the tail, or that somebody has written in
// this place since its last line: what comes then stands below that, the text that's being written
// in the tail included.
func (s *sight) interrupted() bool {
	t := s.doc.Tail
	return t != nil && t.View != ViewScreen && s.interruptedAt(*t)
}

// interruptedAt is interrupted of any message. One that shows no line yet stands below all that was written before
// it was begun, whenever that's typed.
func (s *sight) interruptedAt(m Message) bool {
	if m.ID == s.left {
		return true
	}
	if m.From == m.To {
		return false
	}
	return slices.ContainsFunc(s.log.between(m.To, Place{Line: s.progress.Head + 1}), func(p Piece) bool {
		return p.Hidden && p.Line.Kind == sessions.KindUser && p.Line.Begins
	})
}

// fitsTail says whether all that's pending can be added to the tail.
func (s *sight) fitsTail() bool {
	t := s.doc.Tail
	if t == nil || s.due() || s.ended() || s.page().Cut || !s.all() || s.interrupted() {
		return false
	}
	pieces := withoutBlankEnd(s.log.between(t.From, Place{Line: s.limit() + 1}))
	return s.shape.fits(t.page().plus(pieces))
}
