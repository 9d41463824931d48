package polling

import (
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// nextTurn is the turn after a step that adds these lines, those that were held
// before it included; nil if it doesn't change. A turn opens with its first line that
// isn't blank, begins anew with its input if that comes later (turn_begin.go),
// and ends with the line that holds the marker; that line may come later than the
// end, if the marker stood at the cursor.
func (p *OutputPoller) nextTurn(step *Step, lines []sessions.Line, now time.Time) *sessions.Turn {
	t := p.turn
	end := step.TurnEnd
	if end > 0 {
		end += len(lines) - len(step.Lines)
	}
	late := 0 // lines that belong to the turn that has ended
	if !t.Open && !step.Complete {
		late = end
	}
	opens := !t.Open && (step.Complete || says(lines[late:]))
	began := p.began(step, opens, now)
	t.FirstLine, t.LastLine = 0, int64(late)
	switch {
	case opens:
		t = sessions.Turn{Number: t.Number + 1, Open: true, StartedAt: now}
		if len(lines) > late {
			t.FirstLine = int64(late) + 1
		}
	case !began.IsZero():
		t.StartedAt, t.FirstLine = began, 1
	case !step.Complete && late == 0:
		return nil
	}
	if step.Complete {
		t.Open, t.EndedAt, t.LastLine = false, now, int64(end)
		if end == 0 {
			t.LastLine = int64(len(lines))
		}
	}
	return &t
}

// ownTurns are the turns by what the pane itself shows.
func (p *OutputPoller) ownTurns(b *Batch, step *Step, sight sessions.Sight, now time.Time) {
	lines := len(b.Lines)
	switch {
	case len(step.cuts) > 0 || p.late != nil || p.engine.state.Shell.known():
		b.Ended, b.Turn = p.turnsByShell(step, lines, now)
		p.late = nil
	case p.quiet(step, lines, sight, now):
		w := turnWalk{t: p.turn, now: now}
		w.t.FirstLine = 0
		w.end(0, nil)
		b.Ended = w.ended
	default:
		b.Turn = p.nextTurn(step, b.Lines, now)
	}
}

// quiet reports whether the turn is over because nothing comes any more.
func (p *OutputPoller) quiet(step *Step, lines int, sight sessions.Sight, now time.Time) bool {
	return p.turn.Open && sight.Quiet > 0 && !step.Changed && !step.Complete && lines == 0 && now.Sub(p.changed) >= sight.Quiet
}

// quietAt is when the turn is over if nothing comes any more; zero: it isn't by that.
func (p *OutputPoller) quietAt(sight sessions.Sight) time.Time {
	if sight.Known || sight.Quiet <= 0 || !p.turn.Open || p.engine.state.Shell.known() {
		return time.Time{}
	}
	return p.changed.Add(sight.Quiet)
}

// lateEnd is the end of a shell's command that was an agent program: it was seen while
// the program was taken to run still.
type lateEnd struct{ Status *int }

func (p *OutputPoller) keepLate(step *Step) {
	for _, c := range step.cuts {
		if p.late = nil; !c.begin {
			p.late = &lateEnd{c.status}
		}
	}
}

// turnsByShell are the turns that end with a step, and the one that's open behind it
// (nil: none is, or it was and hasn't changed), where the pane's shell says where
// commands begin and end: a command is a turn, from its submission on; what stands
// before is of none.
func (p *OutputPoller) turnsByShell(step *Step, lines int, now time.Time) (ended []sessions.Turn, open *sessions.Turn) {
	was := &p.engine.state.Shell
	w := turnWalk{t: p.turn, now: now, running: was.Running, known: was.known()}
	w.t.FirstLine, w.t.LastLine = 0, 0
	for _, c := range p.cuts(step, lines) {
		w.lines(c.at)
		switch {
		case c.begin:
			if w.t.Open {
				w.end(max(w.pos, c.at-1), nil)
			}
			w.begin(c.at)
			w.running = true
		case w.t.Open:
			w.end(c.at, c.status)
		case c.marker:
		case !c.running || c.status != nil && *c.status != 0:
			w.begin(c.at)
			w.end(c.at, c.status)
		}
		if !c.begin && !c.marker {
			w.running, w.known = false, true
		}
		w.pos = c.at
	}
	w.lines(lines)
	if w.t.Open && w.changed {
		return w.ended, &w.t
	}
	return w.ended, nil
}

// cuts are those of a step, within its lines and those that were held before it. An
// end that came while an agent program was known to run comes first; a turn marker
// ends the turn, though not the command.
func (p *OutputPoller) cuts(step *Step, lines int) []cut {
	held := lines - len(step.Lines)
	cuts := slices.Clone(step.cuts)
	for i := range cuts {
		cuts[i].at += held
	}
	if step.Complete {
		at := lines
		if step.TurnEnd > 0 {
			at = step.TurnEnd + held
		}
		n := slices.IndexFunc(cuts, func(c cut) bool { return c.at > at || c.at == at && !c.begin })
		if n < 0 {
			n = len(cuts)
		}
		cuts = slices.Insert(cuts, n, cut{at: at, marker: true})
	}
	if p.late != nil {
		cuts = slices.Insert(cuts, 0, cut{running: true, status: p.late.Status})
	}
	return cuts
}

// turnWalk goes over the lines of a batch.
type turnWalk struct {
	t              sessions.Turn // its lines count within the batch
	now            time.Time
	pos            int
	running, known bool
	changed        bool
	ended          []sessions.Turn
}

// lines goes to a place. Lines that no command has open a turn only where the shell
// isn't known.
func (w *turnWalk) lines(to int) {
	if !w.t.Open && to > w.pos && (w.running || !w.known) {
		w.begin(w.pos)
	}
	w.pos = max(w.pos, to)
}

func (w *turnWalk) begin(at int) {
	w.t = sessions.Turn{Number: w.t.Number + 1, Open: true, StartedAt: w.now, FirstLine: int64(at) + 1}
	w.changed = true
}

func (w *turnWalk) end(at int, status *int) {
	w.t.Open, w.t.EndedAt, w.t.LastLine, w.t.Status = false, w.now, int64(at), status
	if at == 0 {
		w.t.LastLine = -1
	}
	w.ended = append(w.ended, w.t)
}

// observedTurn is the same where an observer tells of turns. One that the pane's
// lines had opened goes no further.
func (p *OutputPoller) observedTurn(lines int, s sessions.Sight, now time.Time) *sessions.Turn {
	t := p.turn
	t.Open = t.Open && (!s.Began || !p.ownTurn)
	if !s.Began && !s.Ended && (!t.Open || t.FirstLine > 0 || lines == 0) {
		return nil
	}
	first := t.FirstLine
	t.FirstLine, t.LastLine = 0, 0
	if s.Began && !t.Open || s.Ended && !t.Open {
		t, first = sessions.Turn{Number: t.Number + 1, Open: true, StartedAt: now}, 0
	}
	if first == 0 && lines > 0 {
		t.FirstLine = 1
	}
	if s.Ended {
		t.Open, t.EndedAt, t.LastLine, t.Failed = false, now, int64(lines), s.Failed
	}
	return &t
}
