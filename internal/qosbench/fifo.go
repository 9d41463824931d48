package qosbench

import "time"

// fifo serves all in the order in which it came: streams, finals and commands.
// A session waits in the line once for its stream, and what's sent is rendered
// when it's sent, so it coalesces and loses nothing. It makes one call at a time,
// and at most the limit of a window, by the times at which calls began. What
// failed is tried again, and everything waits for it.
type fifo struct {
	line  []*waiting
	lines []int // of each session
	ready []bool

	inFlight bool
	began    []time.Duration
	pause    time.Duration // nothing before, after an error
}

// waiting is one place in the line.
type waiting struct {
	session int
	command bool
	turn    int // 0: a stream
}

// fifoPause is how long an error that passes is waited out.
const fifoPause = time.Second

func newFIFO(sessions int) *fifo {
	return &fifo{lines: make([]int, sessions), ready: make([]bool, sessions)}
}

func (f *fifo) take(_ time.Duration, ev event) {
	switch ev.kind {
	case commandEvent:
		f.line = append(f.line, &waiting{command: true})
	case turnEvent:
		f.lines[ev.session] = ev.lines
		f.line = append(f.line, &waiting{session: ev.session, turn: ev.turns})
	case lineEvent:
		f.lines[ev.session] = ev.lines
		if !f.ready[ev.session] {
			f.ready[ev.session] = true
			f.line = append(f.line, &waiting{session: ev.session})
		}
	}
}

// opens is when the window has room.
func (f *fifo) opens() time.Duration {
	at := f.pause
	if n := len(f.began); n >= limitCalls {
		at = max(at, f.began[n-limitCalls]+limitWindow)
	}
	return at
}

func (f *fifo) step(now time.Duration) []*call {
	if f.inFlight || len(f.line) == 0 || f.opens() > now {
		return nil
	}
	w := f.line[0]
	f.inFlight = true
	f.began = append(f.began, now)
	c := &call{command: w.command, session: w.session, fromTurn: w.turn, toTurn: w.turn, forFinal: w.turn > 0, token: w}
	if !w.command {
		c.lines = f.lines[w.session]
		if w.turn == 0 {
			f.ready[w.session] = false
		}
	}
	return []*call{c}
}

func (f *fifo) done(now time.Duration, c *call, a answer) {
	f.inFlight = false
	switch a.verdict {
	case accepted:
		f.line = f.line[1:]
	case throttled:
		f.pause = now + a.retryAfter
	case failed, broken:
		f.pause = now + fifoPause
	}
	if w := c.token.(*waiting); a.verdict != accepted && !w.command && w.turn == 0 { //nolint:forcetypeassert // made above
		f.ready[w.session] = true // it still stands in the line
	}
}

func (f *fifo) due() (at time.Duration, ok bool) {
	if f.inFlight || len(f.line) == 0 {
		return 0, false
	}
	return f.opens(), true
}
