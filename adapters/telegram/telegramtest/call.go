package telegramtest

import (
	"slices"
	"time"
)

// Call is one call of the bot, as it arrived.
type Call struct {
	Method      string // in Telegram's spelling
	Family      Family
	Chat        int64 // 0 if it names none that's known
	Thread      int
	Message     int       // that it made or changed
	At          time.Time // of arrival: the request was complete
	Params      map[string]string
	Code        int // 200, or Telegram's error_code; 0 while it has had no effect
	Description string
	RetryAfter  time.Duration
	InPenalty   bool // it came while the bot had to be silent
	Faulted     bool // a Fault decided its answer, or that there was none
}

// Refused reports whether the answer was an error.
func (c Call) Refused() bool { return c.Code != 0 && c.Code != 200 }

// call is a call on its way through the stand-in.
type call struct {
	*Call
	params
	method method
	fault  *Fault
}

// settle writes down the answer.
func (c *call) settle(r *refusal) {
	c.Code = 200
	if r != nil {
		c.Code, c.Description, c.RetryAfter = r.code, r.text, r.retryAfter
	}
}

// Calls returns the calls that have arrived so far, in order. Those to an unknown
// method or with a wrong token are among them.
func (s *Server) Calls() []Call { return s.callsIf(func(Call) bool { return true }) }

// CallsTo returns the counted calls to a chat: what costs its budget.
func (s *Server) CallsTo(chat int64) []Call {
	return s.callsIf(func(c Call) bool { return c.Chat == chat && c.Family != Free })
}

// Refusals returns the calls that were answered with an error, but for those that
// a test asked to fail.
func (s *Server) Refusals() []Call {
	return s.callsIf(func(c Call) bool { return c.Refused() && !c.Faulted })
}

func (s *Server) callsIf(want func(Call) bool) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Call
	for _, c := range s.calls {
		if want(*c) {
			list = append(list, *c)
		}
	}
	return list
}

// Worst is the most calls that a window ever had.
type Worst struct {
	Key
	Window
	Most int
}

// Worst returns, for every window that anything was counted in, the most calls
// that any span of its length had, over all that have arrived. It counts the log
// anew, refused calls included.
func (s *Server) Worst() []Worst {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Worst
	for k := range s.guard.arrivals {
		for _, w := range s.guard.limits.windowsOf(k, s.isPrivate(k.Chat)) {
			list = append(list, Worst{k, w, s.guard.arrivals.worst(k, w.Per)})
		}
	}
	slices.SortFunc(list, func(a, b Worst) int { return b.Most*a.Calls - a.Most*b.Calls })
	return list
}

// Used returns how many calls each window of a chat has had in the span that ends
// now.
func (s *Server) Used(chat int64) []Worst {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Worst
	for _, family := range []Family{Messages, Typing} {
		k := Key{chat, family}
		for _, w := range s.guard.limits.windowsOf(k, s.isPrivate(chat)) {
			list = append(list, Worst{k, w, s.guard.arrivals.count(k, w.Per, now())})
		}
	}
	return list
}

func (s *Server) isPrivate(chat int64) bool {
	c := s.chats[chat]
	return c != nil && c.kind == Private
}
