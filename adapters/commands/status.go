package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// askScheduler bounds how long a scheduler is waited for.
const askScheduler = 5 * time.Second

// showStatus says how things stand for the place.
func showStatus(a *Invocation) error {
	now := time.Now()
	parts := append([]string{a.statusOfBindings(now)}, a.statusOfLimits(now))
	if calls := a.statusOfCalls(now); calls != "" {
		parts = append(parts, calls)
	}
	return a.replyText(strings.Join(append(parts, a.statusOfPerson()), "\n\n"))
}

func (a *Invocation) statusOfBindings(now time.Time) string {
	var lines []string
	here := a.runner.Hub.BindingsAt(a.Event.Place)
	for _, st := range a.runner.Hub.Status("") {
		if !slices.ContainsFunc(here, func(b adapters.Binding) bool { return b.ID == st.Binding.ID }) {
			continue
		}
		s, err := a.runner.Sessions.Get(string(st.Binding.Session))
		if err != nil {
			continue
		}
		lines = append(lines, "- "+wording.Bold(s.Name)+", "+cards.StateText(s, now)+": "+bindingText(st)+a.waitingTexts(s.ID)+a.usageOf(s, now))
	}
	if len(lines) == 0 {
		return "No session is mirrored here."
	}
	return "Mirrored here:\n\n" + strings.Join(lines, "\n")
}

// usageOf says what a session's agents have used, and what it goes on with by itself; "": nothing is known.
func (a *Invocation) usageOf(s sessions.Session, now time.Time) (text string) {
	if used := cards.UsageText(s, now); used != "" {
		text = ". " + wording.Plain(s.Usage.Agent) + ": " + used
	}
	if a.runner.Continuations == nil || s.Usage.LimitAt(now) == nil {
		return text
	}
	if c, ok := a.runner.Continuations.ContinuationOf(s.ID); ok {
		text += ". " + a.runner.ContinuationText(c)
	}
	return text
}

// waitingTexts says what wasn't typed into a session yet, and why not; "": there's nothing.
func (a *Invocation) waitingTexts(id sessions.ID) string {
	list := a.runner.Sessions.Waiting(id)
	if len(list) == 0 {
		return ""
	}
	text := ", 1 text waits to be typed"
	if n := len(list); n > 1 {
		text = fmt.Sprintf(", %d texts wait to be typed", n)
	}
	text += " since " + wording.Clock(list[0].CreatedAt)
	if list[0].Reason != "" {
		text += " (" + wording.Plain(list[0].Reason) + ")"
	}
	return text
}

// bindingText is how a binding does, in words.
func bindingText(st adapters.BindingStatus) string {
	switch {
	case st.Binding.Disabled != "":
		return "does nothing: " + wording.Plain(strings.TrimRight(st.Binding.Disabled, "."))
	case st.Binding.Resting:
		return "rests; /reopen lets it go on"
	}
	text := "view " + string(st.Binding.View)
	if !st.Binding.Input {
		text += ", nothing is typed"
	}
	if problem := st.Problem(); problem != "" {
		text += ", " + wording.Plain(strings.TrimRight(problem, "."))
	}
	if behind := st.Pressure.Behind; behind > 0 {
		text += fmt.Sprintf(", %d lines behind for %s", behind, wording.Age(st.Pressure.Age))
	}
	return text
}

