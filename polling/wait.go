package polling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	// waitGrace is how long after the time-out the last look may take.
	waitGrace = time.Second
	// catchUpFor is how long a pane is read on that prints about as fast as it's read,
	// before it's decided what was found so far.
	catchUpFor = time.Second
)

// WaitOptions are what a wait is made with; zero means the default.
type WaitOptions struct {
	Timeout        time.Duration // sessions.DefaultWaitTimeout
	Interval       time.Duration // between two looks; sessions.DefaultWaitInterval
	CaptureTimeout time.Duration // after which a capture is given up; 5 s
	MaxRows        int           // rows of history a capture may have; 5,000
	// Note is told what the wait is doing; it must not block for long. nil: nobody is.
	Note func(sessions.WaitNote)
	// Gone reports whether the tmux server is gone for good; nil: it isn't known.
	Gone func() bool
}

func (o WaitOptions) withDefaults() WaitOptions {
	if o.Timeout <= 0 {
		o.Timeout = sessions.DefaultWaitTimeout
	}
	if o.Interval <= 0 {
		o.Interval = sessions.DefaultWaitInterval
	}
	o.Interval = max(o.Interval, sessions.MinWaitInterval)
	if o.CaptureTimeout <= 0 {
		o.CaptureTimeout = 5 * time.Second
	}
	if o.MaxRows <= 0 {
		o.MaxRows = 5000
	}
	o.MaxRows = max(o.MaxRows, minCaptureLines)
	if o.Note == nil {
		o.Note = func(sessions.WaitNote) {}
	}
	if o.Gone == nil {
		o.Gone = func() bool { return false }
	}
	return o
}

// Wait waits for output in a pane: what's printed behind the first capture, which is made at
// once. identity is the tmux server's run that has the pane; zero: whichever runs. An
// error says that it couldn't, and is ctx's own if that has ended.
func Wait(ctx context.Context, src PaneSource, pane string, identity sessions.ServerIdentity, p *WaitPatterns, opt WaitOptions) (sessions.WaitResult, error) {
	w := &waiter{
		waitBase: waitBase{opt.withDefaults(), waitFindings{patterns: p}, time.Now()},
		src:      src, pane: pane, identity: identity, follower: newFollower(), depth: waitContext,
	}
	return w.run(ctx)
}

// waitBase is what a wait has, whatever it's for.
type waitBase struct {
	opt   WaitOptions
	found waitFindings
	began time.Time
}

// awaitLook waits until the next look is due, the last one at the deadline.
func (w *waitBase) awaitLook(ctx context.Context, looked, deadline time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(time.Until(looked.Add(w.opt.Interval)), time.Until(deadline))):
		return nil
	}
}

// resultOf is the result of a wait that ends now.
func (w *waitBase) resultOf(source sessions.LinesFrom, outcome sessions.WaitOutcome, reason string) sessions.WaitResult {
	r := sessions.WaitResult{
		Outcome: outcome, Reason: reason, Source: string(source), Tail: []string{},
		ElapsedMS: time.Since(w.began).Milliseconds(), TimeoutMS: w.opt.Timeout.Milliseconds(),
	}
	w.found.fillResult(&r)
	return r
}

// waiter is one wait for a pane's output.
type waiter struct {
	waitBase

	src      PaneSource
	pane     string
	identity sessions.ServerIdentity

	follower waitFollower
	depth    int                 // rows above the screen that the next capture takes
	behind   *sessions.RowWindow // the next capture's, while the pane isn't caught up with
	seen     *sessions.Snapshot  // the last
	noted    string              // the last note
}

func (w *waiter) run(ctx context.Context) (sessions.WaitResult, error) {
	deadline := w.began.Add(w.opt.Timeout)
	for first := true; ; first = false {
		looked := time.Now()
		over := !looked.Before(deadline) // then this look is the last
		outcome, reason, err := w.catchUp(ctx, deadline)
		switch {
		case ctx.Err() != nil:
			return sessions.WaitResult{}, context.Cause(ctx)
		case outcome != "":
			return w.result(outcome, reason), nil
		case err != nil && (first || !isPassing(err)):
			return sessions.WaitResult{}, err
		case over:
			return w.timeoutResult(err), nil
		}
		if first {
			w.opt.Note(sessions.WaitNote{Event: sessions.WaitBegun, TimeoutMS: w.opt.Timeout.Milliseconds()})
		}
		w.noteScreen()
		if err := w.awaitLook(ctx, looked, deadline); err != nil {
			return sessions.WaitResult{}, err
		}
	}
}

// isPassing reports whether the next look may do better: the server is slow, or its
// connection is being made again.
func isPassing(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sessions.ErrUnavailable)
}

