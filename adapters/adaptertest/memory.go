package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Memory is a Backend in memory. It keeps documents as JSON, so that nobody shares
// what they point to.
type Memory struct {
	maxLines int64

	mu       sync.Mutex
	bindings []*keptBinding
	moves    []adapters.Move
	logs     map[sessions.ID]*memLog
	begun    []sessions.ID // that weren't taken up
}

var _ Backend = (*Memory)(nil)

type keptBinding struct {
	binding  adapters.Binding
	document []byte
	messages []adapters.Message // the oldest first
}

type memLog struct {
	lines  []sessions.Line // of numbers from oldest on
	oldest int64
	gaps   []sessions.Gap
	turn   sessions.Turn
	ended  []sessions.Turn // the oldest first
}

func (l *memLog) head() int64 { return l.oldest + int64(len(l.lines)) - 1 }

// NewMemory returns an empty one whose logs keep so many lines each; 0: all.
func NewMemory(maxLines int64) *Memory {
	return &Memory{maxLines: maxLines, logs: map[sessions.ID]*memLog{}}
}

func memoryBackend(maxLines int64) (Backend, func()) { return NewMemory(maxLines), func() {} }

// AddSession implements Backend.
func (m *Memory) AddSession(_ context.Context, s sessions.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.logs[s.ID] == nil {
		m.logs[s.ID] = &memLog{oldest: 1}
		m.begun = append(m.begun, s.ID)
	}
	return nil
}

// Append implements Backend.
func (m *Memory) Append(_ context.Context, b Batch) (Appended, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[b.Session]
	if l == nil {
		return Appended{}, fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	before := l.head()
	var out Appended
	for i, line := range b.Lines {
		line.N = before + int64(i) + 1
		out.Lines = append(out.Lines, line)
	}
	l.lines = append(l.lines, out.Lines...)
	for _, g := range b.Gaps {
		g.After += before
		out.Gaps = append(out.Gaps, g)
	}
	l.gaps = append(l.gaps, out.Gaps...)
	if b.Turn != nil {
		l.turn = l.place(*b.Turn, before)
		l.end()
	}
	if over := int64(len(l.lines)) - m.maxLines; m.maxLines > 0 && over > 0 {
		l.oldest += over
		l.lines = slices.Clone(l.lines[over:])
		l.gaps = slices.DeleteFunc(l.gaps, func(g sessions.Gap) bool { return g.After < l.oldest-1 })
	}
	out.Turn = l.turn
	return out, nil
}

// end takes in that the turn has ended, or what has changed of the one that had.
func (l *memLog) end() {
	n := len(l.ended)
	switch {
	case l.turn.Open:
	case n > 0 && l.ended[n-1].Number == l.turn.Number:
		l.ended[n-1] = l.turn
	default:
		l.ended = append(l.ended, l.turn)
	}
}

// place gives a turn of a batch its places in the log.
func (l *memLog) place(t sessions.Turn, before int64) sessions.Turn {
	was := l.turn
	if t.Number != was.Number {
		was = sessions.Turn{}
	}
	at := func(inBatch, stored int64) int64 {
		if inBatch == 0 {
			return stored
		}
		return before + inBatch
	}
	t.FirstLine, t.LastLine = at(t.FirstLine, was.FirstLine), at(t.LastLine, was.LastLine)
	if !t.Open && t.FirstLine > 0 && t.LastLine == 0 {
		t.LastLine = l.head()
	}
	return t
}

// Read implements adapters.Log.
func (m *Memory) Read(_ context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[id]
	if l == nil {
		return sessions.Output{}, fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	out := sessions.Output{Next: from}
	first := max(from, l.oldest)
	if first > from {
		out.Gaps = append(out.Gaps, sessions.Gap{After: from - 1, AtLeast: first - from, Reason: "dropped"})
	}
	for n := first; n <= l.head() && len(out.Lines) < limit; n++ {
		for _, g := range l.gaps {
			if g.After == n-1 {
				out.Gaps = append(out.Gaps, g)
			}
		}
		out.Lines = append(out.Lines, l.lines[n-l.oldest])
		out.Next = n + 1
	}
	return out, nil
}

// Progress implements adapters.Log.
func (m *Memory) Progress(_ context.Context, id sessions.ID) (adapters.LogProgress, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[id]
	if l == nil {
		return adapters.LogProgress{}, fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	var t sessions.Turn
	if n := len(l.ended); n > 0 {
		t = l.ended[n-1]
	}
	return adapters.LogProgress{
		Head: l.head(), Turn: t.Number, TurnEnd: t.LastLine, TurnFirst: t.FirstLine, TurnBegan: t.StartedAt, TurnEnded: t.EndedAt, Status: t.Status, Failed: t.Failed,
	}, nil
}

// Turns implements adapters.Log.
func (m *Memory) Turns(_ context.Context, id sessions.ID, from int64, limit int) ([]sessions.Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[id]
	if l == nil {
		return nil, fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	turns := slices.DeleteFunc(slices.Clone(l.ended), func(t sessions.Turn) bool { return t.Number < from })
	return turns[:min(len(turns), limit)], nil
}

// Bindings implements adapters.Store.
func (m *Memory) Bindings(context.Context) ([]adapters.KeptBinding, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]adapters.KeptBinding, len(m.bindings))
	for i, k := range m.bindings {
		out[i].Binding = k.binding
		if err := json.Unmarshal(k.document, &out[i].Document); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b adapters.KeptBinding) int { return a.Binding.CreatedAt.Compare(b.Binding.CreatedAt) })
	return out, nil
}

func (m *Memory) find(id adapters.BindingID) *keptBinding {
	for _, k := range m.bindings {
		if k.binding.ID == id {
			return k
		}
	}
	return nil
}

// PutBinding implements adapters.Store.
func (m *Memory) PutBinding(ctx context.Context, b adapters.Binding, d *adapters.Document) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.bindings {
		if k.binding.ID != b.ID && k.binding.Session == b.Session && k.binding.Target == b.Target {
			return fmt.Errorf("%w: %s mirrors %s already", sessions.ErrConflict, b.Target, b.Session)
		}
	}
	k := m.find(b.ID)
	if k == nil {
		k = &keptBinding{}
		m.bindings = append(m.bindings, k)
	}
	k.binding = b
	if d == nil {
		return nil
	}
	var err error
	k.document, err = json.Marshal(d)
	return err
}

