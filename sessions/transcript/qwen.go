package transcript

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// qwenDecoder reads Qwen Code's transcripts (seen with 0.15.10):
// ~/.qwen/projects/FOLDER/chats/SESSION.jsonl.
//
// A message of the model is one record with all of its parts, written when it's
// complete; one that calls no tool ends the turn. An interruption while a tool runs
// is seen by the tool's cancelled result; one while text is written leaves what was
// written, as if it were all. What was asked while the agent was at work isn't
// there. Errors stand in telemetry records. Texts lack the last line end.
type qwenDecoder struct {
	Open bool `json:"open,omitempty"` // something was asked, and no end told

	Counted counted `json:"counted,omitempty"`
}

var qwenSilentEvents = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"attribution_snapshot": true, "slash_command": true, "ui_telemetry": true, "at_command": true, "rewind": true,
	"custom_title": true, "file_history_snapshot": true, "notification": true, "mid_turn_user_message": true,
}

func (d *qwenDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if !valid(line) {
		return out, false
	}
	var kind, subtype, id string
	var at, message, called, system, tokens gjson.Result
	gjson.ParseBytes(line).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			kind = v.Str
		case "subtype":
			subtype = v.Str
		case "uuid":
			id = v.Str
		case "timestamp":
			at = v
		case "message":
			message = v
		case "toolCallResult":
			called = v
		case "usageMetadata":
			tokens = v
		case "systemPayload":
			system = v
		}
		return true
	})
	id = own(id)
	first := len(out)
	understood := true
	switch kind {
	case "user":
		if said := withoutNotices(geminiText(message.Get("parts"))); strings.TrimSpace(said) != "" && !injected(said) && subtype == "" {
			d.Open = true
			out = append(out, Record{Kind: User, ID: id, Text: own(cleanText(said))})
		}
	case "assistant":
		out = d.message(id, message.Get("parts"), out)
		t, context := qwenTokens(tokens)
		out = d.Counted.message(Qwen, id, t, 0, context, out)
	case "tool_result":
		out = d.result(id, message.Get("parts"), called, out)
	case "system":
		out, understood = d.system(id, subtype, system, out)
	default:
		understood = false
	}
	when := timeOf(at)
	for i := first; i < len(out); i++ {
		out[i].At = when
	}
	return out, understood
}

func (d *qwenDecoder) message(id string, parts gjson.Result, out []Record) []Record {
	var answer strings.Builder
	calls := 0
	give := func() {
		if said := answer.String(); strings.TrimSpace(said) != "" {
			out = append(out, Record{Kind: Answer, ID: id, Text: strings.ToValidUTF8(said, "�")})
		}
		answer.Reset()
	}
	parts.ForEach(func(_, part gjson.Result) bool {
		var said, thought, call gjson.Result
		part.ForEach(func(key, v gjson.Result) bool {
			switch key.Str {
			case "text":
				said = v
			case "thought":
				thought = v
			case "functionCall":
				call = v
			}
			return true
		})
		switch {
		case thought.Bool():
			out = think(out, id, textOf(said))
		case call.Exists():
			give()
			out = append(out, qwenCall(call))
			calls++
		default:
			answer.WriteString(said.Str)
		}
		return true
	})
	give()
	d.Open = d.Open || calls > 0 || len(out) > 0
	if calls == 0 {
		out = d.end(id, false, out)
	}
	return out
}

func qwenCall(c gjson.Result) Record {
	r := Record{Kind: Tool, ID: textOf(c.Get("id")), Tool: textOf(c.Get("name")), Args: wholeArgs(c.Get("args"))}
	if r.Tool == "ask_user_question" {
		r.Kind, r.Text = Question, questions(c.Get("args"))
	}
	if r.Text == "" {
		r.Kind, r.Text = Tool, callInShort(r.Tool, c.Get("args"))
	}
	r.Raw = hasControls(c.Get("args"))
	return r
}

// hasControls reports whether a text in a JSON value has control characters, but for ends of rows and
// tabs. Qwen Code writes them to the terminal as they are.
func hasControls(v gjson.Result) (has bool) {
	if !v.IsObject() && !v.IsArray() {
		return v.Type == gjson.String && strings.ContainsFunc(v.Str, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
	}
	v.ForEach(func(_, one gjson.Result) bool {
		has = hasControls(one)
		return !has
	})
	return has
}

func (d *qwenDecoder) result(id string, parts, called gjson.Result, out []Record) []Record {
	status := called.Get("status").Str
	for _, part := range parts.Array() {
		f := part.Get("functionResponse")
		if !f.Exists() {
			continue
		}
		r := Record{Kind: ToolResult, ID: textOf(f.Get("id")), Tool: textOf(f.Get("name")), Failed: status != "" && status != "success"}
		said, exit := shellOutput(f.Get("response.output").Str)
		if failure := f.Get("response.error").Str; failure != "" {
			said, r.Failed = failure, true
		}
		if r.setResult(said, exit); !r.Failed && called.Get("callId").Str == r.ID {
			r.Diff = wholeDiff(called.Get("resultDisplay.fileDiff"))
		}
		out = append(out, r)
	}
	if status == "cancelled" { // also where another tool of the message goes on: the person ended it
		out = d.end(id, true, out)
	}
	return out
}

func (d *qwenDecoder) system(id, subtype string, system gjson.Result, out []Record) ([]Record, bool) {
	switch subtype {
	case "chat_compression":
		return append(out, Record{Kind: Compacted, ID: id}), true
	case "ui_telemetry":
		event := system.Get("uiEvent")
		if event.Get("event\\.name").Str == "qwen-code.api_error" {
			failure := event.Get("error_message").Str
			if failure == "" {
				failure = event.Get("error").Str
			}
			if strings.Contains(failure, "aborted") {
				return d.end(id, true, out), true
			}
			return append(out, Record{Kind: Failure, ID: id, Text: short(failure, 10), Waits: passes(failure + " " + event.Get("status_code").String())}), true
		}
	}
	return out, qwenSilentEvents[subtype]
}

// end ends the turn, once.
func (d *qwenDecoder) end(id string, interrupted bool, out []Record) []Record {
	if !d.Open {
		return out
	}
	d.Open = false
	return append(out, Record{Kind: TurnEnd, ID: id, Interrupted: interrupted})
}
