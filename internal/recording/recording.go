package recording

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed testdata
var testdata embed.FS

// Recording is one recorded session of a real agent program.
type Recording struct {
	Name  string `json:"-"` // AGENT/NAME
	Agent string `json:"agent"`
	// Version of the program.
	Version       string        `json:"version"`
	Width, Height int           // at the start, in cells
	Epoch         time.Time     `json:"epoch"` // its start: time 0
	Home          string        `json:"home"`  // the program's home folder, as it stands in its files
	Cwd           string        `json:"cwd"`
	Transcripts   []*Transcript `json:"transcripts"`
	// Busy says that the machine was overloaded when it was recorded: all happened as
	// it stands there, but the program showed it, and its hooks told of it, seconds
	// late. It has no timeline.
	Busy bool `json:"busy,omitempty"`
	// Heard says that it was made by `panebridge doctor record`, see the package's
	// comment. Private that what's no sign of the program's was made unreadable.
	Heard   bool `json:"heard,omitempty"`
	Private bool `json:"private,omitempty"`

	fsys fs.FS
}

// Transcript is one file that the program wrote about its conversation.
type Transcript struct {
	File string `json:"file"` // name in the recording's folder
	Path string `json:"path"` // relative to Home
	// At says for each line when it was in the file, in seconds since the start:
	// seen from outside, or, in older recordings, by the timestamps in it.
	At []float64 `json:"at"`
}

// Open reads a recording by its name, AGENT/NAME.
func Open(name string) (*Recording, error) {
	sub, err := fs.Sub(testdata, path.Join("testdata", name))
	if err != nil {
		return nil, fmt.Errorf("open recording %s: %w", name, err)
	}
	return OpenFS(sub, name)
}

// OpenFS reads the recording in a folder.
func OpenFS(fsys fs.FS, name string) (*Recording, error) {
	b, err := fs.ReadFile(fsys, "recording.json")
	if err != nil {
		return nil, fmt.Errorf("open recording %s: %w", name, err)
	}
	r := &Recording{Name: name, fsys: fsys}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("open recording %s: %w", name, err)
	}
	return r, nil
}

// All are all recordings of real programs in the lab, in the order of their names.
func All() ([]*Recording, error) {
	every, err := list()
	return only(every, false), err
}

func only(every []*Recording, heard bool) []*Recording {
	return slices.DeleteFunc(every, func(r *Recording) bool { return r.Heard != heard })
}

// list are all recordings that there are.
func list() ([]*Recording, error) {
	names, err := fs.Glob(testdata, "testdata/*/*/recording.json")
	if err != nil {
		return nil, fmt.Errorf("list recordings: %w", err)
	}
	out := make([]*Recording, 0, len(names))
	for _, n := range names {
		r, err := Open(strings.TrimPrefix(path.Dir(n), "testdata/"))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Has says whether the recording has a file (without the ending .gz).
func (r *Recording) Has(name string) bool {
	for _, n := range []string{name, name + ".gz"} {
		if _, err := fs.Stat(r.fsys, n); err == nil {
			return true
		}
	}
	return false
}

// File is the content of one of the recording's files; one that's compressed is
// named without its ending .gz.
func (r *Recording) File(name string) ([]byte, error) {
	b, err := fs.ReadFile(r.fsys, name)
	if err == nil {
		return b, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s of recording %s: %w", name, r.Name, err)
	}
	if b, err = fs.ReadFile(r.fsys, name+".gz"); err != nil {
		return nil, fmt.Errorf("read %s of recording %s: %w", name, r.Name, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("read %s of recording %s: %w", name, r.Name, err)
	}
	if b, err = io.ReadAll(z); err != nil {
		return nil, fmt.Errorf("read %s of recording %s: %w", name, r.Name, err)
	}
	return b, nil
}

// readLines decodes a file of JSON lines; one that isn't there has none.
func readLines[T any](r *Recording, name string) ([]T, error) {
	if !r.Has(name) {
		return nil, nil
	}
	b, err := r.File(name)
	if err != nil {
		return nil, err
	}
	var out []T
	for line := range bytes.Lines(b) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("read %s of recording %s: %w", name, r.Name, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// since is seconds as they stand in the files.
func since(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Microsecond)
}
