package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// cursorVersion is the version of what Cursor gives. One that isn't this is
// refused rather than misread.
const cursorVersion = 1

// ErrCursor says that a cursor can't be used: it's another version's, or of another transcript.
var ErrCursor = errors.New("its cursor can't be used, read it from the beginning or from its end")

// storedCursor is what Cursor gives, as JSON.
type storedCursor struct {
	Version int          `json:"v"`
	Ref     Ref          `json:"ref"`
	At      readPosition `json:"at"`
}

// readPosition says how far a source was read. Sources use the fields they need.
type readPosition struct {
	// Of files.
	Offset int64  `json:"offset,omitempty"` // of the first line that wasn't read, bytes
	Mark   uint64 `json:"mark,omitempty"`   // fingerprint of the MarkLen bytes before Offset
	// MarkLen is how many bytes were marked; 0 at the beginning.
	MarkLen int      `json:"mark_len,omitempty"`
	Inside  bool     `json:"inside,omitempty"` // Offset is within a line that's too long
	Last    []uint64 `json:"last,omitempty"`   // fingerprints of the last lines that gave records, oldest first

	// Of databases: the last message that was given whole, and what was given of the
	// next one.
	Created int64    `json:"created,omitempty"` // milliseconds since 1970
	Message string   `json:"message,omitempty"` // its id
	Given   []string `json:"given,omitempty"`

	// Of sub-agents, by the names of their files, or their conversations' ids.
	Helpers map[string]readPosition `json:"helpers,omitempty"`

	Skipped int64           `json:"skipped,omitempty"`
	State   json.RawMessage `json:"state,omitempty"` // of the format's decoder
}

func encodeCursor(ref Ref, at readPosition) []byte {
	text, err := json.Marshal(storedCursor{cursorVersion, ref, at})
	if err != nil { // none of its types can fail
		panic(err)
	}
	return text
}

func decodeCursor(ref Ref, text []byte) (readPosition, error) {
	if len(text) == 0 {
		return readPosition{}, nil
	}
	var c storedCursor
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&c)
	if err == nil {
		err = c.check(ref)
	}
	if _, more := dec.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("there's more after its end")
	}
	if err != nil {
		return readPosition{}, fmt.Errorf("open transcript %s: %w: %w", ref.Path, ErrCursor, err)
	}
	return c.At, nil
}

func (c *storedCursor) check(ref Ref) error {
	at := c.At
	switch {
	case c.Version != cursorVersion:
		return fmt.Errorf("it has version %d, not %d", c.Version, cursorVersion)
	case c.Ref != ref:
		return fmt.Errorf("it's of the transcript %s %s %s", c.Ref.Format, c.Ref.Path, c.Ref.Session)
	case !at.possible():
		return errors.New("its numbers can't be")
	}
	return nil
}

// possible reports whether a position can be one of a file's.
func (at readPosition) possible() bool {
	for _, h := range at.Helpers {
		if len(h.Helpers) > 0 || !h.possible() {
			return false
		}
	}
	return at.Offset >= 0 && at.MarkLen >= 0 && int64(at.MarkLen) <= at.Offset && at.MarkLen <= markLen && at.Skipped >= 0 && len(at.Last) <= ringLen
}
