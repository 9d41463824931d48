package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Note writes a notice of panebridge itself into a session's log, where
// everybody who follows it sees it.
func (m *Manager) Note(ctx context.Context, id ID, text string) error {
	return m.NoteElsewhere(ctx, id, "", text)
}

// NoteElsewhere is Note for those who don't follow the session at a place, or in one of its
// threads: it's about that place. "": it's for everybody.
func (m *Manager) NoteElsewhere(ctx context.Context, id ID, place, text string) error {
	if err := m.publish(ctx, id, []Line{{Kind: KindNotice, Text: text, Origin: place}}); err != nil {
		return fmt.Errorf("write a notice: %w", err)
	}
	return nil
}

const maxName = 64 // of an author, in characters

// inShort is a text on one line, of at most n characters.
func inShort(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// publish appends lines, and tells everybody.
func (m *Manager) publish(ctx context.Context, id ID, lines []Line) error {
	lines, gaps, err := m.note(ctx, id, lines, nil)
	if err != nil {
		return err
	}
	s, err := m.Get(string(id))
	if err != nil {
		return err
	}
	m.opt.Feed.PublishOutput(OutputEvent{Session: id, First: lines[0].N, Lines: lines, Gaps: gaps, Turn: s.Turn})
	return nil
}

// note appends lines, and takes the last one's number into the registry.
func (m *Manager) note(ctx context.Context, id ID, lines []Line, gap *Gap) ([]Line, []Gap, error) {
	now := time.Now()
	for i := range lines {
		lines[i].At = now
	}
	lines, gaps, err := m.opt.Notes.Note(ctx, id, lines, gap)
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		e.Lines = max(e.Lines, lines[len(lines)-1].N)
	}
	return lines, gaps, nil
}
