package transcript

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// piDecoder reads pi's transcripts (seen with 0.73.1):
// ~/.pi/agent/sessions/--FOLDER--/TIME_ID.jsonl.
//
// A message of the model is one record with all of its parts, written when it's
// complete; why it stopped says whether the turn is over. A failed request is such a
// message too, each time it's tried; that it's not tried again isn't told.
// --continue goes on with the same file.
type piDecoder struct {
	Open bool `json:"open,omitempty"` // something was asked, and no end told

	Counted counted `json:"counted,omitempty"`
}

var piSilent = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"session": true, "model_change": true, "thinking_level_change": true, "label": true, "custom": true,
	"custom_message": true, "session_info": true, "branch_summary": true,
}

func (d *piDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if !valid(line) {
		return out, false
	}
	var kind, id string
	var at, message gjson.Result
	gjson.ParseBytes(line).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			kind = v.Str
		case "id":
			id = v.Str
		case "timestamp":
			at = v
		case "message":
			message = v
		}
		return true
	})
	first := len(out)
	understood := true
	id = own(id)
	switch kind {
	case "message":
		out, understood = d.message(id, message, out)
	case "compaction":
		out = append(out, Record{Kind: Compacted, ID: id})
	default:
		understood = piSilent[kind]
	}
	when := timeOf(at)
	for i := first; i < len(out); i++ {
		out[i].At = when
	}
	return out, understood
}

// piMessage is a message's fields that matter, read in one pass: its content may be
// long.
type piMessage struct {
	role, stop, failure, call, tool, command, output string
	response                                         string // the model's maker's id of the answer
	content, details, usage                          gjson.Result
	failed                                           bool
	exit                                             int64
}

func (m *piMessage) read(message gjson.Result) {
	message.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "role":
			m.role = v.Str
		case "content":
			m.content = v
		case "usage":
			m.usage = v
		case "responseId":
			m.response = v.Str
		case "stopReason":
			m.stop = v.Str
		case "errorMessage":
			m.failure = v.Str
		case "toolCallId":
			m.call = v.Str
		case "toolName":
			m.tool = v.Str
		case "details":
			m.details = v
		case "isError":
			m.failed = v.Bool()
		case "command":
			m.command = v.Str
		case "output":
			m.output = v.Str
		case "exitCode":
			m.exit = v.Int()
		}
		return true
	})
}

func (d *piDecoder) message(id string, message gjson.Result, out []Record) ([]Record, bool) {
	var m piMessage
	m.read(message)
	switch m.role {
	case "user":
		if said := claudeText(m.content); strings.TrimSpace(said) != "" {
			d.Open = true
			out = append(out, Record{Kind: User, ID: id, Text: own(said)})
		}
	case "assistant":
		t, cost, context := piTokens(m.usage)
		out = d.answer(id, &m, d.Counted.message(Pi, cmp.Or(m.response, id), t, cost, context, out))
	case "toolResult":
		out = append(out, m.result())
	case "bashExecution": // a command that the person ran with "!"
		r := Record{Kind: ToolResult, ID: id, Tool: "!", Failed: m.exit != 0}
		r.setResult(m.output, 0)
		out = append(out, Record{Kind: User, ID: id, Text: "! " + cleanText(m.command)}, r)
	case "custom", "hookMessage", "compactionSummary", "branchSummary":
	default:
		return out, false
	}
	return out, true
}

func (d *piDecoder) answer(id string, m *piMessage, out []Record) []Record {
	d.Open = true
	m.content.ForEach(func(_, part gjson.Result) bool {
		switch part.Get("type").Str {
		case "text":
			if answer := textOf(part.Get("text")); strings.TrimSpace(answer) != "" {
				out = append(out, Record{Kind: Answer, ID: id, Text: answer})
			}
		case "thinking":
			out = think(out, id, textOf(part.Get("thinking")))
		case "toolCall":
			name := textOf(part.Get("name"))
			args := part.Get("arguments")
			out = append(out, Record{Kind: Tool, ID: textOf(part.Get("id")), Tool: name, Text: callInShort(name, args), Args: wholeArgs(args)})
		}
		return true
	})
	switch m.stop {
	case "stop", "length":
		out = d.end(id, false, out)
	case "aborted":
		out = d.end(id, true, out)
	case "error":
		r := Record{Kind: Failure, ID: id, Text: short(m.failure, 10), Waits: passes(m.failure)}
		if out = append(out, r); !r.Waits { // else it's tried again
			out = d.end(id, false, out)
		}
	}
	return out
}

// end ends the turn, once.
func (d *piDecoder) end(id string, interrupted bool, out []Record) []Record {
	if !d.Open {
		return out
	}
	d.Open = false
	return append(out, Record{Kind: TurnEnd, ID: id, Interrupted: interrupted})
}

// result is what a tool returned. The status of a failed command stands behind its output.
func (m *piMessage) result() Record {
	r := Record{Kind: ToolResult, ID: own(m.call), Tool: own(m.tool), Diff: piDiff(m.details.Get("diff"))}
	said, status := claudeText(m.content), 0
	const last = "Command exited with code "
	if i := strings.LastIndex(said, last); i >= 0 {
		if n, err := strconv.Atoi(strings.TrimSpace(said[i+len(last):])); err == nil {
			said, status = said[:i], n
		}
	}
	r.setResult(said, status)
	r.Failed = m.failed // whatever its text ends with
	return r
}
