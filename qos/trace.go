package qos

import "time"

// TraceSink is told all that a scheduler is told, which calls it makes, and what comes of
// them, in order: enough to have a SlotEngine do the same again. RecordStep is called on the
// scheduler's own goroutine: it must return at once, and not wait for a method of the
// scheduler. It holds names, and no text.
type TraceSink interface {
	RecordStep(step TraceStep)
}

// TraceKind says what a TraceStep tells.
type TraceKind uint8

// The kinds, and which fields of TraceStep they have beside Kind, At and First.
const (
	// TraceStarted: the scheduler began, with Options.
	TraceStarted TraceKind = iota + 1
	// TraceTuned: the options changed to Options.
	TraceTuned
	// TraceOpened: Doc was opened.
	TraceOpened
	// TraceWanted: Count updates of Doc.ID came, up to Doc.Wanted; a turn ended at Doc.Final (0: none
	// did); its live region changed as Live says.
	TraceWanted
	// TraceClosed: Doc.ID was closed by Mode.
	TraceClosed
	// TraceSessionClosed: all documents of Doc.Session were closed by Mode.
	TraceSessionClosed
	// TraceFocused: somebody spoke to Doc.Session.
	TraceFocused
	// TracePosted: Request was posted.
	TracePosted
	// TraceTried: Request is a cosmetic one.
	TraceTried
	// TraceLearned: the platform said Learned about Scope.
	TraceLearned
	// TracePenalized: the budget told of Penalty, which no call of this scheduler met.
	TracePenalized
	// TraceFreed: the budget is to be asked again for Scope.Chat; empty: for all.
	TraceFreed
	// TraceDraining: streams rest from now on.
	TraceDraining
	// TraceStopped: no call is begun any more.
	TraceStopped
	// TraceCalled: Call was begun, the one with the number Number.
	TraceCalled
	// TraceAnswered: Result came of the call with the number Number, at Answered.
	TraceAnswered

	traceKinds // how many there are, and one
)

func (k TraceKind) String() string {
	names := [traceKinds]string{
		"", "start", "set", "open", "want", "close", "end", "focus", "post", "try", "learn", "penalty", "freed", "drain", "stop", "call", "done",
	}
	if k > 0 && int(k) < len(names) {
		return names[k]
	}
	return "invalid"
}

// ParseTraceKind reads a kind's name. It returns false if there's none of that name.
func ParseTraceKind(name string) (TraceKind, bool) {
	for k := TraceStarted; k < traceKinds; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// TraceStep is one thing that a scheduler was told or did.
type TraceStep struct {
	Kind TraceKind
	At   time.Time
	// First says that the scheduler chose calls (SlotEngine.Advance) since the step before. Steps
	// that came together have it on the first of them only.
	First bool

	Options  Options
	Doc      Doc
	Live     uint8
	Count    int
	Mode     CloseMode
	Request  Request
	Scope    Scope
	Learned  Learned
	Penalty  Penalty
	Number   uint64
	Call     Call
	Result   CallResult
	Answered time.Time
}

// ApplyStep tells the engine what a step says, at the step's time. It ignores TraceStarted, TraceCalled
// and TraceAnswered: those are for who makes the engine, and its calls.
func (e *SlotEngine) ApplyStep(s TraceStep) error {
	switch s.Kind {
	case TraceTuned:
		return e.Reconfigure(s.At, s.Options)
	case TraceOpened:
		e.Open(s.At, s.Doc)
	case TraceWanted:
		e.updateDocument(s.At, s.Doc.ID, docNews{wanted: s.Doc.Wanted, final: s.Doc.Final, live: liveChange(s.Live), count: s.Count})
	case TraceClosed:
		e.Close(s.At, s.Doc.ID, s.Mode)
	case TraceSessionClosed:
		e.CloseSession(s.At, s.Doc.Session, s.Mode)
	case TraceFocused:
		e.FocusSession(s.At, s.Doc.Session)
	case TracePosted:
		_ = e.PostRequest(s.At, s.Request) // was refused then, too
	case TraceTried:
		e.TryRequest(s.At, s.Request)
	case TraceLearned:
		e.Learn(s.At, s.Scope, s.Learned)
	case TracePenalized:
		e.TakePenalty(s.At, s.Penalty)
	case TraceFreed:
		e.ReaskBudget(s.At, s.Scope.Chat)
	case TraceDraining:
		e.beginDraining(s.At)
	case TraceStopped:
		e.stopCalls()
	default:
	}
	return nil
}

// record tells the trace of a step, if there's one.
func (s *OutputQoSScheduler) record(now time.Time, step TraceStep) {
	if s.trace == nil {
		return
	}
	step.At = now
	if step.Kind != TraceCalled {
		step.First, s.chosen = s.chosen, false
	}
	s.trace.RecordStep(step)
}

func (s *OutputQoSScheduler) recordNews(now time.Time, id DocID, n docNews) {
	s.record(now, TraceStep{Kind: TraceWanted, Doc: Doc{ID: id, Wanted: n.wanted, Final: n.final}, Live: uint8(n.live), Count: n.count})
}

// ForgetRun makes of a budget what a restart makes of one that's kept in a Ledger: what responses said and
// when calls began is forgotten, and a call under way may arrive until some seconds after its deadline.
func (b *LocalBudget) ForgetRun() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learned = map[Scope]Learned{}
	b.bot.began = map[Family]time.Time{}
	for _, u := range b.chats {
		u.began = map[Family]time.Time{}
	}
	for _, t := range b.permits {
		t.inFlight = false
	}
}
