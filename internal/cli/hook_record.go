package cli

import (
	"context"
	"io"
	"sync"

	"github.com/panebridge/panebridge/sessions/agent"
)

// maxRecord is how much of a hook's record is kept, in bytes. What says which
// conversation it is stands before what a tool printed.
const maxRecord = agent.MaxHookInput + 64<<10

// readRecord reads a JSON object until its end, the end of the input, or the end of
// ctx, and returns its beginning. An agent may leave the input open, and it may not
// be left with a pipe that nobody reads, so the rest of a long one is read too.
func readRecord(ctx context.Context, in io.Reader) []byte {
	var (
		mu   sync.Mutex
		text []byte
	)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }() // what has been read will do
		var end objectEnd
		buf := make([]byte, 64<<10)
		for {
			n, err := in.Read(buf)
			mu.Lock()
			text = append(text, buf[:min(n, maxRecord-len(text))]...)
			mu.Unlock()
			if end.seen(buf[:n]) || err != nil {
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	return text
}

// objectEnd finds the end of a JSON object that comes in parts.
type objectEnd struct {
	depth    int
	inString bool
	escaped  bool
}

// seen takes the next part, and reports whether the object ends in it.
func (o *objectEnd) seen(part []byte) bool {
	for _, c := range part {
		switch {
		case o.escaped:
			o.escaped = false
		case o.inString:
			o.escaped = c == '\\'
			o.inString = c != '"'
		case c == '"':
			o.inString = true
		case c == '{' || c == '[':
			o.depth++
		case c == '}' || c == ']':
			if o.depth--; o.depth <= 0 {
				return true
			}
		}
	}
	return false
}
