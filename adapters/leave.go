package adapters

import (
	"context"

	"github.com/panebridge/panebridge/qos"
)

// What somebody writes at a place, and what's posted there, ends the message that's open: what
// comes later stands below. A question stands below what led to it.

// Leave says that something else stands below a place's newest message now: nothing is added
// to that any more. A chat stands for all of its threads where it's Unnamed. It returns at once.
func (d *Deliverer) Leave(at Target) {
	unnamed := d.Unnamed(at)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.open {
		to := o.doc.target(o.binding)
		if to == at || unnamed && to.Chat == at.Chat {
			o.leaveTail()
		}
	}
}

// leaveTail has nothing added to the newest message, and to that of a call that's under way or in
// doubt. mu is held.
func (o *openDoc) leaveTail() {
	o.leave = o.busy || o.doc.Intent != nil
	if o.doc.Tail != nil {
		o.left = o.doc.Tail.ID
	}
}

// catchUp brings a session's document at a place nearer to a line by one call, in place of a
// post that's to stand below that. called is false if that line is there, or can't be shown
// now: the document's next call falls under other limits than the post's, say. Where the document
// moves to others with it, its next call of its own says so.
func (d *Deliverer) catchUp(ctx context.Context, chat qos.Chat, p Post) (result qos.Result, called bool) {
	d.mu.Lock()
	var id qos.DocID
	for key, o := range d.open {
		if o.binding.Session == p.Session && o.doc.target(o.binding) == p.To && o.doc.Delivered() < p.line && keyOf(d.opt.Adapter, o.binding, o.doc) == chat {
			id = key
		}
	}
	d.mu.Unlock()
	if id == "" {
		return result, false
	}
	result = d.deliverDocument(ctx, qos.Call{Chat: chat, Doc: id, Class: qos.Final, Wanted: p.line})
	return result, result.Outcome != qos.Unchanged
}
