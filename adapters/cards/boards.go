package cards

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// boardEvery is the least time between two calls for a chat's list, and how long the
	// daemon runs before the first.
	boardEvery = 30 * time.Second
	// boardLook is how often it's looked whether a list has changed though nobody said so:
	// sessions are bound to other places.
	boardLook = 5 * time.Minute
)

// boards want a list of sessions pinned in each chat that mirrors some, in it or in its
// threads: those that need somebody first. It shows what's mirrored there alone: who's in a chat may
// see no more.
type boards struct {
	clerk *Clerk

	// Guarded by the reconciler's mu.
	on      bool
	changed bool      // something was said to have happened since the last look, or isn't known to stand yet
	last    time.Time // when it was looked last; zero: never
}

// noSessions is the list of a chat that had some.
const noSessions = "No session is mirrored here at the moment."

func newBoards(k *Clerk) *boards { return &boards{clerk: k, changed: true, on: k.Pinned} }

// SetPinned replaces Options.Pinned. It returns at once.
func (k *Clerk) SetPinned(on bool) {
	k.reconciler.leaveWord(func() { k.boards.on, k.boards.changed = on, true })
}

// noteChange has the lists be looked at soon.
func (bs *boards) noteChange() {
	bs.clerk.reconciler.leaveWord(func() { bs.changed = true })
}

// isDue says whether it's time to look, and when it is next.
func (bs *boards) isDue(now time.Time) (due bool, next time.Time) {
	bs.clerk.reconciler.mu.Lock()
	defer bs.clerk.reconciler.mu.Unlock()
	if bs.last.IsZero() {
		bs.last = now
	}
	if next = bs.last.Add(boardLook); bs.changed {
		next = bs.last.Add(boardEvery)
	}
	if !bs.on || now.Before(next) {
		return false, next
	}
	bs.last, bs.changed = now, false
	return true, now.Add(boardLook)
}

// wantedCards implements cardSource: one call for each chat at a time.
func (bs *boards) wantedCards(_ context.Context, now time.Time) (out []Wanted, next time.Time, err error) {
	due, next := bs.isDue(now)
	if !due {
		return nil, next, nil
	}
	for place, mirrored := range bs.mirroredSessions() {
		if bs.clerk.Hub.Shape(place).OnlyThreads { // there's no place for a list
			continue
		}
		text := bs.boardText(place, mirrored)
		list := Wanted{Spot: Spot{Kind: KindBoard, Place: place}, Class: qos.Cosmetic, Shows: DigestOf(text), Post: bs.postOnce(adapters.Post{Text: text})}
		switch stands := bs.clerk.reconciler.standingCard(list.Spot); {
		case stands.Message == "" && text == noSessions:
		case stands.Message == "" || stands.Shows != list.Shows:
			out = append(out, list)
		default:
			out = append(out, Wanted{
				Spot: Spot{Kind: KindPin, Place: place}, Class: qos.Cosmetic, Shows: "pins " + stands.Message, Post: bs.postOnce(adapters.Post{Pin: stands.Message}),
			})
		}
	}
	return out, next, nil
}

// postOnce is a call that's made, if it can be made right now. Whether it was is looked at soon.
func (bs *boards) postOnce(p adapters.Post) func(context.Context) (adapters.Post, error) {
	return func(context.Context) (adapters.Post, error) {
		bs.noteChange()
		return p, nil
	}
}

// mirroredSessions are the chats that have a list, or are to have one, and the sessions on it.
func (bs *boards) mirroredSessions() map[adapters.Target]map[sessions.ID]bool {
	out := map[adapters.Target]map[sessions.ID]bool{}
	for _, place := range bs.clerk.reconciler.placesOf(KindBoard) {
		out[place] = map[sessions.ID]bool{}
	}
	for _, b := range bs.clerk.Hub.Status("") {
		if !b.Open {
			continue
		}
		place := b.Target.WholeChat()
		if out[place] == nil {
			out[place] = map[sessions.ID]bool{}
		}
		out[place][b.Binding.Session] = true
	}
	return out
}

