// Package apitest has an in-memory daemon for tests of the API and of its
// clients: sessions without panes, and a log without a disk.
package apitest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// Daemon implements api.Sessions and api.Log, and tells Feed what happens.
// Its exported fields are set before it's used.
type Daemon struct {
	Feed       sessions.Feed
	SayDropped bool                             // ReadSince begins with a gap where lines were dropped
	Type       func(*Daemon, *sessions.Receipt) // what becomes of an input; nil: submitted at once
	Search     sessions.AgentSearch             // what SearchAgents finds, and Agents names

	mu       sync.Mutex
	err      error
	sessions []*session
	receipts map[string]*sessions.Receipt
	presses  []sessions.KeyPress
	onKeys   func(sessions.KeyPress) error
	requests []sessions.NewRequest
	gapRow   int64
	inputs   int
	prompts  []sessions.Prompt // by id
}

var (
	_ api.Sessions = (*Daemon)(nil)
	_ api.Log      = (*Daemon)(nil)
)

type session struct {
	sessions.Session
	lines   []sessions.Line
	gaps    []gapRow
	turns   []sessions.PlacedTurn // those that have ended
	dropped int64                 // lines dropped from the front of the log
	screen  sessions.Screen
	seq     int64
}

type gapRow struct {
	row int64
	sessions.Gap
}

// Add makes a session and tells about it.
func (d *Daemon) Add(name, agent string) sessions.ID {
	s := &session{Session: sessions.Session{
		ID: sessions.NewID(), Name: name, Agent: agent, State: sessions.StateIdle, Cwd: "/home/user/project", Owned: true,
		Pane: sessions.Pane{Server: "default", ID: "%1", Session: name}, CreatedAt: time.Now(),
	}}
	d.mu.Lock()
	d.sessions = append(d.sessions, s)
	d.mu.Unlock()
	d.Feed.PublishSession(s.Session)
	return s.ID
}

// Agents are the names of those that Search has.
func (d *Daemon) Agents() []string { return slices.Sorted(maps.Keys(d.Search.Found)) }

// SearchAgents is Search.
func (d *Daemon) SearchAgents() sessions.AgentSearch { return d.Search }

// Append stores lines and tells about them, as a poller does: in this order.
func (d *Daemon) Append(id sessions.ID, kind sessions.LineKind, texts ...string) {
	d.event(id, func(s *session, ev *sessions.OutputEvent) {
		for _, text := range texts {
			s.Lines++
			s.lines = append(s.lines, sessions.Line{N: s.Lines, Kind: kind, Text: text, At: time.Now()})
		}
		s.LastOutputAt = time.Now()
		ev.Lines = slices.Clone(s.lines[len(s.lines)-len(texts):])
		ev.First = s.Lines - int64(len(texts)) + 1
	})
}

// Block is Append for a block of an agent's transcript.
func (d *Daemon) Block(id sessions.ID, kind sessions.LineKind, text string) {
	d.event(id, func(s *session, ev *sessions.OutputEvent) {
		for i, line := range strings.Split(text, "\n") {
			s.Lines++
			l := sessions.Line{N: s.Lines, Kind: kind, Text: line, At: time.Now(), Begins: i == 0}
			s.lines, ev.Lines = append(s.lines, l), append(ev.Lines, l)
		}
		s.LastOutputAt, ev.First = time.Now(), ev.Lines[0].N
	})
}

// Tool is Block for a part of a tool's use.
func (d *Daemon) Tool(id sessions.ID, text string, part sessions.ToolPart) {
	part.Detail = part.Whole != nil
	d.event(id, func(s *session, ev *sessions.OutputEvent) {
		for i, line := range strings.Split(text, "\n") {
			s.Lines++
			l := sessions.Line{N: s.Lines, Kind: sessions.KindTool, Text: line, At: time.Now(), Begins: i == 0}
			if i == 0 {
				l.Tool = &part
			}
			s.lines, ev.Lines = append(s.lines, l), append(ev.Lines, l)
		}
		s.LastOutputAt, ev.First = time.Now(), ev.Lines[0].N
	})
}

