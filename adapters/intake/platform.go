package intake

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/panebridge/panebridge/adapters"
)

// ErrTooLarge says that a file has more bytes than allowed.
var ErrTooLarge = errors.New("the file is too large")

// Platform is what Inbound needs of an adapter, beside the outbound
// adapters.Adapter.
type Platform interface {
	// Name is the adapter's, as in targets: "telegram".
	Name() string
	// Answer tells the person who pressed a button what came of it, in a short text
	// that vanishes; "" only ends the wait. It takes no slot.
	Answer(ctx context.Context, press Event, text string) error
	// Fetch writes a file's content to w, at most limit bytes: a larger one is an
	// error that wraps ErrTooLarge, after at most limit bytes were written.
	Fetch(ctx context.Context, f File, limit int64, w io.Writer) error
	// Link is an address that opens a message, or a thread if message is ""; "": there's
	// none.
	Link(place adapters.Target, message string) string
	// SetCommands has the platform offer these commands as people type. It calls only
	// if they've changed since the last time, over restarts too.
	SetCommands(ctx context.Context, commands []CommandInfo) error
}

// CommandInfo is a command as platforms show it.
type CommandInfo struct {
	Name string // "new"
	Args string // "[agent] [folder]"; "": none
	Help string // one short sentence, at most 100 characters
	// Params are the arguments one by one, where a platform asks for them so.
	Params []Param
}

// Param is one argument of a command, for platforms that ask for each by itself.
// What's given, joined by spaces in the order of the parameters, is what people write
// behind the command elsewhere.
type Param struct {
	Name     string // small letters
	Help     string // at most 100 characters
	Required bool
	// Choices are all that can be given; nil: anything can.
	Choices []string
	// Offers says that Inbound.Complete knows what could be meant.
	Offers bool
}

// Candidate is what somebody may mean who has begun to write an argument.
type Candidate struct {
	Label string // as it's shown
	Value string // as it's given
}

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
