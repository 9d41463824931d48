package adapters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Asider is an Adapter that shows in passing what a session is doing. Nothing of it
// stays, and nobody misses it. The contract of its calls is that of Adapter.Call.
type Asider interface {
	// Drafts says whether Draft works in a target's chat, as far as is known. It returns at once.
	Drafts(t Target) bool
	// Draft shows a live region, which is all that's on the page, where the next message
	// of a document will be. If it's too long, its end is shown.
	Draft(ctx context.Context, t Target, doc BindingID, p Page) Reply
	// Typing shows that somebody is typing.
	Typing(ctx context.Context, t Target) Reply
}

const (
	// draftEvery is the least time between two drafts of a document. It keeps one
	// within what platforms allow, steadily: 25 in 30 s.
	draftEvery = 1200 * time.Millisecond
	// typingFor is for how long after somebody spoke to a session it's shown that it's
	// at work.
	typingFor = 2 * time.Minute
)

// Slot keys of calls that are neither a document's nor a post's. What's behind them
// says all there is to know.
const (
	draftSlot  = "draft\x00"  // and a binding's id
	typingSlot = "typing\x00" // and a binding's id
	openSlot   = "open\x00"   // and a target
	renameSlot = "rename\x00" // and a binding's id
)

// Reopen has the thread of a target opened that was closed by a person.
func (h *Hub) Reopen(t Target) error {
	o, err := h.outletOf(t)
	if err != nil {
		return err
	}
	if t.Thread == "" {
		return fmt.Errorf("reopen %s: %w: it's no thread", t, sessions.ErrInvalid)
	}
	err = o.scheduler.Post(qos.Request{Chat: o.adapter.Chat(t), Key: openSlot + t.String(), Class: qos.Interactive})
	if err != nil {
		return fmt.Errorf("reopen %s: %w", t, err)
	}
	return nil
}

// spokenTo shows in passing that a session was heard.
func (h *Hub) spokenTo(id sessions.ID) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	w := h.sessions[id]
	if w == nil {
		return
	}
	now := time.Now()
	w.spoken.Store(&now)
	for _, b := range w.bindings {
		if b.open {
			b.try(typingSlot, qos.FamilyTyping)
		}
	}
}

// aside shows in passing what an event says. h.mu is held for reading.
func (w *watched) aside(b *bound, ev sessions.OutputEvent) {
	a, ok := b.outlet.adapter.(Asider)
	if !ok || ev.Complete || b.View == ViewFinal {
		return
	}
	now := time.Now()
	if ev.Live != nil && regionOf(ev.Live).showing() && a.Drafts(b.Target) {
		last := b.drafted.Load()
		if (last == nil || now.Sub(*last) >= draftEvery) && b.drafted.CompareAndSwap(last, &now) {
			b.try(draftSlot, qos.FamilyDraft)
		}
	} else if spoken := w.spoken.Load(); ev.Turn.Open && spoken != nil && now.Sub(*spoken) <= typingFor {
		b.try(typingSlot, qos.FamilyTyping)
	}
}

// try has a call made for a binding, if it can be made right now.
func (b *bound) try(slot string, family qos.Family) {
	if _, ok := b.outlet.adapter.(Asider); !ok {
		return
	}
	doc, _ := b.outlet.deliverer.Document(b.ID)
	b.outlet.scheduler.Try(qos.Request{
		Chat: b.outlet.adapter.Chat(doc.target(b.Binding)), Key: slot + string(b.ID), Family: family, Session: qos.Session(b.Session),
	})
}

// aside makes a call that's neither a document's nor a post's. ok is false if it's
// none of these either.
func (d *Deliverer) aside(ctx context.Context, call qos.Call) (_ qos.Result, ok bool) {
	slot, rest, _ := strings.Cut(call.Key, "\x00")
	switch slot + "\x00" {
	case draftSlot, typingSlot:
		return d.inPassing(ctx, slot+"\x00" == draftSlot, BindingID(rest)), true
	case renameSlot:
		return d.rename(ctx, BindingID(rest)), true
	case openSlot:
		t, err := ParseTarget(rest)
		if err != nil {
			return qos.Result{Outcome: qos.Rejected, Err: err}, true
		}
		return d.told(t, d.opt.Adapter.Call(ctx, Op{Kind: KindOpen, Target: t})), true
	default:
		return qos.Result{}, false
	}
}

func (d *Deliverer) inPassing(ctx context.Context, draft bool, id BindingID) qos.Result {
	d.mu.Lock()
	o := d.open[id.Doc()]
	if o == nil {
		d.mu.Unlock()
		return qos.Result{Outcome: qos.Unchanged}
	}
	b, t := o.binding, o.doc.target(o.binding)
	d.mu.Unlock()
	a, ok := d.opt.Adapter.(Asider)
	if !ok {
		return qos.Result{Outcome: qos.Rejected, Err: errors.New("the adapter shows nothing in passing")}
	}
	if d.opt.Adapter.Shape(b.Target).OwnThread && t.Thread == "" {
		return qos.Result{Outcome: qos.Unchanged} // there's no place for it yet
	}
	if !draft {
		return d.told(t, a.Typing(ctx, t))
	}
	var r region
	if d.opt.Screens != nil {
		p, err := d.opt.Log.Progress(ctx, b.Session)
		if err == nil {
			r, err = d.region(ctx, b.Session, p.Head)
		}
		if err != nil {
			return qos.Result{Outcome: qos.NotSent, Err: fmt.Errorf("draft %s: %w", b.Session, err)}
		}
	}
	if !r.showing() {
		return qos.Result{Outcome: qos.Unchanged}
	}
	return d.told(t, a.Draft(ctx, t, id, r.alone()))
}

// told is the result of a call that leaves nothing to be kept.
func (d *Deliverer) told(t Target, r Reply) qos.Result {
	result := r.result()
	if r.Outcome == qos.Migrated {
		t.Chat = r.Chat
		result.Chat = d.opt.Adapter.Chat(t)
	}
	return result
}