// DropDetails has no more of the tools' uses be kept than their lines.
func (d *Daemon) DropDetails(id sessions.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(string(id))
	for i, l := range s.lines {
		if l.Tool != nil {
			bare := *l.Tool
			bare.Whole, s.lines[i].Tool = nil, &bare
		}
	}
}

// ToolUse implements api.Log.
func (d *Daemon) ToolUse(_ context.Context, id sessions.ID, n int64) (use sessions.ToolUse, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(string(id))
	if s == nil {
		return use, fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	var call string
	for _, l := range s.lines {
		if l.N == n && l.Tool != nil && l.Tool.Whole != nil {
			call = l.Tool.Call
		}
	}
	if call == "" {
		return use, fmt.Errorf("%w use of a tool", sessions.ErrUnknown)
	}
	for _, l := range s.lines {
		if l.Tool == nil || l.Tool.Call != call || l.Tool.Whole == nil {
			continue
		}
		one := sessions.ToolRecord{N: l.N, ToolPart: *l.Tool, ToolDetail: *l.Tool.Whole}
		if one.Part == sessions.ToolReturned {
			use.Result = one
		} else {
			use.Call = one
		}
	}
	return use, nil
}

// Known sets the live region of a program that's known.
func (d *Daemon) Known(id sessions.ID, status string, writing ...string) {
	d.event(id, func(_ *session, ev *sessions.OutputEvent) {
		ev.Live = &sessions.Live{Rows: []string{"furniture"}, CursorY: -1, Known: true, Writing: writing, Status: status}
	})
}

// Gap stores a gap behind the newest line.
func (d *Daemon) Gap(id sessions.ID, atLeast int64, reason string) {
	d.event(id, func(s *session, ev *sessions.OutputEvent) {
		d.gapRow++
		g := sessions.Gap{After: s.Lines, AtLeast: atLeast, Reason: reason}
		s.gaps = append(s.gaps, gapRow{d.gapRow, g})
		ev.Gaps = []sessions.Gap{g}
	})
}

// Turn opens or ends a turn.
func (d *Daemon) Turn(id sessions.ID, open bool) {
	d.event(id, func(s *session, ev *sessions.OutputEvent) {
		if open {
			s.Turn = sessions.Turn{Number: s.Turn.Number + 1, Open: true, StartedAt: time.Now(), FirstLine: s.Lines + 1}
		} else {
			s.end("")
			ev.Complete = true
		}
		ev.Turn = s.Turn
	})
}

// FailTurn ends the open turn as one that failed.
func (d *Daemon) FailTurn(id sessions.ID, why string) {
	d.event(id, func(s *session, ev *sessions.OutputEvent) {
		s.end(why)
		ev.Complete = true
		ev.Turn = s.Turn
	})
}

// LastTurn changes the turn that ended last, as if it had taken another time, say. It publishes
// nothing.
func (d *Daemon) LastTurn(id sessions.ID, change func(*sessions.PlacedTurn)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(string(id))
	change(&s.turns[len(s.turns)-1])
}

// end ends the open turn.
func (s *session) end(why string) {
	s.Turn.Open, s.Turn.EndedAt, s.Turn.LastLine, s.Turn.Failed = false, time.Now(), s.Lines, why
	s.turns = append(s.turns, s.placed())
}

// placed is the present turn, with where it stands.
func (s *session) placed() sessions.PlacedTurn {
	t := sessions.PlacedTurn{Turn: s.Turn, After: s.Lines}
	for _, l := range s.lines {
		if l.N >= t.FirstLine && l.Kind == sessions.KindUser && t.Asked == "" {
			t.Asked = l.Text
		}
	}
	return t
}

// Live changes the live region.
func (d *Daemon) Live(id sessions.ID, rows ...string) {
	d.event(id, func(_ *session, ev *sessions.OutputEvent) { ev.Live = &sessions.Live{Rows: rows, CursorY: -1} })
}

// Exit tells that the program has ended.
func (d *Daemon) Exit(id sessions.ID, status int) {
	d.event(id, func(_ *session, ev *sessions.OutputEvent) { ev.Exit = &sessions.Exit{Status: status} })
}

func (d *Daemon) event(id sessions.ID, change func(*session, *sessions.OutputEvent)) {
	d.mu.Lock()
	s := d.find(string(id))
	s.seq++
	ev := sessions.OutputEvent{Session: id, Seq: s.seq}
	change(s, &ev)
	ev.Turn = s.Turn
	d.mu.Unlock()
	d.Feed.PublishOutput(ev)
}

// SetState changes a session's state and tells about it.
func (d *Daemon) SetState(id sessions.ID, state sessions.State, reason string) {
	d.mu.Lock()
	s := d.find(string(id))
	s.State, s.Reason = state, reason
	if state == sessions.StateEnded {
		s.EndedAt = time.Now()
	}
	c := s.Session
	d.mu.Unlock()
	d.Feed.PublishSession(c)
}

// SetUsage has a session's agent say what it uses, and tells about it.
func (d *Daemon) SetUsage(id sessions.ID, u *sessions.Usage) {
	d.mu.Lock()
	s := d.find(string(id))
	if s.Usage = u; u != nil {
		s.Source.Program = u.Agent // which runs
	}
	c := s.Session
	d.mu.Unlock()
	d.Feed.PublishSession(c)
}

// Note appends a notice.
func (d *Daemon) Note(_ context.Context, id sessions.ID, text string) error {
	d.Append(id, sessions.KindNotice, text)
	return nil
}

// SetScreen sets what Screen returns.
func (d *Daemon) SetScreen(id sessions.ID, screen sessions.Screen) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.find(string(id)).screen = screen
}

