package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Input stores text for a session, and its typist types it in its turn. Input returns when the text is
// stored; the receipt says how far it got by then, Manager.Receipt how far it is now.
func (m *Manager) Input(ctx context.Context, id ID, req InputRequest) (Receipt, error) {
	if req.Key != "" {
		r, err := m.opt.Store.ReceiptByKey(ctx, req.Key)
		if err == nil {
			return m.Receipt(ctx, r.ID)
		}
		if !errors.Is(err, ErrUnknown) {
			return Receipt{}, fmt.Errorf("look for an earlier input: %w", err)
		}
	}
	if err := checkText(req.Text, req.Submit); err != nil {
		return Receipt{}, err
	}
	s, _, err := m.livingSession(id)
	if err != nil {
		return Receipt{}, err
	}
	if run, ok := s.Addressee.run(); ok && m.opt.HasEnded != nil && m.opt.HasEnded(run) {
		s.Addressee = "" // a text let through to it was the last that could be for it
		m.setAddressee(ctx, s.ID, "")
	}
	now := time.Now()
	r := &Receipt{
		ID: randomID("in_"), Session: s.ID, Text: req.Text, Submit: req.Submit, Author: req.Author,
		Name: req.Name, Origin: req.Origin, Key: req.Key, State: ReceiptStored, CreatedAt: now, UpdatedAt: now,
		To: s.Addressee,
	}
	out := *r
	if err := m.enqueue(ctx, r); err != nil {
		if errors.Is(err, ErrConflict) && req.Key != "" { // the same came at the same time
			if other, err := m.opt.Store.ReceiptByKey(ctx, req.Key); err == nil {
				return m.Receipt(ctx, other.ID)
			}
		}
		return Receipt{}, fmt.Errorf("store the input: %w", err)
	}
	m.startTypist(s.ID) //nolint:contextcheck // the typist outlives the request
	return out, nil
}

func (m *Manager) enqueue(ctx context.Context, r *Receipt) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	// Once begun it's carried through: what's stored must be in the queue.
	if err := m.opt.Store.PutReceipt(context.WithoutCancel(ctx), *r); err != nil {
		return err
	}
	told := *r
	m.withEntry(r.Session, func(e *sessionEntry) bool { e.queue = append(e.queue, r); return true })
	m.opt.Feed.PublishReceipt(told)
	m.tellBehind(ctx, r.Session)
	return nil
}

// checkText refuses what can't be typed exactly as written. ESC would let a
// text break out of its paste; other control characters are keys.
func checkText(text string, submit bool) error {
	switch {
	case text == "" && !submit:
		return fmt.Errorf("%w input: it's empty", ErrInvalid)
	case len(text) > MaxInputBytes:
		return fmt.Errorf("%w input: %d bytes are too many, the limit is %d; send it as a file", ErrInvalid, len(text), MaxInputBytes)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w input: it isn't valid UTF-8", ErrInvalid)
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return fmt.Errorf("%w input: control character U+%04X at byte %d; only line end and tab can be typed, use keys for others", ErrInvalid, r, i)
		}
	}
	return nil
}

// Receipt returns a receipt as it is now.
func (m *Manager) Receipt(ctx context.Context, id string) (Receipt, error) {
	m.mu.Lock()
	for _, e := range m.entries {
		for _, r := range e.queue {
			if r.ID == id {
				defer m.mu.Unlock()
				return *r, nil
			}
		}
	}
	m.mu.Unlock()
	r, err := m.opt.Store.Receipt(ctx, id)
	if errors.Is(err, ErrUnknown) {
		return r, fmt.Errorf("%w receipt %q", ErrUnknown, id)
	}
	return r, err
}

// Waiting returns a session's inputs that aren't done, in their order.
func (m *Manager) Waiting(id ID) []Receipt {
	var out []Receipt
	m.withEntry(id, func(e *sessionEntry) bool {
		for _, r := range e.queue {
			if !r.Final() {
				out = append(out, *r)
			}
		}
		return true
	})
	return out
}

