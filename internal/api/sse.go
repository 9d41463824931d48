package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// sseWriter writes server-sent events. Every write has a deadline, so that a
// client that takes nothing is dropped instead of holding its goroutine.
type sseWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	buf     bytes.Buffer
}

// newSSEWriter sends the header.
func newSSEWriter(w http.ResponseWriter, timeout time.Duration) (*sseWriter, error) {
	s := &sseWriter{w: w, control: http.NewResponseController(w), timeout: timeout}
	// The server's read timeout would end the stream: it also runs while the
	// server waits for the client to go away.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("prepare the event stream: %w", err)
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in between mustn't collect
	w.WriteHeader(http.StatusOK)
	return s, s.flush()
}

// event writes one event; id may be "".
func (s *sseWriter) event(name, id string, data any) error {
	s.buf.Reset()
	fmt.Fprintf(&s.buf, "event: %s\n", name)
	if id != "" {
		fmt.Fprintf(&s.buf, "id: %s\n", id)
	}
	s.buf.WriteString("data: ")
	enc := json.NewEncoder(&s.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil { // ends with a newline and has no other
		return fmt.Errorf("encode a %s event: %w", name, err)
	}
	s.buf.WriteByte('\n')
	return s.write()
}

// heartbeat writes a comment.
func (s *sseWriter) heartbeat() error {
	s.buf.Reset()
	s.buf.WriteString(":\n\n")
	if err := s.write(); err != nil {
		return err
	}
	return s.flush()
}

func (s *sseWriter) write() error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return fmt.Errorf("set the deadline of an event: %w", err)
	}
	_, err := s.w.Write(s.buf.Bytes())
	return err
}

// flush sends what was written.
func (s *sseWriter) flush() error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return fmt.Errorf("set the deadline of an event: %w", err)
	}
	return s.control.Flush()
}
