package polling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// WaitLog is the output log as a wait reads it. Both do disk I/O. See the store for the
// meaning of positions.
type WaitLog interface {
	Head(ctx context.Context, id sessions.ID) (line, gap int64, err error)
	ReadSince(ctx context.Context, id sessions.ID, line, gap int64, limit int) (out sessions.Output, nextLine, nextGap int64, err error)
}

// WaitSession is what a wait needs of a session besides its log. Neither method blocks.
type WaitSession interface {
	Get(idOrName string) (sessions.Session, error)
	// Poke has the session looked at now.
	Poke(id sessions.ID)
}

// waitPage is how many lines are read at once.
const waitPage = 500

// WaitLines waits for lines in a session's output log: for sessions whose text comes from
// a transcript. What people wrote and what panebridge says itself aren't output.
func WaitLines(ctx context.Context, log WaitLog, reg WaitSession, id sessions.ID, p *WaitPatterns, opt WaitOptions) (sessions.WaitResult, error) {
	w := &lineWaiter{log: log, reg: reg, id: id, opt: opt.withDefaults(), found: finding{patterns: p}, began: time.Now()}
	return w.run(ctx)
}

// lineWaiter is one wait for lines of a log.
type lineWaiter struct {
	log   WaitLog
	reg   WaitSession
	id    sessions.ID
	opt   WaitOptions
	found finding
	began time.Time
	line  int64
	gap   int64
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
		if err := w.read(ctx); err != nil {
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
		w.reg.Poke(w.id)
		select {
		case <-ctx.Done():
			return sessions.WaitResult{}, context.Cause(ctx)
		case <-time.After(min(time.Until(looked.Add(w.opt.Interval)), time.Until(deadline))):
		}
	}
}

// read searches the lines that came.
func (w *lineWaiter) read(ctx context.Context) error {
	for {
		out, line, gap, err := w.log.ReadSince(ctx, w.id, w.line, w.gap, waitPage)
		if err != nil {
			return err
		}
		s := &sighting{dropped: len(out.Gaps) > 0}
		for _, l := range out.Lines {
			if l.Kind == sessions.KindUser || l.Kind == sessions.KindNotice {
				continue
			}
			text := waitLine{text: l.Text}
			if l.Text != "" {
				text.fresh = []byteSpan{{0, len(l.Text)}}
			}
			s.lines = append(s.lines, text)
		}
		s.settled, s.moved = len(s.lines), len(s.lines) > 0
		w.found.take(s)
		w.line, w.gap = line, gap
		if len(out.Lines) < waitPage {
			return nil
		}
	}
}

func (w *lineWaiter) result(outcome sessions.WaitOutcome, reason string, s sessions.Session) sessions.WaitResult {
	r := sessions.WaitResult{
		Outcome: outcome, Reason: reason, Source: "transcript",
		ElapsedMS: time.Since(w.began).Milliseconds(), TimeoutMS: w.opt.Timeout.Milliseconds(),
	}
	w.found.fill(&r)
	r.Tail = r.Lines[max(0, len(r.Lines)-sessions.MaxWaitTail):]
	if outcome == sessions.WaitDied {
		r.Exit = s.Exit
	}
	return r
}
