package polling

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// nextTurn is the turn after a step that adds these lines, those that were held
// before it included; nil if it doesn't change. A turn opens with its first line that
// isn't blank, begins anew with its input if that comes later,
// and ends with the line that holds the marker; that line may come later than the
// end, if the marker stood at the cursor.
func (p *OutputPoller) nextTurn(step *EngineStep, lines []sessions.Line, now time.Time) *sessions.Turn {
	t := p.turn
	end := step.TurnEnd
	if end > 0 {
		end += len(lines) - len(step.Lines)
	}
	late := 0 // lines that belong to the turn that has ended
	if !t.Open && !step.Complete {
		late = end
	}
	opens := !t.Open && (step.Complete || haveText(lines[late:]))
	began := p.inputOfTurn(step, opens, now)
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

// findOwnTurns are the turns by what the pane itself shows.
func (p *OutputPoller) findOwnTurns(b *Batch, step *EngineStep, obs sessions.Observation, now time.Time) {
	lines := len(b.Lines)
	switch {
	case len(step.cuts) > 0 || p.late != nil || p.engine.state.Shell.isKnown():
		b.Ended, b.Turn = p.turnsByShell(step, lines, now)
		p.late = nil
	case p.isQuiet(step, lines, obs, now):
		w := turnWalk{t: p.turn, now: now}
		w.t.FirstLine = 0
		w.endTurn(0, nil)
		b.Ended = w.ended
	default:
		b.Turn = p.nextTurn(step, b.Lines, now)
	}
}

// isQuiet reports whether the turn is over because nothing comes any more.
func (p *OutputPoller) isQuiet(step *EngineStep, lines int, obs sessions.Observation, now time.Time) bool {
	return p.turn.Open && obs.Quiet > 0 && !step.Changed && !step.Complete && lines == 0 && now.Sub(p.changed) >= obs.Quiet
}

// quietAt is when the turn is over if nothing comes any more; zero: it isn't by that.
func (p *OutputPoller) quietAt(obs sessions.Observation) time.Time {
	if obs.Known || obs.Quiet <= 0 || !p.turn.Open || p.engine.state.Shell.isKnown() {
		return time.Time{}
	}
	return p.changed.Add(obs.Quiet)
}

// lateEnd is the end of a shell's command that was an agent program: it was seen while
// the program was taken to run still.
type lateEnd struct{ Status *int }

func (p *OutputPoller) keepLateEnd(step *EngineStep) {
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
func (p *OutputPoller) turnsByShell(step *EngineStep, lines int, now time.Time) (ended []sessions.Turn, open *sessions.Turn) {
	was := &p.engine.state.Shell
	w := turnWalk{t: p.turn, now: now, running: was.Running, known: was.isKnown()}
	w.t.FirstLine, w.t.LastLine = 0, 0
	for _, c := range p.allCuts(step, lines) {
		w.goToLine(c.at)
		switch {
		case c.begin:
			if w.t.Open {
				w.endTurn(max(w.pos, c.at-1), nil)
			}
			w.beginTurn(c.at)
			w.running = true
		case w.t.Open:
			w.endTurn(c.at, c.status)
		case c.marker:
		case !c.running || c.status != nil && *c.status != 0:
			w.beginTurn(c.at)
			w.endTurn(c.at, c.status)
		}
		if !c.begin && !c.marker {
			w.running, w.known = false, true
		}
		w.pos = c.at
	}
	w.goToLine(lines)
	if w.t.Open && w.changed {
		return w.ended, &w.t
	}
	return w.ended, nil
}

// allCuts are those of a step, within its lines and those that were held before it. An
// end that came while an agent program was known to run comes first; a turn marker
// ends the turn, though not the command.
func (p *OutputPoller) allCuts(step *EngineStep, lines int) []turnCut {
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
		n := slices.IndexFunc(cuts, func(c turnCut) bool { return c.at > at || c.at == at && !c.begin })
		if n < 0 {
			n = len(cuts)
		}
		cuts = slices.Insert(cuts, n, turnCut{at: at, marker: true})
	}
	if p.late != nil {
		cuts = slices.Insert(cuts, 0, turnCut{running: true, status: p.late.Status})
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

// goToLine goes to a place. Lines that no command has open a turn only where the shell
// isn't known.
func (w *turnWalk) goToLine(to int) {
	if !w.t.Open && to > w.pos && (w.running || !w.known) {
		w.beginTurn(w.pos)
	}
	w.pos = max(w.pos, to)
}

func (w *turnWalk) beginTurn(at int) {
	w.t = sessions.Turn{Number: w.t.Number + 1, Open: true, StartedAt: w.now, FirstLine: int64(at) + 1}
	w.changed = true
}

func (w *turnWalk) endTurn(at int, status *int) {
	w.t.Open, w.t.EndedAt, w.t.LastLine, w.t.Status = false, w.now, int64(at), status
	if at == 0 {
		w.t.LastLine = -1
	}
	w.ended = append(w.ended, w.t)
}

// observedTurn is the same where an observer tells of turns. One that the pane's
// lines had opened goes no further.
func (p *OutputPoller) observedTurn(lines int, s sessions.Observation, now time.Time) *sessions.Turn {
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

// inputs is what's known of the inputs of a program whose turns are told by its lines. What
// it says by itself (a banner, what comes behind the end of a turn) opens a turn as
// an answer does; the input, if it comes later, begins that turn anew.
type inputs struct {
	last time.Time // when text was typed last that wasn't worked in yet; zero: none. Guarded by OutputPoller.mu
	used time.Time // that of last which the step at hand works in
	// answered: the open turn's input is known.
	answered bool
}

// haveText reports whether lines have any text. Blank ones behind the end of a turn are
// none of the next.
func haveText(lines []sessions.Line) bool {
	return slices.ContainsFunc(lines, func(l sessions.Line) bool { return strings.TrimSpace(l.Text) != "" })
}

// inputOfTurn is when the input of the open turn was typed, if it was typed with this step;
// zero: it wasn't. opens: a turn opens with this step.
func (p *OutputPoller) inputOfTurn(step *EngineStep, opens bool, now time.Time) time.Time {
	in := &p.inputs
	p.mu.Lock()
	in.used = in.last
	p.mu.Unlock()
	typed, was := in.used, in.answered
	switch {
	case opens:
		in.answered = !typed.IsZero() && !step.Complete
		return time.Time{}
	case !p.turn.Open || step.Complete && was:
		in.used = time.Time{} // it's the next turn's
	}
	in.answered = p.turn.Open && !step.Complete && was
	if !p.turn.Open || was || p.asked != nil || step.Dialog != "" {
		return time.Time{} // what's typed into a turn, or answers a question, begins none
	}
	// Of what's typed at the pane's keyboard only that's known that something changes.
	if typed.IsZero() && p.turn.Number == 1 && step.Changed && now.Sub(p.changed) >= quietAfter {
		typed = now
	}
	in.answered = !typed.IsZero() && !step.Complete
	return typed
}

// forgetInput forgets the input that the stored step worked in.
func (p *OutputPoller) forgetInput() {
	if in := &p.inputs; in.last.Equal(in.used) {
		in.last = time.Time{}
	}
}

// Marker is the text that ends a turn.
type Marker struct {
	literal string
	pattern *regexp.Regexp
}

// NewMarker returns a marker for a literal text or, if it's not nil, a regular
// expression; nil for neither.
func NewMarker(literal string, pattern *regexp.Regexp) *Marker {
	if literal == "" && pattern == nil {
		return nil
	}
	return &Marker{literal: literal, pattern: pattern}
}

// endsTurn reports whether a line ends a turn. A line that shows what a person has
// just typed doesn't, though the marker be in it.
func (m *Marker) endsTurn(line string, echoes []string) bool {
	if !m.isIn(line) {
		return false
	}
	for _, e := range echoes {
		if strings.Contains(line, e) {
			return false
		}
	}
	return true
}

// IsAlone reports whether a line has a literal marker and nothing else. What a regular expression
// finds may be what somebody wants to read.
func (m *Marker) IsAlone(line string) bool {
	return m != nil && m.pattern == nil && strings.TrimSpace(line) == strings.TrimSpace(m.literal)
}

func (m *Marker) isIn(text string) bool {
	switch {
	case m == nil:
		return false
	case m.pattern != nil:
		return m.pattern.MatchString(text)
	}
	return strings.Contains(text, m.literal)
}

// echoOf returns the lines of an input that hold the marker.
func (m *Marker) echoOf(input string) []string {
	var out []string
	for l := range strings.SplitSeq(input, "\n") {
		if l = strings.TrimSpace(l); m.isIn(l) {
			out = append(out, l)
		}
	}
	return out
}
