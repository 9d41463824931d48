package transcript

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// claudeDecoder reads Claude Code's transcripts (seen with 2.1.329):
// ~/.claude/projects/FOLDER/SESSION.jsonl.
//
// Each block of an answer is a record of its own; those of one message share its
// id, and are written when the message is complete, or was interrupted. system
// records of subtype turn_duration end turns, also those that a finished
// sub-agent began; after an interruption there's a user record that says so
// instead. What the program adds to a conversation are attachments, user records
// that are meta, or have an origin other than human. Local commands (/clear)
// come after a meta record with a caveat. An error that was overcome by trying
// again leaves no trace. Sub-agents write files of their own (openClaude). /clear begins a new
// file, /compact and --resume go on with the same.
type claudeDecoder struct {
	Open bool `json:"open,omitempty"` // something was asked, and no end told
	// Local is the id of the record that says that a local command follows.
	Local string    `json:"local,omitempty"`
	Calls callNames `json:"calls,omitempty"`

	Counted counted    `json:"counted,omitempty"`
	Cost    claudeCost `json:"cost,omitzero"`
}

// claudeSilent are the types of record that tell nothing here.
var claudeSilent = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"agent-color": true, "agent-name": true, "agent-setting": true, "ai-title": true, "api-request": true,
	"api-request-blob": true, "api-request-shape": true, "atis-latch": true,
	"custom-title": true, "file-history-delta": true, "file-history-snapshot": true, "last-prompt": true, "mode": true,
	"permission-mode": true, "pr-link": true, "progress": true, "queue-operation": true, "summary": true, "tag": true,
	"tools-used": true, "worktree-state": true,
}

// claudeSilentEvents are the subtypes of system records that tell nothing here.
var claudeSilentEvents = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"away_summary": true, "bridge_status": true, "informational": true, "local_command": true, "memory_saved": true,
	"scheduled_task_fire": true, "stop_hook_summary": true,
}

// claudeLine is a line's fields that matter.
type claudeLine struct {
	kind, subtype, id, parent          string
	at, message, origin, content       gjson.Result
	attachment, denial, before         gjson.Result
	outcome                            gjson.Result // what the program keeps of a tool's result for itself
	meta, summary, sidechain, apiError bool
}

func (l *claudeLine) read(line gjson.Result) {
	line.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			l.kind = v.Str
		case "subtype":
			l.subtype = v.Str
		case "uuid":
			l.id = v.Str
		case "parentUuid":
			l.parent = v.Str
		case "timestamp":
			l.at = v
		case "message":
			l.message = v
		case "origin":
			l.origin = v
		case "content":
			l.content = v
		case "attachment":
			l.attachment = v
		case "toolDenialKind":
			l.denial = v
		case "toolDenialBeforeRun":
			l.before = v
		case "toolUseResult":
			l.outcome = v
		case "isMeta":
			l.meta = v.Bool()
		case "isCompactSummary", "isVisibleInTranscriptOnly":
			l.summary = l.summary || v.Bool()
		case "isSidechain":
			l.sidechain = v.Bool()
		case "isApiErrorMessage":
			l.apiError = v.Bool()
		}
		return true
	})
}

func (d *claudeDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if claudeSilent[firstString(line, "type")] {
		return out, true
	}
	if !valid(line) {
		return out, false
	}
	var l claudeLine
	all := gjson.ParseBytes(line)
	l.read(all)
	d.Cost.noteTime(l.at)
	first := len(out)
	understood := true
	switch {
	case l.sidechain: // of old versions, whose sub-agents have no files of their own
		if l.kind == "assistant" {
			out = d.Counted.usedByClaude(&l, true, out)
		}
		return timed(out, first, l.at), true
	case l.kind == "cost-state":
		return d.Cost.used(all, out), true
	}
	switch l.kind {
	case "assistant":
		out = d.assistant(&l, out)
		out = d.Counted.usedByClaude(&l, false, out)
	case "user":
		out = d.user(&l, out)
	case "system":
		out, understood = d.system(&l, out)
	case "attachment":
		out = d.attachment(&l, out)
	default:
		understood = claudeSilent[l.kind]
	}
	return timed(out, first, l.at), understood
}

