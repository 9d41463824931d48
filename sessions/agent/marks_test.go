package agent

import (
	"testing"

	"github.com/panebridge/panebridge/sessions/transcript"
)

func TestMarked(t *testing.T) {
	for _, c := range []struct {
		record transcript.Record
		want   string
	}{
		{transcript.Record{Kind: transcript.Tool, Text: "Bash: seq 1 300"}, "⚙ Bash: seq 1 300"},
		{transcript.Record{Kind: transcript.ToolResult, Text: "1\n2\n… +298 lines"}, "  1\n  2\n  … +298 lines"},
		{transcript.Record{Kind: transcript.ToolResult, Text: "no such file", Failed: true}, "✗ no such file"},
		{transcript.Record{Kind: transcript.Question, Text: "Which?\n1. a\n2. b\n\nAnd?\n1. c"}, "❓ Which?\n› 1. a\n› 2. b\n\n❓ And?\n› 1. c"},
		{transcript.Record{Kind: transcript.Answer, Text: "# x\ny"}, "# x\ny"},
		{transcript.Record{Kind: transcript.User, Text: "x\ny"}, "x\ny"},
	} {
		if got := marked(c.record); got != c.want {
			t.Errorf("%s: %q, want %q", c.record.Kind, got, c.want)
		}
	}
}
