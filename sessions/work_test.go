package sessions_test

import (
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// What tools are called by the agents whose records are read, and what kind of work each does.
func TestWorkByNamesOfTools(t *testing.T) {
	for name, want := range map[string]string{
		"Read": "read 1 file", "read_file": "read 1 file", "ReadManyFiles": "read 1 file", "list_directory": "read 1 file", "LS": "read 1 file", "ls": "read 1 file",
		"Bash": "ran 1 command", "exec_command": "ran 1 command", "run_shell_command": "ran 1 command", "shell": "ran 1 command", "local_shell": "ran 1 command", "write_stdin": "ran 1 command", "KillShell": "ran 1 command", "!": "ran 1 command",
		"Edit": "edited 1 file", "Write": "edited 1 file", "apply_patch": "edited 1 file", "replace": "edited 1 file", "NotebookEdit": "edited 1 file", "write_file": "edited 1 file",
		"Grep": "searched once", "Glob": "searched once", "search_file_content": "searched once", "WebSearch": "searched once",
		"WebFetch": "fetched 1 page", "webfetch": "fetched 1 page", "Task": "began 1 helper", "Agent": "began 1 helper",
		"TodoWrite": "used 1 other tool", "update_plan": "used 1 other tool", "false": "used 1 other tool", "mcp__x__y": "used 1 other tool", "": "used 1 other tool", "overrun": "used 1 other tool",
	} {
		l := sessions.Line{Kind: sessions.KindTool, Begins: true, Tool: &sessions.ToolPart{Part: sessions.ToolCall, Name: name}}
		if got := sessions.TallyOf(l).String(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTalliesAddUp(t *testing.T) {
	var all sessions.WorkTally
	if all.String() != "" {
		t.Errorf("nothing is %q", all)
	}
	tool := func(part sessions.ToolPartKind, name string, failed bool) sessions.Line {
		return sessions.Line{Kind: sessions.KindTool, Begins: true, Tool: &sessions.ToolPart{Part: part, Name: name, Failed: failed}}
	}
	for _, l := range []sessions.Line{
		{Kind: sessions.KindUser, Begins: true},
		{Kind: sessions.KindUser},
		{Kind: sessions.KindThought, Begins: true},
		{Kind: sessions.KindThought, Begins: true},
		tool(sessions.ToolCall, "Read", false), tool(sessions.ToolReturned, "Read", false), tool(sessions.ToolCall, "Bash", true), tool(sessions.ToolReturned, "Bash", true),
		tool(sessions.ToolQuestion, "AskUserQuestion", false),
		{Kind: sessions.KindTool, Begins: true},
		{Kind: sessions.KindTool},
		{Kind: sessions.KindAnswer, Begins: true},
		{Kind: sessions.KindPane},
		{Kind: sessions.KindNotice, Begins: true},
	} {
		all.Add(sessions.TallyOf(l))
	}
	if want := "was asked once, thought 2 times, read 1 file, ran 1 command, asked 1 question, used 1 other tool · 1 failed"; all.String() != want {
		t.Errorf("%q, want %q", all, want)
	}
	all = sessions.TallyOf(tool(sessions.ToolReturned, "Bash", true))
	if all.String() != "1 failed" {
		t.Errorf("a failure alone is %q", all)
	}
}
