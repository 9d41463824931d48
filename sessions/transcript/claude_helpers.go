package transcript

import (
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

// openClaude opens SESSION.jsonl, and what stands in SESSION/subagents beside it.
func openClaude(path string, at readPosition) (source, error) {
	src, err := openFile(path, decoders[Claude], at)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	return newFamily(src, &describedHelpers{folder: folder, open: openClaudeHelper}, at), nil
}

func openClaudeHelper(path string, at readPosition) (source, error) {
	return openFile(path, func() decoder { return &claudeHelperDecoder{} }, at)
}

// claudeHelperDecoder reads what a sub-agent of Claude Code says. What it's asked, and what it
// does, is told by the conversation that called it, or is no word of its.
type claudeHelperDecoder struct {
	Counted counted `json:"counted,omitempty"`
}

func (d *claudeHelperDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if firstString(line, "type") != "assistant" && claudeSilent[firstString(line, "type")] {
		return out, true
	}
	if !valid(line) {
		return out, false
	}
	var l claudeLine
	l.read(gjson.ParseBytes(line))
	if l.kind != "assistant" || l.apiError || l.meta || l.message.Get("model").Str == "<synthetic>" {
		return out, true
	}
	first := len(out)
	var said []string
	l.message.Get("content").ForEach(func(_, block gjson.Result) bool {
		if words := textOf(block.Get("text")); block.Get("type").Str == "text" && strings.TrimSpace(words) != "" {
			said = append(said, words)
		}
		return true
	})
	if len(said) > 0 {
		out = append(out, Record{Kind: Helper, ID: textOf(l.message.Get("id")), Text: strings.Join(said, "\n\n")})
	}
	return timed(d.Counted.usedByClaude(&l, true, out), first, l.at), true
}
