package adapters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Settings are what of a hub can change while it runs. Adapters can't; the chats they may
// send to are theirs to know, and are asked for again with each Reload.
type Settings struct {
	Rules []Rule
	// RingAfter is how long a turn takes at least whose end rings where nobody but who asked
	// for it uses the place; 0: all do.
	RingAfter time.Duration
	// Tune sets the knobs that people choose over an adapter's own options. It's
	// called with a copy of these, each time anew. Nil: they stay.
	Tune func(adapter string, o *qos.Options)
}

// RuleError says what's wrong with a rule.
type RuleError struct {
	Index int // in Settings.Rules
	Err   error
}

func (e *RuleError) Error() string { return e.Err.Error() }

func (e *RuleError) Unwrap() error { return e.Err }

// TuneError says what's wrong with an adapter's options. It wraps a
// *qos.OptionError for each.
type TuneError struct {
	Adapter string
	Err     error
}

func (e *TuneError) Error() string { return fmt.Sprintf("adapter %s: %v", e.Adapter, e.Err) }

func (e *TuneError) Unwrap() error { return e.Err }

// tuned is an adapter's options as the settings want them.
func (s Settings) tuned(adapter string, o qos.Options) qos.Options {
	if s.Tune != nil {
		s.Tune(adapter, &o)
	}
	return o
}

// Reload replaces the settings. Bindings that no rule wants any more go; those that
// one wants anew begin at the newest line. Where the store fails that's done later,
// again until it works. Schedulers keep what waits, which slots are taken, and
// penalties.
//
// With an error nothing is changed. It joins all that's wrong with the settings: a
// *RuleError for each rule, a *TuneError for each adapter.
func (h *Hub) Reload(ctx context.Context, s Settings) error {
	errs := []error{h.checkRules(s.Rules, h.checkTarget)}
	options := map[*outlet]qos.Options{}
	for name, o := range h.outlets {
		options[o] = s.tuned(name, o.options)
		if err := options[o].Validate(); err != nil {
			errs = append(errs, &TuneError{Adapter: name, Err: err})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("reload the hub: %w", err)
	}
	for o, opt := range options {
		if err := o.scheduler.Reconfigure(opt); err != nil && !errors.Is(err, qos.ErrStopped) {
			return fmt.Errorf("reload the hub: %w", err) // not for its options, which are valid
		}
	}
	h.ringAfter.Store(int64(s.RingAfter))
	h.life.Lock()
	defer h.life.Unlock()
	h.mu.Lock()
	h.rules = s.Rules
	h.mu.Unlock()
	if err := h.applyAll(ctx); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.later("bind sessions by the new rules", func(ctx context.Context) error {
			h.life.Lock()
			defer h.life.Unlock()
			return h.applyAll(ctx)
		})
	}
	return nil
}

// applyAll brings the bindings of all sessions in line with the rules. life is
// held.
func (h *Hub) applyAll(ctx context.Context) error {
	errs := []error{h.recheck(ctx)}
	for _, s := range h.opt.Sessions.List() {
		if w := h.watched(s.ID); w != nil && w.begun && !w.ended { // others follow, from their beginning
			errs = append(errs, h.applyRules(ctx, s, -1))
		}
	}
	return errors.Join(errs...)
}

// recheck has nothing more sent to chats that an adapter doesn't know any more, and what
// rested because of that go on. life is held.
func (h *Hub) recheck(ctx context.Context) error {
	h.mu.RLock()
	all := slices.Collect(maps.Values(h.bindings))
	h.mu.RUnlock()
	var errs []error
	for _, b := range all {
		w, err := h.watched(b.Session), h.checkEither(b.Target, h.placeOf(b))
		switch {
		case w == nil || w.ended || !b.Active():
		case b.open && err != nil:
			h.log.Warn("a binding rests", "session", b.Session, "target", b.Target.String(), "err", err)
			h.close(b)
		case !b.open && err == nil:
			doc, err := h.revived(ctx, b)
			if err == nil {
				err = h.open(ctx, b, doc)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (h *Hub) placeOf(b *bound) Target {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return b.where()
}
