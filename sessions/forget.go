package sessions

import (
	"context"
	"fmt"
)

// Forget drops a session that has ended, with its output log, its receipts and its
// prompts.
// ErrConflict if it still lives.
func (m *Manager) Forget(ctx context.Context, id ID) error {
	m.life.Lock()
	defer m.life.Unlock()
	s, err := m.Get(string(id))
	if err != nil {
		return err
	}
	if s.State != StateEnded {
		return fmt.Errorf("forget session %s: %w: it still lives; close it first", s.Name, ErrConflict)
	}
	if err := m.opt.Pollers.Stop(ctx, s.ID); err != nil { // one that was begun as it ended
		return err
	}
	if err := m.opt.Store.DropSession(ctx, s.ID); err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.entries, s.ID)
	m.mu.Unlock()
	m.log.Info("session is forgotten", "session", s.ID)
	return nil
}