// boardText is a chat's list. It has no times in it: it's edited when something has happened.
func (bs *boards) boardText(place adapters.Target, mirrored map[sessions.ID]bool) string {
	var all []sessions.Session
	for _, s := range bs.clerk.Sessions.List() {
		if mirrored[s.ID] {
			all = append(all, s)
		}
	}
	shape := bs.clerk.Hub.Shape(place)
	text := bs.clerk.FitList(shape.MaxLen-SpareUnits, shape.Len, all, func(s sessions.Session) string {
		name := wording.Plain(s.Name)
		if link := bs.clerk.LinkTo(place, s.ID); link != "" {
			name = "[" + name + "](<" + link + ">)"
		}
		if s.State == sessions.StateError && s.Reason != "" {
			name += " · " + wording.Plain(wording.CutEnd(bs.clerk.Masked(s.Reason), 120))
		}
		if limit := s.Usage.LimitWords(time.Now()); limit != "" {
			name += " · " + limit
		}
		return name
	})
	if text = strings.TrimSpace(text); text == "" {
		return noSessions
	}
	return text
}

// headings are those of the list, in its order, each with the sign that marks what stands
// below it.
var headings = [...]struct{ sign, text string }{ //nolint:gochecknoglobals // a constant table
	{"●", "Needs you"}, {"◐", "Working"}, {"○", "Done"},
}

// heading says below which of them a session stands; -1: none. asks says that it has an
// open question.
func heading(s sessions.Session, asks bool) int {
	switch s.State {
	case sessions.StateWaiting, sessions.StateError:
		return 0
	case sessions.StateStarting, sessions.StateWorking, sessions.StateIdle:
		switch {
		case asks:
			return 0
		case s.State == sessions.StateIdle:
			return 2
		default:
			return 1
		}
	case sessions.StateEnded:
	}
	return -1
}

// FitList lists sessions by what they are at, as many as fit into room as length measures it; "": there are
// none.
func (k *Clerk) FitList(room int, length func(string) int, all []sessions.Session, entry func(sessions.Session) string) string {
	for most := maxListed; ; most = most * 3 / 4 {
		if text := k.listSessions(all, most, entry); most < 2 || length(text) <= room {
			return text
		}
	}
}

// listSessions is a list of sessions by what they are at, of at most so many. "": there are
// none.
func (k *Clerk) listSessions(all []sessions.Session, most int, entry func(sessions.Session) string) string {
	asks := map[sessions.ID]bool{}
	for _, p := range k.Sessions.Prompts() {
		asks[p.Session] = true
	}
	var below [len(headings)][]sessions.Session
	for _, s := range all {
		if h := heading(s, asks[s.ID]); h >= 0 {
			below[h] = append(below[h], s)
		}
	}
	var b strings.Builder
	left := most
	for h, list := range below {
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "**%s: %d**\n\n", headings[h].text, len(list))
		for i, s := range list {
			if left == 0 {
				fmt.Fprintf(&b, "- and %d more\n", len(list)-i)
				break
			}
			left--
			fmt.Fprintf(&b, "- %s %s\n", headings[h].sign, entry(s))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// LinkTo returns an address that opens a place that mirrors a session: in the same chat if there is one, else
// on the same platform; "": there is none.
func (k *Clerk) LinkTo(place adapters.Target, id sessions.ID) string {
	best, rank := "", 0
	for _, st := range k.Hub.Status(id) {
		p := k.Platforms[st.Target.Adapter]
		if st.Binding.Unbound || st.Target.Adapter != place.Adapter || p == nil {
			continue
		}
		r := 1
		if st.Target.Chat == place.Chat {
			r = 2
		}
		if link := p.Link(st.Target, ""); r > rank && link != "" {
			best, rank = link, r
		}
	}
	return best
}

// maxListed is how many sessions a list has at most.
const maxListed = 50
