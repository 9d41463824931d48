package qos

import (
	"slices"
	"time"
)

// taken is a slot that was granted.
type taken struct {
	Slot
	inFlight bool // not answered yet; Stamp is the latest it can be

	began     time.Time // when it was granted
	chat, bot time.Time // when the call before it began in its chat and family, and of the bot
}

// comesBack is when the slot is free again in a window. While its call is in
// flight nobody knows; it can't be before a whole window from now.
func (t *taken) comesBack(now time.Time, w Window) time.Time {
	if t.inFlight && now.Before(t.Stamp) {
		return now.Add(w.Per)
	}
	return t.Stamp.Add(w.Per)
}

// holds says whether the slot is taken now.
func (t *taken) holds(now time.Time, w Window) bool {
	return t.comesBack(now, w).After(now)
}

// used counts the slots of a window that are taken.
func used(now time.Time, slots []*taken, w Window) int {
	n := 0
	for _, t := range slots {
		if t.holds(now, w) {
			n++
		}
	}
	return n
}

// freeAt is when so many slots of a window will be free, if nothing else is
// granted; now if they are already. A window can't have more free slots than
// calls.
func freeAt(now time.Time, slots []*taken, w Window, free int) time.Time {
	most := max(w.Calls-free, 0) // that may be taken then
	if len(slots) <= most {
		return now
	}
	var back []time.Time
	for _, t := range slots {
		if t.holds(now, w) {
			back = append(back, t.comesBack(now, w))
		}
	}
	if len(back) <= most {
		return now
	}
	slices.SortFunc(back, time.Time.Compare)
	return back[len(back)-most-1]
}

// leastKept is for how long slots are remembered at least, so that a window can be
// made longer, up to this, while running.
const leastKept = time.Minute

// longest is for how long the slots of a limit are remembered.
func (l Limit) longest() time.Duration {
	d := leastKept
	for _, w := range l.Windows {
		d = max(d, w.Per)
	}
	return d
}

// longest is for how long the slots of a chat are remembered.
func (l Limits) longest() time.Duration {
	d := max(l.Group.longest(), l.Private.longest())
	for _, limit := range l.Families {
		d = max(d, limit.longest())
	}
	return d
}

// of is the limit of a family in a chat, and the family whose windows it counts
// in.
func (l Limits) of(chat Chat, family Family) (Limit, Family) {
	if limit, own := l.Families[family]; own {
		return limit, family
	}
	if l.IsPrivate != nil && l.IsPrivate(chat) {
		return l.Private, FamilyMessage
	}
	return l.Group, FamilyMessage
}