// catchUp looks until it has caught up with the pane, and says how the wait has ended, if
// it has.
func (w *waiter) catchUp(ctx context.Context, deadline time.Time) (sessions.WaitOutcome, string, error) {
	var asked *Need
	window := sessions.RowWindow{Start: -w.depth}
	if w.behind != nil {
		window = *w.behind
	}
	for until := time.Now().Add(catchUpFor); ; {
		s, more, err := w.lookOnce(ctx, deadline, window, asked)
		if err != nil {
			if outcome, reason := w.found.outcome(); outcome != "" {
				return outcome, reason, nil
			}
			return w.explainFailure(err)
		}
		if asked = more; more != nil {
			window = more.Window
			continue
		}
		switch {
		case s == nil: // it's another screen now
		case s.respawned:
			w.found.missed = true
			return sessions.WaitRespawned, "another program was started in the pane; what it prints isn't searched", nil
		case s.reached || s.suspended:
			w.behind = nil
			return w.decideOutcome()
		default:
			window = w.follower.engine.windowAhead(w.opt.MaxRows)
			w.behind = &window
		}
		if time.Now().After(until) {
			return w.decideOutcome()
		}
	}
}

// lookOnce takes one snapshot and searches it, or says which one is needed instead. Both are
// nil where the screen was switched meanwhile.
func (w *waiter) lookOnce(ctx context.Context, deadline time.Time, window sessions.RowWindow, asked *Need) (*waitStep, *Need, error) {
	until := time.Now().Add(w.opt.CaptureTimeout)
	if last := deadline.Add(waitGrace); last.Before(until) {
		until = last
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	snap, err := w.takeSnapshot(ctx, window)
	if err != nil {
		return nil, nil, err
	}
	if snap.Alternate && !w.follower.hasStarted() {
		if again, err := w.beginBehind(ctx); err != nil || again {
			return nil, nil, err
		}
	}
	s, more := w.follower.followSnapshot(&snap, asked, w.opt.MaxRows, time.Now())
	if s == nil {
		return nil, more, nil
	}
	w.seen = &snap
	if !s.respawned {
		w.follower = s.next
		w.found.takeStep(s)
		w.depth = min(max(waitContext+2*len(s.lines), w.depth*3/4), w.opt.MaxRows)
	}
	return s, nil, nil
}

// decideOutcome says how the wait has ended, if it has.
func (w *waiter) decideOutcome() (sessions.WaitOutcome, string, error) {
	if outcome, reason := w.found.outcome(); outcome != "" {
		return outcome, reason, nil
	}
	if w.behind == nil && w.seen != nil && w.seen.Dead {
		return sessions.WaitDied, "the program in the pane has ended", nil
	}
	return "", "", nil
}

// savedScreenSource is a PaneSource that can look behind the alternate screen.
type savedScreenSource interface {
	// SavedScreen takes the normal screen of a pane that shows the alternate one, with at
	// most above rows of history. If it doesn't show that any more, Alternate is false.
	SavedScreen(ctx context.Context, pane string, above int) (sessions.Snapshot, error)
}

// beginBehind begins with the normal screen behind the alternate one. again: that's the one
// that's shown now.
func (w *waiter) beginBehind(ctx context.Context) (again bool, err error) {
	src, ok := w.src.(savedScreenSource)
	if !ok {
		return false, nil
	}
	saved, err := src.SavedScreen(ctx, w.pane, waitContext)
	if err != nil || !saved.Alternate {
		return err == nil, err
	}
	saved.Alternate = false
	if s, _ := w.follower.followSnapshot(&saved, nil, w.opt.MaxRows, time.Now()); s != nil {
		w.follower = s.next
	}
	return false, nil
}

// takeSnapshot captures the pane of the right server.
func (w *waiter) takeSnapshot(ctx context.Context, window sessions.RowWindow) (sessions.Snapshot, error) {
	snap, err := w.src.Snapshot(ctx, w.pane, window)
	if err == nil && w.identity != (sessions.ServerIdentity{}) && snap.Server != w.identity {
		err = fmt.Errorf("%w pane: its tmux server was started anew", sessions.ErrUnknown)
	}
	return snap, err
}

// explainFailure decides what an error of the source means.
func (w *waiter) explainFailure(err error) (sessions.WaitOutcome, string, error) {
	switch {
	case errors.Is(err, sessions.ErrUnknown):
		return sessions.WaitDied, "the pane is gone; what was printed right before may not have been seen", nil
	case errors.Is(err, sessions.ErrUnavailable) && w.opt.Gone():
		return sessions.WaitDied, "the pane's tmux server has ended", nil
	}
	return "", "", err
}

// noteScreen notes when the alternate screen comes and goes.
func (w *waiter) noteScreen() {
	event := sessions.WaitResumed
	if w.seen != nil && w.seen.Alternate {
		event = sessions.WaitSuspended
	}
	if event == w.noted || w.noted == "" && event == sessions.WaitResumed {
		return
	}
	w.noted = event
	w.opt.Note(sessions.WaitNote{Event: event})
}

// timeoutResult is the result of a wait that has found nothing in time.
func (w *waiter) timeoutResult(err error) sessions.WaitResult {
	switch {
	case w.seen != nil && w.seen.Alternate:
		return w.result(sessions.WaitAlternate, "the program shows the alternate screen, which isn't searched")
	case err != nil:
		return w.result(sessions.WaitTimeout, "the last look failed: "+err.Error())
	case w.behind != nil:
		w.found.unsure = true
		return w.result(sessions.WaitHistoryLost, "nothing was found in time, but more was printed than could be read by then")
	case w.found.unsure:
		return w.result(sessions.WaitHistoryLost, "nothing was found in time, but the output repeats itself or was cleared, so that some of it may not have been seen")
	}
	return w.result(sessions.WaitTimeout, "")
}

func (w *waiter) result(outcome sessions.WaitOutcome, reason string) sessions.WaitResult {
	r := w.resultOf(sessions.TextPane, outcome, reason)
	s := w.seen
	if s == nil {
		return r
	}
	r.Alternate = s.Alternate
	if s.Dead && outcome == sessions.WaitDied {
		r.Exit = &sessions.Exit{Status: s.DeadStatus, Signal: s.DeadSignal}
	}
	r.Tail = screenTail(s)
	return r
}

// screenTail is the end of the screen.
func screenTail(s *sessions.Snapshot) []string {
	rows := s.Rows[min(max(0, s.HistorySize-s.First), len(s.Rows)):]
	for len(rows) > 0 && trimRow(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	rows = rows[max(0, len(rows)-sessions.MaxWaitTail):]
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = cutText(trimRow(r))
	}
	return out
}

// WaitLog is the output log as a wait reads it. Both do disk I/O. See the store for the
// meaning of positions.
type WaitLog interface {
	Head(ctx context.Context, id sessions.ID) (line, gap int64, err error)
	ReadSince(ctx context.Context, id sessions.ID, line, gap int64, limit int) (out sessions.Output, nextLine, nextGap int64, err error)
}

// WaitSession is what a wait needs of a session besides its log. Neither method blocks.
type WaitSession interface {
	Get(idOrName string) (sessions.Session, error)
	// LookNow wakes the session's poller, which looks at the pane at once.
	LookNow(id sessions.ID)
}

// waitPage is how many lines are read at once.
const waitPage = 500

// WaitLines waits for lines in a session's output log: for sessions whose text comes from
// a transcript. What people wrote and what panebridge says itself aren't output.
func WaitLines(ctx context.Context, log WaitLog, reg WaitSession, id sessions.ID, p *WaitPatterns, opt WaitOptions) (sessions.WaitResult, error) {
	w := &lineWaiter{waitBase: waitBase{opt.withDefaults(), waitFindings{patterns: p}, time.Now()}, log: log, reg: reg, id: id}
	return w.run(ctx)
}

// lineWaiter is one wait for lines of a log.
type lineWaiter struct {
	waitBase

	log  WaitLog
	reg  WaitSession
	id   sessions.ID
	line int64
	gap  int64
}

func (w *lineWaiter) run(ctx context.Context) (sessions.WaitResult, error) {
	var err error
	if w.line, w.gap, err = w.log.Head(ctx, w.id); err != nil {
		return sessions.WaitResult{}, fmt.Errorf("read where the log ends: %w", err)
	}
	w.opt.Note(sessions.WaitNote{Event: sessions.WaitBegun, TimeoutMS: w.opt.Timeout.Milliseconds()})
	deadline := w.began.Add(w.opt.Timeout)
	for {
		looked := time.Now()
		s, getErr := w.reg.Get(string(w.id)) // first: a session that has ended has all its lines in the log
		if err := w.searchLog(ctx); err != nil {
			if ctx.Err() != nil {
				return sessions.WaitResult{}, context.Cause(ctx)
			}
			return sessions.WaitResult{}, fmt.Errorf("read the log: %w", err)
		}
		if outcome, reason := w.found.outcome(); outcome != "" {
			return w.result(outcome, reason, s), nil
		}
		switch {
		case errors.Is(getErr, sessions.ErrUnknown), getErr == nil && s.State == sessions.StateEnded:
			return w.result(sessions.WaitDied, s.Reason, s), nil
		case !looked.Before(deadline):
			return w.result(sessions.WaitTimeout, "", s), nil
		}
		w.reg.LookNow(w.id)
		if err := w.awaitLook(ctx, looked, deadline); err != nil {
			return sessions.WaitResult{}, err
		}
	}
}

// searchLog searches the lines that came.
func (w *lineWaiter) searchLog(ctx context.Context) error {
	for {
		out, line, gap, err := w.log.ReadSince(ctx, w.id, w.line, w.gap, waitPage)
		if err != nil {
			return err
		}
		s := &waitStep{dropped: len(out.Gaps) > 0}
		for _, l := range out.Lines {
			if l.Kind == sessions.KindUser || l.Kind == sessions.KindNotice || l.Kind == sessions.KindThought {
				continue
			}
			text := waitLine{text: l.Text}
			if l.Text != "" {
				text.fresh = []byteSpan{{0, len(l.Text)}}
			}
			s.lines = append(s.lines, text)
		}
		s.settled, s.moved = len(s.lines), len(s.lines) > 0
		w.found.takeStep(s)
		w.line, w.gap = line, gap
		if len(out.Lines) < waitPage {
			return nil
		}
	}
}

func (w *lineWaiter) result(outcome sessions.WaitOutcome, reason string, s sessions.Session) sessions.WaitResult {
	r := w.resultOf(sessions.TextTranscript, outcome, reason)
	r.Tail = r.Lines[max(0, len(r.Lines)-sessions.MaxWaitTail):]
	if outcome == sessions.WaitDied {
		r.Exit = s.Exit
	}
	return r
}

// waitFindings is what a wait has found so far.
type waitFindings struct {
	patterns      *WaitPatterns
	pattern, stop *sessions.WaitMatch
	any           bool // there was output
	lost, cleared bool // lines that could have matched weren't seen
	missed        bool // the same, or may be
	unsure        bool // nothing says so, but it may be
	lines         waitLines
}

// takeStep searches what a look has found. What was found first counts.
func (f *waitFindings) takeStep(s *waitStep) {
	f.any = f.any || s.moved
	f.lost, f.cleared = f.lost || s.dropped, f.cleared || s.cleared
	f.missed, f.unsure = f.missed || s.dropped || s.cleared, f.unsure || s.unsure
	texts := make([]string, 0, len(s.lines))
	for i := range s.lines {
		f.searchLine(&s.lines[i])
		texts = append(texts, s.lines[i].output())
	}
	if !s.suspended {
		f.lines.addLines(texts, s.settled)
	}
}

func (f *waitFindings) searchLine(l *waitLine) {
	if f.stop == nil {
		f.stop = l.matchPatterns(sessions.MatchStop, f.patterns.stops)
	}
	if f.pattern == nil {
		f.pattern = l.matchPatterns(sessions.MatchPattern, f.patterns.patterns)
	}
}

// outcome says how the wait has ended, "" if it hasn't. A stop wins over a pattern, and
// both over what's lost: they were printed for sure.
func (f *waitFindings) outcome() (sessions.WaitOutcome, string) {
	switch {
	case f.stop != nil:
		return sessions.WaitStopped, ""
	case f.pattern != nil:
		return sessions.WaitMatched, ""
	case len(f.patterns.patterns) == 0 && (f.any || f.lost):
		return sessions.WaitAnyOutput, ""
	case f.lost:
		return sessions.WaitHistoryLost, reasonDropped
	case f.cleared:
		return sessions.WaitHistoryLost, "the pane's history was cleared, and what was printed right before may have matched"
	}
	return "", ""
}

// fillResult writes into a result what was found.
func (f *waitFindings) fillResult(r *sessions.WaitResult) {
	switch r.Outcome { //nolint:exhaustive // the others have none
	case sessions.WaitStopped:
		r.Match = f.stop
	case sessions.WaitMatched:
		r.Match = f.pattern
	}
	r.Lines, r.LinesTotal, r.LinesMissed = f.lines.allLines(), f.lines.total, f.missed || f.unsure
}

// waitLines are the newest lines of a wait: those that are settled, and those that the last look
// found behind them.
type waitLines struct {
	settled, open []string
	total         int
	before        int // how many were settled
}

func (l *waitLines) addLines(lines []string, settled int) {
	l.settled = append(l.settled, newestLines(lines[:settled])...)
	l.settled = newestLines(l.settled)
	l.open = newestLines(lines[settled:])
	l.before += settled
	l.total = l.before + len(lines) - settled
}

// newestLines are the newest of lines, each cut to what a result may have.
func newestLines(lines []string) []string {
	lines = lines[max(0, len(lines)-sessions.MaxWaitLines):]
	out := make([]string, len(lines))
	for i, text := range lines {
		out[i] = cutText(text)
	}
	return out
}

func (l *waitLines) allLines() []string {
	return newestLines(append(append(make([]string, 0, len(l.settled)+len(l.open)), l.settled...), l.open...))
}