// DropBinding implements adapters.Store.
func (m *Memory) DropBinding(ctx context.Context, id adapters.BindingID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bindings = slices.DeleteFunc(m.bindings, func(k *keptBinding) bool { return k.binding.ID == id })
	return nil
}

// PutDocument implements adapters.Store.
func (m *Memory) PutDocument(ctx context.Context, id adapters.BindingID, d adapters.Document, sent *adapters.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.find(id)
	if k == nil {
		return nil
	}
	if sent != nil {
		i := slices.IndexFunc(k.messages, func(m adapters.Message) bool { return m.ID == sent.ID })
		if i < 0 {
			i = len(k.messages)
			k.messages = append(k.messages, adapters.Message{})
		}
		k.messages[i] = *sent
	}
	var err error
	k.document, err = json.Marshal(d)
	return err
}

// MessageAt implements adapters.Store.
func (m *Memory) MessageAt(_ context.Context, id adapters.BindingID, line int64) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.find(id)
	if k == nil {
		return "", nil
	}
	for _, sent := range k.messages {
		if at := (adapters.Position{Line: line}); at.Before(sent.To) && sent.From.Before(sent.To) {
			return sent.ID, nil
		}
	}
	return "", nil
}

// NewSessions implements adapters.Store.
func (m *Memory) NewSessions(context.Context) ([]sessions.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.begun), nil
}

// TakeUp implements adapters.Store.
func (m *Memory) TakeUp(ctx context.Context, id sessions.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun = slices.DeleteFunc(m.begun, func(x sessions.ID) bool { return x == id })
	return nil
}

// Moves implements adapters.Store.
func (m *Memory) Moves(context.Context) ([]adapters.Move, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.moves), nil
}

// PutMove implements adapters.Store.
func (m *Memory) PutMove(ctx context.Context, move adapters.Move) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.moves, move) {
		m.moves = append(m.moves, move)
	}
	return nil
}

// Backend is a store and output log that histories run on. It outlives the
// processes that use it.
type Backend interface {
	adapters.Store
	adapters.Log
	// AddSession makes a session's log. It's new then: see adapters.Store.NewSessions.
	AddSession(ctx context.Context, s sessions.Session) error
	// Append stores a batch and returns what it was in the log.
	Append(ctx context.Context, b Batch) (Appended, error)
}

// Batch is what one poll of a session adds to its log, as in polling.Batch.
type Batch struct {
	Session sessions.ID
	Lines   []sessions.Line
	Gaps    []sessions.Gap // After counts the lines of this batch before the gap
	Turn    *sessions.Turn // FirstLine and LastLine count within the batch from 1, 0 leaves them
}

// Appended is a stored batch.
type Appended struct {
	Lines []sessions.Line
	Gaps  []sessions.Gap
	Turn  sessions.Turn
}

// ErrKilled is what a Process says that was killed.
var ErrKilled = errors.New("the process was killed")

// Process is one process's access to a Backend's bindings and documents.
type Process struct {
	adapters.Store

	mu     sync.Mutex
	killed bool
	fault  func(d adapters.Document) error
}

// SetFault has a function asked before each write of a document; what it returns is
// the write's error. Nil: no fault.
func (p *Process) SetFault(fault func(d adapters.Document) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// Kill ends the process's access: nothing is written any more, as if it had died at
// this instruction.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
}

// Killed says whether the process was killed.
func (p *Process) Killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// PutBinding implements adapters.Store.
func (p *Process) PutBinding(ctx context.Context, b adapters.Binding, d *adapters.Document) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.PutBinding(ctx, b, d)
}

// DropBinding implements adapters.Store.
func (p *Process) DropBinding(ctx context.Context, id adapters.BindingID) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.DropBinding(ctx, id)
}

// PutDocument implements adapters.Store.
func (p *Process) PutDocument(ctx context.Context, id adapters.BindingID, d adapters.Document, sent *adapters.Message) error {
	p.mu.Lock()
	fault := p.fault
	p.mu.Unlock()
	if fault != nil {
		if err := fault(d); err != nil {
			return err
		}
	}
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.PutDocument(ctx, id, d, sent)
}

// TakeUp implements adapters.Store.
func (p *Process) TakeUp(ctx context.Context, id sessions.ID) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.TakeUp(ctx, id)
}

// PutMove implements adapters.Store.
func (p *Process) PutMove(ctx context.Context, m adapters.Move) error {
	if p.Killed() {
		return ErrKilled
	}
	return p.Store.PutMove(ctx, m)
}
