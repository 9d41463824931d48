package redisbucket

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// keys are the names in Redis of one bot. They share a hash tag, so that they're in
// one slot of a Cluster.
type keys string

func keysOf(bot string) keys { return keys("panebridge:{" + bot + "}:") }

func (k keys) state() string     { return string(k) + "state" }
func (k keys) members() string   { return string(k) + "members" }
func (k keys) penalties() string { return string(k) + "penalties" }
func (k keys) channel() string   { return string(k) + "events" }
func (k keys) botRing() string   { return string(k) + "ring" }
func (k keys) botBegan() string  { return string(k) + "began" }
func (k keys) botClaims() string { return string(k) + "claims" }

func (k keys) ring(l lane) string   { return string(k) + "ring:" + l.name() }
func (k keys) began(l lane) string  { return string(k) + "began:" + l.name() }
func (k keys) claims(l lane) string { return string(k) + "claims:" + l.name() }

func (k keys) seats(l lane) string { return string(k) + "seats:" + l.name() }

func (k keys) learned(s qos.Scope) string { return string(k) + "learned:" + scopeName(s) }

// lane is a chat and the family whose windows a call counts in.
type lane struct {
	chat   qos.Chat
	family qos.Family
}

func (l lane) name() string { return string(l.chat) + "|" + string(l.family) }

// scopeName is a scope as a field: "", "chat|*" or "chat|family".
func scopeName(s qos.Scope) string {
	switch {
	case s.Chat == "":
		return ""
	case s.AllFamilies:
		return string(s.Chat) + "|*"
	default:
		return string(s.Chat) + "|" + string(s.Family)
	}
}

func parseScope(name string) qos.Scope {
	i := strings.LastIndexByte(name, '|')
	if i < 0 {
		return qos.Scope{}
	}
	s := qos.Scope{Chat: qos.Chat(name[:i])}
	if s.AllFamilies = name[i+1:] == "*"; !s.AllFamilies {
		s.Family = qos.Family(name[i+1:])
	}
	return s
}

// scopes are those that a call falls under.
func scopes(l lane) [3]qos.Scope {
	return [3]qos.Scope{{}, {Chat: l.chat, AllFamilies: true}, {Chat: l.chat, Family: l.family}}
}

// limitOf is the limit of a family in a chat, and the lane it counts in.
func limitOf(limits qos.Limits, chat qos.Chat, family qos.Family) (qos.Limit, lane) {
	if limit, own := limits.Families[family]; own {
		return limit, lane{chat, family}
	}
	if limits.IsPrivate != nil && limits.IsPrivate(chat) {
		return limits.Private, lane{chat, qos.FamilyMessage}
	}
	return limits.Group, lane{chat, qos.FamilyMessage}
}

// longest is the longest of all windows.
func longest(windows []qos.Window) time.Duration {
	if len(windows) == 0 {
		return 0
	}
	return slices.MaxFunc(windows, func(a, b qos.Window) int { return cmp.Compare(a.Per, b.Per) }).Per
}

// longestOf is the longest window of all limits.
func longestOf(l qos.Limits) time.Duration {
	d := max(longest(l.Bot.Windows), longest(l.Group.Windows), longest(l.Private.Windows))
	for _, f := range l.Families {
		d = max(d, longest(f.Windows))
	}
	return d
}

// shareOf are the limits of one of so many processes that don't know of each other,
// where it has a share (see hasShare).
func shareOf(l qos.Limits, processes int) qos.Limits {
	share := func(limit qos.Limit) qos.Limit {
		limit.Windows = slices.Clone(limit.Windows)
		for i, w := range limit.Windows {
			limit.Windows[i].Calls = max(w.Calls/processes, min(w.Calls, 1))
		}
		return limit
	}
	s := l
	s.Bot, s.Group, s.Private = share(l.Bot), share(l.Group), share(l.Private)
	s.Families = map[qos.Family]qos.Limit{}
	for family, limit := range l.Families {
		s.Families[family] = share(limit)
	}
	return s
}
