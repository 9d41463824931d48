package agent

import (
	"strings"

	"github.com/panebridge/panebridge/sessions/transcript"
)

// What the lines of tools begin with, so that they can be told apart wherever they're
// shown. internal/render knows those of questions.
const (
	callMark     = "⚙ "
	failureMark  = "✗ "
	indentation  = "  "
	questionMark = "❓ "
	optionMark   = "› "
	helperMark   = "↳ "
	thoughtMark  = "∴ "
)

// marked is a record's text as lines of the output log show it.
func marked(r transcript.Record) string {
	switch {
	case r.Kind == transcript.Tool:
		return callMark + strings.ReplaceAll(r.Text, "\n", "\n"+indentation)
	case r.Kind == transcript.ToolResult && r.Failed:
		return failureMark + strings.ReplaceAll(r.Text, "\n", "\n"+indentation)
	case r.Kind == transcript.ToolResult:
		return indentation + strings.ReplaceAll(r.Text, "\n", "\n"+indentation)
	case r.Kind == transcript.Helper:
		return helperMark + r.By + ":\n\n" + r.Text
	case r.Kind == transcript.Question:
		return markQuestion(r.Text)
	case r.Kind == transcript.Thought: // it may look like what panebridge says
		return thoughtMark + strings.ReplaceAll(r.Text, "\n", "\n"+indentation)
	default:
		return r.Text
	}
}

// markQuestion marks questions, which stand behind empty lines, and their options.
func markQuestion(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case line == "":
		case i == 0 || lines[i-1] == "":
			lines[i] = questionMark + line
		default:
			lines[i] = optionMark + line
		}
	}
	return strings.Join(lines, "\n")
}
