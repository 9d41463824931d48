package qosbench

import (
	"fmt"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// chatKey is the one chat of a run.
const chatKey qos.ChatKey = "chat"

// panebridge drives qos.SlotEngine, which takes the time as a parameter, with the
// budget of a single process. An adapter is modelled that needs one call for a
// stream's update and finalCalls for a final, the last of which announces it.
type panebridge struct {
	engine     *qos.SlotEngine
	finalCalls int
	unheard    bool // see Unheard
	sessions   []session

	grants  int           // of the chat
	waiting []*finalPlace // finals that wait for their first grant
	worst   float64       // grants until a final's, by its position
}

// session is what the adapter knows about one.
type session struct {
	lines, turns int // as of now
	ends         []int
	printed      []time.Duration // when each line was
	sent         int             // lines that a call has taken up, or that the chat shows
	shown        int             // lines that the chat shows
	promoted     int             // grants of the chat when it last got one for a final
	told         int             // turns that are announced
	made         int             // calls of the final that's being delivered
	inFlight     bool
}

// finalPlace is a final's place among those that wait.
type finalPlace struct {
	session, position, grants int
}

// sent is a call of panebridge's.
type sent struct {
	started *qos.Started
	lines   int
	turns   int // announced by it
	more    bool
}

// epoch is when runs begin.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

func clock(now time.Duration) time.Time { return epoch.Add(now) }

func docOf(session int) qos.DocID { return qos.DocID(strconv.Itoa(session)) }

// limits are those of the one chat; nothing else is called.
func limits() qos.Limits {
	return qos.Limits{
		Bot:     qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}, Gap: 40 * time.Millisecond},
		Group:   qos.Limit{Gap: time.Second},
		Private: qos.Limit{Windows: []qos.Window{{Calls: 60, Per: time.Minute}}, Gap: time.Second},
	}
}

func newPanebridge(sessions, finalCalls int, seed uint64) (*panebridge, error) {
	return newTunedPanebridge(sessions, finalCalls, seed, qos.Options{})
}

// newTunedPanebridge has other options than the defaults.
func newTunedPanebridge(sessions, finalCalls int, seed uint64, opt qos.Options) (*panebridge, error) {
	opt.GroupMPM, opt.Limits, opt.Seed = limitCalls, limits(), seed+1
	engine, err := qos.NewSlotEngine(opt, qos.NewLocalBudget(nil), nil)
	if err != nil {
		return nil, fmt.Errorf("make an engine: %w", err)
	}
	p := &panebridge{engine: engine, finalCalls: finalCalls, sessions: make([]session, sessions)}
	for i := range sessions {
		engine.Open(clock(0), qos.Doc{ID: docOf(i), Chat: chatKey, Session: qos.SessionKey(strconv.Itoa(i))})
	}
	return p, nil
}

func (p *panebridge) take(now time.Duration, ev event) {
	if ev.kind == commandEvent {
		// It has a chat, a key and a class, so it can't be refused.
		_ = p.engine.PostRequest(clock(now), qos.Request{Chat: chatKey, Key: strconv.Itoa(ev.commands)})
		return
	}
	s := &p.sessions[ev.session]
	s.lines, s.turns = ev.lines, ev.turns
	s.printed = append(s.printed, ev.at)
	if ev.kind == turnEvent {
		s.ends = append(s.ends, ev.lines)
		if !s.inFlight {
			p.wait(ev.session)
		}
	}
	p.engine.Want(clock(now), docOf(ev.session), int64(ev.lines), ev.kind == turnEvent)
}

// wait notes a final's place, unless it has one: what has waited longer goes first, if it's a final before
// this one is told. One of a session that had another within three turns of all has none: it may wait as streams do.
func (p *panebridge) wait(session int) {
	for _, w := range p.waiting {
		if w.session == session {
			return
		}
	}
	if s := &p.sessions[session]; s.promoted > 0 && p.grants < s.promoted+3*len(p.sessions) {
		return // it may be charged
	}
	position := 1
	for other := range p.sessions {
		if other != session && p.sessions[other].oldest() <= p.sessions[session].oldest() {
			position++
		}
	}
	p.waiting = append(p.waiting, &finalPlace{session, position, p.grants})
}

// oldest is when the first line was printed that isn't on its way.
func (s *session) oldest() time.Duration {
	if s.sent == len(s.printed) {
		return never
	}
	return s.printed[s.sent]
}

// granted notes that a session's final got a grant.
func (p *panebridge) granted(session int) {
	for i, w := range p.waiting {
		if w.session == session {
			p.worst = max(p.worst, float64(p.grants-w.grants)/float64(w.position))
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			break
		}
	}
	p.sessions[session].promoted = p.grants
}

func (p *panebridge) step(now time.Duration) []*call {
	var calls []*call
	for _, started := range p.engine.Advance(clock(now)) {
		p.grants++
		calls = append(calls, p.render(started))
	}
	return calls
}

// render makes the call of a slot, from the newest state.
func (p *panebridge) render(started *qos.Started) *call {
	if started.Call.Key != "" {
		return &call{command: true, token: &sent{started: started}}
	}
	i, err := strconv.Atoi(string(started.Call.Doc))
	if err != nil {
		panic(err) // the documents' names are numbers
	}
	s := &p.sessions[i]
	s.inFlight = true
	s.sent = s.lines
	c := &call{session: i, lines: s.lines}
	made := &sent{started: started, lines: s.lines}
	if started.Call.Final > 0 {
		p.granted(i)
		c.forFinal = true
		if s.made+1 < p.finalCalls {
			made.more = true
		} else {
			made.turns = s.turns
			c.fromTurn, c.toTurn = s.told+1, s.turns
		}
	}
	c.token = made
	return c
}

func (p *panebridge) done(now time.Duration, c *call, a answer) {
	made := c.token.(*sent) //nolint:forcetypeassert // next made it
	r := qos.CallResult{Outcome: qos.Delivered}
	switch a.verdict {
	case throttled:
		r = qos.CallResult{Outcome: qos.Throttled, RetryAfter: a.retryAfter}
	case failed:
		r = qos.CallResult{Outcome: qos.Failed}
	case broken:
		r = qos.CallResult{Outcome: qos.Uncertain, Over: !p.unheard}
	case accepted:
		if !c.command {
			r.Delivered, r.More = int64(made.lines), made.more
			p.delivered(c, made, &r)
		}
	}
	if !c.command {
		p.sessions[c.session].inFlight = false
		if a.verdict != accepted {
			p.sessions[c.session].sent = p.sessions[c.session].shown
		}
	}
	p.engine.Finish(clock(now), made.started, r, clock(now))
	if s := &p.sessions[c.session]; !c.command && s.told < s.turns {
		p.wait(c.session)
	}
}

// delivered takes in that a document's call was accepted.
func (p *panebridge) delivered(c *call, made *sent, r *qos.CallResult) {
	s := &p.sessions[c.session]
	s.shown = made.lines
	switch {
	case made.turns > 0:
		s.told, s.made = made.turns, 0
		r.Final = int64(s.ends[made.turns-1])
	case c.forFinal:
		s.made++
	}
}

func (p *panebridge) due() (at time.Duration, ok bool) {
	next := p.engine.NextLook()
	if next.IsZero() {
		return 0, false
	}
	return next.Sub(epoch), true
}
