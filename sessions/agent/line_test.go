package agent_test

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// onlyBash is a host on which each pane has a shell in its foreground.
type onlyBash struct{}

func (onlyBash) Rest(int) bool { return false }

func (onlyBash) Group(int) int { return 1 }
func (onlyBash) Foreground(int, bool) []agent.Process {
	return []agent.Process{{PID: 1, Name: "bash", Args: []string{"bash"}}}
}
func (onlyBash) Alive(agent.Process) bool      { return true }
func (onlyBash) Get(int) (agent.Process, bool) { return agent.Process{}, false }

// What's half typed in a shell is seen behind every prompt that's taken for one: the first
// sign that may end a prompt does, so that what's typed is never a part of it. The cursor
// is where "‸" stands.
func TestALineOfAShellIsRead(t *testing.T) {
	profiles, err := agent.LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := polling.NewPrompts(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := agent.NewWatchers(agent.Options{Profiles: profiles, Processes: onlyBash{}, Prompts: prompts})
	const hidden = "(no prompt)"
	for _, c := range []struct {
		rows    string
		wrapped bool // the row before the cursor's goes on in it
		want    string
	}{
		{rows: "me@host:~/src$ ‸", want: ""},
		{rows: "me@host:~/src$ echo half-‸", want: "echo half-"},
		{rows: "me@host ~ ❯ ‸", want: ""},
		{rows: "me@host ~ ❯ cat foo > ‸", want: "cat foo >"},
		{rows: "~/x ❯ echo half ❯ ‸", want: "echo half ❯"},
		{rows: "[me@host dir]# rm -r a # ‸", want: "rm -r a #"},
		{rows: "me@host:~/x λ echo 100%‸", want: hidden},
		{rows: "me@h: echo half> ‸", want: hidden},
		{rows: "u@h ~ echo $‸", want: hidden},
		{rows: "vm# ‸", want: ""},
		{rows: "vm# echo 100%‸", want: "echo 100%"},
		{rows: "~/x % echo half # ‸", want: "echo half #"},
		{rows: "ready: echo half >‸", want: hidden},
		{rows: "me@host ~/src (main)> ‸", want: ""},
		{rows: "root@host /s/project (main)# echo hi ‸", want: "echo hi"},
		{rows: "root@host /s/project (main) [SIGKILL]# ‸", want: ""},
		{rows: "[I] me@host ~ [0|1] 1> echo [2]> ‸", want: "echo [2]>"},
		{rows: "me@host ~ echo half [1]> ‸", want: hidden},
		{rows: "➜  ~ git:(main) ✗ ‸", want: ""},
		{rows: "└─$ ‸", want: ""},
		{rows: "$ echo half-‸                                                        12:30", want: "echo half-"},
		{rows: "$ ‸" + strings.Repeat(" ", 72) + "12:30", want: ""},
		{rows: "$ ‸ echo half-                                                       12:30", want: "echo half-                                                       12:30"},
		{rows: "$ ‸echo half-", want: "echo half-"},
		{rows: "$ echo " + strings.Repeat("x", 73) + "\nabc> ‸", wrapped: true, want: "echo " + strings.Repeat("x", 73) + "\nabc>"},
		{rows: "$ echo 'half\n> ‸", want: " behind echo 'half"},
		{rows: "$ make\n# Heading\nsome words ‸", want: hidden},
	} {
		rows := strings.Split(c.rows, "\n")
		s := &sessions.Snapshot{PID: 1, Width: 80, Height: 24, CursorY: len(rows) - 1, Wrapped: make([]bool, len(rows))}
		last := &rows[len(rows)-1]
		before, behind, _ := strings.Cut(*last, "‸")
		*last, s.CursorX, s.Rows = before+behind, displaywidth.String(before), rows
		if c.wrapped {
			s.Wrapped[len(rows)-2] = true
		}
		b := w.Box("pb_1", s)
		got := b.Text
		switch {
		case !b.Open:
			got = hidden
		case b.Unfinished != "":
			got += " behind " + strings.TrimSpace(b.Unfinished)
		}
		if !b.Shell || got != c.want {
			t.Errorf("%q: %q, want %q", c.rows, got, c.want)
		}
	}
}