// Drop drops the oldest lines from a session's log, up to number n.
func (d *Daemon) Drop(id sessions.ID, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(string(id))
	s.lines = slices.DeleteFunc(s.lines, func(l sessions.Line) bool { return l.N <= n })
	s.dropped = n
}

// Pressed returns the keys that were pressed.
func (d *Daemon) Pressed() (keys []string) {
	for _, p := range d.Presses() {
		keys = append(keys, p.Keys...)
	}
	return keys
}

// OnKeys has each call of Keys call fn, and return its error.
func (d *Daemon) OnKeys(fn func(sessions.KeyPress) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onKeys = fn
}

// Presses are the calls of Keys.
func (d *Daemon) Presses() []sessions.KeyPress {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.presses)
}

// Fail makes every call that may fail do so; nil ends it.
func (d *Daemon) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *Daemon) failing() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// find needs the mutex held.
func (d *Daemon) find(idOrName string) *session {
	for _, s := range d.sessions {
		if string(s.ID) == idOrName || s.Name == idOrName {
			return s
		}
	}
	return nil
}

func unknown(what string) error { return fmt.Errorf("find %s: %w", what, sessions.ErrUnknown) }

// List implements api.Sessions.
func (d *Daemon) List() []sessions.Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]sessions.Session, 0, len(d.sessions))
	for _, s := range d.sessions {
		list = append(list, s.Session)
	}
	return list
}

// Get implements api.Sessions.
func (d *Daemon) Get(idOrName string) (sessions.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(idOrName)
	if s == nil {
		return sessions.Session{}, unknown(idOrName)
	}
	return s.Session, nil
}

// New implements api.Sessions.
func (d *Daemon) New(_ context.Context, r sessions.NewRequest) (sessions.Session, error) {
	if err := d.failing(); err != nil {
		return sessions.Session{}, err
	}
	d.mu.Lock()
	d.requests = append(d.requests, r)
	d.mu.Unlock()
	if s, err := d.Get(r.Name); err == nil && r.Name != "" {
		return s, fmt.Errorf("make a session of the name %s: it's in use: %w", r.Name, sessions.ErrConflict)
	}
	return d.Get(string(d.Add(r.Name, r.Agent)))
}

