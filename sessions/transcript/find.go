package transcript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/panebridge/panebridge/internal/regular"
)

// Where says of which program transcripts are looked for.
type Where struct {
	Format  Format
	Home    string            // the home folder of the program's user
	Env     map[string]string // the program's environment, as far as it's known
	Cwd     string            // the folder it works in
	PID     int               // its process, or one above it; 0: not known
	Started time.Time         // of the process; zero: not known
}

// A Candidate is a transcript that may be that of the program.
type Candidate struct {
	Ref     Ref
	Cwd     string
	Started time.Time // of the conversation; zero: not known
	Changed time.Time // zero: it isn't written yet
	// LastUser is what was asked last, "" if it doesn't stand near the end.
	LastUser string
	// Sure: the process itself holds it: it has it open, or says so in a file of its own.
	Sure bool
}

const (
	headLen   = 32 << 10  // bytes read at a file's beginning
	tailLen   = 128 << 10 // and at its end
	maxFound  = 20        // candidates, the last changed
	maxListed = 2000      // files whose times are looked at
	// slack is for file systems that keep times coarsely.
	slack = 2 * time.Second
)

// Find returns the transcripts that may be those of a program, the sure one first,
// then the last changed first; none if there's none yet. It never decides between
// several: only what the process tells makes one sure. Conversations that didn't
// change since the process began, sub-agents' and those of other folders are left
// out. No file is read but for its beginning and its end.
func Find(ctx context.Context, w Where) ([]Candidate, error) {
	find := finders[w.Format]
	if find == nil {
		return nil, fmt.Errorf("find transcripts: unknown format %q; known are %v", w.Format, Formats())
	}
	found, err := find(ctx, &w)
	if err != nil {
		return nil, fmt.Errorf("find %s transcripts: %w", w.Format, err)
	}
	slices.SortStableFunc(found, func(a, b Candidate) int {
		if a.Sure != b.Sure {
			if a.Sure {
				return -1
			}
			return 1
		}
		return cmp.Or(b.Changed.Compare(a.Changed), strings.Compare(a.Ref.Path, b.Ref.Path))
	})
	return found, nil
}

var finders = map[Format]func(context.Context, *Where) ([]Candidate, error){ //nolint:gochecknoglobals // a constant table
	Claude:   findClaude,
	Codex:    findCodex,
	Gemini:   findGemini,
	OpenCode: findOpenCode,
	Qwen:     findQwen,
	Pi:       findPi,
	Demo:     findDemo,
}

// folder returns the folder that a variable of the environment names, else one
// below the home folder.
func (w *Where) folder(variable string, below ...string) string {
	if dir := w.Env[variable]; variable != "" && filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{w.Home}, below...)...)
}

// cwds are the names of the folder: as it's told, and without symbolic links.
func (w *Where) cwds() []string {
	if w.Cwd == "" {
		return nil
	}
	names := []string{filepath.Clean(w.Cwd)}
	if linked, err := filepath.EvalSymlinks(w.Cwd); err == nil && linked != names[0] {
		names = append(names, linked)
	}
	return names
}

// isHere says whether a conversation belongs to the folder.
func (w *Where) isHere(cwd string) bool {
	return w.Cwd == "" || cwd == "" || slices.Contains(w.cwds(), cwd)
}

// isFresh says whether something changed since the process began.
func (w *Where) isFresh(changed time.Time) bool {
	return w.Started.IsZero() || !changed.Before(w.Started.Add(-slack))
}

// listed is a file that may be a transcript.
type listed struct {
	path    string
	changed time.Time
}

// listFiles returns the files of a folder whose names match and that changed since the
// process began, the last changed first.
func (w *Where) listFiles(dir string, match *regexp.Regexp) ([]listed, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []listed
	for _, e := range entries[max(0, len(entries)-maxListed):] {
		if !match.MatchString(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !w.isFresh(info.ModTime()) {
			continue
		}
		files = append(files, listed{filepath.Join(dir, e.Name()), info.ModTime()})
	}
	return newest(files), nil
}

func newest(files []listed) []listed {
	slices.SortFunc(files, func(a, b listed) int { return b.changed.Compare(a.changed) })
	return files
}

// candidates makes candidates of files. about reads from a file's beginning whose it
// is; false leaves it out.
func (w *Where) candidates(ctx context.Context, files []listed, about func(head []byte, c *Candidate) bool) ([]Candidate, error) {
	var found []Candidate
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := Candidate{Ref: Ref{Format: w.Format, Path: f.path}, Changed: f.changed}
		head, tail, err := ends(f.path)
		if err != nil || !about(head, &c) || !w.isHere(c.Cwd) {
			continue
		}
		c.LastUser = lastUser(w.Format, tail)
		if found = append(found, c); len(found) == maxFound {
			break
		}
	}
	return found, nil
}

// ends reads a file's beginning and its end; the end begins with a whole line.
func ends(path string) (head, tail []byte, err error) {
	file, info, err := regular.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	head = make([]byte, headLen)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	head = head[:n]
	if info.Size() <= int64(n) {
		return head, head, nil
	}
	tail = make([]byte, min(tailLen, info.Size()))
	n, err = file.ReadAt(tail, info.Size()-int64(len(tail)))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	_, tail, _ = bytes.Cut(tail[:n], []byte{'\n'})
	return head, tail, nil
}

// lastUser returns what was asked last in lines of a transcript. Claude Code tells it
// again and again, between records of some 100 KB.
func lastUser(format Format, tail []byte) string {
	dec := decoders[format]()
	var records []Record
	said := ""
	for line := range strings.SplitSeq(string(tail), "\n") {
		if format == Claude && firstString([]byte(line), "type") == "last-prompt" {
			said = cmp.Or(unpaste(cleanText(gjson.Get(line, "lastPrompt").String())), said)
		}
		records, _ = dec.decode([]byte(line), records[:0])
		for _, r := range records {
			if r.Kind == User {
				said = r.Text
			}
		}
	}
	return said
}

// firstOf returns the first value at a path in the lines of a file's beginning, of
// which the last may be cut off.
func firstOf(head []byte, path string) gjson.Result {
	for line := range strings.SplitSeq(string(head), "\n") {
		if v := gjson.Get(line, path); v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}
