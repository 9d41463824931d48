package recording

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing/fstest"
	"time"

	"github.com/panebridge/panebridge/internal/recording/format"
)

type (
	// Archive is what `panebridge doctor record` writes, for tests that make one of Items.
	Archive = format.Archive
	// Item is one thing of an Archive.
	Item = format.Item
	// Head is the first Item's.
	Head = format.Head
	// Typed is that of an Item.
	Typed = format.Typed
	// HeardRecord is the Record of an Item.
	HeardRecord = format.Record
	// End is the last Item's.
	End = format.End
)

// Heard are the recordings that were made by `panebridge doctor record`.
func Heard() ([]*Recording, error) {
	every, err := list()
	return only(every, true), err
}

// maxFile bounds the files of an archive, in bytes.
const maxFile = 64 << 20

// OpenArchive reads a recording as `panebridge doctor record` writes it.
func OpenArchive(file io.Reader) (*Recording, error) {
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("open archived recording: %w", err)
	}
	files, name := fstest.MapFS{}, ""
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return OpenFS(files, name)
		}
		if err != nil {
			return nil, fmt.Errorf("open archived recording: %w", err)
		}
		text, err := io.ReadAll(io.LimitReader(t, maxFile))
		if err != nil {
			return nil, fmt.Errorf("open archived recording: %w", err)
		}
		dir, base := path.Split(h.Name)
		name = strings.TrimSuffix(dir, "/")
		files[base] = &fstest.MapFile{Data: text}
	}
}

// Verdict is what the daemon believed when it recorded.
type Verdict struct {
	At time.Duration
	format.Verdict
}

// UnmarshalJSON reads a verdict as it was recorded.
func (v *Verdict) UnmarshalJSON(b []byte) error {
	raw := struct {
		T float64
		*format.Verdict
	}{Verdict: &v.Verdict}
	if err := json.Unmarshal(b, &raw); err != nil {
		return fmt.Errorf("read verdict: %w", err)
	}
	v.At = since(raw.T)
	return nil
}

// Verdicts are what the daemon believed, in order; none in other recordings than those
// of Heard.
func (r *Recording) Verdicts() ([]Verdict, error) { return readLines[Verdict](r, "verdicts.jsonl") }

// Record is what the daemon read in the transcript: a transcript.Record, without its
// text but for the beginning of an answer.
type Record struct {
	Seen time.Duration // when it was read
	Own  time.Duration // its own time; 0: it has none
	format.Record
}

// UnmarshalJSON reads a record as it was recorded.
func (v *Record) UnmarshalJSON(b []byte) error {
	raw := struct {
		T float64
		*format.Record
	}{Record: &v.Record}
	if err := json.Unmarshal(b, &raw); err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	v.Seen, v.Own = since(raw.T), since(raw.At)
	return nil
}

// Records are what the daemon read in the transcript, in order; none in other recordings
// than those of Heard.
func (r *Recording) Records() ([]Record, error) { return readLines[Record](r, "records.jsonl") }