// Requests are what New was asked for.
func (d *Daemon) Requests() []sessions.NewRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.requests)
}

// Adopt implements api.Sessions.
func (d *Daemon) Adopt(_ context.Context, r sessions.AdoptRequest) ([]sessions.Session, error) {
	if err := d.failing(); err != nil {
		return nil, err
	}
	s, err := d.Get(string(d.Add(r.Tmux, "")))
	return []sessions.Session{s}, err
}

// Forget implements api.Sessions.
func (d *Daemon) Forget(_ context.Context, id sessions.ID) error {
	if err := d.failing(); err != nil {
		return err
	}
	if s, err := d.Get(string(id)); err != nil || s.State != sessions.StateEnded {
		return fmt.Errorf("forget %s: %w", id, sessions.ErrConflict)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return s.ID == id })
	return nil
}

// Rename implements api.Sessions.
func (d *Daemon) Rename(_ context.Context, id sessions.ID, name string) (sessions.Session, error) {
	if other, err := d.Get(name); err == nil && other.ID != id {
		return other, fmt.Errorf("%w: a session is named %q already", sessions.ErrConflict, name)
	}
	d.mu.Lock()
	s := d.find(string(id))
	s.Name = name
	c := s.Session
	d.mu.Unlock()
	d.Feed.PublishSession(c)
	return c, nil
}

// Restart implements api.Sessions.
func (d *Daemon) Restart(_ context.Context, id sessions.ID) (sessions.Session, error) {
	if err := d.failing(); err != nil {
		return sessions.Session{}, err
	}
	s, err := d.Get(string(id))
	switch {
	case err != nil:
		return s, err
	case s.State == sessions.StateEnded:
		return d.Get(string(d.Add(s.Name, s.Agent)))
	}
	d.Append(id, sessions.KindNotice, "program started anew")
	return d.Get(string(id))
}

// Close implements api.Sessions.
func (d *Daemon) Close(_ context.Context, id sessions.ID) error {
	if err := d.failing(); err != nil {
		return err
	}
	if s, err := d.Get(string(id)); err != nil || s.State == sessions.StateEnded {
		return fmt.Errorf("close %s: %w", id, sessions.ErrEnded)
	}
	d.SetState(id, sessions.StateEnded, "closed")
	return nil
}

// Input implements api.Sessions.
func (d *Daemon) Input(_ context.Context, id sessions.ID, r sessions.InputRequest) (sessions.Receipt, error) {
	if err := d.failing(); err != nil {
		return sessions.Receipt{}, err
	}
	d.mu.Lock()
	if rcpt := d.byKey(r.Key); rcpt != nil {
		defer d.mu.Unlock()
		return *rcpt, nil
	}
	stored := *d.keep(sessions.Receipt{Session: id, Text: r.Text, Submit: r.Submit, Author: r.Author, Name: r.Name, Key: r.Key, State: sessions.ReceiptStored})
	d.mu.Unlock()
	if d.Type == nil {
		d.SetReceipt(stored.ID, sessions.ReceiptSubmitted, "")
	} else {
		d.Type(d, &stored)
	}
	return stored, nil
}

// byKey is the receipt with a key; nil: none has it. d.mu is held.
func (d *Daemon) byKey(key string) *sessions.Receipt {
	for _, r := range d.receipts {
		if key != "" && r.Key == key {
			return r
		}
	}
	return nil
}

// keep keeps a new receipt. d.mu is held.
func (d *Daemon) keep(r sessions.Receipt) *sessions.Receipt {
	d.inputs++
	r.ID, r.CreatedAt, r.UpdatedAt = fmt.Sprintf("in_%012x", d.inputs), time.Now(), time.Now()
	if d.receipts == nil {
		d.receipts = map[string]*sessions.Receipt{}
	}
	d.receipts[r.ID] = &r
	return &r
}

// Receipt implements api.Sessions.
func (d *Daemon) Receipt(_ context.Context, id string) (sessions.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.receipts[id]; r != nil {
		return *r, nil
	}
	return sessions.Receipt{}, unknown(id)
}

