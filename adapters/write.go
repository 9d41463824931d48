package adapters

import (
	"slices"

	"github.com/panebridge/panebridge/sessions"
)

// leastWriting is how many rows of a text that's being written are shown at least, where
// there are as many: a message with less room gets none of a next one.
const leastWriting = 3

// withRegion adds what a stream's message shows of the live region.
func (s *sight) withRegion(p Page) Page {
	switch {
	case s.ended() || s.due() || s.withheld() != "":
		return p
	case !s.known:
		return s.shape.withLive(p, s.rows, s.shape.LiveRows)
	case s.binding.View != ViewStream || s.shape.LiveRows == 0:
		return p
	default:
		return s.shape.withWriting(p, s.region)
	}
}

// beginsWriting says whether a text is being written that needs a message: the tail has
// no room for it, or there's none.
func (s *sight) beginsWriting() bool {
	if p := s.withRegion(s.page()); len(p.Writing) == 0 {
		return false
	}
	t := s.doc.Tail
	if t == nil || s.interrupted() {
		return true
	}
	p := s.withRegion(t.page().plus(s.log.between(t.From, t.To)))
	return len(p.Pieces) > 0 && len(p.Writing) < min(leastWriting, len(s.writing))
}

// hidesWriting says that a text is being written of which the tail shows nothing yet. Nobody tells
// of it again while it stands still.
func (s *sight) hidesWriting() bool {
	t := s.doc.Tail
	return (t == nil || !t.Writing) && len(s.withRegion(s.page()).Writing) > 0
}

// endTail takes the live region from the tail: it goes on in the next message.
func (s *sight) endTail() step {
	t := *s.doc.Tail
	st := s.edit(t, t.page().plus(s.log.between(t.From, t.To)))
	st.more = true
	return st
}

// unfinished is what a page that shows nothing says of the text that was being written in its message;
// "": it shows something.
func (s *sight) unfinished(m Message, p Page) string {
	switch {
	case m.From != m.To || len(p.Pieces) > 0 || p.live():
		return ""
	case s.interruptedAt(m) && (s.session.State == sessions.StateWorking || len(s.writing) > 0 || slices.ContainsFunc(s.log.between(m.To, s.doc.Shown), Piece.isPrinted)):
		return goesOn
	default:
		return neverCame
	}
}

// isPrinted says that the session has printed the piece.
func (p Piece) isPrinted() bool {
	return !p.blank() && p.Line.Kind != sessions.KindUser && p.Line.Kind != sessions.KindNotice
}

// write begins a message with a text that's being written. Its lines take the text's
// place when they're there.
func (s *sight) write() step {
	p := s.withRegion(s.page())
	m := s.message(p, s.start())
	m.Hash = s.hash(p)
	return s.step(Op{Kind: KindSend, Page: p}, Intent{Kind: KindSend, Message: m, Shown: m.To}, false)
}

// writes says whether the tail shows text that's to be replaced by the lines that are
// pending: before anything else, so that nobody sees them twice.
func (s *sight) writes() bool {
	t := s.doc.Tail
	return t != nil && t.Writing && !s.interrupted() && !s.page().Cut && !allBlank(s.settling(s.pending()))
}

// settling is what of pieces may come without a ring. A session's last line rings.
func (s *sight) settling(pieces []Piece) []Piece {
	if pieces = withoutBlankEnd(pieces); s.ended() && !s.due() && len(pieces) > 0 {
		return pieces[:len(pieces)-1]
	}
	return pieces
}

// settled edits the tail to show as many of the pending lines as fit in place of the text
// that was being written.
func (s *sight) settled() step {
	t := s.doc.Tail
	pieces := s.settling(s.log.between(t.From, Place{Line: s.limit() + 1}))
	p := s.shape.fill(t.page(), pieces)
	if s.message(p, t.From).To.Before(t.To) { // it goes on with a block that's shown in part
		p = s.shape.fillUp(t.page(), pieces)
	}
	m := s.message(p, t.From)
	m.ID, m.Hash, m.Sealed = t.ID, s.hash(p), m.To.Byte > 0
	more := s.due() || s.ended() || !s.all() || !allBlank(rest(pieces, p))
	return s.step(Op{Kind: KindEdit, Message: t.ID, Page: p}, Intent{Kind: KindEdit, Message: m, Shown: m.To}, more)
}
