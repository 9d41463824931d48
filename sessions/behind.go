package sessions

import (
	"context"
	"time"
)

// tellBehind says of the inputs behind a session's first that they wait and why, while that
// one is held, and takes it back of those that don't any more. m.writing is held.
func (m *Manager) tellBehind(ctx context.Context, session ID) {
	for _, r := range m.changeBehind(session) {
		if err := m.opt.Store.PutReceipt(context.WithoutCancel(ctx), r); err != nil {
			m.log.Error("store that an input waits behind another", "session", session, "receipt", r.ID, "err", err)
		}
		m.opt.Feed.PublishReceipt(r)
	}
}

// changeBehind is that in the registry. It returns the receipts that changed.
func (m *Manager) changeBehind(session ID) (changed []Receipt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[session]
	if e == nil {
		return nil
	}
	var first *Receipt
	for _, r := range e.queue {
		if r.Final() {
			continue
		}
		was := *r
		switch {
		case r.State != ReceiptStored && (r.State != ReceiptHeld || r.Behind == ""):
			// It's being worked on, or held for what's in its own way.
		case first != nil && first.keepsBack():
			r.SetState(ReceiptHeld, CauseBehind, "it waits behind another text: "+first.Reason)
			r.Behind = first.ID
		case r.Behind != "":
			r.SetState(ReceiptStored, "", "")
			r.Behind = ""
		}
		if first == nil {
			first = r
		}
		if r.State != was.State || r.Reason != was.Reason || r.Behind != was.Behind {
			r.UpdatedAt = time.Now()
			changed = append(changed, *r)
		}
	}
	return changed
}

// keepsBack reports whether an input that's the first of its session is held.
func (r *Receipt) keepsBack() bool {
	return r.Reason != "" && (r.State == ReceiptHeld || r.State == ReceiptTyped)
}