// Keys implements api.Sessions.
func (d *Daemon) Keys(_ context.Context, _ sessions.ID, p sessions.KeyPress) error {
	if err := d.failing(); err != nil {
		return err
	}
	d.mu.Lock()
	d.presses = append(d.presses, p)
	onKeys := d.onKeys
	d.mu.Unlock()
	if onKeys == nil {
		return nil
	}
	return onKeys(p)
}

// Screen implements api.Sessions.
func (d *Daemon) Screen(_ context.Context, id sessions.ID) (sessions.Screen, error) {
	if err := d.failing(); err != nil {
		return sessions.Screen{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.find(string(id)).screen, nil
}

// Read implements api.Log.
func (d *Daemon) Read(_ context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(string(id))
	if s == nil {
		return sessions.Output{}, unknown(string(id))
	}
	out := sessions.Output{Next: from, Oldest: s.dropped + 1}
	out.Lines = linesSince(s, from-1, limit)
	if n := len(out.Lines); n > 0 {
		out.Next = out.Lines[n-1].N + 1
	}
	lastPlace := from - 1
	if n := len(out.Lines); n > 0 {
		lastPlace = out.Next - 2 // one right behind the last line comes with the next page
	}
	for _, g := range s.gaps {
		if g.After >= from-1 && g.After <= lastPlace {
			out.Gaps = append(out.Gaps, g.Gap)
		}
	}
	return out, nil
}

func linesSince(s *session, line int64, limit int) []sessions.Line {
	i := max(line-s.dropped, 0)
	if i >= int64(len(s.lines)) {
		return nil
	}
	return slices.Clone(s.lines[i:min(i+int64(limit), int64(len(s.lines)))])
}

// ReadSince implements api.Log.
func (d *Daemon) ReadSince(_ context.Context, id sessions.ID, line, gap int64, limit int) (out sessions.Output, nextLine, nextGap int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return out, line, gap, d.err
	}
	s := d.find(string(id))
	if s == nil {
		return out, line, gap, unknown(string(id))
	}
	out.Lines = linesSince(s, line, limit)
	if line >= 0 && line < s.dropped && d.SayDropped {
		out.Gaps = []sessions.Gap{{After: line, AtLeast: s.dropped - line, Reason: "dropped"}}
	}
	line = max(line, s.dropped)
	behind := line
	if n := len(out.Lines); n > 0 {
		line = out.Lines[n-1].N
	}
	for _, g := range s.gaps {
		if g.row > gap && g.After >= behind && g.After <= line {
			out.Gaps, gap = append(out.Gaps, g.Gap), g.row
		}
	}
	out.Next = line + 1
	return out, line, gap, nil
}

// TurnsWithin implements api.Log.
func (d *Daemon) TurnsWithin(_ context.Context, id sessions.ID, from, to int64, q sessions.TurnQuery, limit int) ([]sessions.PlacedTurn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(string(id))
	if s == nil {
		return nil, unknown(string(id))
	}
	all := slices.Clone(s.turns)
	if s.Turn.Open {
		all = append(all, s.placed())
	}
	if !q.Oldest {
		slices.Reverse(all)
	}
	all = slices.DeleteFunc(all, func(t sessions.PlacedTurn) bool {
		if q.Notable > 0 && (t.Open || t.Failed == "" && (t.Status == nil || *t.Status <= 0) && t.EndedAt.Sub(t.StartedAt) < q.Notable) {
			return true
		}
		return t.FirstLine > to && (t.Open || t.After > to) || !t.Open && t.After < from
	})
	return all[:min(len(all), limit)], nil
}

// Head implements api.Log.
func (d *Daemon) Head(_ context.Context, id sessions.ID) (line, gap int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.find(string(id))
	if s == nil {
		return 0, 0, unknown(string(id))
	}
	if n := len(s.gaps); n > 0 {
		gap = s.gaps[n-1].row
	}
	return s.Lines, gap, nil
}
