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

// claudeHelpers finds the sub-agents of a conversation of Claude Code, which write files of
// their own (seen with 2.1.329): SESSION/subagents/agent-ID.jsonl beside SESSION.jsonl, and
// agent-ID.meta.json that says what each is for. What has no such file, or none of a tool's
// call, is the program's own business.
type claudeHelpers struct {
	folder  string
	changed time.Time // of the folder
}

func openClaude(path string, at position) (source, error) {
	src, err := openFile(path, decoders[Claude], at)
	if err != nil {
		return nil, err
	}
	return newFamily(src, &claudeHelpers{folder: filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")}, at), nil
}

// find looks into the folder if that has changed. It's looked at again where a sub-agent
// isn't described yet.
func (c *claudeHelpers) find(_ context.Context, known func(string) bool, at func(string) position) (out []*helper) {
	info, err := os.Stat(c.folder)
	if err != nil || info.ModTime().Equal(c.changed) {
		return nil // there are none, or nobody may know
	}
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return nil
	}
	all := true
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || known(name) {
			continue
		}
		by, err := claudeHelperBy(filepath.Join(c.folder, name+".meta.json"))
		if errors.Is(err, fs.ErrNotExist) {
			all = false
		}
		if err != nil || by == "" {
			continue
		}
		src, err := openFile(filepath.Join(c.folder, e.Name()), func() decoder { return &claudeHelperDecoder{} }, at(name))
		if err != nil {
			continue
		}
		out = append(out, &helper{name: name, by: by, ahead: ahead{src: src}})
	}
	if all && hasSettled(info) {
		c.changed = info.ModTime()
	}
	return out
}

func (*claudeHelpers) close() error { return nil }

// maxMeta is how many bytes what's written about a sub-agent may have: some hundred are usual.
const maxMeta = 64 << 10

// claudeHelperBy says who a sub-agent is, by what the program has written about it; "": it
// isn't one that the agent has called.
func claudeHelperBy(path string) (string, error) {
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

// claudeHelperDecoder reads what a sub-agent says. What it's asked, and what it does, is told
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
