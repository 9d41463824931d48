package adapters

import (
	"context"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// threadTitle is what a session's thread is called.
func threadTitle(s sessions.Session) string {
	return shortened(strings.Join(strings.Fields(s.Name), " "), maxTitle)
}

// maxTitle is what both Telegram (128) and Discord (100) take, in characters.
const maxTitle = 100

// renamed takes in that a session has another name: other rules may match it, and the
// threads that were made for it get another title.
func (h *Hub) renamed(ctx context.Context, s sessions.Session) error {
	h.life.Lock()
	defer h.life.Unlock()
	if err := h.applyRules(ctx, s, -1); err != nil {
		return err
	}
	for _, b := range h.bindingsOf(s.ID) {
		if b.open {
			h.retitle(b)
		}
	}
	return nil
}

// retitle has a binding's thread renamed if that was made for it. Titles are scarce
// calls (Discord takes two in ten minutes): several changes become one, since what
// the title is to be is looked up when the slot comes.
func (h *Hub) retitle(b *bound) {
	o := b.outlet
	if !o.adapter.Shape(b.Target).OwnThread {
		return
	}
	doc, _ := o.deliverer.Document(b.ID)
	err := o.scheduler.Post(qos.Request{
		Chat: o.adapter.Chat(doc.target(b.Binding)), Key: renameSlot + string(b.ID), Class: qos.Stream, Family: qos.FamilyRename,
		Session: qos.Session(b.Session),
	})
	if err != nil {
		h.log.Info("a thread keeps its title until the next start", "session", b.Session, "target", b.Target.String(), "err", err)
	}
}

// rename gives a document's thread the title that it should have.
func (d *Deliverer) rename(ctx context.Context, id BindingID) qos.Result {
	o, b, doc, _, refused := d.take(id.Doc())
	if o == nil {
		return refused
	}
	after, result := d.renameThread(ctx, b, doc)
	d.mu.Lock()
	defer d.mu.Unlock()
	o.doc, o.busy = after, false
	return result
}

func (d *Deliverer) renameThread(ctx context.Context, b Binding, doc Document) (Document, qos.Result) {
	s, err := d.opt.Sessions.Get(string(b.Session))
	if err != nil {
		return doc, qos.Result{Outcome: qos.Rejected, Err: fmt.Errorf("rename the thread of %s: %w", b.Session, err)}
	}
	title := threadTitle(d.named(s))
	if doc.Thread == "" || doc.Title == "" || doc.Title == title {
		return doc, qos.Result{Outcome: qos.Unchanged}
	}
	t := doc.target(b)
	result := d.told(t, d.opt.Adapter.Call(ctx, Op{Kind: KindRename, Target: t, Text: title}))
	switch result.Outcome {
	case qos.Delivered:
		doc.Title = title
		d.keep(ctx, b, doc, nil)
	case qos.Rejected:
		d.opt.Logger.WarnContext(ctx, "a thread keeps its title", "session", b.Session, "target", t.String(), "err", result.Err)
	default: // it's made again, or nothing is to be done
	}
	return doc, result
}
