package inbound

import (
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

const (
	maxListed = 50 // sessions in a list
	// pinnedFor is how long a list can be refreshed: it may be pinned.
	pinnedFor = 365 * 24 * time.Hour
)

// sessionsCommand lists all sessions, those that need somebody first.
func sessionsCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "sessions", Help: "All sessions: what needs you, what works, what's done; can be pinned"},
		role:        access.Viewer,
		repeat:      true,
		run:         listSessions,
	}
}

func listSessions(a *ask) error {
	refresh := adapters.Button{Label: "Refresh", Data: dataPrefix + a.offered.ID}
	if !a.pressed() {
		var err error
		if refresh, err = a.offer("Refresh", offer{Do: "sessions", Role: access.Viewer, Expires: time.Now().Add(pinnedFor)}); err != nil {
			return err
		}
	}
	return a.replace(a.in.overview(a.event.Place, time.Now()), []adapters.Button{refresh})
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

// overview is the list, as it's shown in a place.
func (in *Inbound) overview(place adapters.Target, now time.Time) string {
	foot := "As of " + wording.Clock(now) + "."
	shape := in.opt.Hub.Shape(place)
	list := in.fittingList(shape.MaxLen-shape.Len(foot)-spareUnits, shape.Len, in.opt.Sessions.List(), func(s sessions.Session) string {
		return in.entry(place, s, now)
	})
	if list == "" {
		list = "There's no session. /new begins one.\n\n"
	}
	return list + foot
}

// fittingList is listed, of as many sessions as fit.
func (in *Inbound) fittingList(room int, length func(string) int, all []sessions.Session, entry func(sessions.Session) string) string {
	for most := maxListed; ; most = most * 3 / 4 {
		if text := in.listed(all, most, entry); most < 2 || length(text) <= room {
			return text
		}
	}
}

// listed is a list of sessions by what they are at, of at most so many. "": there are
// none.
func (in *Inbound) listed(all []sessions.Session, most int, entry func(sessions.Session) string) string {
	asks := map[sessions.ID]bool{}
	for _, p := range in.opt.Sessions.Prompts() {
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

// entry is a session's line in the list.
func (in *Inbound) entry(place adapters.Target, s sessions.Session, now time.Time) string {
	name := wording.Plain(s.Name)
	if link := in.link(place, s.ID); link != "" {
		name = "[" + name + "](<" + link + ">)"
	}
	parts := []string{name}
	if s.Agent != "" && !strings.HasPrefix(s.Name, s.Agent) {
		parts = append(parts, wording.Plain(s.Agent))
	}
	if s.Cwd != "" {
		parts = append(parts, wording.Plain(wording.CutBegin(in.shown(s.Cwd), maxLabel)))
	}
	if since := since(s); !since.IsZero() {
		parts = append(parts, wording.Age(max(now.Sub(since), 0)))
	}
	if s.State == sessions.StateError && s.Reason != "" {
		parts = append(parts, wording.Plain(wording.CutEnd(in.masked(s.Reason), 120)))
	}
	return strings.Join(parts, " · ")
}

// since is from when on a session has been as it is, as far as that's known.
func since(s sessions.Session) time.Time {
	switch {
	case s.State == sessions.StateWorking && s.Turn.Open:
		return s.Turn.StartedAt
	case s.State == sessions.StateIdle && !s.Turn.EndedAt.IsZero():
		return s.Turn.EndedAt
	case !s.LastOutputAt.IsZero():
		return s.LastOutputAt
	default:
		return s.CreatedAt
	}
}

// link is an address that opens a place that mirrors a session: in the same chat if
// there's one, else on the same platform; "": none.
func (in *Inbound) link(place adapters.Target, id sessions.ID) string {
	best, rank := "", 0
	for _, st := range in.opt.Hub.Status(id) {
		p := in.platforms[st.Target.Adapter]
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
