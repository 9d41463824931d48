package api

import (
	"context"
	"fmt"

	"github.com/panebridge/panebridge/sessions"
)

// page sends one page of a session's log in the order in which its parts
// stand: gaps, lines and the end of a turn.
type page struct {
	*stream
	id    sessions.ID
	pos   *position
	ctx   context.Context //nolint:containedctx // of the one call that sends it
	marks *marks
	gaps  []sessions.Gap // not sent yet
}

func (p *page) send(lines []sessions.Line) error {
	if len(lines) > 0 {
		if err := p.fillHole(lines[0].N); err != nil {
			return err
		}
	}
	p.skipSent()
	for len(lines) > 0 || len(p.gaps) > 0 {
		if len(p.gaps) > 0 && (len(lines) == 0 || p.gaps[0].After < lines[0].N) {
			if err := p.sendGap(); err != nil {
				return err
			}
			continue
		}
		n := p.together(lines)
		if err := p.sendLines(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// skipSent leaves out the gaps that a client had before it came back.
func (p *page) skipSent() {
	for ; p.pos.skip > 0 && len(p.gaps) > 0 && p.gaps[0].After == p.pos.line; p.pos.skip-- {
		p.gaps = p.gaps[1:]
	}
}

func (p *page) sendGap() error {
	g := p.gaps[0]
	p.gaps = p.gaps[1:]
	if err := p.endTurnBefore(g.After); err != nil {
		return err
	}
	p.pos.sent++
	return p.out.event(EventGap, p.eventID(), GapEvent{Session: p.id, Gap: g})
}

// fillHole sends a gap where lines behind the position aren't in the log any
// more: the log's own, which comes first and has no row, or one made here.
func (p *page) fillHole(first int64) error {
	if p.pos.line < 0 || first <= p.pos.line+1 {
		return nil
	}
	g := sessions.Gap{
		After: p.pos.line, AtLeast: first - 1 - p.pos.line,
		Reason: fmt.Sprintf("lines %d to %d aren't in the log any more", p.pos.line+1, first-1),
	}
	for len(p.gaps) > 0 && p.gaps[0].After < first-1 {
		g, p.gaps = p.gaps[0], p.gaps[1:]
	}
	p.pos.behind(first - 1)
	return p.out.event(EventGap, p.eventID(), GapEvent{Session: p.id, Gap: g})
}

// together returns how many of the lines may go into one event: nothing stands
// between them.
func (p *page) together(lines []sessions.Line) int {
	last := lines[0].N + int64(len(lines)) - 1
	if len(p.gaps) > 0 {
		last = min(last, p.gaps[0].After)
	}
	if end := p.marks.ended; end != nil && end.line >= lines[0].N {
		last = min(last, end.line)
	}
	n := 1
	for n < len(lines) && lines[n].N <= last && lines[n].N == lines[n-1].N+1 {
		n++
	}
	return n
}

func (p *page) sendLines(lines []sessions.Line) error {
	if err := p.endTurnBefore(lines[0].N); err != nil {
		return err
	}
	p.pos.behind(lines[len(lines)-1].N)
	ev := OutputEvent{Session: p.id, First: lines[0].N, Lines: lines}
	if p.sub.only != "" {
		ev.Secrets = p.api.secrets(p.ctx, p.id, lines)
	}
	return p.out.event(EventOutput, p.eventID(), ev)
}

// endTurnBefore sends the end of a turn if it stands before line n.
func (p *page) endTurnBefore(n int64) error {
	if p.marks.ended == nil || n <= p.marks.ended.line {
		return nil
	}
	return p.turnEnded(p.id, p.marks)
}

// eventID says where a client goes on that has got this event. Positions are
// those of one session, so the stream of all has none.
func (p *page) eventID() string {
	if p.sub.only == "" {
		return ""
	}
	return p.pos.id()
}
