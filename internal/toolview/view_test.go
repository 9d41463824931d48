package toolview_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

func call(name, args string) sessions.ToolUse {
	return sessions.ToolUse{Call: sessions.ToolRecord{
		N: 3, ToolPart: sessions.ToolPart{Part: sessions.ToolCall, Name: name}, ToolDetail: sessions.ToolDetail{Args: args},
	}}
}

func withResult(use sessions.ToolUse, output, diff string) sessions.ToolUse {
	use.Result = sessions.ToolRecord{N: 5, ToolPart: sessions.ToolPart{Part: sessions.ToolReturned}, ToolDetail: sessions.ToolDetail{Output: output, Diff: diff}}
	return use
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// drawn is a view on few lines: fields, files with their lines, the output.
func drawn(v toolview.ToolView) string {
	var b strings.Builder
	for _, f := range v.Input {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Text)
	}
	for _, f := range v.Files {
		fmt.Fprintf(&b, "= %s %s", f.Does, f.Path)
		if f.From != "" {
			fmt.Fprintf(&b, " from %s", f.From)
		}
		b.WriteString("\n")
		for _, h := range f.Hunks {
			fmt.Fprintf(&b, "@ %s\n", h.Head)
			for _, l := range h.Lines {
				fmt.Fprintf(&b, "%s%d,%d %s\n", l.Op, l.Old, l.New, l.Text)
			}
		}
	}
	if v.Output != "" {
		b.WriteString("> " + v.Output + "\n")
	}
	return b.String()
}

const (
	patch = "*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@ func main() {\n x\n-y\n+z\n\n@@\n-only\n*** Add File: c.md\n+# C\n+\n*** Delete File: d.md\n*** End Patch\n"
	drew  = "= edit b.go from a.go\n@ func main() {\n 0,0 x\n-0,0 y\n+0,0 z\n 0,0 \n@ \n-0,0 only\n= add c.md\n@ \n+0,1 # C\n+0,2 \n= delete d.md\n"
)

