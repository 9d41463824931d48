package cards

import (
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

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

// FitList is listed, of as many sessions as fit.
func (k *Clerk) FitList(room int, length func(string) int, all []sessions.Session, entry func(sessions.Session) string) string {
	for most := maxListed; ; most = most * 3 / 4 {
		if text := k.listed(all, most, entry); most < 2 || length(text) <= room {
			return text
		}
	}
}

// listed is a list of sessions by what they are at, of at most so many. "": there are
// none.
func (k *Clerk) listed(all []sessions.Session, most int, entry func(sessions.Session) string) string {
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

// LinkTo is an address that opens a place that mirrors a session: in the same chat if
// there's one, else on the same platform; "": none.
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
