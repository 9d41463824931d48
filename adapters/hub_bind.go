package adapters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// BindingWish is how a target is to mirror a session.
type BindingWish struct {
	View  View
	Input bool
	// Quotes is Binding.Quotes; nil: as it is, of a new binding no.
	Quotes *bool
	Work   WorkShown // what it doesn't say is as it is, or as usual
}

// Bind is BindAs with quotes and the session's work as they are, or as usual.
func (h *Hub) Bind(ctx context.Context, id sessions.ID, t Target, view View, input bool) (Binding, error) {
	return h.BindAs(ctx, id, t, BindingWish{View: view, Input: input})
}

// BindAs makes a target mirror a session, from its newest line on. If it does already,
// what the wish says is changed. One that was disabled because the platform refused
// it goes on where it was.
func (h *Hub) BindAs(ctx context.Context, id sessions.ID, t Target, wish BindingWish) (Binding, error) {
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
		return Binding{}, fmt.Errorf("bind %s to %s: %w: %w", s.Name, t, sessions.ErrInvalid, err)
	}
	if wish.View, err = ParseView(string(wish.View)); err != nil {
		return Binding{}, fmt.Errorf("bind %s to %s: %w: %w", s.Name, t, sessions.ErrInvalid, err)
	}
	if err := wish.Work.check(); err != nil {
		return Binding{}, fmt.Errorf("bind %s to %s: %w: %w", s.Name, t, sessions.ErrInvalid, err)
	}
	want := Binding{Session: s.ID, Target: t, View: wish.View, Work: wish.Work, Input: wish.Input, Origin: ByHand}
	b := h.findBinding(s.ID, t)
	if wish.Quotes != nil {
		want.Quotes = *wish.Quotes
	} else if b != nil {
		want.Quotes = b.Quotes
	}
	if b != nil {
		want.Work = b.Work.with(wish.Work)
		return h.changeBinding(ctx, b, want)
	}
	return h.createBinding(ctx, want, -1)
}

// Unbind ends a binding, and drops what it has still to send. A rule
// doesn't bring it back.
func (h *Hub) Unbind(ctx context.Context, id BindingID) error {
	h.life.Lock()
	defer h.life.Unlock()
	b := h.binding(id)
	if b == nil {
		return fmt.Errorf("%w binding %s", sessions.ErrUnknown, id)
	}
	if b.Origin == ByHand {
		return h.dropBinding(ctx, b)
	}
	next := b.Binding
	next.Unbound = true
	if err := h.opt.Store.PutBinding(ctx, next, nil); err != nil {
		return fmt.Errorf("unbind %s: %w", b.Target, err)
	}
	h.updateBinding(b, next)
	h.closeBinding(b)
	return nil
}

