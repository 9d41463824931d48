package probes

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Reason says why a part isn't ready; "": it is.
type Reason string

// All reasons that are given.
const (
	ReasonStarting    Reason = "it's starting"
	ReasonEnding      Reason = "it's ending"
	ReasonUnasked     Reason = "it hasn't been asked yet"
	ReasonSilent      Reason = "it doesn't answer"
	ReasonUnreachable Reason = "it can't be reached"
	ReasonFails       Reason = "it doesn't work"
	ReasonFull        Reason = "its disk is full"
	ReasonLocked      Reason = "another process holds it"
	ReasonReadOnly    Reason = "it may only be read"
	ReasonDamaged     Reason = "it's damaged"
	ReasonGone        Reason = "its file is gone"
	ReasonMore        Reason = "more parts aren't ready"
)

// Names of parts that aren't asked.
const (
	partDaemon = "daemon" // as a whole
	partMore   = "more"   // what there's no room for
)

const (
	// askEvery is the pause between two questions to a part.
	askEvery = 5 * time.Second
	// answersWithin is how long a part may take for an answer, of which its question is told too; a part that takes
	// longer is silent.
	answersWithin = 10 * time.Second
	// turnsWithin is how long the board's own loop may take to come round. If it takes longer, the process gets no
	// processor time, or none of its goroutines runs.
	turnsWithin = 20 * time.Second
	// maxFaults bounds how many parts an answer names.
	maxFaults = 20
	// maxPartRunes bounds a part's name in an answer, in runes.
	maxPartRunes = 100
)

// Check asks one part whether it works.
type Check struct {
	Part string // as the health names it
	// Vital says that a daemon whose part doesn't answer has to be started anew: /healthz is about it as well.
	Vital bool
	// Ask asks the part. It may block, also for longer than its context allows: then the part is silent.
	Ask func(ctx context.Context) Reason
}

// Fault is a part that isn't ready.
type Fault struct {
	Part   string `json:"part"`
	Reason Reason `json:"reason"`
}

// Board knows which parts work, without asking them at the moment of the question. Its methods don't block.
type Board struct {
	mu        sync.Mutex
	waits     Reason // why no part is asked
	standings []*askedPart
	turned    time.Time // when the loop came round last
}

// askedPart is what's known of a part.
type askedPart struct {
	Check

	asking bool
	asked  time.Time // when the last question began
	reason Reason    // what was answered last
}

// NewBoard returns a board of a daemon that's starting.
func NewBoard() *Board { return &Board{waits: ReasonStarting} }

// SetWaiting says why the daemon's start isn't over. A daemon that waits is healthy, and not ready.
func (b *Board) SetWaiting(why Reason) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = why
}

// Run asks the parts until ctx ends. It returns nil. A question that ignores its context may be asked for longer.
func (b *Board) Run(ctx context.Context, checks []Check) error {
	b.begin(checks)
	defer b.SetWaiting(ReasonEnding)
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		b.askAll(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (b *Board) begin(checks []Check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits, b.standings = "", nil
	for _, c := range checks {
		b.standings = append(b.standings, &askedPart{Check: c, reason: ReasonUnasked})
	}
}

// askAll asks each part that isn't being asked yet.
func (b *Board) askAll(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turned = time.Now()
	for _, s := range b.standings {
		if s.asking {
			continue
		}
		s.asking, s.asked = true, b.turned
		go b.ask(ctx, s)
	}
}

func (b *Board) ask(ctx context.Context, s *askedPart) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	reason := s.Ask(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	s.asking, s.reason = false, reason
}

// ListUnready returns the parts that aren't ready: the database, tmux, the platforms, and what's vital. None: the
// daemon is ready.
func (b *Board) ListUnready(now time.Time) []Fault { return b.list(now, false) }

// ListUnhealthy returns the vital parts that don't answer, for which the daemon has to be started anew. None: the
// daemon is healthy.
func (b *Board) ListUnhealthy(now time.Time) []Fault { return b.list(now, true) }

func (b *Board) list(now time.Time, vital bool) []Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits != "" {
		if vital {
			return nil
		}
		return []Fault{{partDaemon, b.waits}}
	}
	var all []Fault
	if now.Sub(b.turned) > turnsWithin {
		all = append(all, Fault{partDaemon, ReasonSilent})
	}
	for _, s := range b.standings {
		reason := s.reason
		if s.asking && now.Sub(s.asked) > answersWithin {
			reason = ReasonSilent
		}
		if vital && (!s.Vital || reason == ReasonUnasked) {
			continue
		}
		if reason != "" {
			all = append(all, Fault{shorten(s.Part), reason})
		}
	}
	if len(all) > maxFaults {
		all = append(slices.Clip(all[:maxFaults]), Fault{partMore, ReasonMore})
	}
	return all
}

func shorten(part string) string {
	if runes := []rune(part); len(runes) > maxPartRunes {
		return string(runes[:maxPartRunes-1]) + "…"
	}
	return part
}
