package adapters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Post queues a message that's no part of a document; see Outbox.Post.
func (h *Hub) Post(p Post) error {
	o, err := h.outletOf(p.To)
	if err != nil {
		return err
	}
	if o.outbox == nil {
		return fmt.Errorf("post to %s: adapter %s makes no posts", p.To, o.adapter.Name())
	}
	if s := o.adapter.Shape(p.To); len(p.Menus) > s.Menus || slices.ContainsFunc(p.Menus, func(m Menu) bool { return len(m.Options) > s.MenuOptions }) {
		return fmt.Errorf("post to %s: at most %d menus of %d options fit there", p.To, s.Menus, s.MenuOptions)
	}
	if p.Behind {
		p.line = h.heardLine(p.Session)
	}
	return o.outbox.Post(p)
}

// EndTailAt says that somebody has written at a place: what its sessions print from then on stands
// below that. It returns at once.
func (h *Hub) EndTailAt(place Target) {
	if o, err := h.outletOf(place); err == nil {
		o.deliverer.EndTailAt(place)
	}
}

// BindingsAt returns the bindings whose target is a place now, the oldest first, those that
// don't work included; those that were taken back aren't. One that gets a thread of
// its own, and has none yet, is nowhere. One whose chat has another id now is also where it was:
// what was written there just before belongs to it. Where the platform doesn't say in which thread
// something was written, a chat is the place of all that's in its threads.
func (h *Hub) BindingsAt(place Target) []Binding {
	h.mu.RLock()
	defer h.mu.RUnlock()
	unnamed := h.IsUnnamed(place)
	var out []Binding
	for _, b := range h.bindings {
		where := b.currentPlace()
		if unnamed && b.isInChat(place.Adapter, place.Chat) {
			out = append(out, b.Binding)
			continue
		}
		if !b.Unbound && (where == place || b.Target == place && where.Chat != place.Chat) && (place.Thread != "" || !h.ownThread(b.Target) || b.isAstray()) {
			out = append(out, b.Binding)
		}
	}
	slices.SortFunc(out, Binding.compare)
	return out
}

// IsUnnamed says that what's told to be written in a chat itself may have been written in any of its
// threads.
func (h *Hub) IsUnnamed(place Target) bool {
	o := h.outlets[place.Adapter]
	return o != nil && o.deliverer.IsUnnamed(place)
}

func (h *Hub) ownThread(t Target) bool {
	o := h.outlets[t.Adapter]
	return o != nil && o.adapter.Shape(t).OwnThread
}

// UsesChat says whether any binding's target is in a chat.
func (h *Hub) UsesChat(adapter, chat string) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, b := range h.bindings {
		if b.isInChat(adapter, chat) {
			return true
		}
	}
	return false
}

// currentPlace is where a binding's target is now. mu is held.
func (b *hubBinding) currentPlace() Target {
	if b.open {
		if doc, ok := b.outlet.deliverer.Document(b.ID); ok {
			return doc.target(b.Binding)
		}
	}
	if b.place != (Target{}) {
		return b.place
	}
	return b.Target
}

// isAstray says that a binding is shown in its chat itself, because its threads can't be
// written to. mu is held.
func (b *hubBinding) isAstray() bool {
	if !b.open {
		return false
	}
	doc, ok := b.outlet.deliverer.Document(b.ID)
	return ok && doc.isAstray(b.outlet.adapter.Shape(b.Target), time.Now())
}

// isInChat says whether a binding that wasn't taken back is in a chat. mu is held.
func (b *hubBinding) isInChat(adapter, chat string) bool {
	if b.Unbound {
		return false
	}
	t := b.currentPlace()
	return t.Adapter == adapter && t.Chat == chat
}

// bindingsIn returns the bindings in a chat.
func (h *Hub) bindingsIn(adapter, chat string) []*hubBinding {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var out []*hubBinding
	for _, b := range h.bindings {
		if b.isInChat(adapter, chat) {
			out = append(out, b)
		}
	}
	return out
}

