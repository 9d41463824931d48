package qosbench

import (
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/internal/qostrace"
	"github.com/panebridge/panebridge/qos"
)

// The policies of a recording's rows, beside Original, FIFO and Optimum.
const (
	AsRecorded = "recorded"
	AsReplayed = "replayed"
)

// Comparison says how alike a recording's calls and those of its replay are.
type Comparison struct {
	Recorded, Replayed int
	// Same are those that come in the same order in their chat, with the same document and class.
	Same int
	// How much later or earlier they begin.
	ShiftP50, ShiftP99, ShiftMax time.Duration
}

// ReplayRecording replays a recording and measures each chat under each policy. change is as in Replay. The original,
// the FIFO and the bounds are there for groups that allow 20 calls a minute.
func ReplayRecording(rec *qostrace.Recording, seed uint64, change func(*qos.Options) error) ([]Result, Comparison, error) {
	recorded := RecordedCalls(rec)
	replayed, err := Replay(rec, seed, change)
	if err != nil {
		return nil, Comparison{}, err
	}
	var results []Result
	days, err := chatDays(rec)
	if err != nil {
		return nil, Comparison{}, err
	}
	for i, day := range days {
		name := fmt.Sprintf("chat %d", i+1)
		if rec.Private[day.chat] {
			name += ", private"
		}
		rows, err := day.results(rec, recorded, replayed, seed)
		if err != nil {
			return nil, Comparison{}, err
		}
		for _, r := range rows {
			r.Scenario, r.Seed = name, seed
			results = append(results, r)
		}
	}
	return results, compare(recorded, replayed), nil
}

// compare compares calls chat by chat.
func compare(recorded, replayed []Replayed) Comparison {
	c := Comparison{Recorded: len(recorded), Replayed: len(replayed)}
	byChat := func(calls []Replayed) map[qos.ChatKey][]Replayed {
		out := map[qos.ChatKey][]Replayed{}
		for _, call := range calls {
			out[call.Call.Chat] = append(out[call.Call.Chat], call)
		}
		return out
	}
	var shifts []time.Duration
	again := byChat(replayed)
	for chat, calls := range byChat(recorded) {
		for i, call := range calls {
			if i >= len(again[chat]) {
				break
			}
			if other := again[chat][i]; subjectOf(call.Call) == subjectOf(other.Call) && call.Call.Class == other.Call.Class {
				c.Same++
				shifts = append(shifts, other.Began.Sub(call.Began).Abs())
			}
		}
	}
	if n := len(shifts); n > 0 {
		slices.Sort(shifts)
		c.ShiftP50, c.ShiftP99, c.ShiftMax = shifts[rank(n, 0.5)-1], shifts[rank(n, 0.99)-1], shifts[n-1]
	}
	return c
}

// chatDay is what a recording has of one chat.
type chatDay struct {
	chat    qos.ChatKey
	began   time.Time
	trace   trace
	docs    map[qos.DocID]*docDay
	options qos.Options // at its first start
}

// docDay is a document's part. Line numbers of a trace begin with 1 at its first opening.
type docDay struct {
	session            int
	base, lines, final int64
	ends               []int   // the lines at which turns ended
	extra              []int64 // of these, those whose line came before: they're lines of their own in a trace
}

// traceLines is how many lines a trace has up to one of the document's.
func (d *docDay) traceLines(line int64) int {
	n := int(line - d.base)
	for _, end := range d.extra {
		if end <= line {
			n++
		}
	}
	return max(n, 0)
}

// mostLines bounds the lines of a recording that are laid out one by one: 30 sessions that print 4 a second all day.
const mostLines = 10_000_000

// chatDays makes a trace of each chat in which something happened, in the order in which they come up.
func chatDays(rec *qostrace.Recording) ([]*chatDay, error) {
	chats, order := map[qos.ChatKey]*chatDay{}, []*chatDay{}
	home := map[qos.DocID]*chatDay{}
	var began time.Time
	var options qos.Options
	left := int64(mostLines)
	dayOf := func(key qos.ChatKey) *chatDay {
		if chats[key] == nil {
			chats[key] = &chatDay{chat: key, began: began, docs: map[qos.DocID]*docDay{}, options: options}
			order = append(order, chats[key])
		}
		return chats[key]
	}
	for _, s := range rec.Steps {
		if began.IsZero() {
			began, options = s.At, s.Options
		}
		switch s.Kind {
		case qos.TraceOpened:
			if home[s.Doc.ID] == nil {
				c := dayOf(s.Doc.Chat)
				home[s.Doc.ID] = c
				c.docs[s.Doc.ID] = &docDay{session: len(c.docs), base: max(0, s.Doc.Delivered), lines: max(0, s.Doc.Delivered)}
			}
			left -= home[s.Doc.ID].raise(s, left)
		case qos.TraceWanted:
			if c := home[s.Doc.ID]; c != nil {
				left -= c.raise(s, left)
			}
		case qos.TracePosted:
			c := dayOf(s.Request.Chat)
			c.trace.events = append(c.trace.events, event{at: s.At.Sub(began), kind: commandEvent})
		default:
		}
		if left < 0 {
			return nil, fmt.Errorf("the recording has more than %d lines: give fewer days at once", mostLines)
		}
	}
	order = slices.DeleteFunc(order, func(c *chatDay) bool { return len(c.trace.events) == 0 })
	for _, c := range order {
		c.trace.sessions = len(c.docs)
		c.trace.horizon = max(rec.Steps[len(rec.Steps)-1].At.Sub(began), time.Second)
		c.trace.finish()
	}
	return order, nil
}

