package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// status is what `status --json` prints.
type status struct {
	State    api.HealthState  `json:"state"`
	Parts    []api.HealthPart `json:"parts"`
	Sessions []api.Session    `json:"sessions"` // those that live
	Adapters []api.Adapter    `json:"adapters"`
	Programs []agent.Insight  `json:"programs"` // in the panes of sessions
	Starting bool             `json:"starting,omitempty"`
	URL      string           `json:"url"` // of the page, without its token; "": the page is off
}

func newStatus(p *invocation) *cobra.Command {
	var asJSON, urlOnly, verbose bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print how the daemon is, its sessions and where its page is",
		Args:  takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			if urlOnly {
				return p.printAddress(ctx, c, asJSON)
			}
			s, err := p.status(ctx, c)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(s)
			}
			return p.printStatus(s, verbose, time.Now())
		}),
	}
	cmd.Flags().BoolVar(&urlOnly, "url", false, "print only an address of the page that lets one browser in, as \"panebridge page\" does")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also what each session's program is and why its state is believed, and what's reckoned with for chats")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (p *invocation) status(ctx context.Context, c *client.Client) (status, error) {
	health, err := c.Health(ctx)
	if err != nil || health.Starting {
		return status{State: health.State, Parts: health.Parts, Starting: health.Starting, Sessions: []api.Session{}, Adapters: []api.Adapter{}, Programs: []agent.Insight{}}, err
	}
	list, err := c.Sessions(ctx)
	if err != nil {
		return status{}, err
	}
	adapters, err := c.Adapters(ctx)
	if err != nil {
		return status{}, err
	}
	programs, err := c.Programs(ctx)
	if err != nil {
		return status{}, err
	}
	page, err := c.Page(ctx)
	return status{State: health.State, Parts: health.Parts, Sessions: living(list), Adapters: adapters, Programs: programs, URL: page.URL}, err
}

