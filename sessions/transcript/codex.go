package transcript

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/panebridge/panebridge/sessions"
)

// codexDecoder reads Codex's transcripts (seen with 0.169.0):
// CODEX_HOME/sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl.
//
// What was said stands there twice: as what goes to the model (response_item) and
// as what the person sees (event_msg). Only the second is read, since the first has
// injected text in the person's name, and the summary that a compaction asks of
// the model in the model's. Tools' calls and results are read from the first, where
// all kinds of them look alike. The second is item_completed, in older versions
// agent_message and user_message; a file that has both is read by item_completed.
// Text that was being written when a turn was interrupted isn't there. An error
// that was overcome by trying again leaves no trace.
type codexDecoder struct {
	Items bool      `json:"items,omitempty"` // the file has item_completed
	Open  bool      `json:"open,omitempty"`  // a turn began and didn't end
	Calls callNames `json:"calls,omitempty"`

	Counted codexCount `json:"counted,omitzero"`
}

var codexSilent = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"session_meta": true, "turn_context": true, "world_state": true, "retained_context": true,
	"ghost_snapshot": true, "inter_agent_communication": true,
}

// codexSilentEvents are types of event_msg that tell nothing here.
var codexSilentEvents = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"thread_settings_applied": true, "agent_reasoning": true, "agent_reasoning_raw_content": true,
	"agent_reasoning_section_break": true, "context_compacted": true, "entered_review_mode": true, "exec_command_begin": true,
	"exec_command_end": true, "mcp_tool_call_begin": true, "mcp_tool_call_end": true, "patch_apply_begin": true,
	"patch_apply_end": true, "thread_name_updated": true, "thread_rolled_back": true, "turn_diff": true,
	"undo_completed": true, "view_image_tool_call": true, "web_search_begin": true, "web_search_end": true, "plan_update": true,
	"item_started": true, "exited_review_mode": true, "warning": true, "background_event": true, "deprecation_notice": true,
}

// codexSilentItems are types of response_item that tell nothing here.
var codexSilentItems = map[string]bool{"message": true, "compaction": true, "compaction_summary": true, "ghost_snapshot": true, "context_compaction": true} //nolint:gochecknoglobals // a constant table

func (d *codexDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if !valid(line) {
		return out, false
	}
	var kind string
	var at, payload gjson.Result
	gjson.ParseBytes(line).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			kind = v.Str
		case "timestamp":
			at = v
		case "payload":
			payload = v
		}
		return !codexSilent[kind] // what's left of the line may be long
	})
	first := len(out)
	understood := true
	switch kind {
	case "event_msg":
		out, understood = d.event(payload, at, out)
	case "response_item":
		out, understood = d.item(payload, out)
	case "compacted":
		out = append(out, Record{Kind: Compacted})
	case "token_usage_record":
		out = d.Counted.record(payload, out)
	default:
		return out, codexSilent[kind]
	}
	return timed(out, first, at), understood
}

// event decodes what the person sees.
func (d *codexDecoder) event(e, at gjson.Result, out []Record) ([]Record, bool) {
	kind := e.Get("type").Str
	switch kind {
	case "item_completed":
		d.Items = true
		return codexSaid(e.Get("item"), out), true
	case "agent_message":
		if answer := textOf(e.Get("message")); !d.Items && answer != "" {
			out = append(out, Record{Kind: Answer, Text: answer})
		}
	case "user_message":
		if said := withoutNotices(textOf(e.Get("message"))); !d.Items && !injected(said) && said != "" {
			out = append(out, Record{Kind: User, Text: cleanText(said)})
		}
	case "task_started", "turn_started":
		d.Open = true
	case "task_complete", "turn_complete":
		if failure := e.Get("error"); failure.Exists() && failure.Type != gjson.Null {
			out = append(out, codexFailure(failure, at))
		}
		out = d.end(e, out, false)
	case "turn_aborted":
		out = d.end(e, out, true)
	case "error", "stream_error":
		r := codexFailure(e, at)
		r.Waits = r.Waits || kind == "stream_error"
		out = append(out, r)
	case "token_count":
		out = d.Counted.event(e, at, out)
	default:
		return out, codexSilentEvents[kind]
	}
	return out, true
}

func (d *codexDecoder) end(e gjson.Result, out []Record, interrupted bool) []Record {
	if !d.Open {
		return out
	}
	d.Open = false
	return append(out, Record{Kind: TurnEnd, ID: textOf(e.Get("turn_id")), Interrupted: interrupted})
}

func codexFailure(e, at gjson.Result) Record {
	said := e.Get("message").Str
	if said == "" {
		said = e.String()
	}
	info := e.Get("codex_error_info").String()
	r := Record{Kind: Failure, Text: short(said, 10), Waits: passes(said + " " + info), Limit: readLimit(said, timeOf(at), time.Local)}
	if r.Limit == nil && info == "usage_limit_exceeded" {
		r.Limit = &sessions.UsageLimit{At: timeOf(at)}
	}
	return r
}