// SetResting stops a binding from showing and typing anything, because a person closed its thread.
// With false it goes on where it was. It does disk I/O.
func (h *Hub) SetResting(ctx context.Context, id BindingID, rest bool) error {
	h.life.Lock()
	defer h.life.Unlock()
	b := h.binding(id)
	switch {
	case b == nil || b.Unbound:
		return fmt.Errorf("%w binding %s", sessions.ErrUnknown, id)
	case b.Resting == rest:
		return nil
	case !rest:
		_, err := h.changeBinding(ctx, b, b.Binding)
		return err
	}
	next := b.Binding
	next.Resting = true
	h.log.Info("a binding rests", "session", b.Session, "target", b.Target.String())
	return h.disableBinding(ctx, b, next)
}

// DisableChat disables all bindings in a chat that can't be written to any more. why is
// a sentence.
func (h *Hub) DisableChat(ctx context.Context, adapter, chat, why string) error {
	h.life.Lock()
	defer h.life.Unlock()
	var errs []error
	for _, b := range h.bindingsIn(adapter, chat) {
		if b.Disabled != "" {
			continue
		}
		next := b.Binding
		next.Disabled = why
		if err := h.disableBinding(ctx, b, next); err != nil {
			errs = append(errs, err)
			continue
		}
		h.log.Warn("a binding is disabled", "session", b.Session, "target", b.Target.String(), "reason", why)
		h.opt.Disabled(next)
	}
	return errors.Join(errs...)
}

// ReviveChat tries again what's disabled in a chat: the bot may write there now, and may make
// threads. It does disk I/O.
func (h *Hub) ReviveChat(ctx context.Context, adapter, chat string) error {
	h.life.Lock()
	defer h.life.Unlock()
	var errs []error
	h.retryThreads(adapter, chat)
	for _, b := range h.bindingsIn(adapter, chat) {
		if w := h.watchedSession(b.Session); b.Disabled == "" || b.Unbound || b.Resting || w == nil || w.ended {
			continue // what's left of a session that has ended is sent after the next start
		}
		next := b.Binding
		next.Disabled = ""
		doc, err := h.revivedDocument(ctx, b)
		if err != nil {
			errs = append(errs, fmt.Errorf("have the binding to %s work again: %w", b.Target, err))
			continue
		}
		errs = append(errs, h.reopenBinding(ctx, b, next, doc.forgetLost(Lost.isUnmade)))
	}
	return errors.Join(errs...)
}

// retryThreads lets the sessions of a chat get threads again, where making them was refused.
func (h *Hub) retryThreads(adapter, chat string) {
	o := h.outlets[adapter]
	if o == nil {
		return
	}
	o.deliverer.RetryThreads(chat)
	for _, b := range h.bindingsIn(adapter, chat) {
		if s, err := h.opt.Sessions.Get(string(b.Session)); err == nil {
			h.mu.RLock()
			b.needThread(s)
			h.mu.RUnlock()
		}
	}
}

// followMoves is a binding's document where its chat is now. What's kept of a document may be of
// before its chat moved: a call was under way then, and the process was killed.
func (h *Hub) followMoves(b Binding, doc Document) Document {
	h.mu.RLock()
	defer h.mu.RUnlock()
	was := doc.target(b)
	if now := h.currentPlace(was); now != was {
		doc = doc.movedTo(now.Chat)
	}
	return doc
}

// currentPlace is where a place is whose chat may have another id. mu is held.
func (h *Hub) currentPlace(place Target) Target {
	for range h.moves { // a chat that has moved twice is followed twice
		to := h.moves[Target{Adapter: place.Adapter, Chat: place.Chat}]
		if to == "" {
			break
		}
		place.Chat = to
	}
	return place
}

