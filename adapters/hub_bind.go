package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Bind has a target mirror a session, from its newest line on. If it does already,
// view and input are changed. One that was disabled because the platform refused
// it goes on where it was.
func (h *Hub) Bind(ctx context.Context, id sessions.ID, t Target, view View, input bool) (Binding, error) {
	h.life.Lock()
	defer h.life.Unlock()
	s, err := h.opt.Sessions.Get(string(id))
	if err != nil {
		return Binding{}, err
	}
	if s.State == sessions.StateEnded {
		return Binding{}, fmt.Errorf("bind %s to %s: %w", s.Name, t, sessions.ErrEnded)
	}
	if err := h.checkTarget(t); err != nil {
		return Binding{}, err
	}
	if view, err = ParseView(string(view)); err != nil {
		return Binding{}, fmt.Errorf("bind %s to %s: %w: %w", s.Name, t, sessions.ErrInvalid, err)
	}
	want := Binding{Session: s.ID, Target: t, View: view, Input: input, Origin: ByHand}
	if b := h.find(s.ID, t); b != nil {
		return h.change(ctx, b, want)
	}
	return h.create(ctx, want, -1)
}

// Unbind ends a binding; what it hasn't sent yet isn't sent any more. A rule
// doesn't bring it back.
func (h *Hub) Unbind(ctx context.Context, id BindingID) error {
	h.life.Lock()
	defer h.life.Unlock()
	h.mu.RLock()
	b := h.bindings[id]
	h.mu.RUnlock()
	if b == nil {
		return fmt.Errorf("%w binding %s", sessions.ErrUnknown, id)
	}
	if b.Origin == ByHand {
		return h.drop(ctx, b)
	}
	next := b.Binding
	next.Unbound = true
	if err := h.opt.Store.PutBinding(ctx, next, nil); err != nil {
		return fmt.Errorf("unbind %s: %w", b.Target, err)
	}
	h.update(b, next)
	h.close(b)
	return nil
}

// checkRules returns all that's wrong with rules, joined. known says why nothing is sent to
// a target.
func (h *Hub) checkRules(rules []Rule, known func(Target) error) error {
	var errs []error
	for i, r := range rules {
		if err := errors.Join(r.check(), known(r.To)); err != nil {
			errs = append(errs, &RuleError{Index: i, Err: fmt.Errorf("mirror %q to %s: %w", r.Session, r.To, err)})
		}
	}
	return errors.Join(errs...)
}

func (h *Hub) checkTarget(t Target) error {
	o, err := h.outletOf(t)
	if err != nil {
		return err
	}
	return o.adapter.Check(t)
}

// checkEither is checkTarget of a target whose chat may have another id, which the configuration may
// name in place of the first.
func (h *Hub) checkEither(t, now Target) error {
	err := h.checkTarget(t)
	if err != nil && h.checkTarget(now) == nil {
		return nil
	}
	return err
}

