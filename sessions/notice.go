package sessions

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// Note writes a notice of panebridge itself into a session's log, where
// everybody who follows it sees it.
func (m *Manager) Note(ctx context.Context, id ID, text string) error {
	if err := m.publish(ctx, id, Line{Kind: KindNotice, Text: text}); err != nil {
		return fmt.Errorf("write a notice: %w", err)
	}
	return nil
}

const (
	maxSaid = 200 // of an input, in characters: all of it is in the session
	maxName = 64  // of its author
)

// said writes into a session's log what somebody is about to send to it, in short, for
// those who follow it from elsewhere: the pane shows the text, and not who wrote it.
func (m *Manager) said(ctx context.Context, r Receipt) error {
	author := inShort(cmp.Or(r.Name, r.Author), maxName)
	if author == "" || strings.TrimSpace(r.Text) == "" {
		return nil
	}
	l := Line{Kind: KindUser, Text: inShort(r.Text, maxSaid), Author: author, Origin: r.Origin}
	if err := m.publish(ctx, r.Session, l); err != nil {
		return fmt.Errorf("write who wrote an input: %w", err)
	}
	return nil
}

// inShort is a text on one line, of at most n characters.
func inShort(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// publish appends a line, and tells everybody.
func (m *Manager) publish(ctx context.Context, id ID, l Line) error {
	line, gaps, err := m.note(ctx, id, l, nil)
	if err != nil {
		return err
	}
	s, err := m.Get(string(id))
	if err != nil {
		return err
	}
	m.opt.Sink.Output(OutputEvent{Session: id, First: line.N, Lines: []Line{line}, Gaps: gaps, Turn: s.Turn})
	return nil
}

// note appends a line, and takes its number into the registry.
func (m *Manager) note(ctx context.Context, id ID, l Line, gap *Gap) (Line, []Gap, error) {
	l.At = time.Now()
	line, gaps, err := m.opt.Notes.Note(ctx, id, l, gap)
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
