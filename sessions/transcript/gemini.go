package transcript

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// geminiDecoder reads Gemini CLI's transcripts (seen with 0.61.0):
// ~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl.
//
// A message of the model is written when its text is complete, and once more with
// the same id when the tools it called are done; so calls are told only with their
// results. No record ends a turn, but for "Request cancelled." after an
// interruption, whose tools' records come after it. {"$set":{"messages":…}} puts
// other messages in the place of all before: the first time the program's own, and
// behind an interruption those without what was interrupted; others come from
// compaction. Behind a refused tool the whole conversation is written once more, with
// other ids: from a record that begins with its context to the next
// {"$set":{"messages":…}}, within some milliseconds. The text is stored without
// zero-width joiners and the last line end. Sub-agents' files are in a folder beside.
type geminiDecoder struct {
	Message string   `json:"message,omitempty"` // id of the last message whose text was given
	Counted counted  `json:"counted,omitempty"`
	Calls   []string `json:"calls,omitempty"`  // ids of the last calls that were given, oldest first
	Open    bool     `json:"open,omitempty"`   // something was asked, and no end told
	Second  string   `json:"second,omitempty"` // id of the conversation's message behind its context
	Again   string   `json:"again,omitempty"`  // time of the first of the records that say all so far once more
}

// geminiCalls is how many calls are remembered: more than one message makes.
const geminiCalls = 64

func (d *geminiDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if !valid(line) {
		return out, false
	}
	var kind, id string
	var at, content, shown, calls, thoughts, set, tokens gjson.Result
	known := false
	gjson.ParseBytes(line).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			kind = v.Str
		case "id":
			id = v.Str
		case "timestamp":
			at = v
		case "content":
			content = v
		case "displayContent":
			shown = v
		case "toolCalls":
			calls = v
		case "thoughts":
			thoughts = v
		case "tokens":
			tokens = v
		case "$set":
			set = v
		case "$rewindTo", "projectHash":
			known = true
		}
		return true
	})
	first := len(out)
	if d.again(kind, id, at.Str, content) {
		return out, true
	}
	switch kind {
	case "user":
		out = d.user(id, content, shown, out)
	case "gemini", "model", "assistant":
		out = d.message(id, content, calls, thoughts, out)
		t, context := geminiTokens(tokens)
		out = d.Counted.message(Gemini, id, t, 0, context, out)
	case "info", "warning":
		if d.Open && strings.HasPrefix(geminiText(content), "Request cancelled") {
			d.Open = false
			out = append(out, Record{Kind: TurnEnd, ID: own(id), Interrupted: true})
		}
	case "error":
		if failure := geminiText(content); failure != "" {
			out = append(out, Record{Kind: Failure, ID: own(id), Text: short(failure, 10), Waits: passes(failure)})
		}
	case "":
		out = d.set(set, out)
		return out, known || set.Exists()
	default:
		return out, false
	}
	when := timeOf(at)
	for i := first; i < len(out); i++ {
		out[i].At = when
	}
	return out, true
}

// again reports whether a record says once more what was said.
func (d *geminiDecoder) again(kind, id, at string, content gjson.Result) bool {
	if kind == "user" && len(content.Array()) > 1 && strings.HasPrefix(content.Get("0.text").Str, "<session_context>") {
		d.Again, d.Second = own(at), ""
		return true
	}
	if d.Second == "" && (kind == "user" || kind == "gemini") {
		d.Second = own(id)
	}
	if d.Again == "" || kind != "user" && kind != "gemini" {
		return false
	}
	if timeOf(gjson.Result{Type: gjson.String, Str: at}).Sub(timeOf(gjson.Result{Type: gjson.String, Str: d.Again})) <= geminiAgain {
		return true
	}
	d.Again = ""
	return false
}

// geminiAgain is for how long at most it's said once more: it takes a few milliseconds.
const geminiAgain = 2 * time.Second

func (d *geminiDecoder) user(id string, content, shown gjson.Result, out []Record) []Record {
	if shown.Exists() {
		content = shown
	}
	said, _, _ := strings.Cut(geminiText(content), "\n--- Content from referenced files ---")
	if said = withoutNotices(said); strings.TrimSpace(said) == "" || injected(said) {
		return out
	}
	d.Open = true
	return append(out, Record{Kind: User, ID: own(id), Text: own(cleanText(said))})
}