// Cancel takes an input back that isn't typed yet.
func (m *Manager) Cancel(ctx context.Context, id string) (Receipt, error) {
	r, err := m.Receipt(ctx, id)
	if err != nil {
		return r, err
	}
	out, ok, err := m.setReceipt(ctx, r.Session, id, func(r *Receipt) bool {
		if r.State != ReceiptStored && r.State != ReceiptHeld {
			return false
		}
		r.SetState(ReceiptCancelled, "", "")
		return true
	})
	if err != nil {
		return r, fmt.Errorf("take the input back: %w", err)
	}
	if !ok {
		r, _ = m.Receipt(ctx, id)
		return r, Refuse("the input is %s already", r.State)
	}
	return out, nil
}

// Forestall has the input that's still on its way with the key of a request be cancelled before it comes: it's never typed.
// It returns what became of it. One that has come stays as it is.
func (m *Manager) Forestall(ctx context.Context, id ID, req InputRequest) (Receipt, error) {
	r, err := m.opt.Store.ReceiptByKey(ctx, req.Key)
	if errors.Is(err, ErrUnknown) {
		if r, err = m.cancelAhead(ctx, id, req); errors.Is(err, ErrConflict) { // it came meanwhile
			r, err = m.opt.Store.ReceiptByKey(ctx, req.Key)
		}
	}
	if err != nil {
		return Receipt{}, fmt.Errorf("take an input back: %w", err)
	}
	return m.Receipt(ctx, r.ID)
}

// Withdraw does the same, and cancels one that has come and isn't typed.
func (m *Manager) Withdraw(ctx context.Context, id ID, req InputRequest) (Receipt, error) {
	r, err := m.Forestall(ctx, id, req)
	if err != nil || r.State == ReceiptCancelled {
		return r, err
	}
	now, err := m.Cancel(ctx, r.ID)
	if errors.Is(err, ErrConflict) { // it's typed, or was taken back before
		return now, nil
	}
	return now, err
}

