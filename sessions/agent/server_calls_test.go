package agent

import (
	"testing"
	"time"
)

// What Gemini CLI and opencode tell of a call of an MCP server's tool, as they were recorded, is
// read with all that it's called with, or not at all; and it's forgotten when the call has ended.
func TestHooksTellOfServerCalls(t *testing.T) {
	read := func(agent, event, record string) Hook {
		t.Helper()
		h, err := ParseHook(agent, event, []byte(record), func(string) string { return "" }, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	const gemini = `"tool_name":"mcp_lab_put_any","tool_input":{"name":"f.txt","command":"x"},"mcp_context":{"server_name":"lab","tool_name":"put_any"}`
	before := read("gemini", "BeforeTool", `{`+gemini+`}`)
	if before.Signal != ToolStart || before.Tool != "mcp__lab__put_any" || len(before.Input) == 0 {
		t.Errorf("it's read as %+v", before)
	}
	asks := read("gemini", "Notification", `{"notification_type":"ToolPermission","details":{"type":"mcp","serverName":"lab","toolName":"put_any"}}`)
	if asks.Signal != Asking || len(asks.Input) > 0 {
		t.Errorf("it's read as %+v", asks)
	}
	var c calls
	for range 2 { // two that are the same
		c.noteHook(before)
	}
	c.noteHook(asks)
	if len(c) != 1 || c[0].times != 2 || c[0].mcp == nil || c[0].said != "tool: mcp__lab__put_any\nname: f.txt\ncommand: x" {
		t.Errorf("%+v", c)
	}
	for range 2 {
		c.noteHook(read("gemini", "AfterTool", `{`+gemini+`,"tool_response":{}}`))
	}
	if len(c) != 0 {
		t.Errorf("%+v", c)
	}
	const opencode = `{"id":"per_1","sessionID":"ses_1","permission":"lab_put_any","patterns":["*"],"metadata":{},"always":["*"]`
	for args, want := range map[string]string{``: "", `,"args":{}`: "tool: lab_put_any", `,"args":{"command":"x\ny","z":false}`: "tool: lab_put_any\ncommand: x\n    y\nz: false"} {
		c = nil
		if c.noteHook(read("opencode", "permission.asked", opencode+args+`}`)); len(c) != 0 && c[0].said != want || (len(c) > 0) != (want != "") {
			t.Errorf("%s: %+v", args, c)
		}
	}
}
