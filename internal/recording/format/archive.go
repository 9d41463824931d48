package format

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"
)

// Archive collects what's recorded and writes it as a recording. The zero value is
// empty. It isn't safe for concurrent use.
type Archive struct {
	Head   Head
	Counts Counts

	frames                   []FrameChange
	total                    int // frames
	hooks, verdicts, records bytes.Buffer
	actions                  []any
	last                     float64
}

// Counts says how much of what was recorded.
type Counts struct {
	Frames   int `json:"frames"` // that differ from the one before
	Hooks    int `json:"hooks"`
	Verdicts int `json:"verdicts"`
	Records  int `json:"records"` // of the transcript
	Typed    int `json:"typed"`
}

// Add takes the next item.
func (a *Archive) Add(it Item) error {
	a.last = max(a.last, it.T)
	var err error
	switch {
	case it.Head != nil:
		a.Head = *it.Head
	case it.Frame != nil:
		a.frames = append(a.frames, *it.Frame)
		a.total = max(a.total, it.Frame.N+1)
		a.Counts.Frames++
	case it.Typed != nil:
		a.actions = append(a.actions, struct {
			T float64 `json:"t"`
			Typed
		}{it.T, *it.Typed})
		a.Counts.Typed++
	case it.Hook != nil:
		err = a.hook(it)
	case it.Verdict != nil:
		a.Counts.Verdicts++
		err = line(&a.verdicts, struct {
			T float64 `json:"t"`
			*Verdict
		}{it.T, it.Verdict})
	case it.Record != nil:
		a.Counts.Records++
		err = line(&a.records, struct {
			T float64 `json:"t"`
			*Record
		}{it.T, it.Record})
	case it.End != nil:
		a.total = max(a.total, it.End.Frames)
	}
	return err
}

func (a *Archive) hook(it Item) error {
	var h struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(it.Hook, &h); err != nil {
		return fmt.Errorf("read a recorded hook: %w", err)
	}
	a.Counts.Hooks++
	return line(&a.hooks, struct {
		T     float64         `json:"t"`
		Event string          `json:"event"`
		Heard json.RawMessage `json:"heard"`
	}{it.T, h.Event, it.Hook})
}

// line writes a line of JSON.
func line(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v) // plain data into memory
}

// WriteTo writes a gzipped tar file with the recording in the folder AGENT/name.
func (a *Archive) WriteTo(w io.Writer, name string) error {
	files, err := a.files()
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, f := range files {
		if err == nil {
			err = add(t, path.Join(a.Head.Agent, name, f.name), f.text, a.Head.Epoch)
		}
	}
	if err = errors.Join(err, t.Close(), z.Close()); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

func add(t *tar.Writer, name string, text []byte, at time.Time) error {
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: at}); err != nil {
		return err // wrapped by the caller
	}
	_, err := t.Write(text)
	return err // wrapped by the caller
}

type file struct {
	name string
	text []byte
}

// files are those of a recording; see package recording.
func (a *Archive) files() ([]file, error) {
	var out []file
	var errs []error
	put := func(name string, v any) {
		text, err := json.MarshalIndent(v, "", " ")
		errs = append(errs, err)
		out = append(out, file{name, append(text, '\n')})
	}
	packed := func(name string, text []byte) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(text)
		errs = append(errs, err, z.Close())
		out = append(out, file{name + ".gz", b.Bytes()})
	}
	put("recording.json", a.Head)
	var frames bytes.Buffer
	errs = append(errs, line(&frames, max(a.total, int(a.last/FrameStep.Seconds()))))
	for i := range a.frames {
		errs = append(errs, line(&frames, &a.frames[i]))
	}
	packed("frames.json", frames.Bytes())
	if a.actions == nil {
		a.actions = []any{}
	}
	put("actions.json", a.actions)
	packed("hooks.jsonl", a.hooks.Bytes())
	packed("verdicts.jsonl", a.verdicts.Bytes())
	packed("records.jsonl", a.records.Bytes())
	return out, errors.Join(errs...)
}
