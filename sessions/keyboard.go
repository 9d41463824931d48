package sessions

import (
	"context"
	"fmt"
	"time"
)

// Keyboard is who may type into a session: one at a time. A typist has it from its
// paste until its Enter was taken, who gives an answer from the first look to the last.
// Without it an answer's keys could come between a text and its Enter, and a text into
// a dialog on whose way an answer is. Keys that a person presses don't ask for it: they
// come at once, as from the pane's own keyboard, and the guards see to the rest.
type Keyboard chan struct{}

func newKeyboard() Keyboard { return make(Keyboard, 1) }

// Take waits until nobody else has it.
func (k Keyboard) Take(ctx context.Context) error {
	select {
	case k <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TakeWithin is Take for those who'd rather be told.
func (k Keyboard) TakeWithin(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if err := k.Take(ctx); err != nil {
		return fmt.Errorf("%w: somebody's text is being typed into the session; answer again in a moment", ErrUnavailable)
	}
	return nil
}

// GiveBack lets the next have it.
func (k Keyboard) GiveBack() { <-k }

// keyboardOf is the keyboard of a session; nil: there's no such session any more.
func (m *Manager) keyboardOf(id ID) Keyboard {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		return e.keyboard
	}
	return nil
}