func (d *geminiDecoder) message(id string, content, calls, thoughts gjson.Result, out []Record) []Record {
	if id == "" || id != d.Message {
		d.Message = own(id)
		var parts []string
		for _, one := range thoughts.Array() {
			parts = append(parts, strings.TrimSpace(textOf(one.Get("subject"))+"\n"+textOf(one.Get("description"))))
		}
		out = think(out, d.Message, strings.Join(parts, "\n\n"))
		if answer := geminiText(content); strings.TrimSpace(answer) != "" {
			out = append(out, Record{Kind: Answer, ID: d.Message, Text: own(answer)})
		}
	}
	for _, c := range calls.Array() {
		if d.given(textOf(c.Get("id"))) {
			continue
		}
		out = append(out, geminiCall(c))
		if status := c.Get("status").Str; status != "" {
			out = append(out, geminiResult(c, status))
		}
	}
	return out
}

// given says whether a call was given before, and remembers it.
func (d *geminiDecoder) given(call string) bool {
	if call == "" {
		return false
	}
	if slices.Contains(d.Calls, call) {
		return true
	}
	if len(d.Calls) == geminiCalls {
		d.Calls = append(d.Calls[:0], d.Calls[1:]...)
	}
	d.Calls = append(d.Calls, call)
	return false
}

func geminiCall(c gjson.Result) Record {
	r := Record{Kind: Tool, ID: textOf(c.Get("id")), Tool: textOf(c.Get("name")), Args: wholeArgs(c.Get("args"))}
	if r.Tool == "ask_user" {
		r.Kind, r.Text = Question, questions(c.Get("args"))
	}
	if r.Text == "" {
		r.Kind, r.Text = Tool, callInShort(r.Tool, c.Get("args"))
	}
	return r
}

func geminiResult(c gjson.Result, status string) Record {
	r := Record{Kind: ToolResult, ID: textOf(c.Get("id")), Tool: textOf(c.Get("name")), Failed: status != "success"}
	response := c.Get("result.0.functionResponse.response")
	said := response.Get("output").Str
	switch failure := response.Get("error").Str; {
	case r.Tool == "ask_user" && !r.Failed:
		said = geminiAnswers(said)
	case failure != "":
		said, r.Failed = failure, true
	}
	var exit int
	said, exit = shellOutput(said)
	if r.setResult(said, exit); !r.Failed {
		r.Diff = wholeDiff(c.Get("resultDisplay.fileDiff"))
	}
	return r
}

// geminiAnswers are a person's answers to questions: {"answers":{"0":"Postgres"}}.
func geminiAnswers(said string) string {
	if !valid([]byte(said)) {
		return said
	}
	var answers []string
	gjson.Parse(said).Get("answers").ForEach(func(_, a gjson.Result) bool {
		answers = append(answers, a.String())
		return true
	})
	return strings.Join(answers, "\n")
}

// set decodes a change of the conversation.
func (d *geminiDecoder) set(set gjson.Result, out []Record) []Record {
	if !set.Get("messages").IsArray() {
		return out
	}
	d.Again = ""
	second := set.Get("messages.1.id").Str
	if d.Second != "" && second != "" && second != d.Second {
		out = append(out, Record{Kind: Compacted, At: timeOf(set.Get("lastUpdated"))})
	}
	d.Second = own(second)
	return out
}

// geminiText is the text of a message's content: a string, or its parts.
func geminiText(content gjson.Result) string {
	if content.Type == gjson.String {
		return strings.ToValidUTF8(content.Str, "�")
	}
	var b strings.Builder
	for _, part := range content.Array() {
		switch {
		case part.Type == gjson.String:
			b.WriteString(part.Str)
		case part.Get("thought").Bool():
		case part.Get("text").Type == gjson.String:
			b.WriteString(part.Get("text").Str)
		case part.Get("inlineData").Exists() || part.Get("fileData").Exists():
			b.WriteString("[file]")
		}
	}
	return strings.ToValidUTF8(b.String(), "�")
}

var (
	shellHead = regexp.MustCompile(`^(?:<untrusted_context>\n)?(?:Command: (?s:.*?)\nDirectory: .*\n)?(?:Output|Stdout): `)
	shellTail = regexp.MustCompile(`^(?:Error: (.*)|Exit Code: (-?\d+|\(none\))|Signal: .*|Background PIDs: .*|Process Group PGID: .*|</untrusted_context>)$`)
)

// shellOutput takes away what Gemini CLI and Qwen Code put around a command's
// output, and reads its exit status.
func shellOutput(said string) (output string, exit int) {
	head := shellHead.FindString(said)
	if head == "" {
		return said, 0
	}
	lines := strings.Split(said[len(head):], "\n")
	for n, line := range slices.Backward(lines) {
		m := shellTail.FindStringSubmatch(line)
		if m == nil {
			break
		}
		if m[2] != "" {
			exit, _ = strconv.Atoi(m[2])
		}
		lines = lines[:n]
	}
	output = strings.Join(lines, "\n")
	if output == "(empty)" {
		output = ""
	}
	return output, exit
}