func (a *Invocation) statusOfLimits(now time.Time) string {
	ctx, cancel := context.WithTimeout(a.Ctx, askScheduler)
	defer cancel()
	l, err := a.runner.Hub.LimitStatus(ctx, a.Event.Place)
	if err != nil {
		return wording.Plain(wording.Sentence(err.Error()))
	}
	var lines []string
	for _, w := range l.Chat.Windows {
		line := fmt.Sprintf("%d of %d calls of %s used", w.Used, w.Window.Calls, wording.ShortAge(w.Window.Per))
		if w.Family != "" {
			line += " (" + string(w.Family) + ")"
		}
		lines = append(lines, line)
	}
	if until := laterOf(l.Bot.PenaltyUntil, l.Chat.PenaltyUntil); until.After(now) {
		lines = append(lines, "the platform wants silence until "+wording.Clock(until)+": nothing is sent before that")
	}
	if l.Chat.BackoffUntil.After(now) {
		lines = append(lines, "the platform couldn't be reached; it's tried again at "+wording.Clock(l.Chat.BackoffUntil))
	}
	if m := l.Chat.Multiplier; m > 0 && m < 1 {
		lines = append(lines, fmt.Sprintf("after a refusal the pace is %.0f %%", 100*m))
	}
	if l.Bot.BudgetErr != nil {
		lines = append(lines, "the budget can't be asked: "+l.Bot.BudgetErr.Error())
	}
	for class, w := range l.Chat.Waiting {
		if w.Count > 0 {
			lines = append(lines, fmt.Sprintf("waiting: %d of class %s, the oldest for %s", w.Count, qos.Class(class), wording.ShortAge(w.Oldest)))
		}
	}
	if len(lines) == 0 {
		lines = []string{"nothing was sent lately, and nothing waits"}
	}
	for i, line := range lines {
		lines[i] = "- " + wording.Plain(line)
	}
	return "Limits of this chat (" + wording.Plain(l.Mode.String()) + "):\n\n" + strings.Join(lines, "\n")
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// statusOfCalls says what doesn't ring here; "": all does.
func (a *Invocation) statusOfCalls(now time.Time) string {
	chat := a.Event.Place.WholeChat()
	var lines []string
	add := func(what string, p cards.Preference) {
		if text := quietText(p, now); text != "" {
			lines = append(lines, what+": "+text)
		}
	}
	add("Here", a.runner.Preference(a.Event.Place, ""))
	if chat != a.Event.Place {
		add("In the whole chat", a.runner.Preference(chat, ""))
	}
	for _, s := range a.runner.SessionsAt(a.Event.Place, func(adapters.Binding) bool { return true }) {
		add(wording.Bold(s.Name), a.runner.Preference(a.Event.Place, s.ID))
	}
	return strings.Join(lines, "\n\n")
}

// statusOfPerson says what the person may do.
func (a *Invocation) statusOfPerson() string {
	var has []string
	for _, r := range []access.Role{access.Viewer, access.Operator, access.Approver, access.Admin} {
		if a.Roles[r] {
			has = append(has, string(r))
		}
	}
	return "You are " + wording.Plain(a.personName()) + ": " + strings.Join(has, ", ") + "."
}

// pinnedFor is how long a list can be refreshed: it may be pinned.
const pinnedFor = 365 * 24 * time.Hour

// listSessions lists all sessions, those that need somebody first.
func listSessions(a *Invocation) error {
	refresh := adapters.Button{Label: "Refresh", Data: cards.OfferPrefix + a.Offered.ID}
	if !a.isPress() {
		refresh = a.makeOffer("Refresh", cards.Offer{Do: "sessions", Role: access.Viewer, Expires: time.Now().Add(pinnedFor)})
	}
	return a.ReplaceText(a.runner.listText(a.Event.Place, time.Now()), []adapters.Button{refresh})
}

// listText is the list, as it's shown in a place.
func (r *Runner) listText(place adapters.Target, now time.Time) string {
	foot := "As of " + wording.Clock(now) + "."
	shape := r.Hub.Shape(place)
	list := r.FitList(shape.MaxLen-shape.Len(foot)-cards.SpareUnits, shape.Len, r.Sessions.List(), func(s sessions.Session) string {
		return r.sessionEntry(place, s, now)
	})
	if list == "" {
		list = "There's no session. /new begins one.\n\n"
	}
	return list + foot
}

// sessionEntry is a session's line in the list.
func (r *Runner) sessionEntry(place adapters.Target, s sessions.Session, now time.Time) string {
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
	if limit := s.Usage.LimitWords(now); limit != "" {
		parts = append(parts, limit)
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
