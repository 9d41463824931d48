package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// NoticeStore keeps notices and who listens. Methods are as those of Store.
type NoticeStore interface {
	// AddNotice stores a notice and returns the bells of those who listen for it.
	AddNotice(ctx context.Context, n Notice) (bells []string, err error)
	// AnyNotice says whether there's something for a listener to take. It doesn't write.
	AnyNotice(ctx context.Context, l Listener) (bool, error)
	// TakeNotices gives a listener the lease of notices that nobody has, the oldest first,
	// which is their order.
	TakeNotices(ctx context.Context, l Listener, limit int) ([]Notice, error)
	// DropNotices deletes those of a listener's lease up to a number: they're printed.
	DropNotices(ctx context.Context, listener, last int64) error
	AddListener(ctx context.Context, l Listener) (id int64, err error)
	// Listeners returns all there are, those that have died included.
	Listeners(ctx context.Context) ([]Listener, error)
	// DropListener takes one away, and frees what it held, to be told again. It may be
	// called twice.
	DropListener(ctx context.Context, id int64) (freed int64, err error)
}

// Notify stores a notice and wakes who listens for it.
func Notify(ctx context.Context, s NoticeStore, b Bells, n Notice) error {
	if err := CheckText(n.Msg, MaxNoticeBytes); err != nil {
		return err
	}
	bells, err := s.AddNotice(ctx, n)
	if err != nil {
		return err
	}
	b.Ring(bells)
	return nil
}

const (
	// takeAtOnce is how many notices are taken, printed and deleted together.
	takeAtOnce = 200
	// lookEvery is how often a listener looks without having been woken: for what somebody
	// stored who died before ringing, and for other listeners that have died.
	lookEvery = time.Second
)

// Listening waits for notices.
type Listening struct {
	Store NoticeStore
	Bells Bells
	// Print prints notices and sees to it that they're out; when it returns nil they count
	// as told. It's given a copy each time.
	Print  func([]Notice) error
	Follow bool // go on after the first
}

// Run tells notices until there were some (or, with Follow, until the context ends). told
// says whether there were any. A context that ends is no error.
func (l Listening) Run(ctx context.Context, who Address, common bool) (told bool, err error) {
	bell, err := l.Bells.Hang()
	if err != nil {
		return false, err
	}
	defer bell.Close()
	me := Listener{Session: who, Common: common, Process: Self(), Bell: bell.Name()}
	if me.ID, err = l.Store.AddListener(ctx, me); err != nil {
		if ctx.Err() != nil {
			err = nil // its time was over before it began
		}
		return false, err
	}
	defer func() {
		_, gone := l.Store.DropListener(context.WithoutCancel(ctx), me.ID)
		err = errors.Join(err, gone)
	}()
	for look := true; ; {
		if look {
			if err := l.bury(ctx); err != nil && ctx.Err() == nil {
				return told, err
			}
		}
		n, err := l.tell(ctx, me)
		told = told || n > 0
		switch {
		case err != nil && ctx.Err() != nil:
			return told, nil
		case err != nil:
			return told, err
		case n == takeAtOnce:
			continue // there may be more
		case told && !l.Follow:
			return true, nil
		}
		rung, err := bell.Wait(ctx, lookEvery)
		if ctx.Err() != nil {
			return told, nil // its time is over
		}
		if err != nil {
			return told, err
		}
		look = !rung
	}
}

// tell prints what's there for a listener.
func (l Listening) tell(ctx context.Context, me Listener) (n int, err error) {
	if there, err := l.Store.AnyNotice(ctx, me); err != nil || !there {
		return 0, err
	}
	taken, err := l.Store.TakeNotices(ctx, me, takeAtOnce)
	if err != nil || len(taken) == 0 {
		return 0, err
	}
	if err := l.Print(taken); err != nil {
		return 0, fmt.Errorf("print the notices: %w", err) // they're told again, marked: some may be out
	}
	return len(taken), l.Store.DropNotices(context.WithoutCancel(ctx), me.ID, taken[len(taken)-1].Seq)
}

// bury takes away listeners that have died, so that what they held is told.
func (l Listening) bury(ctx context.Context) error {
	all, err := l.Store.Listeners(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Process.Runs() {
			continue
		}
		if _, err := l.Store.DropListener(ctx, one.ID); err != nil {
			return err
		}
		l.Bells.Remove(one.Bell)
	}
	return nil
}

// Listens says whether anybody who lives listens for somebody's notices.
func Listens(ctx context.Context, s NoticeStore, who Address) (bool, error) {
	all, err := s.Listeners(ctx)
	for _, one := range all {
		if one.Session == who && one.Process.Runs() {
			return true, nil
		}
	}
	return false, err
}
