package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// status -v says of each session what's believed, and why.
func TestStatusSaysWhatIsBelieved(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	s := api.Session{
		ID: "pb_1", Name: "work", State: sessions.StateWorking, Reason: "hook PreToolUse at 11:59:50", Since: now.Add(-2 * time.Minute),
		Turn: sessions.Turn{Number: 3, Open: true, StartedAt: now.Add(-3 * time.Minute)}, Tmux: api.Tmux{Server: "default", Pane: "%1"},
	}
	bound := agent.Insight{
		Program: "claude", PID: 12, Version: "3.0.1", MadeFrom: []string{"2.1.329"}, Text: sessions.TextTranscript, Transcript: "/h/t.jsonl", Skipped: 1,
		Hook: &agent.HookSeen{Agent: "claude", Event: "PreToolUse", At: now.Add(-10 * time.Second)},
	}
	tests := map[string]struct {
		in    agent.Insight
		hooks agent.InstallStatus
		want  string
	}{
		"bound, with hooks": {bound, agent.HooksInstalled, `
pb_1 work (default %1)
  program  claude 3.0.1, process 12; nobody has tried this version: its profile is for 2.1.329
  text     of the transcript /h/t.jsonl
  state    working since 11:58:00: hook PreToolUse at 11:59:50
  turn     3, begun 3 min ago
  hooks    the last was PreToolUse of claude, 10 s ago
  skipped  1 record of its transcript, not understood
`},
		"not bound, without": {agent.Insight{Program: "codex", Text: sessions.TextHeld, Unbound: "there's none"}, agent.HooksNotInstalled, `
pb_1 work (default %1)
  program  codex
  text     held back until it's clear whose it is; no transcript is bound: there's none
  state    working since 11:58:00: hook PreToolUse at 11:59:50
  turn     3, begun 3 min ago
  hooks    not installed: ` + "`panebridge hooks install codex`" + `
`},
		"nothing known": {agent.Insight{Text: sessions.TextPane}, "", `
pb_1 work (default %1)
  program  none that's known
  text     of the pane
  state    working since 11:58:00: hook PreToolUse at 11:59:50
  turn     3, begun 3 min ago
`},
	}
	for name, test := range tests {
		var out strings.Builder
		p := &invocation{stdio: Stdio{Out: &out}}
		if err := p.printSession(s, test.in, test.hooks, now); err != nil {
			t.Fatal(err)
		}
		if out.String() != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, out.String(), test.want)
		}
	}
}

// doctor says why a transcript isn't bound, and that a profile is of another version.
func TestDoctorLooksAtPrograms(t *testing.T) {
	asked := api.Session{Name: "work", Turn: sessions.Turn{Number: 1}}
	unbound := agent.Insight{Program: "claude", Text: sessions.TextPane, Unbound: "2 transcripts may be its"}
	other := agent.Insight{Program: "pi", Version: "1.0.0", MadeFrom: []string{"0.73.1"}, Text: sessions.TextTranscript, Transcript: "/t", Skipped: 2}
	tests := map[string]struct {
		s    api.Session
		in   agent.Insight
		want []string // states and parts of details
	}{
		"no program":     {asked, agent.Insight{}, nil},
		"unbound":        {asked, unbound, []string{"warning 2 transcripts may be its"}},
		"not asked yet":  {api.Session{Name: "work"}, unbound, []string{"ok claude"}},
		"another major":  {asked, other, []string{"warning pi 1.0.0 runs", "warning 2 records"}},
		"all is as it's": {asked, agent.Insight{Program: "pi", Text: sessions.TextTranscript, Transcript: "/t"}, []string{"ok pi"}},
	}
	for name, test := range tests {
		got := examineProgram(test.s, test.in)
		if len(got) != len(test.want) {
			t.Errorf("%s: %d findings, want %d: %+v", name, len(got), len(test.want), got)
			continue
		}
		for i, f := range got {
			state, detail, _ := strings.Cut(test.want[i], " ")
			if string(f.State) != state || !strings.Contains(f.Detail, detail) || (f.Fix == "") != (f.State == verdictOK) {
				t.Errorf("%s: %+v, want %s", name, f, test.want[i])
			}
		}
	}
}
