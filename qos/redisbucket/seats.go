package redisbucket

import "time"

// A window of N calls with N below MaxProcesses can't be divided: the share would be 0.
// In a chat that has one, at most N-1 members hold a seat (one call is left for those
// that aren't away). A seat comes with a grant of Redis, and is worth one call in each
// such window once its holder is cut off; who has none sends nothing there then. Redis
// holds back one call for each holder that vanished.
//
// Nothing here compares clocks or takes a seat away, so what's late or lost does no
// harm. Redis counts as a holder who was given a seat within the last 25 h by its
// clock, and whoever hasn't merged into the epoch. The process believes in its seat for
// 24 h by its own clock, from when it sent the question. So who believes, counts; and
// a seat is given only if with it at most N-1 count.

// seatLasts is for how long a process believes in a seat that it doesn't use. Redis'
// is SEAT in prelude.lua; an hour between them is more than clocks differ in a day.
const seatLasts = 24 * time.Hour

// small says whether the chat of a question has a window that can't be divided.
func (b *Budget) small(q *question) bool {
	for _, w := range q.limit.Windows {
		if w.Calls < b.opt.MaxProcesses {
			return true
		}
	}
	return false
}

// hasShare says whether the process may send at all without knowing of the others:
// every window has at least one slot for it alone. b.mu is held.
func (b *Budget) hasShare(now time.Time, q *question) bool {
	for _, w := range b.limits.Bot.Windows {
		if w.Calls < b.opt.MaxProcesses {
			return false
		}
	}
	if !b.small(q) {
		return true
	}
	at, given := b.seats[q.lane]
	return given && now.Sub(at) < seatLasts
}
