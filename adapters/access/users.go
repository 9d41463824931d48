package access

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

// usedFor is for how long somebody who has written or pressed something in a place counts as one
// who uses it: over a weekend, and until the same day next week.
const usedFor = 7 * 24 * time.Hour

// Visit is that somebody did something in a place.
type Visit struct {
	Place  adapters.Target
	Person intake.Person
	At     time.Time // the last time
}

// ForgetVisits drops what's too old to count.
func (g *Guard) ForgetVisits(now time.Time) { g.users.forget(now.Add(-usedFor)) }

// users are who has used which places. Of a place, and of a chat with all its threads, the two
// people are kept that have used it last: it's only asked whether it's one.
type users struct {
	mu  sync.Mutex
	all map[adapters.Target][]Visit // the last one first
}

// load reads who has used places lately, the oldest first.
func (u *users) load(ctx context.Context, s Store) error {
	list, err := s.Visits(ctx, time.Now().Add(-usedFor))
	if err != nil {
		return fmt.Errorf("load who uses places: %w", err)
	}
	for _, v := range list {
		u.note(v)
	}
	return nil
}

// note takes in that somebody did something.
func (u *users) note(v Visit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.noteAt(v.Place, v)
	if chat := v.Place.WholeChat(); chat != v.Place {
		u.noteAt(chat, v)
	}
}

func (u *users) noteAt(place adapters.Target, v Visit) {
	if u.all == nil {
		u.all = map[adapters.Target][]Visit{}
	}
	all := slices.DeleteFunc(u.all[place], func(o Visit) bool { return o.Person.ID == v.Person.ID })
	u.all[place] = append([]Visit{v}, all[:min(len(all), 1)]...)
}

// at returns who has used a place since a time.
func (u *users) at(place adapters.Target, since time.Time) []intake.Person {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []intake.Person
	for _, v := range u.all[place] {
		if v.At.After(since) {
			out = append(out, v.Person)
		}
	}
	return out
}

// forget drops what's too old to count.
func (u *users) forget(before time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for place, uses := range u.all {
		if !uses[0].At.After(before) {
			delete(u.all, place)
		}
	}
}

// moveChat has what's known of a chat's places follow it.
func (u *users) moveChat(from, to adapters.Target) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for place, uses := range u.all {
		if place.WholeChat() == from {
			delete(u.all, place)
			place.Chat = to.Chat
			u.all[place] = uses
		}
	}
}

// Users returns what those are called who have written or pressed something in a place within the
// last seven days; if nobody has, in its chat; if nobody has there either, and it's somebody's
// private chat, who that is. Of more than two it returns the last two, and
// whoever has several accounts once. It returns at once.
func (g *Guard) Users(place adapters.Target, now time.Time) []string {
	people := g.users.at(place, now.Add(-usedFor))
	if len(people) == 0 {
		people = g.users.at(place.WholeChat(), now.Add(-usedFor))
	}
	if len(people) == 0 {
		g.mu.RLock()
		if id := g.private[place.WholeChat()]; id != "" {
			people = []intake.Person{{ID: id}}
		}
		g.mu.RUnlock()
	}
	var names, known []string
	for _, p := range people {
		if who := g.account(p.ID); !slices.Contains(known, who) {
			known, names = append(known, who), append(names, g.NameOf(p))
		}
	}
	return names
}
