package inbound

import (
	"errors"
	"fmt"
	"io"
)

// CopyAtMost is for Platform.Fetch: it copies a file's content, and stops at the limit
// whatever the file's length was said to be. An error of reading is what failed makes
// of it.
func CopyAtMost(w io.Writer, r io.Reader, limit int64, failed func(error) error) error {
	to := &sink{w: w}
	if _, err := io.Copy(to, io.LimitReader(r, limit)); err != nil {
		if to.err != nil {
			return fmt.Errorf("write a file: %w", to.err)
		}
		return failed(err)
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return failed(err)
	default:
		return fmt.Errorf("fetch a file: %w: at most %d bytes are taken", ErrTooLarge, limit)
	}
}

// sink tells errors of writing from those of reading.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}