func (p *invocation) printStatus(s status, verbose bool, now time.Time) error {
	page := "the page is off"
	switch {
	case s.Starting:
		page = "its start waits, and goes on by itself"
	case s.URL != "":
		page = "page: " + s.URL + " (`panebridge page` lets a browser in)"
	}
	if err := p.sayf("panebridge is %s%s; %s\n\n", s.State, culprits(s), page); err != nil {
		return err
	}
	rows := [][]string{{"PART", "STATE", "LAST SUCCESS", "DETAIL"}}
	for _, part := range s.Parts {
		success := "-" // what chats show, say, is well or isn't: nothing is tried
		if !part.LastSuccess.IsZero() {
			success = ago(part.LastSuccess, now)
		}
		rows = append(rows, []string{part.Name, string(part.State), success, part.Detail})
	}
	if err := p.printTable(rows); err != nil {
		return err
	}
	if s.Starting {
		return nil
	}
	if verbose && len(s.Adapters) > 0 {
		if err := p.sayf("LAST SUCCESS of a chat platform is when something last came in, if only that there's nothing; what goes out is counted below.\n"); err != nil {
			return err
		}
	}
	if len(s.Sessions) == 0 {
		if err := p.sayf("\nNo session is running; `panebridge sessions new` makes one.\n"); err != nil {
			return err
		}
	} else if err := errors.Join(p.printf("\n"), p.printTable(sessionTable(s.Sessions, now))); err != nil {
		return err
	}
	p.notMirrored(s.Sessions...)
	if verbose {
		if err := p.printPrograms(s, now); err != nil {
			return err
		}
	}
	for _, a := range s.Adapters {
		if err := p.printAdapter(a, verbose, now); err != nil {
			return err
		}
		if verbose {
			if err := p.printLoad(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// culprits names the parts that aren't well; "": all are.
func culprits(s status) string {
	var names []string
	for _, part := range s.Parts {
		if part.State != api.HealthOK {
			names = append(names, fmt.Sprintf("%s %s", part.Name, part.State))
		}
	}
	if len(names) == 0 || s.Starting { // then the one part is why
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// printPrograms prints what's known of each session, and why it's believed.
func (p *invocation) printPrograms(s status, now time.Time) error {
	hooks := map[string]agent.InstallStatus{}
	if list, err := p.hooksOf(hooksFlags{scope: scopeUser}, agent.HookAgents()); err == nil {
		for _, to := range list {
			hooks[to.Agent], _ = to.Status() // it's broken with an error
		}
	}
	known := map[sessions.ID]agent.Insight{}
	for _, in := range s.Programs {
		known[in.Session] = in
	}
	for _, one := range s.Sessions {
		in := known[one.ID]
		if err := p.printSession(one, in, hooks[in.Program], now); err != nil {
			return err
		}
	}
	return nil
}

// printAddress prints an address that lets one browser in.
func (p *invocation) printAddress(ctx context.Context, c *client.Client, asJSON bool) error {
	a, err := c.NewAddress(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(a)
	}
	return p.printf("%s\n", a.URL)
}

// printAdapter prints what a chat platform's scheduler does: per chat what's
// used of its budget, when it's looked at next for a call, and what waits.
func (p *invocation) printAdapter(a api.Adapter, verbose bool, now time.Time) error {
	line := fmt.Sprintf("\n%s: mode %s, %s, %s under way, %s of the updates needed no call of their own", a.Name, a.Mode,
		count(a.Documents, "mirror", "mirrors"), count(a.InFlight, "call", "calls"), percent(a.Totals.Coalesced, a.Totals.Updates))
	if a.Tick > 0 {
		line += fmt.Sprintf(", text every %gs in the slowest chat", a.Tick)
	}
	if a.ActiveSessions > 0 {
		line += fmt.Sprintf(", %.1f sessions active", a.ActiveSessions)
	}
	if a.OldestAge > 0 {
		line += ", the oldest waits for " + waited(a.OldestAge)
	}
	if a.Errors > 0 {
		line += ", " + count(a.Errors, "error", "errors")
	}
	if a.Totals.Penalties > 0 {
		line += ", " + count(a.Totals.Penalties, "penalty", "penalties")
	}
	if a.PenaltyUntil.After(now) {
		line += ", silent for " + until(a.PenaltyUntil, now) + " by the platform's order"
	}
	if a.Error != "" {
		line += "; sends nothing: " + a.Error
	}
	if err := p.sayf("%s\n", line); err != nil || len(a.Chats) == 0 {
		return err
	}
	rows := [][]string{{"CHAT", "USED", "NEXT LOOK", "WAITING", "OLDEST", "HELD BACK"}}
	for _, c := range a.Chats {
		rows = append(rows, chatRow(c, now))
	}
	if verbose {
		rows[0] = slices.Insert(rows[0], 1, "TICK", "ACTIVE", "RESERVE")
		for i, c := range a.Chats {
			rows[i+1] = slices.Insert(rows[i+1], 1, fmt.Sprintf("%gs", c.Tick), fmt.Sprintf("%.1f", c.ActiveSessions), fmt.Sprint(c.Reserve))
		}
	}
	return p.printTable(rows)
}

// outcomeWords say what the kinds of errors are that don't say it by themselves.
var outcomeWords = map[string]string{ //nolint:gochecknoglobals // a constant table
	"not_sent": "not sent", "throttled": `throttled ("too many requests")`, "uncertain": "uncertain (no answer, or one that leaves open whether it was done, as a server's error does)",
	"rejected": "rejected for what they said", "chat_gone": "to chats that are gone",
}

// printLoad prints what a chat platform's scheduler reckons with, and what came of its calls.
func (p *invocation) printLoad(a api.Adapter) error {
	var waiting, errs, calls []string
	for _, class := range []string{"interactive", "final", "stream", "cosmetic"} {
		if w := a.Waiting[class]; w.Count > 0 {
			waiting = append(waiting, fmt.Sprintf("%d %s for %s", w.Count, class, waited(w.OldestAge)))
		}
		calls = append(calls, fmt.Sprintf("%d %s", a.Totals.Calls[class], class))
	}
	for _, o := range slices.Sorted(maps.Keys(a.Totals.Outcomes)) {
		if o != "delivered" && o != "unchanged" {
			errs = append(errs, fmt.Sprintf("%d %s", a.Totals.Outcomes[o], cmp.Or(outcomeWords[o], o)))
		}
	}
	or := func(list []string) string { return cmp.Or(strings.Join(list, ", "), "none") }
	return p.printf("  pace     text every %gs, at %.0f %% of the full pace, %s left to what matters more, %.1f sessions active\n"+
		"           (of the chats that have something to send the slowest, the lowest and the most; the sum of the sessions)\n"+
		"  waiting  %s\n  calls    %s; since the daemon's start\n"+
		"  updates  %d came, %d of which needed no call of their own; %s; %s left out\n  errors   %s\n%s",
		a.Tick, 100*a.Pace, count(a.Reserve, "call", "calls"), a.ActiveSessions, or(waiting), or(calls), a.Totals.Updates, a.Totals.Coalesced,
		count(a.Totals.Penalties, "penalty", "penalties"), count(a.Totals.Shed, "sign of life was", "signs of life were"), or(errs), legend)
}

// legend says what the words mean.
const legend = `  TICK       the least time between two calls for text of all the chat's sessions, on average
  ACTIVE     sessions that print now, averaged: they share the chat
  RESERVE    calls of a window that text leaves at that pace to what matters more: what's usual of it (reserve_mpm at most) and
             some to spare, or what output_budget_ratio leaves
  NEXT LOOK  when panebridge looks at the chat again, which needn't be when something is sent: qos explain CHAT says that
  classes    interactive: replies, questions, new topics; final: ends of turns; stream: text, and ends of turns of a session
             that has had more than its share; cosmetic: signs of life such as "is typing"
  CHAT/2     topic or thread 2 of a chat
`

func chatRow(c api.Chat, now time.Time) []string {
	var used, waiting []string
	for _, w := range c.Windows {
		use := fmt.Sprintf("%d/%d per %gs", w.Used, w.Calls, w.Seconds)
		if w.Family != "" {
			use = w.Family + " " + use
		}
		if w.Used > 0 || w.Family == "" {
			used = append(used, use)
		}
	}
	oldest := 0.0
	for _, class := range []string{"interactive", "final", "stream"} {
		if w := c.Waiting[class]; w.Count > 0 {
			waiting = append(waiting, fmt.Sprintf("%d %s", w.Count, class))
			oldest = max(oldest, w.OldestAge)
		}
	}
	next, age, held := "", "", fullWindow(c, now)
	switch {
	case c.InFlight:
		next = "call under way"
	case c.NextSlot.After(now):
		next = "in " + until(c.NextSlot, now)
	case len(waiting) > 0:
		next = "now"
	}
	if len(waiting) > 0 {
		age = waited(oldest)
	}
	switch {
	case c.PenaltyUntil.After(now):
		held = "silent for " + until(c.PenaltyUntil, now) + " by the platform's order"
	case c.BackoffUntil.After(now):
		held = "tries again in " + until(c.BackoffUntil, now)
	case c.Multiplier < 1:
		held = fmt.Sprintf("at %.0f %% of its pace after a penalty, for %s", 100*c.Multiplier, count(c.CallsToPace, "more call", "more calls"))
	}
	return []string{c.Chat, strings.Join(used, ", "), next, strings.Join(waiting, ", "), age, held}
}

// fullWindow says of a chat in which something waits that all calls of a window are used; "": they aren't.
func fullWindow(c api.Chat, now time.Time) string {
	for _, w := range c.Windows {
		if len(c.Waiting) > 0 && w.Family == "" && w.Used >= w.Calls && w.FreeAt.After(now) {
			return "all calls are used for " + until(w.FreeAt, now)
		}
	}
	return ""
}

// waited is a time in seconds, to a tenth.
func waited(seconds float64) string {
	return (time.Duration(seconds*1000) * time.Millisecond).Round(100 * time.Millisecond).String()
}

func count[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// until is how long it takes from now, in full seconds, rounded up.
func until(t, now time.Time) string {
	return (t.Sub(now) + time.Second - 1).Truncate(time.Second).String()
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// printSession prints all that's known of a session, and why it's believed.
func (p *invocation) printSession(s api.Session, in agent.Insight, hooks agent.InstallStatus, now time.Time) error {
	state := string(s.State)
	if !s.Since.IsZero() {
		state += " since " + clock(s.Since, now)
	}
	if s.Reason != "" {
		state += ": " + s.Reason
	}
	rows := [][2]string{
		{"program", programOf(in)},
		{"text", textOf(in)},
		{"state", state},
		{"turn", turnOf(s.Turn, now)},
		{"hooks", hooksHeard(in, hooks, now)},
	}
	if in.Skipped > 0 {
		rows = append(rows, [2]string{"skipped", count(in.Skipped, "record", "records") + " of its transcript, not understood"})
	}
	errs := []error{p.printf("\n%s %s (%s %s)\n", s.ID, s.Name, s.Tmux.Server, s.Tmux.Pane)}
	for _, row := range rows {
		if row[1] != "" {
			errs = append(errs, p.printf("  %-9s%s\n", row[0], row[1]))
		}
	}
	return errors.Join(errs...)
}

func programOf(in agent.Insight) string {
	if in.Program == "" {
		return "none that's known"
	}
	text := in.Program
	if in.Version != "" {
		text += " " + in.Version
	}
	if in.PID > 0 {
		text += fmt.Sprintf(", process %d", in.PID)
	}
	if agent.Untried(in.Version, in.MadeFrom) {
		text += "; nobody has tried this version: its profile is for " + strings.Join(in.MadeFrom, ", ")
	}
	return text
}

func textOf(in agent.Insight) string {
	text := map[sessions.LinesFrom]string{
		sessions.TextPane:       "of the pane",
		sessions.TextHeld:       "held back until it's clear whose it is",
		sessions.TextTranscript: "of the transcript " + in.Transcript,
	}[in.Text]
	if in.Unbound != "" {
		text += "; no transcript is bound: " + in.Unbound
	}
	return text
}

func turnOf(t sessions.Turn, now time.Time) string {
	if t.Number == 0 {
		return "there was none yet"
	}
	text := fmt.Sprintf("%d, begun %s", t.Number, ago(t.StartedAt, now))
	if !t.Open {
		text += ", ended " + ago(t.EndedAt, now)
	}
	if t.Status != nil {
		text += fmt.Sprintf(", status %d", *t.Status)
	}
	return text
}

// hooksHeard says when the last hook came, or why none may have.
func hooksHeard(in agent.Insight, status agent.InstallStatus, now time.Time) string {
	switch {
	case in.Hook != nil:
		return fmt.Sprintf("the last was %s of %s, %s", in.Hook.Event, in.Hook.Agent, ago(in.Hook.At, now))
	case status == "": // it has none that are understood
		return ""
	case status == agent.HooksInstalled:
		return "installed, but none has come since the daemon was started"
	default:
		return fmt.Sprintf("%s: `panebridge hooks install %s`", status, in.Program)
	}
}

// clock is a time of this day, or of another with its date.
func clock(t, now time.Time) string {
	t = t.Local()
	if t.YearDay() == now.YearDay() && now.Sub(t) < 24*time.Hour {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}
