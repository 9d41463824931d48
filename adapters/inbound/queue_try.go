package inbound

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// try handles the first update of a place, with the rest of its album, and writes down
// what became of it. The tries are counted before they're made, so that an update that
// takes the whole process down is set aside, too.
func (q *Queue) try(ctx context.Context, l *lane, first []int64) attempt {
	a := attempt{lane: l, seq: first[0]}
	if l.verdict == nil {
		v, err := q.judge(ctx, first)
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
	for _, seq := range slices.Backward(a.of) {
		if err := q.opts.Journal.Settle(ctx, seq, a.outcome); err != nil {
			a.err = fmt.Errorf("write down that update %d was %s: %w", seq, a.outcome, err)
			return a
		}
	}
	return a
}

// judge handles an update, with the rest of its album. An error says that it's to be
// tried again.
func (q *Queue) judge(ctx context.Context, seqs []int64) (verdict, error) {
	v := verdict{of: seqs[:1:1], outcome: Handled}
	u, there, err := q.load(ctx, seqs[0])
	if err != nil {
		return verdict{}, err
	}
	if !there {
		v.ignored = true // it's settled already
		return v, nil
	}
	e, ok, err := q.decode(u)
	switch {
	case err != nil:
		q.log.ErrorContext(ctx, "an update that can't be read was set aside", "seq", u.Seq, "bytes", len(u.Raw), "err", err)
		v.outcome = SetAside
		return v, nil
	case !ok:
		v.ignored = true
		return v, nil
	}
	parts, events, err := q.album(ctx, u, seqs[1:])
	if err != nil {
		return verdict{}, err
	}
	for _, p := range parts {
		v.of = append(v.of, p.Seq)
	}
	whole := joined(append([]Event{e}, events...))
	if u.Tries >= maxTries {
		// All of them ended the process, or were ended with it.
		return q.giveUp(ctx, v, u, whole, errors.New("the daemon ended at each try")), nil
	}
	if err := q.begin(ctx, u, parts); err != nil {
		return verdict{}, err
	}
	err = q.handle(ctx, whole)
	switch {
	case err == nil:
		return v, nil
	case ctx.Err() != nil, errors.Is(err, sessions.ErrUnavailable):
		return verdict{}, errors.Join(err, q.uncount(ctx, u, albumOf(e) != ""))
	case u.Tries+1 >= maxTries:
		return q.giveUp(ctx, v, u, whole, err), nil
	default:
		return verdict{}, err
	}
}

// load reads an update that waits.
func (q *Queue) load(ctx context.Context, seq int64) (u Update, there bool, err error) {
	list, err := q.opts.Journal.Waiting(ctx, seq-1, 1)
	switch {
	case err != nil:
		return Update{}, false, fmt.Errorf("load update %d: %w", seq, err)
	case len(list) == 0 || list[0].Seq != seq:
		return Update{}, false, nil
	}
	return list[0], true, nil
}

// uncount takes back that an update was tried: it's not its fault. Of an album it must
// stay known that it was begun.
func (q *Queue) uncount(ctx context.Context, u Update, album bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeFor)
	defer cancel()
	tries := u.Tries
	if album {
		tries = max(tries, 1)
	}
	return q.opts.Journal.Try(ctx, u.Seq, tries)
}

func (q *Queue) giveUp(ctx context.Context, v verdict, u Update, e Event, err error) verdict {
	q.log.ErrorContext(ctx, "an update that fails at each try was set aside", "seq", u.Seq, "target", e.Place.String(), "bytes", len(u.Raw), "err", err)
	q.opts.GaveUp(e)
	v.outcome = SetAside
	return v
}

func (q *Queue) decode(u Update) (e Event, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok, err = Event{}, false, sessions.PanicError(r)
		}
	}()
	e, ok, err = q.opts.Decode(u.Raw)
	if bot, _, is := strings.Cut(u.Key, botEnd); is && q.opts.Bot != "" && ok {
		e.Key = bot + " " + e.Key // the one that it was kept for, which may be another than is there now
	}
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
			err = sessions.PanicError(r)
			q.log.ErrorContext(ctx, "handling an update panicked", "key", e.Key, "err", err, "stack", string(debug.Stack()))
		}
	}()
	return q.opts.Handle(ctx, e)
}
