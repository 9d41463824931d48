package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// claudeSource reads a conversation of Claude Code and those of its sub-agents, which write
// files of their own (seen with 2.1.329): SESSION/subagents/agent-ID.jsonl beside
// SESSION.jsonl, and agent-ID.meta.json that says what each is for. What has no such file,
// or none of a tool's call, is the program's own business.
//
// Records come by their times, each conversation's in its own order. One that was looked at
// and isn't given yet is read again behind a restart.
type claudeSource struct {
	folder  string
	main    ahead
	helpers []*claudeHelper // in the order in which they were found
	known   map[string]position
	changed time.Time // of the folder
	dry     bool      // the last read gave nothing: all have to be looked at again
}

// claudeHelper is a sub-agent.
type claudeHelper struct {
	name string // of its file
	by   string
	ahead
}

// ahead is a file of which a record may have been looked at that isn't given yet.
type ahead struct {
	src    *fileSource
	next   []Record
	before position // of next; unset if there's none
}

// look has a record in next, if there's one.
func (a *ahead) look(ctx context.Context) error {
	if len(a.next) > 0 {
		return nil
	}
	before := a.src.position()
	next, err := a.src.read(ctx, 1)
	if len(next) > 0 {
		a.next, a.before = next, before
	}
	return err
}

// give returns what's next, as if it had just been read.
func (a *ahead) give() []Record {
	next := a.next
	a.next = nil
	return next
}

func (a *ahead) position() position {
	if len(a.next) > 0 {
		return a.before
	}
	return a.src.position()
}

func openClaude(path string, at position) (*claudeSource, error) {
	src, err := openFile(path, decoders[Claude], at)
	if err != nil {
		return nil, err
	}
	s := &claudeSource{
		folder: filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents"), main: ahead{src: src},
		known: at.Helpers, dry: true,
	}
	return s, nil
}

// read gives one record after the other, the oldest first.
func (s *claudeSource) read(ctx context.Context, limit int) ([]Record, error) {
	var out []Record
	for len(out) < limit {
		next, err := s.one(ctx, max(1, limit-len(out)))
		if err != nil && len(out) == 0 {
			return nil, err
		}
		if err != nil || len(next) == 0 {
			break
		}
		out = append(out, next...)
	}
	s.dry = len(out) == 0
	return out, nil
}

// one gives what's next; while there are no sub-agents up to limit records.
func (s *claudeSource) one(ctx context.Context, limit int) ([]Record, error) {
	if s.dry {
		s.dry = false
		if err := s.lookAll(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.helpers) == 0 {
		if len(s.main.next) > 0 {
			return s.main.give(), nil
		}
		return s.main.src.read(ctx, limit)
	}
	if err := s.main.look(ctx); err != nil {
		return nil, err
	}
	first := &s.main
	var of *claudeHelper
	for _, h := range s.helpers {
		if len(h.next) > 0 && (len(first.next) == 0 || h.next[0].At.Before(first.next[0].At)) {
			first, of = &h.ahead, h
		}
	}
	out := first.give()
	if of == nil {
		return out, nil
	}
	for i := range out {
		out[i].Kind, out[i].By = Helper, of.by
	}
	return out, first.look(ctx)
}

// lookAll finds new sub-agents, and looks what each says next. One whose file can't be read
// is passed over for now.
func (s *claudeSource) lookAll(ctx context.Context) error {
	info, err := os.Stat(s.folder)
	if err != nil {
		return nil //nolint:nilerr // there are none, or nobody may know
	}
	if !info.ModTime().Equal(s.changed) {
		if s.find() {
			s.changed = info.ModTime()
		}
	}
	for _, h := range s.helpers {
		if err := h.look(ctx); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// find finds sub-agents that aren't known yet; false: one isn't described yet.
func (s *claudeSource) find() (all bool) {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return false
	}
	all = true
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || s.has(name) {
			continue
		}
		by, err := claudeHelperBy(filepath.Join(s.folder, name+".meta.json"))
		if errors.Is(err, fs.ErrNotExist) {
			all = false
		}
		if err != nil || by == "" {
			continue
		}
		src, err := openFile(filepath.Join(s.folder, e.Name()), func() decoder { return &claudeHelperDecoder{} }, s.known[name])
		if err != nil {
			continue
		}
		s.helpers = append(s.helpers, &claudeHelper{name: name, by: by, ahead: ahead{src: src}})
	}
	return all
}

func (s *claudeSource) has(name string) bool {
	for _, h := range s.helpers {
		if h.name == name {
			return true
		}
	}
	return false
}

// maxMeta is how many bytes what's written about a sub-agent may have: some hundred are usual.
const maxMeta = 64 << 10

// claudeHelperBy says who a sub-agent is, by what the program has written about it; "": it
// isn't one that the agent has called.
func claudeHelperBy(path string) (string, error) {
	meta, err := readSmall(path, maxMeta)
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

// position is how far all of them were read.
func (s *claudeSource) position() position {
	at := s.main.position()
	if len(s.helpers)+len(s.known) == 0 {
		return at
	}
	at.Helpers = map[string]position{}
	maps.Copy(at.Helpers, s.known)
	for _, h := range s.helpers {
		one := h.position()
		one.Last, one.State = nil, nil
		at.Helpers[h.name] = one
	}
	return at
}

func (s *claudeSource) skipped() int64 { return s.main.src.skipped() }

func (s *claudeSource) close() error {
	err := s.main.src.close()
	for _, h := range s.helpers {
		err = errors.Join(err, h.src.close())
	}
	return err
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
