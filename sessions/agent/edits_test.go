package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// What agents tell of a change of a file is read as what's to be done to it.
func TestEditsOfRecords(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		agent, event, record string
		want                 sessions.FileEdit
	}{
		"Claude Code": {
			"claude", "PermissionRequest", `{"cwd":"/p","tool_name":"Edit","tool_input":{"file_path":"/p/a","old_string":"x","new_string":"","replace_all":true}}`,
			sessions.FileEdit{Path: "/p/a", Folder: "/p", Swaps: []sessions.TextSwap{{Old: "x", All: true, TakesLine: true}}},
		},
		"Claude Code, a new file": {
			"claude", "PermissionRequest", `{"cwd":"/p","tool_name":"Write","tool_input":{"file_path":"/p/a","content":"x\n"}}`,
			sessions.FileEdit{Path: "/p/a", Folder: "/p", Write: text("x\n")},
		},
		"Gemini CLI": {
			"gemini", "Notification", `{"cwd":"/p","notification_type":"ToolPermission","details":{"type":"edit","filePath":"/p/a","fileDiff":"@@ -1 +1 @@\n-x\n+y\n","originalContent":"x\n","newContent":"y\n"}}`,
			sessions.FileEdit{Path: "/p/a", Folder: "/p", Write: text("y\n"), KeepsEnds: true},
		},
		"opencode": {
			"opencode", "permission.asked", `{"id":"per_1","sessionID":"s","directory":"/p","permission":"edit","metadata":{"filepath":"/p/a","diff":"@@ -1 +1 @@\n-x\n+y\n"},"args":{"filePath":"/p/a","oldString":"x","newString":"y"}}`,
			sessions.FileEdit{Path: "/p/a", Folder: "/p", Swaps: []sessions.TextSwap{{Old: "x", New: "y"}}},
		},
		"opencode, without the call": {
			"opencode", "permission.asked", `{"id":"per_1","sessionID":"s","directory":"/p","permission":"edit","metadata":{"filepath":"/p/a","diff":"@@ -1 +1 @@\n-x\n+y\n"}}`,
			sessions.FileEdit{Path: "/p/a", Folder: "/p", Diff: "@@ -1 +1 @@\n-x\n+y\n"},
		},
		"opencode, a whole file": {
			"opencode", "permission.asked", `{"id":"per_1","sessionID":"s","permission":"edit","metadata":{"filepath":"/p/a","diff":"@@ -1 +1 @@\n-x\n+y\n"},"args":{"filePath":"/p/a","content":""}}`,
			sessions.FileEdit{Path: "/p/a", Write: text("")},
		},
		"Qwen Code": {
			"qwen", "PermissionRequest", `{"cwd":"/p","tool_name":"edit","tool_input":{"file_path":"/p/a","old_string":"","new_string":"y"}}`,
			sessions.FileEdit{Path: "/p/a", Folder: "/p", Swaps: []sessions.TextSwap{{New: "y", TakesLine: true}}},
		},
		"Codex": {
			"codex", "PermissionRequest", `{"cwd":"/p","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}}`,
			sessions.FileEdit{Folder: "/p", Patch: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"},
		},
	} {
		h, err := ParseHook(c.agent, c.event, []byte(c.record), func(string) string { return "" }, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		one := newCall(h)
		if len(one.edits) != 1 || !reflect.DeepEqual(one.edits[0], c.want) {
			t.Errorf("%s: %+v, want %+v", name, one.edits, c.want)
		}
	}
}

// What Codex' hook tells of a patch, and its server of the same, is one call, whose dialog is known by the names of its
// files.
func TestCodexPatchesAreOneCall(t *testing.T) {
	patch, err := json.Marshal(map[string]string{"command": "*** Begin Patch\n*** Update File: b.txt\n@@\n one\n-two\n+2\n*** Add File: a.txt\n+x\n+\n*** Delete File: /p/c\n*** Update File: d\n*** Move to: e\n@@\n-q\n+r\n*** End Patch"})
	if err != nil {
		t.Fatal(err)
	}
	hook := Hook{Agent: "codex", Signal: Asking, Tool: codexPatch, Cwd: "/p", Input: patch}
	served := Hook{Tool: codexPatch, Input: json.RawMessage(`[{"path":"/p/a.txt","kind":{"type":"add"},"diff":"x\n\n"},{"path":"/p/b.txt","kind":{"type":"update","move_path":null},"diff":"@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},{"path":"/p/c","kind":{"type":"delete"},"diff":"bye\n"},{"path":"/p/d","kind":{"type":"update","move_path":"/p/e"},"diff":"@@ -1 +1 @@\n-q\n+r\n"}]`)}
	const said = "file: /p/a.txt (new)\n+x\n+\nfile: /p/b.txt\n-two\n+2\nfile: /p/c (deleted)\nfile: /p/d (moved to /p/e)\n-q\n+r"
	for _, hookFirst := range []bool{true, false} {
		var c calls
		if hookFirst {
			c.noteHook(hook)
		}
		c.addServed(served, "1")
		if !hookFirst {
			c.noteHook(hook)
		}
		if len(c) != 1 || c[0].said != said || len(c[0].edits) == 0 {
			t.Fatalf("%+v", c)
		}
	}
	d := sessions.Dialog{Kind: sessions.PromptPermission, Title: "Would you like to make the following edits?", Drawn: []string{"/p/a.txt"}}
	one := Hook{Agent: "codex", Signal: Asking, Tool: codexPatch, Cwd: "/p", Input: json.RawMessage(`{"command":"*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch"}`)}
	other := one
	other.Input = json.RawMessage(strings.Replace(string(one.Input), "+x", "+y", 1))
	var c calls
	c.noteHook(one)
	is := d
	if c.addRecord(&is, nil, ""); is.Call == "" || len(is.Edits) != 1 || is.Unseen {
		t.Errorf("its dialog is %+v", is)
	}
	c.noteHook(other)
	is = d
	if c.addRecord(&is, nil, ""); is.Call != "" || len(is.Edits) > 0 {
		t.Errorf("one of two is taken: %+v", is)
	}
}

// A command is told with the folder in which it would run.
func TestACommandHasItsFolder(t *testing.T) {
	h := Hook{Agent: "claude", Signal: Asking, Tool: "Bash", Cwd: "/p/sub", Input: json.RawMessage(`{"command":"rm -rf build"}`)}
	var c calls
	c.noteHook(h)
	d := sessions.Dialog{Kind: sessions.PromptPermission, Command: true, Drawn: []string{"rm -rf build"}}
	if c.addRecord(&d, nil, ""); d.Folder != "/p/sub" || d.Whole != "rm -rf build" {
		t.Errorf("it's %+v", d)
	}
}