// timed puts a line's time into the records that it gave, which begin with first.
func timed(out []Record, first int, at gjson.Result) []Record {
	if first < len(out) {
		when := timeOf(at)
		for i := first; i < len(out); i++ {
			out[i].At = when
		}
	}
	return out
}

// assistant decodes blocks of an answer.
func (d *claudeDecoder) assistant(l *claudeLine, out []Record) []Record {
	id, model := textOf(l.message.Get("id")), l.message.Get("model").Str
	if l.apiError {
		out = append(out, Record{Kind: Failure, ID: id, Text: short(claudeText(l.message.Get("content")), 10)})
		out[len(out)-1].Waits = passes(out[len(out)-1].Text)
		out[len(out)-1].Limit = readLimit(claudeText(l.message.Get("content")), timeOf(l.at), time.Local)
		return d.end(out, Record{Kind: TurnEnd})
	}
	if model == "<synthetic>" { // stands for an answer that isn't there
		return out
	}
	d.Open = true
	l.message.Get("content").ForEach(func(_, block gjson.Result) bool {
		switch block.Get("type").Str {
		case "text":
			if answer := textOf(block.Get("text")); strings.TrimSpace(answer) != "" {
				out = append(out, Record{Kind: Answer, ID: id, Text: answer})
			}
		case "thinking": // empty where the model keeps it to itself
			out = think(out, id, textOf(block.Get("thinking")))
		case "tool_use", "server_tool_use", "mcp_tool_use":
			r := claudeCall(block)
			d.Calls.remember(r.ID, r.Tool)
			out = append(out, r)
		}
		return true
	})
	return out
}

func claudeCall(block gjson.Result) Record {
	r := Record{Kind: Tool, ID: textOf(block.Get("id")), Tool: textOf(block.Get("name"))}
	args := block.Get("input")
	r.Args = wholeArgs(args)
	switch r.Tool {
	case "AskUserQuestion":
		r.Kind, r.Text = Question, questions(args)
	case "ExitPlanMode": // asks whether to go on with its plan
		r.Kind, r.Text = Question, textOf(args.Get("plan"))
	}
	if r.Text == "" {
		r.Kind, r.Text = Tool, callInShort(r.Tool, args)
	}
	return r
}

// claudeEdits are the tools whose results say what they changed.
var claudeEdits = []string{"Edit", "MultiEdit", "Write"} //nolint:gochecknoglobals // a constant table

const claudeInterrupted = "[Request interrupted by user" // "]" or " for tool use]"

// user decodes what a person wrote, results of tools, and interruptions.
func (d *claudeDecoder) user(l *claudeLine, out []Record) []Record {
	content := l.message.Get("content")
	if l.meta || l.summary {
		if text := claudeText(content); strings.HasPrefix(text, "<local-command-caveat>") || strings.HasPrefix(text, "Caveat:") {
			d.Local = own(l.id)
		}
		return out
	}
	results := false
	for _, block := range content.Array() { // none in a string's
		if block.Get("type").Str == "tool_result" {
			results = true
			out = append(out, d.result(l, block))
		}
	}
	if results {
		return out
	}
	said := withoutNotices(claudeText(content))
	if content.IsArray() && strings.HasPrefix(said, claudeInterrupted) && strings.HasSuffix(said, "]") && !l.origin.Exists() {
		return d.end(out, Record{Kind: TurnEnd, ID: own(l.id), Interrupted: true})
	}
	if origin := l.origin.Get("kind").Str; origin != "" && origin != "human" {
		d.Open = true // a sub-agent's end begins a turn
		return out
	}
	if shell, ok := between(said, "<bash-stdout>", "</bash-stdout>"); ok {
		stderr, _ := between(said, "<bash-stderr>", "</bash-stderr>")
		r := Record{Kind: ToolResult, ID: own(l.id), Tool: "!", Failed: shell == "" && stderr != ""}
		r.setResult(shell+stderr, 0)
		return append(out, r)
	}
	return d.prompt(l, said, out)
}

