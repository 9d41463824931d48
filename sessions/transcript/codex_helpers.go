package transcript

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/panebridge/panebridge/internal/regular"
)

// codexHelpers finds the sub-agents of a conversation of Codex (seen with 0.169.0), and
// those that they call, which write files of their own among all others: the first line
// names the conversation that began it, and gives it a name.
type codexHelpers struct {
	path    string // of the conversation
	family  map[string]bool
	others  map[string]bool      // files that are of no sub-agent of it
	changed map[string]time.Time // folders, when they were looked at

	days  []string
	above map[string]time.Time // the folders above them, when they were listed
}

func openCodex(path string, at readPosition) (source, error) {
	src, err := openFile(path, decoders[Codex], at)
	if err != nil {
		return nil, err
	}
	return newFamily(src, &codexHelpers{path: path, others: map[string]bool{}, changed: map[string]time.Time{}}, at), nil
}

func (*codexHelpers) close() error { return nil }

// folders are those in which sub-agents may be, YEAR/MONTH/DAY: the conversation's own, and
// of later days.
func (c *codexHelpers) folders() []string {
	changed := false
	for above, was := range c.above {
		info, err := os.Stat(above)
		changed = changed || err == nil && !info.ModTime().Equal(was)
	}
	if c.days != nil && !changed {
		return c.days
	}
	own := filepath.Dir(c.path)
	base := filepath.Dir(filepath.Dir(filepath.Dir(own)))
	c.above = map[string]time.Time{}
	see := func(folder string) {
		if info, err := os.Stat(folder); err == nil && hasSettled(info) {
			c.above[folder] = info.ModTime()
		} else {
			c.above[folder] = time.Time{}
		}
	}
	see(base)
	all, err := filepath.Glob(filepath.Join(base, "[0-9]*", "[0-9]*", "[0-9]*"))
	if err != nil || !slices.Contains(all, own) {
		c.above, c.days = nil, []string{own}
		return c.days
	}
	c.days = nil
	for _, day := range all {
		if day >= own {
			c.days = append(c.days, day)
			see(filepath.Dir(day))
			see(filepath.Dir(filepath.Dir(day)))
		}
	}
	return c.days
}

// find looks into the folders that have changed. One is looked at again where a sub-agent
// hasn't been asked anything yet.
func (c *codexHelpers) find(_ context.Context, known func(string) bool, at func(string) readPosition) (out []*helper) {
	if c.family == nil {
		id := codexMeta(c.path).Get("id").Str
		if id == "" {
			return nil
		}
		c.family = map[string]bool{id: true}
	}
	for _, folder := range c.folders() {
		info, err := os.Stat(folder)
		if err != nil || info.ModTime().Equal(c.changed[folder]) {
			continue // there are none, or nobody may know
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		all := true
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".jsonl")
			if !ok || c.others[name] || known(name) || folder == filepath.Dir(c.path) && e.Name() <= filepath.Base(c.path) { // by their times
				continue
			}
			h, sure := c.helperIn(filepath.Join(folder, e.Name()), name, at)
			if all = all && sure; h != nil {
				out = append(out, h)
			}
		}
		if all && hasSettled(info) {
			c.changed[folder] = info.ModTime()
		}
	}
	return out
}

// helperIn is the sub-agent that a file is of; nil: none that's known yet, surely none if
// sure.
func (c *codexHelpers) helperIn(path, name string, at func(string) readPosition) (h *helper, sure bool) {
	meta := codexMeta(path)
	if !meta.Exists() {
		return nil, false // it's being written
	}
	id, parent := meta.Get("id").Str, cmp.Or(meta.Get("parent_thread_id").Str, meta.Get("source.subagent.thread_spawn.parent_thread_id").Str)
	if id == "" || !c.family[parent] {
		c.others[name] = true
		return nil, true
	}
	task, found := firstAsked(path, id)
	if !found {
		return nil, false
	}
	src, err := openFile(path, func() decoder { return &codexHelperDecoder{own: id} }, at(name))
	if err != nil {
		return nil, false
	}
	c.family[id] = true
	by := cmp.Or(short(textOf(meta.Get("agent_role")), 1), short(textOf(meta.Get("agent_nickname")), 1), "sub-agent")
	if task != "" {
		by += " (" + short(task, 1) + ")"
	}
	return &helper{name: name, by: by, ahead: ahead{src: &answersAlone{src}}}, true
}

// codexMeta is what the first line of one of Codex's transcripts says of it; it doesn't
// exist if that isn't there yet.
func codexMeta(path string) gjson.Result {
	head, _, err := ends(path)
	if err != nil || firstOf(head, "type").Str != "session_meta" {
		return gjson.Result{}
	}
	return firstOf(head, "payload")
}

// askedWithin is how many bytes may come before what a sub-agent is asked first: Codex'
// instructions, some 40 KB.
const askedWithin = 512 << 10

// firstAsked is what was asked first in one of Codex's transcripts, in the conversation of
// that id alone; not found: nothing yet.
func firstAsked(path, id string) (task string, found bool) {
	file, _, err := regular.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	head := make([]byte, askedWithin)
	n, _ := file.ReadAt(head, 0)
	dec := codexHelperDecoder{own: id}
	for line := range strings.SplitSeq(string(head[:n]), "\n") {
		records, _ := dec.decode([]byte(line), nil)
		for _, r := range records {
			if r.Kind == User {
				return r.Text, true
			}
		}
	}
	return "", n == askedWithin
}

// codexHelperDecoder reads the file of a sub-agent, which may begin with what was said in
// the conversation that called it.
type codexHelperDecoder struct {
	codexDecoder

	own string
}

func (d *codexHelperDecoder) decode(line []byte, out []Record) ([]Record, bool) {
	if of := gjson.GetBytes(line, "payload.thread_id").Str; of != "" && of != d.own && gjson.ValidBytes(line) {
		return out, true
	}
	if d.own != "" {
		d.Counted.ByRecord = true // sums begin with those of the conversation that called it
	}
	return d.codexDecoder.decode(line, out)
}
