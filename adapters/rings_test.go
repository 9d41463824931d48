package adapters

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

func TestTurnsThatAreBrief(t *testing.T) {
	began := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	turn := func(took time.Duration, status ...int) sessions.Turn {
		t := sessions.Turn{StartedAt: began, EndedAt: began.Add(took)}
		if len(status) > 0 {
			t.Status = &status[0]
		}
		return t
	}
	const after = 30 * time.Second
	for name, c := range map[string]struct {
		turns []sessions.Turn
		want  bool
	}{
		"six seconds":           {[]sessions.Turn{turn(6 * time.Second)}, true},
		"within one look":       {[]sessions.Turn{turn(0)}, true},
		"a command":             {[]sessions.Turn{turn(time.Second, 0)}, true},
		"just long enough":      {[]sessions.Turn{turn(after)}, false},
		"one of three was long": {[]sessions.Turn{turn(1), turn(time.Hour), turn(1)}, false},
		"a command that failed": {[]sessions.Turn{turn(time.Second, 1)}, false},
		"an earlier one failed": {[]sessions.Turn{turn(time.Second, 2), turn(time.Second, 0)}, false},
		"a clock was set back":  {[]sessions.Turn{turn(-time.Hour)}, false},
		"nobody knows":          {[]sessions.Turn{{EndedAt: began}}, false},
	} {
		if got := (endedTurns{turns: c.turns}).isBrief(after); got != c.want {
			t.Errorf("%s: brief %v", name, got)
		}
	}
}

// Whom the end of a brief turn is for, by who wrote what since the one before, and who uses the
// place: Ada's topic, if not said otherwise.
func TestForWhomABriefTurnIs(t *testing.T) {
	here := Target{Adapter: "telegram", Chat: "-5", Thread: "7"}
	said := func(author, origin string) sessions.Line {
		return sessions.Line{Kind: sessions.KindUser, Author: author, Origin: origin}
	}
	zero := 0
	command, turn := sessions.Turn{Status: &zero}, sessions.Turn{}
	ada := []string{"Ada"}
	for name, c := range map[string]struct {
		users []string
		said  []sessions.Line
		turn  sessions.Turn
		want  bool
	}{
		"asked here":                          {ada, []sessions.Line{said("Ada", "telegram:-5/7")}, turn, true},
		"asked here under another name":       {ada, []sessions.Line{said("Ada L.", "telegram:-5/7")}, turn, true},
		"asked by the same person elsewhere":  {ada, []sessions.Line{said("Ada", "discord:9/1")}, turn, true},
		"asked by another person elsewhere":   {ada, []sessions.Line{said("Bob", "discord:9/1")}, turn, false},
		"asked by both":                       {ada, []sessions.Line{said("Ada", "telegram:-5/7"), said("Bob", "discord:9/1")}, turn, false},
		"two use the place":                   {[]string{"Ada", "Bob"}, []sessions.Line{said("Ada", "telegram:-5/7")}, turn, false},
		"nobody is known to use it":           {nil, []sessions.Line{said("", "")}, turn, false},
		"asked at the terminal":               {ada, []sessions.Line{said("", "")}, turn, true},
		"asked on the page":                   {ada, []sessions.Line{said("web", "")}, turn, true},
		"asked on the command line":           {ada, []sessions.Line{said("cli", "")}, turn, true},
		"asked by another session":            {ada, []sessions.Line{said("agent-2", "")}, turn, false},
		"a command that was typed":            {ada, nil, command, true},
		"a command where two use the place":   {[]string{"Ada", "Bob"}, nil, command, false},
		"an agent that goes on by itself":     {ada, nil, turn, false},
		"a command that was sent from here":   {ada, []sessions.Line{said("Ada", "telegram:-5/7")}, command, true},
		"a command that was sent from there":  {ada, []sessions.Line{said("Bob", "telegram:-5/8")}, command, false},
		"a name at the terminal of the place": {ada, []sessions.Line{said("Ada", "")}, turn, true},
	} {
		e := endedTurns{turns: []sessions.Turn{c.turn}, said: c.said, whole: true}
		if got := e.isOnlyFor(here, c.users); got != c.want {
			t.Errorf("%s: only for them: %v", name, got)
		}
		if e.whole = false; e.isOnlyFor(here, c.users) {
			t.Errorf("%s: not all that was written is known", name)
		}
	}
}
