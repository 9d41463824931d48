package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// Only the first line of a tool's block says of what it's a part, and has the whole of it; a result has
// the same key as its call, of whatever an agent makes its ids.
func TestLinesOfToolsSayOfWhatTheyAreAPart(t *testing.T) {
	o := &Observer{program: &agentRun{profile: &Profile{}}}
	id, name := strings.Repeat("\x1b[31mghp_ü", 5000), "\aB"+strings.Repeat("ü", 200)
	lines := o.linesOf([]transcript.Record{
		{Kind: transcript.Answer, Text: "I look.", ID: "m"},
		{Kind: transcript.Tool, Text: "Bash: seq 3", Tool: name, ID: id, Args: `{"command":"seq 3"}`},
		{Kind: transcript.ToolResult, Text: "1\n2\n3", Tool: name, ID: id, Whole: "1\n2\n3", Diff: "@@", Failed: true},
		{Kind: transcript.Question, Text: "Which?\n1. A", Tool: "ask", Args: "{}"},
	}, time.Now())
	var parts []*sessions.ToolPart
	for i, l := range lines {
		if l.Tool == nil {
			continue
		}
		if parts = append(parts, l.Tool); !l.Begins || l.Kind != sessions.KindTool {
			t.Errorf("line %d has one: %+v", i, l)
		}
	}
	if len(lines) != 7 || len(parts) != 3 {
		t.Fatalf("%d lines have %d parts", len(lines), len(parts))
	}
	key := parts[0].Call
	if len(key) != 12 || strings.Trim(key, "0123456789abcdef") != "" {
		t.Errorf("the key is %q", key)
	}
	cut := "B" + strings.Repeat("ü", 98)
	want := []*sessions.ToolPart{
		{Part: sessions.ToolCall, Call: key, Name: cut, Detail: true, Whole: &sessions.ToolDetail{Args: `{"command":"seq 3"}`}},
		{Part: sessions.ToolReturned, Call: key, Name: cut, Detail: true, Failed: true, Whole: &sessions.ToolDetail{Output: "1\n2\n3", Diff: "@@"}},
		{Part: sessions.ToolQuestion, Name: "ask", Detail: true, Whole: &sessions.ToolDetail{Args: "{}"}},
	}
	if d := cmp.Diff(want, parts); d != "" {
		t.Errorf("parts (-want +got):\n%s", d)
	}
}
