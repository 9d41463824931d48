package transcript

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/panebridge/panebridge/sessions"
)

// demoDecoder reads what panebridge's own demo agent writes (internal/demoagent/transcript.go): a
// line for each record, whose kind is ours, behind one that says when it began.
type demoDecoder struct{}

const demoStart = "start"

var demoKinds = []RecordKind{User, Answer, Tool, ToolResult, Question, TurnEnd, Failure, Used} //nolint:gochecknoglobals // a constant table

func (*demoDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if !valid(line) {
		return out, false
	}
	v := gjson.ParseBytes(line)
	kind := RecordKind(textOf(v.Get("kind")))
	if kind == demoStart {
		return out, true
	}
	if !slices.Contains(demoKinds, kind) {
		return out, false
	}
	r := Record{
		Kind: kind, ID: textOf(v.Get("id")), Text: textOf(v.Get("text")), Tool: textOf(v.Get("tool")), At: timeOf(v.Get("at")),
		Failed: v.Get("failed").Bool(), Interrupted: v.Get("interrupted").Bool(),
	}
	switch kind {
	case Tool, Question:
		r.Args = wholeArgs(v.Get("args"))
	case ToolResult:
		said := r.Text
		r.setResult(said, 0)
		r.Text = said
	case Failure:
		r.Limit = readLimit(r.Text, r.At, time.Local)
	case Used:
		u := v.Get("used")
		t := sessions.Tokens{Input: count(u.Get("input")), Output: count(u.Get("output"))}
		r.Usage = &AnswerUse{Key: usageKey(Demo, r.ID, t), Tokens: t, Context: &sessions.ContextUse{Used: count(u.Get("context")), Window: count(u.Get("window"))}}
	default:
	}
	return append(out, r), true
}
