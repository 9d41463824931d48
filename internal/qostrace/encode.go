package qostrace

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// numbers makes numbers of names: 48 bits of a keyed hash, never 0.
type numbers struct {
	key   []byte
	known map[string]uint64
}

// mostKnown bounds the names that are kept in memory.
const mostKnown = 10_000

func (n *numbers) number(kind, name string) uint64 {
	if name == "" {
		return 0
	}
	full := kind + "\x00" + name
	if v, ok := n.known[full]; ok {
		return v
	}
	h := hmac.New(sha256.New, n.key)
	_, _ = h.Write([]byte(full))
	v := binary.BigEndian.Uint64(h.Sum(nil))>>16 | 1
	if n.known == nil || len(n.known) >= mostKnown {
		n.known = map[string]uint64{}
	}
	n.known[full] = v
	return v
}

// encoder makes lines of steps.
type encoder struct {
	numbers numbers
	private func(qos.ChatKey) bool
	base    time.Time // the beginning of the day
	// Wall clocks jump. Times of a run are those since its beginning, by the monotonic clock.
	begun time.Time
}

// since is a time as lines have it; 0: none.
func (e *encoder) since(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return e.wall(at).Sub(e.base).Nanoseconds()
}

// wall is a time by the wall clock as it went when the run began.
func (e *encoder) wall(at time.Time) time.Time {
	if e.begun.IsZero() {
		return at.Round(0)
	}
	return e.begun.Round(0).Add(at.Sub(e.begun))
}

// takeOptions takes in what a step says about all that follow.
func (e *encoder) takeOptions(s qos.TraceStep) {
	if s.Kind == qos.TraceStarted {
		e.begun = s.At
	}
	if s.Kind == qos.TraceStarted || s.Kind == qos.TraceTuned {
		e.private = s.Options.Limits.IsPrivate
	}
}

func (e *encoder) chat(l *line, key qos.ChatKey) {
	l.Chat = e.numbers.number("chat", string(key))
	l.Private = key != "" && e.private != nil && e.private(key)
}

func (e *encoder) session(key qos.SessionKey) uint64 { return e.numbers.number("session", string(key)) }
func (e *encoder) doc(id qos.DocID) uint64           { return e.numbers.number("doc", string(id)) }

func (e *encoder) request(l *line, r qos.Request) {
	e.chat(l, r.Chat)
	l.Key, l.Session = e.numbers.number("request", r.Key), e.session(r.Session)
	l.Class, l.Family, l.Uncertain = uint8(r.Class), string(r.Family), r.Uncertain
}

func (e *encoder) scope(l *line, s qos.Scope) {
	e.chat(l, s.Chat)
	l.Family, l.All = string(s.Family), s.AllFamilies
}

// encode makes a line of a step.
func (e *encoder) encode(s qos.TraceStep) line {
	l := line{Kind: s.Kind.String(), At: e.since(s.At), First: s.First}
	switch s.Kind {
	case qos.TraceStarted, qos.TraceTuned:
		l.Settings = settingsOf(s.Options)
	case qos.TraceOpened:
		e.chat(&l, s.Doc.Chat)
		l.Doc, l.Session = e.doc(s.Doc.ID), e.session(s.Doc.Session)
		l.Delivered, l.Wanted, l.Final, l.Uncertain = s.Doc.Delivered, s.Doc.Wanted, s.Doc.Final, s.Doc.Uncertain
	case qos.TraceWanted:
		l.Doc, l.Wanted, l.Final, l.Live, l.Count = e.doc(s.Doc.ID), s.Doc.Wanted, s.Doc.Final, s.Live, s.Count
	case qos.TraceClosed:
		l.Doc, l.Mode = e.doc(s.Doc.ID), uint8(s.Mode)
	case qos.TraceSessionClosed:
		l.Session, l.Mode = e.session(s.Doc.Session), uint8(s.Mode)
	case qos.TraceFocused:
		l.Session = e.session(s.Doc.Session)
	case qos.TracePosted, qos.TraceTried:
		e.request(&l, s.Request)
	case qos.TraceLearned:
		e.scope(&l, s.Scope)
		l.Limit, l.Remained, l.Until = s.Learned.Limit, s.Learned.Remaining, e.since(s.Learned.Reset)
	case qos.TracePenalized:
		e.scope(&l, s.Penalty.Scope)
		l.Until, l.Factor = e.since(s.Penalty.Until), s.Penalty.Multiplier
	case qos.TraceFreed:
		e.scope(&l, s.Scope)
	case qos.TraceCalled:
		e.call(&l, s)
	case qos.TraceAnswered:
		e.result(&l, s)
	default:
	}
	return l
}

func (e *encoder) call(l *line, s qos.TraceStep) {
	c := s.Call
	e.chat(l, c.Chat)
	l.Number, l.Class, l.Family, l.Session = s.Number, uint8(c.Class), string(c.Family), e.session(c.Session)
	l.Doc, l.Key = e.doc(c.Doc), e.numbers.number("request", c.Key)
	l.Delivered, l.Wanted, l.Final, l.Uncertain = c.Delivered, c.Wanted, c.Final, c.Uncertain
}

func (e *encoder) result(l *line, s qos.TraceStep) {
	r := s.Result
	l.Number, l.Outcome, l.Until = s.Number, r.Outcome.String(), e.since(s.Answered)
	l.Delivered, l.Final, l.More, l.Over = r.Delivered, r.Final, r.More, r.Over
	l.Again, l.Retry, l.Global, l.Narrow = e.since(r.Again), int64(r.RetryAfter), r.Global, r.Narrow
	if r.Chat != "" {
		to := line{}
		e.chat(&to, r.Chat)
		l.To, l.Private = to.Chat, to.Private
	}
}