// prompt decodes what a person wrote.
func (d *claudeDecoder) prompt(l *claudeLine, said string, out []Record) []Record {
	if name, ok := between(said, "<command-name>", "</command-name>"); ok {
		if l.parent != "" && l.parent == d.Local {
			return out // a local command asks nothing of the agent
		}
		args, _ := between(said, "<command-args>", "</command-args>")
		said = strings.TrimSpace(name + " " + args)
	} else if shell, ok := between(said, "<bash-input>", "</bash-input>"); ok {
		said = "! " + shell
	} else if injected(said) {
		return out
	}
	said = unpaste(said)
	if strings.TrimSpace(said) == "" {
		return out
	}
	d.Open = true
	return append(out, Record{Kind: User, ID: own(l.id), Text: own(said)})
}

// attachment decodes what a person wrote while the agent was at work, which joins
// the running turn.
func (d *claudeDecoder) attachment(l *claudeLine, out []Record) []Record {
	a := l.attachment
	if a.Get("type").Str != "queued_command" {
		return out
	}
	if mode := a.Get("commandMode").Str; mode != "" && mode != "prompt" {
		return out
	}
	if origin := a.Get("origin.kind").Str; origin != "" && origin != "human" {
		return out
	}
	prompt := a.Get("prompt")
	said := unpaste(withoutNotices(claudeText(prompt)))
	if injected(said) || strings.TrimSpace(said) == "" {
		return out
	}
	return append(out, Record{Kind: User, ID: own(l.id), Text: own(said)})
}

func (d *claudeDecoder) result(l *claudeLine, block gjson.Result) Record {
	r := Record{Kind: ToolResult, ID: textOf(block.Get("tool_use_id")), Failed: block.Get("is_error").Bool()}
	r.Tool = d.Calls.name(r.ID)
	switch {
	case l.denial.Str == "user-rejected" && l.before.Bool():
		r.Failed, r.Text = true, "refused by the person"
	case l.denial.Str == "user-rejected":
		r.Failed, r.Text = true, "interrupted by the person"
	default:
		r.setResult(claudeText(block.Get("content")), 0)
	}
	if !r.Failed && slices.Contains(claudeEdits, r.Tool) {
		r.Diff = claudeDiff(l.outcome.Get("filePath").Str, l.outcome.Get("structuredPatch"))
	}
	return r
}

func (d *claudeDecoder) system(l *claudeLine, out []Record) ([]Record, bool) {
	switch l.subtype {
	case "turn_duration":
		return d.end(out, Record{Kind: TurnEnd, ID: own(l.id)}), true
	case "compact_boundary":
		return append(out, Record{Kind: Compacted, ID: own(l.id)}), true
	case "api_error":
		return append(out, Record{Kind: Failure, ID: own(l.id), Text: short(l.content.String(), shortLines), Waits: true}), true
	}
	return out, claudeSilentEvents[l.subtype]
}

// end ends the turn, once.
func (d *claudeDecoder) end(out []Record, r Record) []Record {
	if !d.Open {
		return out
	}
	d.Open = false
	return append(out, r)
}

// claudeText is the text of a message's content: a string, or its text blocks. The
// text may share memory with the line.
func claudeText(content gjson.Result) string {
	if content.Type == gjson.String {
		return cleanText(content.Str)
	}
	var parts []string
	for _, block := range content.Array() {
		switch block.Get("type").Str {
		case "text":
			parts = append(parts, block.Get("text").Str)
		case "image":
			parts = append(parts, "[image]")
		case "document":
			parts = append(parts, "[document]")
		}
	}
	return cleanText(strings.Join(parts, "\n"))
}

// pasted finds what Claude Code puts around a paste. The ends must have the same
// id, which regular expressions can't say.
var pasted = regexp.MustCompile(`(?s)\n*<pasted_content id="([^"]*)">\n(.*?)\n</pasted_content id="([^"]*)">\n?`)

// unpaste takes the tags away that stand around pastes.
func unpaste(said string) string {
	if !strings.Contains(said, "<pasted_content id=") {
		return said
	}
	out := pasted.ReplaceAllStringFunc(said, func(all string) string {
		m := pasted.FindStringSubmatch(all)
		if m[1] != m[3] {
			return all
		}
		return "\n" + m[2] + "\n"
	})
	return strings.Trim(out, "\n")
}
