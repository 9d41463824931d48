package commands

import (
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// pinnedFor is how long a list can be refreshed: it may be pinned.
const pinnedFor = 365 * 24 * time.Hour

// sessionsCommand lists all sessions, those that need somebody first.
func sessionsCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "sessions", Help: "All sessions: what needs you, what works, what's done; can be pinned"},
		role:        access.Viewer,
		repeat:      true,
		run:         listSessions,
	}
}

func listSessions(a *Ask) error {
	refresh := adapters.Button{Label: "Refresh", Data: cards.OfferPrefix + a.Offered.ID}
	if !a.pressed() {
		var err error
		if refresh, err = a.makeOffer("Refresh", cards.Offer{Do: "sessions", Role: access.Viewer, Expires: time.Now().Add(pinnedFor)}); err != nil {
			return err
		}
	}
	return a.Replace(a.runner.overview(a.Event.Place, time.Now()), []adapters.Button{refresh})
}

// overview is the list, as it's shown in a place.
func (r *Runner) overview(place adapters.Target, now time.Time) string {
	foot := "As of " + wording.Clock(now) + "."
	shape := r.Hub.Shape(place)
	list := r.FitList(shape.MaxLen-shape.Len(foot)-cards.SpareUnits, shape.Len, r.Sessions.List(), func(s sessions.Session) string {
		return r.entry(place, s, now)
	})
	if list == "" {
		list = "There's no session. /new begins one.\n\n"
	}
	return list + foot
}

// entry is a session's line in the list.
func (r *Runner) entry(place adapters.Target, s sessions.Session, now time.Time) string {
	name := wording.Plain(s.Name)
	if link := r.LinkTo(place, s.ID); link != "" {
		name = "[" + name + "](<" + link + ">)"
	}
	parts := []string{name}
	if s.Agent != "" && !strings.HasPrefix(s.Name, s.Agent) {
		parts = append(parts, wording.Plain(s.Agent))
	}
	if s.Cwd != "" {
		parts = append(parts, wording.Plain(wording.CutBegin(r.ShownPath(s.Cwd), maxLabel)))
	}
	if since := stateSince(s); !since.IsZero() {
		parts = append(parts, wording.Age(max(now.Sub(since), 0)))
	}
	if s.State == sessions.StateError && s.Reason != "" {
		parts = append(parts, wording.Plain(wording.CutEnd(r.Masked(s.Reason), 120)))
	}
	return strings.Join(parts, " · ")
}

// stateSince is from when on a session has been as it is, as far as that's known.
func stateSince(s sessions.Session) time.Time {
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
