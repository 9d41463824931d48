package qosbench

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// eventKind says what happens in a trace.
type eventKind uint8

const (
	lineEvent    eventKind = iota // a session printed a line
	turnEvent                     // a session printed a line, and its turn ended with it
	commandEvent                  // a person gave a command, which needs one call as its reply
)

// event is something that happens, whatever the scheduler does. Times are since
// the beginning of the run.
type event struct {
	at      time.Duration
	kind    eventKind
	session int // lineEvent, turnEvent

	// How many lines and turns the session has, and how many commands came, with this
	// one.
	lines, turns, commands int
}

// trace is all that happens in a run, in order.
type trace struct {
	sessions int
	events   []event
	horizon  time.Duration // until when sessions begin turns; those under way then are ended
}

// finish puts the events in order and counts them. Those of the same moment keep
// their order.
func (t *trace) finish() {
	slices.SortStableFunc(t.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	lines, turns, commands := make([]int, t.sessions), make([]int, t.sessions), 0
	for i := range t.events {
		ev := &t.events[i]
		switch ev.kind {
		case commandEvent:
			commands++
			ev.commands = commands
			continue
		case turnEvent:
			turns[ev.session]++
		case lineEvent:
		}
		lines[ev.session]++
		ev.lines, ev.turns = lines[ev.session], turns[ev.session]
	}
}

// The rhythm of sessions and people. A session prints for 75 s on average and
// rests for 15 s, so it ends a turn every 90 s.
const (
	lineLeast, lineMost = 500 * time.Millisecond, 2 * time.Second
	turnLeast, turnMost = 45 * time.Second, 105 * time.Second
	restLeast, restMost = 5 * time.Second, 25 * time.Second
	commandEvery        = 30 * time.Second

	lockedLine = time.Second // how often pollers look
	lockedTurn = 75 * time.Second
	lockedRest = 15 * time.Second

	shortLeast, shortMost = 4 * time.Second, 12 * time.Second
	pauseLeast, pauseMost = 20 * time.Second, 60 * time.Second

	quickTurn = 3 * time.Second
)

// between draws from a range.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}

// source makes random numbers for one purpose, so that one more of one kind
// doesn't change all others.
func source(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// talk has one session print lines and end turns, at random. Turns that have
// begun before the horizon are ended, so every session ends with a final.
func (t *trace) talk(r *rand.Rand, session int) {
	t.talkFor(r, session, span{turnLeast, turnMost}, span{restLeast, restMost})
}

// span is a range that times are drawn from.
type span struct{ least, most time.Duration }

func (s span) draw(r *rand.Rand) time.Duration { return between(r, s.least, s.most) }

// talkFor does it for a time, and rests for another.
func (t *trace) talkFor(r *rand.Rand, session int, turn, rest span) {
	at := between(r, 0, turnLeast)
	for at < t.horizon {
		end := at + turn.draw(r)
		for at += between(r, lineLeast, lineMost); at < end; at += between(r, lineLeast, lineMost) {
			t.line(session, at)
		}
		t.turn(session, end)
		at = end + rest.draw(r)
	}
}

// chatter has one session print without an end of its turn.
func (t *trace) chatter(r *rand.Rand, session int) {
	for at := between(r, 0, lineMost); at < t.horizon; at += between(r, lineLeast, lineMost) {
		t.line(session, at)
	}
}

// hurry has one session end a turn of one line again and again.
func (t *trace) hurry(session int) {
	for at := quickTurn; at < t.horizon; at += quickTurn {
		t.turn(session, at)
	}
}

// march has all sessions print and end their turns at the same moments.
func (t *trace) march() {
	for begin := time.Duration(0); begin < t.horizon; begin += lockedTurn + lockedRest {
		for at := begin + lockedLine; at < begin+lockedTurn; at += lockedLine {
			for s := range t.sessions {
				t.line(s, at)
			}
		}
		for s := range t.sessions {
			t.turn(s, begin+lockedTurn)
		}
	}
}

// commands come at random.
func (t *trace) commands(r *rand.Rand) {
	wait := func() time.Duration { return time.Duration(r.ExpFloat64() * float64(commandEvery)) }
	for at := wait(); at < t.horizon; at += wait() {
		t.events = append(t.events, event{at: at, kind: commandEvent})
	}
}

// regularCommands come like a clock.
func (t *trace) regularCommands() {
	for at := commandEvery / 2; at < t.horizon; at += commandEvery {
		t.events = append(t.events, event{at: at, kind: commandEvent})
	}
}

func (t *trace) line(session int, at time.Duration) {
	t.events = append(t.events, event{at: at, kind: lineEvent, session: session})
}

func (t *trace) turn(session int, at time.Duration) {
	t.events = append(t.events, event{at: at, kind: turnEvent, session: session})
}
