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

	"github.com/panebridge/panebridge/internal/regular"
)

// describedHelpers finds sub-agents that write files of their own, as those of Claude Code
// (seen with 2.1.329) and Qwen Code (with 0.24.4) do: agent-ID.jsonl in a folder of the
// conversation's, and agent-ID.meta.json that says what each is for. What has no such file,
// or none of a tool's call, is the program's own business.
type describedHelpers struct {
	folder  string
	open    func(path string, at readPosition) (source, error) // what one of them says
	changed time.Time                                          // of the folder
}

// find looks into the folder if that has changed. It's looked at again where a sub-agent
// isn't described yet.
func (d *describedHelpers) find(_ context.Context, known func(string) bool, at func(string) readPosition) (out []*helper) {
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
	meta, err := regular.Read(path, maxMeta)
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
	by := cmp.Or(short(textOf(m.Get("agentType")), 1), "sub-agent")
	if what := short(textOf(m.Get("description")), 1); what != "" {
		by += " (" + what + ")"
	}
	return by, nil
}
