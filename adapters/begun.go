package adapters

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// BegunTurns are turns in succession, of several that an Ending tells of, that begin in one message.
type BegunTurns struct {
	// First and Last are their places among those that the Ending tells of, from 1.
	First, Last int64
	// Took and Status are as in Ending, of one turn alone.
	Took   time.Duration
	Status int
	// Failed is how many of them failed.
	Failed int64
	// Link is the address of the message in which they begin. It's no part of the text.
	Link string

	message string // its id
}

// String is one line.
func (b BegunTurns) String() string {
	what, n := fmt.Sprintf("turn %d", b.First), b.Last-b.First+1
	switch {
	case n == 2:
		what = fmt.Sprintf("turns %d and %d", b.First, b.Last)
	case n > 2:
		what = fmt.Sprintf("turns %d to %d", b.First, b.Last)
	}
	switch {
	case b.Failed == n:
		what += " failed"
	case b.Failed > 0:
		what += fmt.Sprintf(", %d failed", b.Failed)
	}
	if b.Took > 0 {
		what += " · " + durationText(b.Took)
	}
	if b.Status != 0 {
		what += fmt.Sprintf(" · exit status %d", b.Status)
	}
	return what
}

// unlistedText says that the first of the turns aren't listed.
func unlistedText(n int64) string {
	if n == 1 {
		return "the first turn isn't listed"
	}
	return fmt.Sprintf("the first %d turns aren't listed", n)
}

// mostListed is how many messages an ending lists in which turns begin: half of a phone's screen.
const mostListed = 10

// TextLink is the beginning of a line of an ending, and where it leads.
type TextLink struct {
	Line    int // from 0
	Text    string
	Address string
}

// Links are what of the ending leads where, at most one a line, from its top.
func (e Ending) Links() []TextLink {
	switch {
	case len(e.Begun) > 0:
		links, above := make([]TextLink, len(e.Begun)), len(e.lines())-len(e.Begun)
		for i, b := range e.Begun {
			links[i] = TextLink{Line: above + i, Text: b.String(), Address: b.Link}
		}
		return links
	case e.Link != "":
		return []TextLink{{Text: e.linkedText(), Address: e.Link}}
	default:
		return nil
	}
}

// lines are those of the ending's text.
func (e Ending) lines() []string {
	lines := []string{e.summary()}
	if e.Unlisted > 0 {
		lines = append(lines, unlistedText(e.Unlisted))
	}
	for _, b := range e.Begun {
		lines = append(lines, b.String())
	}
	return lines
}

// listingLast is the ending with the last n of its lines about turns.
func (e Ending) listingLast(n int) *Ending {
	if n < len(e.Begun) {
		e.Begun = e.Begun[len(e.Begun)-n:]
		if e.Unlisted = 0; n > 0 {
			e.Unlisted = e.Begun[0].First - 1
		}
	}
	return &e
}

// listing is the ending of several turns with where they begin. Where all whose message is known begin
// in the last one's, its link says that.
func (s *situation) listing(e Ending) Ending {
	if n := len(s.begun); n == 0 || n == 1 && s.begun[0].Last == e.Turns && e.Link != "" {
		return e
	}
	e.Begun = s.begun
	if s.omitsTurns {
		e.Unlisted = e.Begun[0].First - 1
	}
	return e
}

// withoutBegunIn is the situation without the turns that begin in a message: what stands in that needs
// no link to it.
func (s *situation) withoutBegunIn(message string) *situation {
	t := *s
	t.begun = slices.DeleteFunc(slices.Clone(s.begun), func(b BegunTurns) bool { return b.message == message })
	return &t
}

// linkTurns finds the messages in which the turns begin whose end is to be announced. Those that begin in
// none yet have none.
func (d *Deliverer) linkTurns(ctx context.Context, l Linker, s *situation) error {
	if !s.announcesEnd() {
		return nil
	}
	var err error
	if _, s.link, err = d.linkTo(ctx, l, s, s.progress.TurnFirst); err != nil || len(s.before) == 0 {
		return err
	}
	p := s.progress
	turns := append(slices.Clip(s.before), sessions.Turn{
		Number: p.Turn, FirstLine: p.TurnFirst, StartedAt: p.TurnBegan, EndedAt: p.TurnEnded, Status: p.Status, Failed: p.Failed,
	})
	for _, t := range turns {
		id, link, err := d.linkTo(ctx, l, s, t.FirstLine)
		if err != nil {
			return err
		}
		if link == "" {
			continue
		}
		place := t.Number - s.doc.Turn
		if n := len(s.begun); n > 0 && s.begun[n-1].message == id {
			s.begun[n-1].Last = place
			continue
		}
		s.begun = append(s.begun, BegunTurns{First: place, Last: place, Link: link, message: id})
	}
	s.omitsTurns = len(s.begun) > mostListed || len(turns) > mostTurns
	s.begun = s.begun[max(0, len(s.begun)-mostListed):]
	for i := range s.begun {
		s.begun[i].describe(turns, s.doc.Turn)
	}
	return nil
}

// describe adds what's known of the turns. told is the number of the turn before the first of those that
// the Ending tells of.
func (b *BegunTurns) describe(turns []sessions.Turn, told int64) {
	for _, t := range turns {
		if place := t.Number - told; place < b.First || place > b.Last {
			continue
		}
		if t.Failed != "" {
			b.Failed++
		}
		if b.First == b.Last {
			b.Took = tookOf(t.StartedAt, t.EndedAt)
			if t.Status != nil {
				b.Status = *t.Status
			}
		}
	}
}

// showedFirst reports whether the chat has shown the first line of a turn, or it was written there.
func (s *situation) showedFirst(line int64) bool {
	return line > 0 && Position{Line: line}.Before(s.doc.Shown)
}

// linkTo is the message in which a line stands, and its address; "": it's in none yet, or that's not known.
func (d *Deliverer) linkTo(ctx context.Context, l Linker, s *situation, line int64) (id, link string, err error) {
	if !s.showedFirst(line) {
		return "", "", nil
	}
	id, err = d.opt.Store.MessageAt(ctx, s.binding.ID, line)
	if err != nil || id == "" {
		return "", "", err
	}
	return id, l.Link(s.doc.target(s.binding), id), nil
}
