package sessions

import (
	"context"
	"fmt"
	"time"
)

// previewKeyboard is how long a preview, or the reading of a dialog, waits until nobody else types.
const previewKeyboard = 2 * time.Second

// errPreviewPanicked says that nobody knows whether a preview was typed.
var errPreviewPanicked = fmt.Errorf("%w: panebridge failed while it typed the preview", ErrUncertain)

// TypePreview types a preview into a session if nothing speaks against it: the program is
// working, a dialog is open, an input waits or something stands in the input box. sent is
// false if it surely isn't typed, and why says why. If it is, why says what has kept it
// from being submitted, "" for nothing. After an error it's unknown.
func (m *Manager) TypePreview(ctx context.Context, id ID, p Preview) (sent bool, why string, err error) {
	s, e, err := m.previewed(id, &p)
	if err != nil {
		return false, err.Error(), nil // it's the reason
	}
	m.mu.Lock()
	waiting := len(e.queue) > 0 || e.typing
	m.mu.Unlock()
	switch {
	case s.State == StateWorking || s.State == StateStarting:
		return false, "it's " + string(s.State) + "; it's told when it's idle", nil
	case s.State == StateWaiting:
		return false, m.whyWaits(s), nil
	case waiting:
		return false, "an input is being typed", nil
	}
	if err := e.keyboard.TakeWithin(ctx, previewKeyboard); err != nil {
		return false, "an input is being typed", nil // it's the reason
	}
	defer e.keyboard.GiveBack()
	err = errPreviewPanicked
	m.containPanic(ctx, id, WorkerPreview, func() { sent, why, err = e.hand.TypePreview(ctx, p) })
	return sent, why, err
}

// FinishPreview looks what became of a preview that was being typed into a session by
// somebody who has ended, and submits it if it stands in the input box with nothing
// beside it. It's not typed again. why says what has kept it from being submitted, or
// why nobody knows. That the program is working, or nothing is known of it yet, is no
// reason to wait, as it is for one that isn't typed: what stands in the box keeps others
// from typing, and hides what an agent's state is read from.
func (m *Manager) FinishPreview(ctx context.Context, id ID, p Preview) (end PreviewEnd, why string) {
	s, e, err := m.previewed(id, &p)
	if err != nil {
		return PreviewUnknown, err.Error()
	}
	if s.State == StateWaiting {
		return PreviewUnclear, m.whyWaits(s)
	}
	if err := e.keyboard.TakeWithin(ctx, previewKeyboard); err != nil {
		return PreviewUnclear, "an input is being typed"
	}
	defer e.keyboard.GiveBack()
	end, why = PreviewUnknown, errPreviewPanicked.Error()
	m.containPanic(ctx, id, WorkerPreview, func() { end, why = e.hand.FinishPreview(ctx, p) })
	return end, why
}

// previewed is the session that a preview is for, which stops waiting for others when Run ends.
func (m *Manager) previewed(id ID, p *Preview) (Session, *entry, error) {
	e, err := m.handed(id)
	if err != nil {
		return Session{}, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx != nil {
		p.Stop = m.ctx.Done()
	}
	return e.Session, e, nil
}

// whyWaits says what a session that waits waits for: a dialog, or what its state says.
func (m *Manager) whyWaits(s Session) string {
	if shown, known := m.shownOf(s.ID); known && (shown == nil || shown.Kind == PromptLine) && s.Reason != "" {
		return s.Reason
	}
	return "a dialog is open"
}
