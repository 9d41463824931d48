package sessions

import (
	"context"
	"fmt"
	"time"
)

// keyboard is who may type into a session: one at a time. A typist has it from its
// paste until its Enter was taken, who gives an answer from the first look to the last.
// Without it an answer's keys could come between a text and its Enter, and a text into
// a dialog on whose way an answer is. Keys that a person presses don't ask for it: they
// come at once, as from the pane's own keyboard, and the guards see to the rest.
type keyboard chan struct{}

func newKeyboard() keyboard { return make(keyboard, 1) }

// take waits until nobody else has it.
func (k keyboard) take(ctx context.Context) error {
	select {
	case k <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takeWithin is take for those who'd rather be told.
func (k keyboard) takeWithin(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if err := k.take(ctx); err != nil {
		return fmt.Errorf("%w: somebody's text is being typed into the session; answer again in a moment", ErrUnavailable)
	}
	return nil
}

func (k keyboard) giveBack() { <-k }

// keyboardOf is the keyboard of a session; nil: there's no such session any more.
func (m *Manager) keyboardOf(id ID) keyboard {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		return e.keyboard
	}
	return nil
}