// hasMoved says whether a place's chat is known to have another id.
func (h *Hub) hasMoved(place Target) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.currentPlace(place) != place
}

// chatMoves returns what keeps that a chat of an adapter has another id, as a call was told; the
// update that says so may come later, or never.
func (h *Hub) chatMoves(adapter string) func(from, to string) {
	return func(from, to string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.addTask("keep that a chat has moved", func(ctx context.Context) error {
			err := h.MoveChat(ctx, adapter, from, to)
			h.currentInbound().FollowMoves()
			return err
		})
	}
}

// ChatMoves returns the chats that are known to have another id, in the order in which they got it. It
// does disk I/O.
func (h *Hub) ChatMoves(ctx context.Context) ([]Move, error) {
	moves, err := h.opt.Store.Moves(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which chats have moved: %w", err)
	}
	return moves, nil
}

// MoveChat moves all bindings in a chat to its new id, and those that are made for it from then on. That's kept first.
func (h *Hub) MoveChat(ctx context.Context, adapter, from, to string) error {
	o, err := h.outletOf(Target{Adapter: adapter})
	if err != nil {
		return err
	}
	h.life.Lock()
	defer h.life.Unlock()
	if err := h.opt.Store.PutMove(ctx, Move{Adapter: adapter, From: from, To: to}); err != nil {
		return fmt.Errorf("keep that chat %s is %s now: %w", from, to, err)
	}
	h.mu.Lock()
	h.moves[Target{Adapter: adapter, Chat: from}] = to
	h.mu.Unlock()
	var errs []error
	for _, b := range h.bindingsIn(adapter, from) {
		if !b.open {
			errs = append(errs, h.moveClosedBinding(ctx, b, to))
			continue
		}
		doc, err := o.deliverer.FollowChat(ctx, b.ID, to)
		if err == nil {
			err = o.scheduler.Open(o.describeDoc(b.Binding, doc))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// moveClosedBinding moves a binding that isn't open to its chat's new id. life is held.
func (h *Hub) moveClosedBinding(ctx context.Context, b *hubBinding, to string) error {
	doc, err := h.revivedDocument(ctx, b)
	if err != nil {
		return err
	}
	doc = doc.movedTo(to)
	if err := h.opt.Store.PutBinding(ctx, b.Binding, &doc); err != nil {
		return fmt.Errorf("have the binding to %s follow its chat: %w", b.Target, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	b.place = doc.target(b.Binding)
	return nil
}

// Shape returns what messages at a place can hold, as its adapter says: MaxFile may
// be more than documents use. A place of an unknown adapter has the least that a Shape may.
func (h *Hub) Shape(place Target) Shape {
	var s Shape
	if o := h.outlets[place.Adapter]; o != nil {
		s = o.adapter.Shape(place)
	}
	largest := s.MaxFile
	s = s.withDefaults()
	s.MaxFile = largest
	return s
}

// LimitStatus says how the limits stand that calls to a place fall under, and what waits
// for its chat.
type LimitStatus struct {
	Mode qos.Mode
	Bot  qos.BotStatus
	Chat qos.ChatStatus // zero: nothing was called lately, and nothing waits
}

// LimitStatus asks an adapter's scheduler; it waits until ctx ends.
func (h *Hub) LimitStatus(ctx context.Context, place Target) (LimitStatus, error) {
	o, err := h.outletOf(place)
	if err != nil {
		return LimitStatus{}, err
	}
	s, err := o.scheduler.Status(ctx)
	if err != nil {
		return LimitStatus{}, fmt.Errorf("ask the scheduler of %s: %w", place.Adapter, err)
	}
	l := LimitStatus{Mode: s.Mode, Bot: s.Bot}
	key := o.adapter.Chat(place)
	for _, c := range s.Chats {
		if c.Chat == key {
			l.Chat = c
		}
	}
	return l, nil
}

// LimitKey is the key of limits that calls to a place fall under.
func (h *Hub) LimitKey(place Target) (qos.ChatKey, error) {
	o, err := h.outletOf(place)
	if err != nil {
		return "", err
	}
	return o.adapter.Chat(place), nil
}

// LearnLimit hands on what an adapter's platform said about its limits; see
// qos.OutputQoSScheduler.Learn. It ignores adapters that have no outlet.
func (h *Hub) LearnLimit(adapter string, scope qos.Scope, learned qos.Learned) {
	if o := h.outlets[adapter]; o != nil {
		o.scheduler.Learn(scope, learned)
	}
}

// ForgetSession ends the bindings of a session that's forgotten, and drops what they have still to
// send. It does disk I/O.
func (h *Hub) ForgetSession(ctx context.Context, id sessions.ID) error {
	h.life.Lock()
	defer h.life.Unlock()
	var errs []error
	for _, b := range h.bindingsOf(id) {
		errs = append(errs, h.dropBinding(ctx, b))
	}
	h.mu.Lock()
	delete(h.sessions, id)
	h.mu.Unlock()
	return errors.Join(errs...)
}

// BindingStatus is a binding and how far its target is.
type BindingStatus struct {
	Binding   Binding
	Open      bool         // it's mirrored now
	Target    Target       // where it is now
	Delivered int64        // the last line that's there
	Pressure  qos.Pressure // how far it lags behind
	// Failing is why its calls, or those for posts there, have failed for ten seconds or longer, and Astray why it's shown elsewhere than it should be, as sentences; "": neither is
	// so.
	Failing, Astray string
}

// Problem is what's wrong though it's mirrored, as a sentence; "": nothing is.
func (s BindingStatus) Problem() string { return cmp.Or(s.Failing, s.Astray) }

// Status returns a session's bindings, the oldest first; of all sessions if id is
// empty.
func (h *Hub) Status(id sessions.ID) []BindingStatus {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var out []BindingStatus
	for _, b := range h.bindings {
		if id != "" && b.Session != id {
			continue
		}
		st := BindingStatus{Binding: b.Binding, Open: b.open, Target: b.currentPlace()}
		if b.open {
			doc, _ := b.outlet.deliverer.Document(b.ID)
			st.Delivered = doc.Delivered()
			st.Failing = cmp.Or(b.outlet.deliverer.Failing(b.ID), b.outlet.outbox.Failing(b.Session, st.Target), h.triedFor(b.ID))
			if st.Failing == "" && doc.isBlank() {
				st.Failing = h.whyOthersAreNotShown(b)
			}
			st.Astray = doc.placeProblem(b.outlet.adapter.Shape(b.Target).withDefaults(), time.Now())
			st.Pressure, _ = b.outlet.scheduler.Pressure(b.ID.Doc())
		}
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b BindingStatus) int { return a.Binding.compare(b.Binding) })
	return out
}

// isBlank reports whether nothing was shown yet.
func (d Document) isBlank() bool { return d.Tail == nil && d.Thread == "" && d.Lost == nil }

// whyOthersAreNotShown is what a binding that has shown nothing yet has to expect: why another
// living session of its chat that hasn't either isn't shown, or why none is. "": there's no such.
// mu is held.
func (h *Hub) whyOthersAreNotShown(b *hubBinding) (why string) {
	t, works := b.currentPlace(), false
	for _, other := range h.bindings {
		w := h.sessions[other.Session]
		if other == b || !other.isInChat(t.Adapter, t.Chat) || other.Unbound || other.Resting || w == nil || w.ended {
			continue
		}
		var doc Document
		if other.open { // it has no outlet before it was for the first time
			doc, _ = other.outlet.deliverer.Document(other.ID)
		}
		switch {
		case other.Disabled == "":
			works = works || !doc.isBlank()
		case doc.isBlank():
			return other.Disabled
		default:
			why = other.Disabled
		}
	}
	if works {
		return ""
	}
	return why
}
