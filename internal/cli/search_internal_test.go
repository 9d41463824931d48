package cli

import (
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// What a line is stands in front of it, unless a program printed it.
func TestAFoundLineSaysWhatItIs(t *testing.T) {
	for kind, want := range map[sessions.LineKind]string{
		sessions.KindPane: "text", sessions.KindAnswer: "answer: text", sessions.KindTool: "tool: text", sessions.KindThought: "thought: text",
		sessions.KindUser: "> text", sessions.KindNotice: "-- text --",
	} {
		if got := foundText(sessions.Line{Kind: kind, Text: "text"}); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