// cancelAhead keeps a cancelled receipt with the key of a request that hasn't come.
func (m *Manager) cancelAhead(ctx context.Context, id ID, req InputRequest) (Receipt, error) {
	s, err := m.Get(string(id))
	if err != nil {
		return Receipt{}, err
	}
	now := time.Now()
	r := Receipt{
		ID: randomID("in_"), Session: s.ID, Submit: req.Submit, Author: req.Author, Name: req.Name, Key: req.Key,
		State: ReceiptCancelled, CreatedAt: now, UpdatedAt: now,
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	return r, m.opt.Store.PutReceipt(context.WithoutCancel(ctx), r)
}

// setReceipt changes a waiting receipt, if change says so, and stores it. What says
// that something was done stays so if it can't be stored. What says that something
// is about to be done, or never will be, is taken back with an error: after a crash
// nobody would know.
func (m *Manager) setReceipt(ctx context.Context, session ID, id string, change func(*Receipt) bool) (Receipt, bool, error) {
	before, r, ok, err := m.putReceipt(ctx, session, id, change)
	if ok && r.State == ReceiptSubmitted {
		m.awaitAnswer(ctx, r, before.UpdatedAt) // Enter was pressed then
	}
	return r, ok, err
}

// putReceipt is setReceipt that returns the receipt as it was, too.
func (m *Manager) putReceipt(ctx context.Context, session ID, id string, change func(*Receipt) bool) (before, r Receipt, ok bool, err error) {
	m.writing.Lock()
	defer m.writing.Unlock()
	before, r, ok = m.changeReceipt(session, id, change)
	if !ok {
		return Receipt{}, Receipt{}, false, nil
	}
	if err := m.opt.Store.PutReceipt(context.WithoutCancel(ctx), r); err != nil {
		m.log.Error("store a receipt", "session", session, "receipt", id, "state", r.State, "err", err)
		if r.State == ReceiptTyping || r.State == ReceiptCancelled || r.Pressed && !before.Pressed {
			m.withEntry(session, func(e *sessionEntry) bool { e.replaceReceipt(before); return true })
			return before, before, false, err
		}
	}
	m.opt.Feed.PublishReceipt(r)
	m.tellBehind(ctx, session)
	return before, r, true, nil
}

// changeReceipt changes a waiting receipt in the registry, if change says so. m.writing
// is held.
func (m *Manager) changeReceipt(session ID, id string, change func(*Receipt) bool) (before, after Receipt, ok bool) {
	ok = m.withEntry(session, func(e *sessionEntry) bool {
		i := slices.IndexFunc(e.queue, func(r *Receipt) bool { return r.ID == id && !r.Final() })
		if i < 0 {
			return false
		}
		r := e.queue[i]
		if before = *r; !change(r) {
			return false
		}
		if (r.State == ReceiptFailed || r.Unverified()) && r.Submit && e.isProved(r.ID) {
			r.SetState(ReceiptSubmitted, "", "") // the agent has said that it was asked it
		}
		if r.State != ReceiptHeld && r.State != ReceiptTyped {
			r.Quoted, r.Front, r.Revivals = "", "", nil
		}
		r.UpdatedAt = time.Now()
		after = *r
		return true
	})
	return before, after, ok
}

func (m *Manager) failWaiting(ctx context.Context, id ID, reason string) {
	for _, waiting := range m.Waiting(id) {
		_, _, _ = m.setReceipt(ctx, id, waiting.ID, func(r *Receipt) bool { // a failure to store it is logged
			why := reason
			if r.State == ReceiptTyping || r.State == ReceiptTyped {
				why += "; the text had been typed, and nobody knows whether it was taken"
			}
			r.SetState(ReceiptFailed, "", why)
			return true
		})
	}
}

// loadReceipts takes up the inputs of the daemon's last run. What may have been typed
// comes first: a typist looks what became of it before anything else is typed.
func (m *Manager) loadReceipts(ctx context.Context, open []Receipt) error {
	for _, r := range open {
		switch r.State {
		case ReceiptStored, ReceiptHeld, ReceiptTyping, ReceiptTyped:
			if m.queueAgain(r) {
				continue
			}
		case ReceiptSubmitted, ReceiptAnswered, ReceiptFailed, ReceiptCancelled:
			continue
		}
		r.SetState(ReceiptFailed, "", "panebridge stopped while it was being typed, and the session has ended since; nobody knows whether it was taken")
		r.UpdatedAt = time.Now()
		if err := m.opt.Store.PutReceipt(ctx, r); err != nil {
			return fmt.Errorf("close a receipt of the last run: %w", err)
		}
		m.opt.Feed.PublishReceipt(r)
	}
	return nil
}

// queueAgain puts an input of the last run into its session's queue; false: the session
// is gone, or has ended.
func (m *Manager) queueAgain(r Receipt) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[r.Session]
	if e == nil || e.State == StateEnded {
		return false
	}
	if r.Cause == CauseBehind {
		r.SetState(ReceiptStored, "", "") // which it waits behind isn't kept
	}
	if r.State == ReceiptStored || r.State == ReceiptHeld {
		e.queue = append(e.queue, &r)
		return true
	}
	e.queue, e.left = slices.Insert(e.queue, 0, &r), true
	return true
}

func (m *Manager) startTypist(id ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || e.hand == nil || e.typing || m.ctx == nil || m.ctx.Err() != nil {
		return
	}
	e.typing = true
	ctx := m.ctx
	m.typists.Go(func() {
		for r := m.nextInput(id); r != nil && ctx.Err() == nil; r = m.nextInput(id) {
			m.typeInput(ctx, id, *r)
		}
	})
}

// typeInput types one input. One that makes the typist panic fails, and the next is typed
// by a new typist.
func (m *Manager) typeInput(ctx context.Context, id ID, r Receipt) {
	m.mu.Lock()
	e := m.entries[id]
	m.mu.Unlock()
	if e == nil || m.containPanic(ctx, id, WorkerTypist, func() { e.hand.TypeText(ctx, r) }) {
		return
	}
	_, _, _ = m.setReceipt(context.WithoutCancel(ctx), id, r.ID, func(r *Receipt) bool { // a failure to store it is logged
		r.SetState(ReceiptFailed, "", "panebridge failed while it typed this; look at the session before you send it again")
		return true
	})
}

// nextInput drops finished receipts and returns the first that's open; nil: none is, or
// the session was forgotten.
func (m *Manager) nextInput(id ID) *Receipt {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil {
		return nil
	}
	for len(e.queue) > 0 && e.queue[0].Final() {
		e.queue = e.queue[1:]
	}
	if len(e.queue) == 0 {
		e.typing = false
		return nil
	}
	r := *e.queue[0]
	return &r
}
