package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// printSession prints all that's known of a session, and why it's believed.
func (p *program) printSession(s api.Session, in agent.Insight, hooks agent.Status, now time.Time) error {
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
	text := map[sessions.Text]string{
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
func hooksHeard(in agent.Insight, status agent.Status, now time.Time) string {
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