// raise takes in that a document has more lines, and maybe the end of a turn. It returns how many; if they're more than
// most, it takes in nothing.
func (c *chatDay) raise(s qos.TraceStep, most int64) int64 {
	d := c.docs[s.Doc.ID]
	at, final := s.At.Sub(c.began), s.Doc.Final > d.final
	wanted := max(s.Doc.Wanted, s.Doc.Final)
	more := max(0, wanted-d.lines)
	if more > most {
		return more
	}
	if final && s.Doc.Final <= d.lines {
		d.extra = append(d.extra, s.Doc.Final)
	}
	for d.lines < wanted {
		d.lines++
		if final && d.lines == s.Doc.Final {
			continue // below: it's the turn's
		}
		c.trace.line(d.session, at)
	}
	if final {
		d.final = s.Doc.Final
		c.trace.turn(d.session, at)
		d.ends = append(d.ends, int(s.Doc.Final-d.base))
	}
	return more
}

func (c *chatDay) results(rec *qostrace.Recording, recorded, replayed []Replayed, seed uint64) ([]Result, error) {
	results := []Result{c.measure(AsRecorded, recorded), c.measure(AsReplayed, replayed)}
	windows := c.options.Limits.Group.Windows
	if rec.Private[c.chat] || len(windows) == 0 || windows[0] != (qos.Window{Calls: limitCalls, Per: limitWindow}) {
		return results, nil
	}
	s := Scenario{Name: string(c.chat), Sessions: c.trace.sessions, Latency: meanTime(recorded)}
	opt := Options{Seed: seed, Horizon: c.trace.horizon, FinalCalls: 1}
	for _, p := range []struct {
		name   string
		policy policy
	}{{Original, newOriginal(originalCalls)}, {FIFO, newFIFO(c.trace.sessions)}} {
		r, err := s.simulate(c.trace, p.policy, opt)
		if err != nil {
			return nil, fmt.Errorf("simulate %s with a recording: %w", p.name, err)
		}
		r.Policy = p.name
		results = append(results, r)
	}
	results = append(results, Result{Row: optimum(c.trace)})
	for i := range results {
		results[i].Limit = limitCalls
	}
	return results, nil
}

// meanTime is how long a recording's answered calls took on average.
func meanTime(calls []Replayed) time.Duration {
	var sum time.Duration
	n := 0
	for _, c := range calls {
		if c.carried {
			sum += c.answer
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / time.Duration(n)
}

// measure counts what calls brought to the chat. A call arrives when it's answered.
func (c *chatDay) measure(policy string, calls []Replayed) Result {
	mine := slices.DeleteFunc(slices.Clone(calls), func(call Replayed) bool {
		return call.Call.Chat != c.chat || call.Call.Class == qos.Cosmetic || call.Ended.IsZero() || call.Result.Outcome == qos.Unchanged || call.Result.Outcome == qos.NotSent
	})
	slices.SortStableFunc(mine, func(a, b Replayed) int { return a.Ended.Compare(b.Ended) })
	rec, chat := newRecord(c.trace.sessions), &platform{}
	events, told := c.trace.events, map[qos.DocID]int{}
	for _, done := range mine {
		at := done.Ended.Sub(c.began)
		for len(events) > 0 && events[0].at <= at {
			rec.happened(events[0])
			events = events[1:]
		}
		chat.arrivals = append(chat.arrivals, at)
		d := c.docs[done.Call.Doc]
		made := &call{session: -1, command: d == nil}
		if d != nil {
			made.session, made.forFinal = d.session, done.Call.Final > 0
			s := &rec.sessions[d.session]
			made.lines = min(d.traceLines(done.Result.Delivered), len(s.lines))
			to := told[done.Call.Doc]
			for to < len(s.turns) && to < len(d.ends) && d.ends[to] <= int(done.Result.Final-d.base) {
				to++
			}
			if to > told[done.Call.Doc] {
				made.fromTurn, made.toTurn = told[done.Call.Doc]+1, to
				told[done.Call.Doc] = to
			}
			made.lines = max(made.lines, s.delivered)
		}
		verdict := accepted
		if done.Result.Outcome != qos.Delivered {
			verdict = failed
		}
		rec.arrived(at, made, answer{verdict: verdict})
	}
	for _, ev := range events {
		rec.happened(ev)
	}
	r := Result{Row: Row{Policy: policy, CallsWorstWindow: chat.worstWindow()}, Series: rec.series}
	rec.fill(&r.Row)
	if n := len(rec.series.Finals); n > 0 {
		r.CallsPerFinal = float64(rec.finalCalls) / float64(n)
	}
	return r
}
