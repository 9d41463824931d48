package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

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
		if h.watched(k.Binding.Session) == nil {
			err = errors.Join(err, h.opt.Store.DropBinding(ctx, k.Binding.ID)) // its session is forgotten
			continue
		}
		b := h.add(k.Binding)
		k.Document = h.followMoves(k.Binding, k.Document)
		b.place = k.Document.target(k.Binding)
		if chat := k.Document.Chat; chat != "" && !h.hasMoved(b.Target) { // a kill came between the two
			h.chatMoves(b.Target.Adapter)(b.Target.Chat, chat)
		}
		if b.isRefusal() {
			h.mu.Lock()
			h.noteRefused(b)
			h.mu.Unlock()
		}
		err = errors.Join(err, h.open(ctx, b, k.Document))
	}
	for _, s := range h.opt.Sessions.List() {
		ended := s.State == sessions.StateEnded
		switch {
		case slices.Contains(begun, s.ID):
			err = errors.Join(err, h.takeUp(ctx, s, 0)) // the last process was killed before it could
		case !ended:
			err = errors.Join(err, h.applyRules(ctx, s, -1))
		}
		if ended {
			err = errors.Join(err, h.finishLocked(ctx, s.ID))
		}
	}
	if err != nil {
		return fmt.Errorf("load bindings: %w", err)
	}
	return nil
}

// open opens a binding's document and catches up. life is held.
func (h *Hub) open(ctx context.Context, b *bound, doc Document) error {
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
	if err := o.scheduler.Open(o.describe(b.Binding, doc)); err != nil {
		return err
	}
	h.mu.Lock()
	b.outlet, b.open = o, true
	b.live = b.View == ViewScreen || o.adapter.Shape(b.Target).LiveRows > 0
	h.mu.Unlock()
	h.opt.Placed(b.Session)
	if s, err := h.opt.Sessions.Get(string(b.Session)); err == nil && doc.Title != "" && doc.Title != threadTitle(s) {
		h.retitle(b)
	}
	if doc.Intent != nil || doc.showsLive() {
		o.scheduler.Touch(b.ID.Doc())
	}
	return h.catchUp(ctx, b)
}

// catchUp tells the scheduler what the log has. It's read after the document was
// opened: what comes later is told by Output.
func (h *Hub) catchUp(ctx context.Context, b *bound) error {
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
	b.tell(p, redrawn)
	if s, err := h.opt.Sessions.Get(string(b.Session)); err == nil {
		b.needThread(s)
	}
	return nil
}

// describe is a document as the scheduler sees it.
func (o *outlet) describe(b Binding, d Document) qos.Doc {
	return qos.Doc{
		ID: b.ID.Doc(), Chat: keyOf(o.adapter, b, d), Session: qos.Session(b.Session),
		Delivered: d.Delivered(), Wanted: d.Delivered(), Uncertain: d.Intent != nil,
	}
}

// close has nothing more sent for a binding.
func (h *Hub) close(b *bound) {
	h.mu.Lock()
	was := b.open
	if was {
		b.place = b.where()
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
