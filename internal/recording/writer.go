package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Writer writes a recording's transcript into a home folder as the program
// did, as far as the time that it's told. It isn't safe for concurrent use.
type Writer struct {
	// When, if set, says what time it was when the recording's was at: the times in
	// what's written are changed to that. nil: those that were recorded stay.
	When func(at time.Duration) time.Time

	rec       *Recording
	home, cwd string
	lines     []Line
	rows      []Row
	files     map[string]*os.File
	db        *database
}

// NewWriter makes a Writer whose files are below home, where the agent would
// have them for a program in the folder cwd; what the files say of the recorded
// folders is changed to these. Both are absolute and hold no characters that JSON
// would escape.
func NewWriter(r *Recording, home, cwd string) (*Writer, error) {
	w := &Writer{rec: r, home: home, cwd: cwd, files: map[string]*os.File{}}
	var err error
	if w.lines, err = r.Lines(); err != nil {
		return nil, err
	}
	if w.rows, err = r.Rows(); err != nil {
		return nil, err
	}
	if len(w.rows) > 0 {
		if w.db, err = newDatabase(filepath.Join(home, databasePath)); err != nil {
			return nil, err
		}
	}
	return w, w.register()
}

// register writes what Gemini CLI keeps beside its transcripts: which folder is
// which project.
func (w *Writer) register() error {
	if w.rec.Agent != "gemini" {
		return nil
	}
	project := filepath.Base(folderName("gemini", w.cwd))
	list, err := json.MarshalIndent(map[string]any{"projects": map[string]string{w.cwd: project}}, "", "  ")
	if err != nil {
		return fmt.Errorf("write projects: %w", err)
	}
	for path, text := range map[string]string{
		"projects.json": string(list),
		filepath.Join("tmp", project, ".project_root"):     w.cwd,
		filepath.Join("history", project, ".project_root"): w.cwd,
	} {
		path = filepath.Join(w.home, ".gemini", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write projects: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write projects: %w", err)
		}
	}
	return nil
}

// Times are the times at which something is written, each once, in order.
func (w *Writer) Times() []time.Duration {
	var out []time.Duration
	for _, l := range w.lines {
		out = append(out, l.At)
	}
	for _, r := range w.rows {
		out = append(out, r.At)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Advance writes what the program had written by that time, and hadn't yet.
func (w *Writer) Advance(at time.Duration) error {
	for len(w.lines) > 0 && w.lines[0].At <= at {
		if err := w.write(w.lines[0]); err != nil {
			return err
		}
		w.lines = w.lines[1:]
	}
	for len(w.rows) > 0 && w.rows[0].At <= at {
		var together []Row
		for now := w.rows[0].At; len(w.rows) > 0 && w.rows[0].At == now; w.rows = w.rows[1:] {
			together = append(together, w.moveRow(w.rows[0]))
		}
		if err := w.db.put(together); err != nil {
			return err
		}
	}
	return nil
}

// Path is where the n-th transcript of the recording is written; with opencode
// it's the database.
func (w *Writer) Path(n int) string {
	if w.db != nil {
		return filepath.Join(w.home, databasePath)
	}
	return w.place(w.rec.Transcripts[n].Path)
}

// Close closes the files. What was written stays.
func (w *Writer) Close() error {
	var first error
	for _, f := range w.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	if w.db != nil {
		if err := w.db.close(); err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return fmt.Errorf("close transcript: %w", first)
	}
	return nil
}

func (w *Writer) write(l Line) error {
	f := w.files[l.Path]
	if f == nil {
		path := w.place(l.Path)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			f, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		}
		if err != nil {
			return fmt.Errorf("write transcript: %w", err)
		}
		w.files[l.Path] = f
	}
	if _, err := f.Write(w.later(w.rec.move(l.Text, w.home, w.cwd))); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}

// times are what programs write of times: RFC 3339, or milliseconds since 1970.
var times = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\b17\d{11}\b`)

// later changes the times in a text.
func (w *Writer) later(text []byte) []byte {
	if w.When == nil {
		return text
	}
	return times.ReplaceAllFunc(text, func(b []byte) []byte {
		if ms, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return strconv.AppendInt(nil, w.When(time.UnixMilli(ms).Sub(w.rec.Epoch)).UnixMilli(), 10)
		}
		t, err := time.Parse(time.RFC3339Nano, string(b))
		if err != nil {
			return b
		}
		return []byte(w.When(t.Sub(w.rec.Epoch)).UTC().Format("2006-01-02T15:04:05.000Z"))
	})
}

// place is where a transcript is written: agents that file by folder do so by
// that of this program.
func (w *Writer) place(path string) string {
	return filepath.Join(w.home, strings.Replace(path, folderName(w.rec.Agent, w.rec.Cwd), folderName(w.rec.Agent, w.cwd), 1))
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// folderName is what an agent calls the folder for the transcripts of a
// program in cwd; "" where it has none.
func folderName(agent, cwd string) string {
	switch agent {
	case "claude", "qwen":
		return "projects/" + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, cwd) + "/"
	case "pi":
		return "sessions/--" + strings.NewReplacer("/", "-", "\\", "-", ":", "-").Replace(strings.TrimPrefix(cwd, "/")) + "--/"
	case "gemini":
		return ".gemini/tmp/" + strings.Trim(notSlug.ReplaceAllString(strings.ToLower(filepath.Base(cwd)), "-"), "-") + "/"
	}
	return ""
}

// move changes the recorded folders into others.
func (r *Recording) move(b []byte, home, cwd string) []byte {
	pairs := []string{r.Home, home, r.Cwd, cwd}
	if old := folderName(r.Agent, r.Cwd); old != "" {
		pairs = append(pairs, old, folderName(r.Agent, cwd))
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] != "" && pairs[i+1] != "" {
			b = bytes.ReplaceAll(b, []byte(pairs[i]), []byte(pairs[i+1]))
		}
	}
	return b
}

// Moved is a hook as the program would call it with another home and folder; ""
// leaves what was recorded.
func (r *Recording) Moved(h Hook, home, cwd string) Hook {
	h.Stdin = r.move(h.Stdin, home, cwd)
	env := map[string]string{}
	for k, v := range h.Env {
		env[k] = string(r.move([]byte(v), home, cwd))
	}
	h.Env = env
	return h
}

func (w *Writer) moveRow(r Row) Row {
	moved := map[string]any{}
	for k, v := range r.Values {
		if s, ok := v.(string); ok {
			v = string(w.later(w.rec.move([]byte(s), w.home, w.cwd)))
		}
		if n, ok := v.(json.Number); ok {
			v = json.Number(w.later([]byte(n)))
		}
		moved[k] = v
	}
	r.Values = moved
	return r
}