// codexSaid decodes a finished item: what was said.
func codexSaid(item gjson.Result, out []Record) []Record {
	id := textOf(item.Get("id"))
	switch item.Get("type").Str {
	case "UserMessage":
		if said := withoutNotices(codexText(item.Get("content"))); !injected(said) && strings.TrimSpace(said) != "" {
			out = append(out, Record{Kind: User, ID: id, Text: own(cleanText(said))})
		}
	case "AgentMessage":
		if answer := codexText(item.Get("content")); strings.TrimSpace(answer) != "" {
			out = append(out, Record{Kind: Answer, ID: id, Text: own(answer)})
		}
	case "Plan":
		if plan := textOf(item.Get("text")); plan != "" {
			out = append(out, Record{Kind: Answer, ID: id, Text: plan})
		}
	}
	return out
}

func codexText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var b strings.Builder
	for _, part := range content.Array() {
		switch strings.ToLower(part.Get("type").Str) {
		case "text", "input_text", "output_text":
			b.WriteString(part.Get("text").Str)
		case "image", "local_image", "input_image":
			b.WriteString("[image]")
		}
	}
	return strings.ToValidUTF8(b.String(), "�")
}

// item decodes tools' calls and results.
func (d *codexDecoder) item(item gjson.Result, out []Record) ([]Record, bool) {
	kind := item.Get("type").Str
	r := Record{ID: textOf(item.Get("call_id")), Tool: textOf(item.Get("name"))}
	switch kind {
	case "reasoning": // its summary; the whole is encrypted
		var parts []string
		for _, part := range item.Get("summary").Array() {
			parts = append(parts, textOf(part.Get("text")))
		}
		return think(out, textOf(item.Get("id")), strings.Join(parts, "\n\n")), true
	case "function_call":
		args := gjson.Result{Type: gjson.String, Str: item.Get("arguments").Str}
		if valid([]byte(args.Str)) {
			args = gjson.Parse(args.Str)
		}
		r.Kind, r.Text, r.Args = Tool, callInShort(r.Tool, args), wholeArgs(args)
		if r.Tool == "request_user_input" {
			r.Kind, r.Text = Question, questions(args)
		}
	case "custom_tool_call":
		r.Kind, r.Text, r.Args = Tool, callInShort(r.Tool, item.Get("input")), wholeArgs(item.Get("input"))
	case "local_shell_call":
		r.Kind, r.Tool = Tool, "shell"
		r.Text, r.Args = callInShort(r.Tool, item.Get("action")), wholeArgs(item.Get("action"))
	case "web_search_call":
		r.Kind, r.Tool = Tool, "web_search"
		r.Text, r.Args = callInShort(r.Tool, item.Get("action")), wholeArgs(item.Get("action"))
	case "function_call_output", "custom_tool_call_output":
		r.Kind, r.Tool = ToolResult, d.Calls.name(r.ID)
		r.setCodexOutput(item.Get("output"))
	default:
		return out, codexSilentItems[kind]
	}
	if r.Kind != ToolResult {
		d.Calls.remember(r.ID, r.Tool)
	}
	return append(out, r), true
}

// codexHead are the lines before a command's output.
var codexHead = regexp.MustCompile(`^(Chunk ID: .*|Wall time: .*|Original token count: .*|Process exited with code -?\d+|Exit code: -?\d+|Process running with session ID .*|Output:|Total output lines: .*|\[.*\])$`)

var codexStatus = regexp.MustCompile(`^(?:Process exited with code|Exit code:) (-?\d+)$`)

// setCodexOutput puts a result into its record: its head is taken away.
func (r *Record) setCodexOutput(output gjson.Result) {
	said := output.Str
	switch {
	case output.IsArray():
		said = codexText(output)
	case output.IsObject():
		said, r.Failed = output.Get("content").Str, output.Get("success").Type == gjson.False
	case strings.HasPrefix(said, `{"answers":`) && valid([]byte(said)):
		r.setResult(codexAnswers(gjson.Parse(said)), 0)
		return
	}
	status := 0
	for {
		line, rest, _ := strings.Cut(said, "\n")
		if !codexHead.MatchString(line) {
			break
		}
		if m := codexStatus.FindStringSubmatch(line); m != nil {
			status, _ = strconv.Atoi(m[1])
		}
		if said = rest; rest == "" {
			break
		}
	}
	if strings.HasPrefix(said, "aborted by user") || strings.HasPrefix(said, "unsupported call") || strings.HasPrefix(said, "exec_command failed") {
		r.Failed = true
	}
	r.setResult(said, status)
}

// codexAnswers are a person's answers to questions:
// {"answers":{"storage":{"answers":["Postgres"]}}}.
func codexAnswers(said gjson.Result) string {
	var answers []string
	said.Get("answers").ForEach(func(_, a gjson.Result) bool {
		for _, chosen := range a.Get("answers").Array() {
			answers = append(answers, chosen.String())
		}
		return true
	})
	return strings.Join(answers, "\n")
}
