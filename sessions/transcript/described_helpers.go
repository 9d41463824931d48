package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// describedHelpers finds sub-agents that write files of their own, as those of Claude Code
// (seen with 2.1.329) and Qwen Code (with 0.24.4) do: agent-ID.jsonl in a folder of the
// conversation's, and agent-ID.meta.json that says what each is for. What has no such file,
// or none of a tool's call, is the program's own business.
type describedHelpers struct {
	folder  string
	open    func(path string, at position) (source, error) // what one of them says
	changed time.Time                                      // of the folder
}

// openClaude opens SESSION.jsonl, and what stands in SESSION/subagents beside it.
func openClaude(path string, at position) (source, error) {
	src, err := openFile(path, decoders[Claude], at)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	return newFamily(src, &describedHelpers{folder: folder, open: openClaudeHelper}, at), nil
}

func openClaudeHelper(path string, at position) (source, error) {
	return openFile(path, func() decoder { return &claudeHelperDecoder{} }, at)
}

// openQwen opens chats/SESSION.jsonl, and what stands in subagents/SESSION beside that folder.
func openQwen(path string, at position) (source, error) {
	src, err := openFile(path, decoders[Qwen], at)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(filepath.Dir(filepath.Dir(path)), "subagents", strings.TrimSuffix(filepath.Base(path), ".jsonl"))
	return newFamily(src, &describedHelpers{folder: folder, open: openQwenHelper}, at), nil
}

func openQwenHelper(path string, at position) (source, error) {
	src, err := openFile(path, decoders[Qwen], at)
	if err != nil {
		return nil, err
	}
	return &answersAlone{src}, nil
}

// find looks into the folder if that has changed. It's looked at again where a sub-agent
// isn't described yet.
func (d *describedHelpers) find(_ context.Context, known func(string) bool, at func(string) position) (out []*helper) {
	info, err := os.Stat(d.folder)
	if err != nil || info.ModTime().Equal(d.changed) {
		return nil // there are none, or nobody may know
	}
	entries, err := os.ReadDir(d.folder)
	if err != nil {
		return nil
	}
	all := true
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || known(name) {
			continue
		}
		by, err := describedBy(filepath.Join(d.folder, name+".meta.json"))
		if errors.Is(err, fs.ErrNotExist) {
			all = false
		}
		if err != nil || by == "" {
			continue
		}
		src, err := d.open(filepath.Join(d.folder, e.Name()), at(name))
		if err != nil {
			continue
		}
		out = append(out, &helper{name: name, by: by, ahead: ahead{src: src}})
	}
	if all && hasSettled(info) {
		d.changed = info.ModTime()
	}
	return out
}

func (*describedHelpers) close() error { return nil }

// maxMeta is how many bytes what's written about a sub-agent may have: some hundred are usual.
const maxMeta = 64 << 10

// describedBy says who a sub-agent is, by what the program has written about it; "": it
// isn't one that the agent has called.
func describedBy(path string) (string, error) {
	meta, err := ReadRegular(path, maxMeta)
	if err != nil {
		return "", err
	}
	if !gjson.ValidBytes(meta) {
		return "", fmt.Errorf("read %s: it isn't JSON: %w", path, fs.ErrNotExist) // it's being written
	}
	m := gjson.ParseBytes(meta)
	if m.Get("toolUseId").Str == "" {
		return "", nil
	}
	by := cmp.Or(short(text(m.Get("agentType")), 1), "sub-agent")
	if what := short(text(m.Get("description")), 1); what != "" {
		by += " (" + what + ")"
	}
	return by, nil
}

// claudeHelperDecoder reads what a sub-agent of Claude Code says. What it's asked, and what it does, is told
// by the conversation that called it, or is no word of its.
type claudeHelperDecoder struct{}

func (*claudeHelperDecoder) decode(line []byte, out []Record) ([]Record, bool) {
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
	var said []string
	l.message.Get("content").ForEach(func(_, block gjson.Result) bool {
		if words := text(block.Get("text")); block.Get("type").Str == "text" && strings.TrimSpace(words) != "" {
			said = append(said, words)
		}
		return true
	})
	if len(said) > 0 {
		out = append(out, Record{Kind: Helper, ID: text(l.message.Get("id")), Text: strings.Join(said, "\n\n"), At: stamp(l.at)})
	}
	return out, true
}
