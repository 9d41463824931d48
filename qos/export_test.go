package qos

import (
	"fmt"
	"time"
)

// Left says what a scheduler that has nothing to do still holds; empty if
// nothing. It waits for the scheduler's goroutine.
func Left(s *OutputQoSScheduler) string {
	got := make(chan string, 1)
	if !s.box.sendTask(func(time.Time) { got <- s.engine.leftOver() }) {
		return "the scheduler has ended"
	}
	left := <-got
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if n := len(s.box.docs); n > 0 {
		left += fmt.Sprintf(" %d documents in the letterbox", n)
	}
	return left
}

// Flows is how many flows the scheduler keeps. It waits for its goroutine.
func Flows(s *OutputQoSScheduler) int {
	got := make(chan int, 1)
	if !s.box.sendTask(func(time.Time) {
		n := 0
		for _, c := range s.engine.chats {
			for _, l := range c.lanes {
				n += len(l.flows)
			}
		}
		got <- n
	}) {
		return 0
	}
	return <-got
}

func (e *SlotEngine) leftOver() string {
	left := ""
	count := func(n int, what string) {
		if n != 0 {
			left += fmt.Sprintf(" %d %s", n, what)
		}
	}
	count(len(e.docs), "documents")
	count(len(e.chats), "chats")
	count(len(e.sessions), "sessions")
	count(len(e.agenda), "dates")
	count(e.countTurns(), "turns")
	count(len(e.flushes), "flushes")
	count(e.bot.open, "open calls")
	count(e.bot.inFlight, "calls in flight")
	memory := cap(e.agenda) + cap(e.touched) + cap(e.flushes)
	for _, t := range e.ready {
		memory += cap(t)
	}
	if memory > 1000 {
		count(memory, "places in empty queues")
	}
	return left
}

// LookAgain has an engine look at all its chats, though nothing happened, and returns
// the calls that it would make: there should be none, or Next was wrong.
func LookAgain(e *SlotEngine, now time.Time) []*Started {
	e.touchAll()
	return e.Advance(now)
}

// TouchDocument says that a document's live region was redrawn.
func TouchDocument(e *SlotEngine, now time.Time, id DocID) {
	e.updateDocument(now, id, docNews{live: redrawn, count: 1})
}

// BeginDraining has an engine prepare its end.
func BeginDraining(e *SlotEngine, now time.Time) { e.beginDraining(now) }

// ExplainUnder is what Explain would say if the options were others; nothing if they can't be.
func ExplainUnder(e *SlotEngine, now time.Time, chat ChatKey, opt Options) Explanation {
	s, _ := e.shadowOf(e.chats[chat])
	if err := s.Reconfigure(now, opt); err != nil {
		return Explanation{}
	}
	x, _ := s.Explain(now, chat)
	return x
}