// Each agent's calls as people look at them: what's edited comes as lines, the rest as names and texts.
func TestWhatToolsDoIsShown(t *testing.T) {
	unified := "--- a.go\n+++ a.go\n@@ -7,3 +7,4 @@ func main() {\n x\n--- y\n+z\n+ü\n w\n\\ No newline at end of file\n@@ -20 +21 @@\n-one\n+two\n"
	numbered := "@ func main() {\n 7,7 x\n-8,0 -- y\n+0,8 z\n+0,9 ü\n 9,10 w\n@ \n-20,0 one\n+0,21 two\n"
	for name, tc := range map[string]struct {
		use  sessions.ToolUse
		want string
	}{
		"a command":                 {withResult(call("Bash", `{"command":"seq 1 3\nseq 4","timeout":5,"background":false}`), "1\r\n\x1b[31m2\x1b[0m\a\n3", ""), "command: seq 1 3\nseq 4\ntimeout: 5\nbackground: false\n> 1\n2\n3\n"},
		"words":                     {call("shell", `{"command":["bash","-lc","ls"],"todos":[{"a":1}]}`), "command: bash -lc ls\ntodos: [\n  {\n    \"a\": 1\n  }\n]\n"},
		"a text alone":              {call("x", `"just this"`), ": just this\n"},
		"no arguments":              {call("x", ``), ""},
		"none":                      {call("x", `{}`), ""},
		"not JSON":                  {call("x", `{"a":"b","c`), "a: b\n"},
		"a result alone":            {withResult(sessions.ToolUse{}, "out", ""), "> out\n"},
		"Claude Code's Edit":        {call("Edit", `{"file_path":"/a.go","old_string":"x\ny\nw","new_string":"x\nz\nw","replace_all":false}`), "replace_all: false\n= edit /a.go\n@ \n 0,0 x\n-0,0 y\n+0,0 z\n 0,0 w\n"},
		"with numbers":              {withResult(call("Edit", `{"file_path":"/p/a.go","old_string":"-- y","new_string":"z\nü"}`), "updated", unified), "= edit /p/a.go\n" + numbered + "> updated\n"},
		"Claude Code's MultiEdit":   {call("MultiEdit", `{"file_path":"/a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c\n","new_string":""}]}`), "= edit /a.go\n@ \n-0,0 a\n+0,0 b\n@ \n-0,0 c\n"},
		"Claude Code's Write":       {call("Write", `{"file_path":"/a.md","content":"# A\n\ntext\n"}`), "= write /a.md\n@ \n+0,1 # A\n+0,2 \n+0,3 text\n"},
		"of a file that was there":  {withResult(call("Write", `{"file_path":"/a.go","content":"z\n"}`), "", unified), "= edit /a.go\n" + numbered},
		"Codex' patch":              {call("apply_patch", quoted(patch)), drew},
		"as an argument":            {call("apply_patch", `{"input":`+quoted(patch)+`}`), drew},
		"in a command":              {call("exec_command", `{"cmd":`+quoted("apply_patch <<'EOF'\n"+patch+"EOF")+`,"workdir":"/p"}`), "cmd: apply_patch <<'EOF'\n" + patch + "EOF\nworkdir: /p\n" + drew},
		"as words":                  {call("shell", `{"command":["apply_patch",`+quoted(patch)+`]}`), "command: apply_patch " + patch + "\n" + drew},
		"opencode's patch":          {call("patch", `{"patchText":`+quoted(patch)+`}`), drew},
		"opencode's edit":           {call("edit", `{"filePath":"/a.go","oldString":"a","newString":"b"}`), "= edit /a.go\n@ \n-0,0 a\n+0,0 b\n"},
		"opencode's write":          {call("write", `{"content":"a","filePath":"/a.go"}`), "= write /a.go\n@ \n+0,1 a\n"},
		"Gemini CLI's replace":      {withResult(call("replace", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`), "", "Index: a.go\n====\n--- a.go\tCurrent\n+++ a.go\tProposed\n@@ -1,1 +1,1 @@\n-a\n+b\n"), "= edit /p/a.go\n@ \n-1,0 a\n+0,1 b\n"},
		"Gemini CLI's write_file":   {withResult(call("write_file", `{"file_path":"/p/a.go","content":"a\n"}`), "", "Index: a.go\n====\n--- a.go\tOriginal\n+++ a.go\tWritten\n@@ -0,0 +1,1 @@\n+a\n"), "= add /p/a.go\n@ \n+0,1 a\n"},
		"pi's edit":                 {withResult(call("edit", `{"path":"a.go","edits":[{"oldText":"a","newText":"b"}]}`), "", "@@ -7,2 +7,3 @@\n x\n-y\n+z\n+w\n"), "= edit a.go\n@ \n 7,7 x\n-8,0 y\n+0,8 z\n+0,9 w\n"},
		"before it has returned":    {call("edit", `{"path":"a.go","edits":"[{\"oldText\":\"a\",\"newText\":\"b\"}]"}`), "= edit a.go\n@ \n-0,0 a\n+0,0 b\n"},
		"git's diff as an argument": {call("apply", `{"diff":"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n--- a/v\n+++ b/w\n@@ -1 +1 @@\n-b\n+c\n"}`), "= add x\n@ \n+0,1 a\n= delete y\n@ \n-1,0 b\n= edit w from v\n@ \n-1,0 b\n+0,1 c\n"},
		"nothing changes":           {call("Edit", `{"file_path":"/a.go","old_string":"x","new_string":"x"}`), "file_path: /a.go\nold_string: x\nnew_string: x\n"},
		"reading writes nothing":    {call("Read", `{"file_path":"/a.go","content":"x"}`), "file_path: /a.go\ncontent: x\n"},
		"a diff that's none":        {withResult(call("Edit", `{"file_path":"/a.go","old_string":"a","new_string":"b"}`), "", "@@ nothing"), "= edit /a.go\n@ \n-0,0 a\n+0,0 b\n"},
		"a hunk that's too short":   {withResult(call("Edit", `{"file_path":"/a.go"}`), "", "@@ -1,9 +1,9 @@\n a\n+b"), "file_path: /a.go\n= edit /a.go\n@ \n 1,1 a\n+0,2 b\n"},
	} {
		if d := cmp.Diff(tc.want, drawn(toolview.Of(tc.use, nil))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// A view has no more lines than a page can take.
func TestLongDiffsAreCut(t *testing.T) {
	v := toolview.Of(call("Write", `{"file_path":"/a","content":`+quoted(strings.Repeat("x\n", 30_000))+`}`), nil)
	if f := v.Files[0]; len(f.Hunks[0].Lines) != 4000 || f.More != 26_000 {
		t.Errorf("%d lines are shown, and %d more there", len(f.Hunks[0].Lines), f.More)
	}
}

// However a call is written, a view can be made of it.
func FuzzOf(f *testing.F) {
	f.Add("Edit", `{"file_path":"/a.go","old_string":"x","new_string":"y"}`, "out", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x\n+y\n")
	f.Add("apply_patch", quoted(patch), "\x1b[31m", "@@ -1 +1 @@")
	f.Add("x", `{"path":"p","edits":[[],{},1,"x",{"oldText":1}],"content":{}}`, "", "@@ -999999999,3 +1,3 @@\n\n\n\n\n")
	f.Fuzz(func(t *testing.T, name, args, output, diff string) {
		use := withResult(call(name, args), output, diff)
		v := toolview.Of(use, masker(t))
		if _, err := json.Marshal(v); err != nil {
			t.Error(err)
		}
		if len(drawn(v)) > 100*(len(args)+len(output)+len(diff)+len(name)+100) {
			t.Errorf("it's made much longer: %d bytes", len(drawn(v)))
		}
	})
}