// applyRules brings a session's bindings in line with the rules. New ones begin
// behind line `start`; negative: behind the newest. life is held.
func (h *Hub) applyRules(ctx context.Context, s sessions.Session, start int64) error {
	h.mu.RLock()
	want := wanted(h.rules, s, h.now)
	h.mu.RUnlock()
	var errs []error
	for _, b := range h.bindingsOf(s.ID) {
		if b.Origin == ByRule && !slices.ContainsFunc(want, func(w Binding) bool { return h.find(s.ID, w.Target) == b }) {
			errs = append(errs, h.drop(ctx, b))
		}
	}
	for _, w := range want {
		b := h.find(s.ID, w.Target)
		var err error
		switch {
		case b == nil:
			_, err = h.create(ctx, w, start)
		case b.Origin == ByRule && !b.Unbound && !b.Resting && (b.View != w.View || b.Input != w.Input || b.Disabled != ""):
			_, err = h.change(ctx, b, w) // what was refused is tried again: it may have been repaired
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// create makes a binding that begins behind a line; negative: behind the newest.
// life is held.
func (h *Hub) create(ctx context.Context, b Binding, start int64) (Binding, error) {
	p, err := h.opt.Log.Progress(ctx, b.Session)
	if err != nil {
		return Binding{}, fmt.Errorf("bind %s to %s: %w", b.Session, b.Target, err)
	}
	if start < 0 {
		start = p.Head
	}
	b.ID, b.CreatedAt = NewBindingID(), time.Now()
	doc := h.followMoves(b, NewDocument(start, p))
	if err := h.opt.Store.PutBinding(ctx, b, &doc); err != nil {
		return Binding{}, fmt.Errorf("bind %s to %s: %w", b.Session, b.Target, err)
	}
	h.log.Info("binding begins", "session", b.Session, "target", b.Target.String(), "view", b.View, "origin", b.Origin)
	return b, h.open(ctx, h.add(b), doc)
}

// change gives a binding another's view, input and origin, and has it work again.
// life is held.
func (h *Hub) change(ctx context.Context, b *bound, want Binding) (Binding, error) {
	next := b.Binding
	next.View, next.Input, next.Origin, next.Disabled, next.Unbound, next.Resting = want.View, want.Input, want.Origin, "", false, false
	if b.open {
		if err := h.opt.Store.PutBinding(ctx, next, nil); err != nil {
			return Binding{}, fmt.Errorf("change the binding to %s: %w", b.Target, err)
		}
		h.update(b, next)
		b.outlet.deliverer.Rebind(next)
		return next, h.catchUp(ctx, b)
	}
	doc, err := h.revived(ctx, b)
	if err != nil {
		return Binding{}, fmt.Errorf("change the binding to %s: %w", b.Target, err)
	}
	return next, h.reopen(ctx, b, next, doc)
}

// reopen has a binding work again as next says, from where its document is. life is held.
func (h *Hub) reopen(ctx context.Context, b *bound, next Binding, doc Document) error {
	if err := h.opt.Store.PutBinding(ctx, next, &doc); err != nil {
		return fmt.Errorf("change the binding to %s: %w", b.Target, err)
	}
	h.update(b, next)
	return h.open(ctx, b, doc)
}

// revived is the document with which a binding works again that didn't.
func (h *Hub) revived(ctx context.Context, b *bound) (Document, error) {
	if b.Unbound {
		p, err := h.opt.Log.Progress(ctx, b.Session)
		return h.followMoves(b.Binding, NewDocument(p.Head, p)), err
	}
	kept, err := h.opt.Store.Bindings(ctx)
	if err != nil {
		return Document{}, err
	}
	i := slices.IndexFunc(kept, func(k Kept) bool { return k.Binding.ID == b.ID })
	if i < 0 {
		return Document{}, fmt.Errorf("%w binding %s", sessions.ErrUnknown, b.ID)
	}
	return h.followMoves(b.Binding, kept[i].Document), nil
}

// drop forgets a binding. life is held.
func (h *Hub) drop(ctx context.Context, b *bound) error {
	if err := h.opt.Store.DropBinding(ctx, b.ID); err != nil {
		return fmt.Errorf("drop the binding to %s: %w", b.Target, err)
	}
	h.close(b)
	h.mu.Lock()
	delete(h.bindings, b.ID)
	if w := h.sessions[b.Session]; w != nil {
		w.bindings = slices.DeleteFunc(w.bindings, func(x *bound) bool { return x == b })
	}
	h.mu.Unlock()
	h.forget(b.Session)
	return nil
}

// bindingsOf returns a session's bindings.
func (h *Hub) bindingsOf(id sessions.ID) []*bound {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if w := h.sessions[id]; w != nil {
		return slices.Clone(w.bindings)
	}
	return nil
}

// add makes a binding known.
func (h *Hub) add(b Binding) *bound {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := &bound{Binding: b}
	h.bindings[b.ID] = x
	w := h.sessions[b.Session]
	if w == nil {
		w = &watched{}
		h.sessions[b.Session] = w
	}
	w.bindings = append(w.bindings, x)
	return x
}

func (h *Hub) update(b *bound, next Binding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.Binding = next
	if b.outlet != nil {
		b.live = next.View == ViewScreen || b.outlet.adapter.Shape(b.Target).LiveRows > 0
	}
}

// find returns a session's binding to a target, whichever of its chat's ids either of them says;
// nil: there's none.
func (h *Hub) find(id sessions.ID, t Target) *bound {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if w := h.sessions[id]; w != nil {
		for _, b := range w.bindings {
			if h.now(b.Target) == h.now(t) {
				return b
			}
		}
	}
	return nil
}

func (h *Hub) watched(id sessions.ID) *watched {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[id]
}
