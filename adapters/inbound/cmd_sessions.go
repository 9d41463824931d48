package inbound

import (
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
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
		CommandInfo: CommandInfo{Name: "sessions", Help: "All sessions: what needs you, what works, what's done; can be pinned"},
		role:        Viewer,
		repeat:      true,
		run:         listSessions,
	}
}

func listSessions(a *ask) error {
	refresh := adapters.Button{Label: "Refresh", Data: dataPrefix + a.offered.ID}
	if !a.pressed() {
		var err error
		if refresh, err = a.offer("Refresh", offer{Do: "sessions", Role: Viewer, Expires: time.Now().Add(pinnedFor)}); err != nil {
			return err
		}
	}
	return a.replace(a.in.overview(a.event.Place, time.Now()), []adapters.Button{refresh})
}

// headings are those of the list, in its order.
var headings = [...]string{"Needs you", "Working", "Done"} //nolint:gochecknoglobals // a constant table

// heading says below which of them a session stands; -1: none.
func heading(s sessions.Session) int {
	switch s.State {
	case sessions.StateWaiting, sessions.StateError:
		return 0
	case sessions.StateStarting, sessions.StateWorking:
		return 1
	case sessions.StateIdle:
		return 2
	case sessions.StateEnded:
	}
	return -1
}

// overview is the list, as it's shown in a place.
func (in *Inbound) overview(place adapters.Target, now time.Time) string {
	var below [len(headings)][]sessions.Session
	for _, s := range in.opt.Sessions.List() {
		if h := heading(s); h >= 0 {
			below[h] = append(below[h], s)
		}
	}
	var b strings.Builder
	left := maxListed
	for h, list := range below {
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "**%s: %d**\n\n", headings[h], len(list))
		for i, s := range list {
			if left == 0 {
				fmt.Fprintf(&b, "- and %d more\n", len(list)-i)
				break
			}
			left--
			fmt.Fprintf(&b, "- %s\n", in.entry(place, s, now))
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		b.WriteString("There's no session. /new begins one.\n\n")
	}
	return b.String() + "As of " + clock(now) + "."
}

// entry is a session's line in the list.
func (in *Inbound) entry(place adapters.Target, s sessions.Session, now time.Time) string {
	name := plain(s.Name)
	if link := in.link(place, s.ID); link != "" {
		name = "[" + name + "](<" + link + ">)"
	}
	parts := []string{name}
	if s.Agent != "" && !strings.HasPrefix(s.Name, s.Agent) {
		parts = append(parts, plain(s.Agent))
	}
	if s.Cwd != "" {
		parts = append(parts, plain(ended(in.shown(s.Cwd), maxLabel)))
	}
	if since := since(s); !since.IsZero() {
		parts = append(parts, age(max(now.Sub(since), 0)))
	}
	if s.State == sessions.StateError && s.Reason != "" {
		parts = append(parts, plain(shortened(s.Reason, 120)))
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
