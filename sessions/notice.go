package sessions

import (
	"context"
	"fmt"
)

// Note writes a notice of panebridge itself into a session's log, where
// everybody who follows it sees it.
func (m *Manager) Note(ctx context.Context, id ID, text string) error {
	line, gaps, err := m.note(ctx, id, text, nil)
	if err != nil {
		return fmt.Errorf("write a notice: %w", err)
	}
	s, err := m.Get(string(id))
	if err != nil {
		return err
	}
	m.opt.Sink.Output(OutputEvent{Session: id, First: line.N, Lines: []Line{line}, Gaps: gaps, Turn: s.Turn})
	return nil
}

// note appends a notice, and takes its number into the registry.
func (m *Manager) note(ctx context.Context, id ID, text string, gap *Gap) (Line, []Gap, error) {
	line, gaps, err := m.opt.Notes.Note(ctx, id, text, gap)
	if err != nil {
		return line, gaps, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		e.Lines = max(e.Lines, line.N)
	}
	return line, gaps, nil
}
