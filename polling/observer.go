package polling

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/panebridge/panebridge/sessions"
)

const (
	maxHeldLines = 2000
	maxTyped     = 32
	// drainWithin is for how long what an observer still has is worked in when a session is
	// closed: a file that grows for ever has no end.
	drainWithin = 3 * time.Second
)

// observeStep asks the observer about a step, if there is one and the step shows all
// of the screen.
func (p *OutputPoller) observeStep(ctx context.Context, step *EngineStep, last bool) (sessions.Observation, error) {
	p.shown = 0
	if p.observer == nil {
		return sessions.Observation{Text: sessions.TextPane}, nil
	}
	if step.Exit == nil && !last && !step.engine.hasCaughtUp() {
		return sessions.Observation{Text: p.text, Known: p.known, State: p.state, Keep: p.kept}, nil
	}
	p.mu.Lock()
	typed := slices.Clone(p.typedTexts)
	p.mu.Unlock()
	p.shown = len(typed)
	l := sessions.Poll{Screen: step.screen, Dialog: step.Dialog, Marked: step.Complete, Typed: typed, Last: last || step.Exit != nil, Now: time.Now()}
	return p.observer.Observe(ctx, l)
}

// forgetTyped forgets what was typed before the look that's stored.
func (p *OutputPoller) forgetTyped() {
	p.mu.Lock()
	p.typedTexts = slices.Delete(p.typedTexts, 0, p.shown)
	p.forgetInput()
	p.mu.Unlock()
	p.shown = 0
}

// observeRest works in what an observer still has behind a look, and says when the pane is looked at again though it may not
// change. stableAt is when rows of it will be stable.
func (p *OutputPoller) observeRest(ctx context.Context, obs sessions.Observation, last bool, stableAt time.Time) error {
	p.mu.Lock()
	settling := p.settling // the look itself left rows that aren't settled
	p.mu.Unlock()
	var stopping time.Time
	for obs.More {
		if now := time.Now(); p.isStopping() && stopping.IsZero() {
			stopping = now
		} else if !stopping.IsZero() && now.Sub(stopping) > drainWithin {
			p.slog.WarnContext(ctx, "the session is closed before all was told that its program has written")
			break
		}
		var err error
		if obs, err = p.observer.Observe(ctx, sessions.Poll{Last: last, Now: time.Now()}); err != nil {
			return err
		}
		step := &EngineStep{engine: p.engine, Settling: settling}
		if err := p.commit(ctx, step, obs, last); err != nil {
			return err
		}
	}
	p.lookAgain(earliest(obs.Again, p.quietAt(obs), p.stableLook(stableAt)))
	return nil
}

// earliest is the earliest of several times that isn't zero.
func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if first.IsZero() || !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}

// isStopping reports whether Stop was called.
func (p *OutputPoller) isStopping() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// lookAgain has the pane captured at a time, though it may not change.
func (p *OutputPoller) lookAgain(at time.Time) {
	if at.IsZero() {
		p.timer.Stop()
		return
	}
	p.timer.Reset(max(time.Until(at), 10*time.Millisecond))
}

// takeOwnLines are the pane's lines and gaps that become the session's with a step: none
// while another text is, or may become, the session's. hold: the engine has read
// lines that aren't decided about, and mustn't be stored as if they were. What was
// read together with the end of the program is the program's or the pane's own: that's
// decided when all of it is read, and all that the program had to say is told.
func (p *OutputPoller) takeOwnLines(step *EngineStep, obs sessions.Observation, last bool, now time.Time) (lines []sessions.Line, gaps []sessions.Gap, hold bool) {
	p.held.addStep(step, p.engine.screen.normal, now)
	read := step.engine.hasCaughtUp() || step.Exit != nil || last
	switch {
	case obs.Said != nil:
		p.held.disown(&step.engine, obs.Said)
	case obs.Text == sessions.TextTranscript && (obs.More || obs.Ending || !read):
		return nil, nil, true
	case obs.Text == sessions.TextTranscript:
		p.held = heldLines{}
		return nil, nil, false
	case obs.Text == sessions.TextHeld && (len(p.held.lines) < maxHeldLines || !step.engine.hasCaughtUp()):
		return nil, nil, true
	}
	lines, gaps = p.held.lines, p.held.gaps
	p.held = heldLines{}
	return lines, gaps, false
}

// nextState is what a program without a profile of its own seems to do.
func (p *OutputPoller) nextState(step *EngineStep, obs sessions.Observation, now time.Time) (sessions.State, string) {
	switch {
	case step.Exit != nil:
		return sessions.StateIdle, "its program has ended"
	case obs.Asks != "":
		return sessions.StateWaiting, obs.Asks
	case step.Dialog != "" && !p.isPhraseQuoted(obs):
		return sessions.StateWaiting, "a dialog is on the screen: " + step.Dialog
	case p.asksUnread(obs):
		return sessions.StateWaiting, "its screen looks like a question, which isn't recognised"
	case step.Complete:
		return sessions.StateIdle, "its turn has ended"
	case p.live != nil && p.live.Alternate && (p.engine.state.Shell.isKnown() || obs.Front != ""):
		return sessions.StateWorking, "its shell runs " + cmp.Or(obs.Front, "a full-screen program")
	case p.engine.state.Shell.Running:
		return sessions.StateWorking, "its shell runs a command"
	case p.engine.state.Shell.isKnown() && !p.engine.state.Shell.Running:
		return sessions.StateIdle, "its shell's prompt is back"
	case p.turn.Open && now.Sub(p.changed) < quietAfter:
		p.captureAgain() // to see it fall quiet
		return sessions.StateWorking, "its pane is changing"
	case !p.turn.Open && p.turn.Number > 0 && len(step.Lines) == 0:
		return sessions.StateIdle, "its turn has ended"
	}
	return sessions.StateIdle, "its pane is quiet"
}