// checkRules returns all that's wrong with rules, joined. known says why nothing is sent to
// a target.
func (h *Hub) checkRules(rules []MirrorRule, known func(Target) error) error {
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
	want := bindingsWanted(h.rules, s, h.currentPlace)
	h.mu.RUnlock()
	var errs []error
	for _, b := range h.bindingsOf(s.ID) {
		if b.Origin == ByRule && !slices.ContainsFunc(want, func(w Binding) bool { return h.findBinding(s.ID, w.Target) == b }) {
			errs = append(errs, h.dropBinding(ctx, b))
		}
	}
	for _, w := range want {
		b := h.findBinding(s.ID, w.Target)
		var err error
		switch {
		case b == nil:
			_, err = h.createBinding(ctx, w, start)
		case b.Origin == ByRule && !b.Unbound && !b.Resting && (b.View != w.View || b.Work != w.Work || b.Input != w.Input || b.Quotes != w.Quotes || b.Disabled != ""):
			_, err = h.changeBinding(ctx, b, w) // what was refused is tried again: it may have been repaired
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// createBinding makes a binding that begins behind a line; negative: behind the newest.
// life is held.
func (h *Hub) createBinding(ctx context.Context, b Binding, start int64) (Binding, error) {
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
	return b, h.openBinding(ctx, h.addBinding(b), doc)
}

// changeBinding gives a binding another's view, work, input, quotes and origin, and has it work again.
// life is held.
func (h *Hub) changeBinding(ctx context.Context, b *hubBinding, want Binding) (Binding, error) {
	next := b.Binding
	next.View, next.Work, next.Input, next.Quotes, next.Origin = want.View, want.Work, want.Input, want.Quotes, want.Origin
	next.Disabled, next.Unbound, next.Resting = "", false, false
	if b.open {
		if err := h.opt.Store.PutBinding(ctx, next, nil); err != nil {
			return Binding{}, fmt.Errorf("change the binding to %s: %w", b.Target, err)
		}
		h.updateBinding(b, next)
		b.outlet.deliverer.Rebind(next)
		return next, h.catchUp(ctx, b)
	}
	doc, err := h.revivedDocument(ctx, b)
	if err != nil {
		return Binding{}, fmt.Errorf("change the binding to %s: %w", b.Target, err)
	}
	return next, h.reopenBinding(ctx, b, next, doc)
}

// reopenBinding makes a binding work again as next says, from where its document is. life is held.
func (h *Hub) reopenBinding(ctx context.Context, b *hubBinding, next Binding, doc Document) error {
	if err := h.opt.Store.PutBinding(ctx, next, &doc); err != nil {
		return fmt.Errorf("change the binding to %s: %w", b.Target, err)
	}
	h.updateBinding(b, next)
	return h.openBinding(ctx, b, doc)
}

// revivedDocument is the document with which a binding works again that didn't.
func (h *Hub) revivedDocument(ctx context.Context, b *hubBinding) (Document, error) {
	if b.Unbound {
		p, err := h.opt.Log.Progress(ctx, b.Session)
		return h.followMoves(b.Binding, NewDocument(p.Head, p)), err
	}
	kept, err := h.opt.Store.Bindings(ctx)
	if err != nil {
		return Document{}, err
	}
	i := slices.IndexFunc(kept, func(k KeptBinding) bool { return k.Binding.ID == b.ID })
	if i < 0 {
		return Document{}, fmt.Errorf("%w binding %s", sessions.ErrUnknown, b.ID)
	}
	doc := kept[i].Document
	if h.isRestored() {
		p, err := h.opt.Log.Progress(ctx, b.Session)
		if err != nil {
			return Document{}, err
		}
		doc = doc.restored(p)
	}
	return h.followMoves(b.Binding, doc), nil
}

// dropBinding forgets a binding. life is held.
func (h *Hub) dropBinding(ctx context.Context, b *hubBinding) error {
	if err := h.opt.Store.DropBinding(ctx, b.ID); err != nil {
		return fmt.Errorf("drop the binding to %s: %w", b.Target, err)
	}
	h.closeBinding(b)
	h.mu.Lock()
	delete(h.bindings, b.ID)
	if w := h.sessions[b.Session]; w != nil {
		w.bindings = slices.DeleteFunc(w.bindings, func(x *hubBinding) bool { return x == b })
	}
	h.mu.Unlock()
	h.forgetEnded(b.Session)
	return nil
}

// binding returns a binding; nil: there's none with this id.
func (h *Hub) binding(id BindingID) *hubBinding {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.bindings[id]
}

// bindingsOf returns a session's bindings.
func (h *Hub) bindingsOf(id sessions.ID) []*hubBinding {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if w := h.sessions[id]; w != nil {
		return slices.Clone(w.bindings)
	}
	return nil
}

// addBinding makes a binding known.
func (h *Hub) addBinding(b Binding) *hubBinding {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := &hubBinding{Binding: b}
	h.bindings[b.ID] = x
	w := h.sessions[b.Session]
	if w == nil {
		w = &watched{}
		h.sessions[b.Session] = w
	}
	w.bindings = append(w.bindings, x)
	return x
}

func (h *Hub) updateBinding(b *hubBinding, next Binding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.Binding = next
	if b.outlet != nil {
		b.live = next.View == ViewScreen || b.outlet.adapter.Shape(b.Target).LiveRows > 0
	}
}

// findBinding returns a session's binding to a target, whichever of its chat's ids either of them says;
// nil: there's none.
func (h *Hub) findBinding(id sessions.ID, t Target) *hubBinding {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if w := h.sessions[id]; w != nil {
		for _, b := range w.bindings {
			if h.currentPlace(b.Target) == h.currentPlace(t) {
				return b
			}
		}
	}
	return nil
}

func (h *Hub) watchedSession(id sessions.ID) *watched {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.sessions[id]
}

// Load reads the bindings, opens their documents and applies the rules to the
// sessions there are. Call it once, before the first event and after the sessions
// are known, and the chats that adapters may send to. The error joins a *RuleError for
// each rule that's wrong.
func (h *Hub) Load(ctx context.Context) error {
	h.life.Lock()
	defer h.life.Unlock()
	if err := h.checkRules(h.rules, h.checkTarget); err != nil {
		return fmt.Errorf("load the rules: %w", err)
	}
	moves, err := h.opt.Store.Moves(ctx)
	if err != nil {
		return fmt.Errorf("load where chats have moved: %w", err)
	}
	kept, err := h.opt.Store.Bindings(ctx)
	if err != nil {
		return fmt.Errorf("load bindings: %w", err)
	}
	begun, err := h.opt.Store.NewSessions(ctx)
	if err != nil {
		return fmt.Errorf("load which sessions are new: %w", err)
	}
	h.mu.Lock()
	for _, m := range moves {
		h.moves[Target{Adapter: m.Adapter, Chat: m.From}] = m.To
	}
	for _, s := range h.opt.Sessions.List() {
		w := newWatched(s)
		w.begun, w.ended = true, s.State == sessions.StateEnded
		h.sessions[s.ID] = w
	}
	h.mu.Unlock()
	for _, k := range kept {
		if h.watchedSession(k.Binding.Session) == nil {
			err = errors.Join(err, h.opt.Store.DropBinding(ctx, k.Binding.ID)) // its session is forgotten
			continue
		}
		b := h.addBinding(k.Binding)
		k.Document = h.followMoves(k.Binding, k.Document)
		b.place = k.Document.target(k.Binding)
		if chat := k.Document.Chat; chat != "" && !h.hasMoved(b.Target) { // a kill came between the two
			h.chatMoves(b.Target.Adapter)(b.Target.Chat, chat)
		}
		if h.isRestored() {
			continue
		}
		err = errors.Join(err, h.openKept(ctx, b, k.Document))
	}
	if h.isRestored() {
		return err
	}
	for _, s := range h.opt.Sessions.List() {
		ended := s.State == sessions.StateEnded
		switch {
		case slices.Contains(begun, s.ID):
			err = errors.Join(err, h.takeUpSession(ctx, s, 0)) // the last process was killed before it could
		case !ended:
			err = errors.Join(err, h.applyRules(ctx, s, -1))
		}
		if ended {
			err = errors.Join(err, h.endSessionLocked(ctx, s.ID))
		}
	}
	if err != nil {
		return fmt.Errorf("load bindings: %w", err)
	}
	return nil
}

// openKept opens the document of a binding that the store has kept. life is held.
func (h *Hub) openKept(ctx context.Context, b *hubBinding, doc Document) error {
	if b.isRefusal() {
		h.mu.Lock()
		h.noteRefused(b)
		h.mu.Unlock()
	}
	return h.openBinding(ctx, b, doc)
}

// openBinding opens a binding's document and catches up. life is held.
func (h *Hub) openBinding(ctx context.Context, b *hubBinding, doc Document) error {
	if !b.Active() {
		return nil
	}
	o, err := h.outletOf(b.Target)
	if err == nil {
		err = h.checkEither(b.Target, doc.target(b.Binding))
	}
	if err != nil {
		h.log.Warn("a binding rests", "session", b.Session, "target", b.Target.String(), "err", err)
		return nil // the configuration may name it again
	}
	o.deliverer.Open(b.Binding, doc)
	if err := o.scheduler.Open(o.describeDoc(b.Binding, doc)); err != nil {
		return err
	}
	h.mu.Lock()
	b.outlet, b.open = o, true
	b.live = b.View == ViewScreen || o.adapter.Shape(b.Target).LiveRows > 0
	h.mu.Unlock()
	h.currentInbound().HandlePlaced(b.Session)
	if s, err := h.opt.Sessions.Get(string(b.Session)); err == nil && doc.Title != "" && doc.Title != threadTitle(s) {
		h.retitleThread(b)
	}
	if doc.Intent != nil || doc.showsLive() {
		o.scheduler.Touch(b.ID.Doc())
	}
	return h.catchUp(ctx, b)
}

// catchUp tells the scheduler what the log has. It's read after the document was
// opened: what comes later is told by Output.
func (h *Hub) catchUp(ctx context.Context, b *hubBinding) error {
	p, err := h.opt.Log.Progress(ctx, b.Session)
	if err != nil {
		return fmt.Errorf("open the document of %s in %s: %w", b.Session, b.Target, err)
	}
	doc, _ := b.outlet.deliverer.Document(b.ID)
	if p.Turn <= doc.Turn || p.TurnEnd <= doc.Announced {
		p.TurnEnd = 0
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	b.wantProgress(p, redrawn)
	if s, err := h.opt.Sessions.Get(string(b.Session)); err == nil {
		b.needThread(s)
	}
	return nil
}

// describeDoc is a document as the scheduler sees it.
func (o *outlet) describeDoc(b Binding, d Document) qos.Doc {
	return qos.Doc{
		ID: b.ID.Doc(), Chat: limitKeyOf(o.adapter, b, d), Session: qos.SessionKey(b.Session),
		Delivered: d.Delivered(), Wanted: d.Delivered(), Uncertain: d.Intent != nil,
	}
}

// closeBinding stops sending for a binding.
func (h *Hub) closeBinding(b *hubBinding) {
	h.mu.Lock()
	was := b.open
	if was {
		b.place = b.currentPlace()
		if doc, ok := b.outlet.deliverer.Document(b.ID); ok && doc.Lost != nil && doc.Lost.Nowhere {
			b.notBefore = doc.Lost.Again
		}
	}
	b.open = false
	h.mu.Unlock()
	if was {
		b.outlet.scheduler.Close(b.ID.Doc(), qos.Cancel)
		b.outlet.deliverer.Close(b.ID)
	}
}

// Settings are what of a hub can change while it runs. Adapters can't; the chats they may
// send to are theirs to know, and are asked for again with each Reload.
type Settings struct {
	Rules []MirrorRule
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
	if h.isRestored() {
		return nil // they're applied when that's over
	}
	if err := h.applyAll(ctx); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.addTask("bind sessions by the new rules", func(ctx context.Context) error {
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
	errs := []error{h.recheckTargets(ctx)}
	for _, s := range h.opt.Sessions.List() {
		if w := h.watchedSession(s.ID); w != nil && w.begun && !w.ended { // others follow, from their beginning
			errs = append(errs, h.applyRules(ctx, s, -1))
		}
	}
	return errors.Join(errs...)
}

// recheckTargets stops sending to chats that an adapter doesn't know any more, and goes on with what
// rested because of that. life is held.
func (h *Hub) recheckTargets(ctx context.Context) error {
	h.mu.RLock()
	all := slices.Collect(maps.Values(h.bindings))
	h.mu.RUnlock()
	var errs []error
	for _, b := range all {
		w, err := h.watchedSession(b.Session), h.checkEither(b.Target, h.placeOf(b))
		switch {
		case w == nil || w.ended || !b.Active():
		case b.open && err != nil:
			h.log.Warn("a binding rests", "session", b.Session, "target", b.Target.String(), "err", err)
			h.closeBinding(b)
		case !b.open && err == nil:
			doc, err := h.revivedDocument(ctx, b)
			if err == nil {
				err = h.openBinding(ctx, b, doc)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (h *Hub) placeOf(b *hubBinding) Target {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return b.currentPlace()
}
