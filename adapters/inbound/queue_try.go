package inbound

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/panebridge/panebridge/sessions"
)

// try handles the first update of a place and writes down what became of it. The
// tries are counted before they're made, so that an update that takes the whole
// process down is set aside, too.
func (q *Queue) try(ctx context.Context, l *lane, first int64) attempt {
	a := attempt{lane: l, seq: first}
	if l.verdict == nil {
		v, err := q.judge(ctx, a.seq)
		if err != nil {
			a.err = err
			return a
		}
		l.verdict = &v
	}
	a.verdict = *l.verdict
	// The verdict is written down even if all else ends: the work has been done.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeFor)
	defer cancel()
	if err := q.opts.Journal.Settle(ctx, a.seq, a.outcome); err != nil {
		a.err = fmt.Errorf("write down that update %d was %s: %w", a.seq, a.outcome, err)
		return a
	}
	return a
}

// judge handles an update. An error says that it's to be tried again.
func (q *Queue) judge(ctx context.Context, seq int64) (verdict, error) {
	list, err := q.opts.Journal.Waiting(ctx, seq-1, 1)
	switch {
	case err != nil:
		return verdict{}, fmt.Errorf("load update %d: %w", seq, err)
	case len(list) == 0 || list[0].Seq != seq:
		return verdict{outcome: Handled, ignored: true}, nil // it's settled already
	}
	u := list[0]
	e, ok, err := q.decode(u)
	switch {
	case err != nil:
		q.log.ErrorContext(ctx, "an update that can't be read was set aside", "seq", seq, "bytes", len(u.Raw), "err", err)
		return verdict{outcome: SetAside}, nil
	case !ok:
		return verdict{outcome: Handled, ignored: true}, nil
	case u.Tries >= maxTries:
		// All of them ended the process, or were ended with it.
		return q.giveUp(ctx, u, e, errors.New("the daemon ended at each try")), nil
	}
	if err := q.opts.Journal.Try(ctx, seq, u.Tries+1); err != nil {
		return verdict{}, fmt.Errorf("count the tries of update %d: %w", seq, err)
	}
	err = q.handle(ctx, e)
	switch {
	case err == nil:
		return verdict{outcome: Handled}, nil
	case ctx.Err() != nil, errors.Is(err, sessions.ErrUnavailable):
		return verdict{}, errors.Join(err, q.uncount(ctx, u))
	case u.Tries+1 >= maxTries:
		return q.giveUp(ctx, u, e, err), nil
	default:
		return verdict{}, err
	}
}

// uncount takes back that an update was tried: it's not its fault.
func (q *Queue) uncount(ctx context.Context, u Update) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeFor)
	defer cancel()
	return q.opts.Journal.Try(ctx, u.Seq, u.Tries)
}

func (q *Queue) giveUp(ctx context.Context, u Update, e Event, err error) verdict {
	q.log.ErrorContext(ctx, "an update that fails at each try was set aside", "seq", u.Seq, "target", e.Place.String(), "bytes", len(u.Raw), "err", err)
	q.opts.GaveUp(e)
	return verdict{outcome: SetAside}
}

func (q *Queue) decode(u Update) (e Event, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok, err = Event{}, false, panicked(r)
		}
	}()
	e, ok, err = q.opts.Decode(u.Raw)
	if e.At.IsZero() {
		e.At = u.KeptAt
	}
	return e, ok, err
}

func (q *Queue) handle(ctx context.Context, e Event) (err error) {
	ctx, cancel := context.WithTimeout(ctx, handleFor)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
			q.log.ErrorContext(ctx, "handling an update panicked", "key", e.Key, "err", err, "stack", string(debug.Stack()))
		}
	}()
	return q.opts.Handle(ctx, e)
}

// panicked makes an error of a panic, without what somebody wrote: only the
// runtime's own words are kept, which have none of it.
func panicked(r any) error {
	if err, ok := r.(runtime.Error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: a %T", r)
}