// asksUnread reports whether a dialog that isn't recognised is on the screen.
func (p *OutputPoller) asksUnread(obs sessions.Observation) bool {
	d := p.asked
	if obs.Prompts {
		d = obs.Prompt
	}
	return d != nil && d.Kind == sessions.PromptUnread
}

// isPhraseQuoted reports whether a dialog's words on the screen are only quoted there: a shell
// that waits for a command asks nothing.
func (p *OutputPoller) isPhraseQuoted(obs sessions.Observation) bool {
	shell := p.engine.state.Shell
	return obs.Prompt == nil && (shell.isKnown() && !shell.Running || obs.Quiet > 0)
}

// heldLines is what was read from a pane and waits for a decision.
type heldLines struct {
	begun bool
	stood []screenRow // the rows that stood undecided on the screen before it was read
	lines []sessions.Line
	gaps  []sessions.Gap // After counts lines
}

// addStep holds what a step settled; stood are the rows that were undecided before it.
func (h *heldLines) addStep(step *EngineStep, stood []screenRow, now time.Time) {
	if !h.begun {
		h.begun, h.stood = true, stood
	}
	for _, g := range step.Gaps {
		g.After += int64(len(h.lines))
		h.gaps = append(h.gaps, g)
	}
	for _, l := range step.Lines {
		h.lines = append(h.lines, sessions.Line{Kind: sessions.KindPane, Text: l, At: now})
	}
}

// disown drops, of what was read while another text was the session's, the rows that
// stood undecided on the screen before, and those that show what was said elsewhere.
// What comes below them is the pane's own again, whether it's settled or stands on
// the screen of e, the engine behind the last step. A program that was killed leaves
// its alternate screen behind, too.
func (h *heldLines) disown(e *Engine, said func(row string) bool) {
	k := newKnownRows(h.stood, said)
	n := 0
	for n < len(h.lines) && k.takeLine(h.lines[n].Text, e.state.Width) {
		n++
	}
	h.lines = h.lines[n:]
	if len(h.lines) == 0 {
		h.lines = nil
		e.disownScreen(k)
	}
	h.disownGaps(n, len(h.lines) > 0 || !isBlank(e.screen.normal))
	e.screen.left = map[uint64]bool{}
	for _, r := range e.screen.alternate {
		e.screen.left[rowHash(trimRow(r))] = true
	}
}

// disownGaps drops the gaps among the first n lines, and all if nothing comes behind.
func (h *heldLines) disownGaps(n int, more bool) {
	var gaps []sessions.Gap
	for _, g := range h.gaps {
		if more && g.After >= int64(n) {
			g.After -= int64(n)
			gaps = append(gaps, g)
		}
	}
	h.gaps = gaps
}

// disownScreen takes for lines, though they never were, the rows on the screen down to
// the last that's known.
func (e *Engine) disownScreen(k *knownRows) {
	rows, n := e.screen.normal, 0
	for i, r := range rows {
		text := trimRow(r.text)
		if text == "" {
			continue
		}
		if !k.takeRow(text) {
			break
		}
		n = i + 1
	}
	e.skipRows(rows[:n])
	e.screen.normal = rows[n:]
}

// skipRows takes rows for lines that were emitted.
func (e *Engine) skipRows(rows []screenRow) {
	if len(rows) == 0 {
		return
	}
	e.state.Shown = cloneShown(e.state.Shown)
	for _, r := range rows {
		e.state.Shown[r.abs] = rowHash(trimRow(r.text))
	}
	e.state.Next = max(e.state.Next, rows[len(rows)-1].abs+1)
	e.state.Begun = ""
}

func isBlank(rows []screenRow) bool {
	for _, r := range rows {
		if trimRow(r.text) != "" {
			return false
		}
	}
	return true
}

// knownRows are the rows that aren't the pane's own: each that stood there before counts
// once, what was said counts always.
type knownRows struct {
	stood map[uint64]int
	said  func(row string) bool
}

func newKnownRows(stood []screenRow, said func(row string) bool) *knownRows {
	k := &knownRows{map[uint64]int{}, said}
	for _, r := range stood {
		k.stood[rowHash(trimRow(r.text))]++
	}
	return k
}

// takeRow reports whether a row is known, and counts it.
func (k *knownRows) takeRow(row string) bool {
	h := rowHash(row)
	if k.stood[h] > 0 {
		k.stood[h]--
		return true
	}
	return k.said(row)
}

// takeLine does the same for a line of one row or several, each of width cells. Of a
// line that isn't known, nothing is counted.
func (k *knownRows) takeLine(line string, width int) bool {
	if line == "" || k.takeRow(line) {
		return true
	}
	rows := strings.Split(ansi.Hardwrap(line, max(width, 1), true), "\n")
	if len(rows) == 1 {
		return false
	}
	taken := map[uint64]int{}
	for _, r := range rows {
		h := rowHash(trimRow(r))
		if k.stood[h] > taken[h] {
			taken[h]++
		} else if !k.said(trimRow(r)) {
			return false
		}
	}
	for h, n := range taken {
		k.stood[h] -= n
	}
	return true
}
