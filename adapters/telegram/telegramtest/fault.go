package telegramtest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Cut says when a connection breaks.
type Cut int

// Where a connection breaks: not at all, before the call took effect, or after it
// did and before the answer.
const (
	NoCut Cut = iota
	CutBefore
	CutAfter
)

// Fault is what happens to calls instead of, or besides, the ordinary answer.
type Fault struct {
	// Method, Chat and Thread choose the calls; zero means any.
	Method string
	Chat   int64
	Thread int
	// Times is how many calls it hits; 0 means all of them.
	Times int

	// Before passes until the call arrives, After until its answer leaves.
	Before, After time.Duration

	// RetryAfter orders silence: for the method's family, or, if it's long, for the
	// chat. The call has no effect.
	RetryAfter time.Duration
	// Code, with Description, is an error in Telegram's form, such as 502 "Bad
	// Gateway". The call has no effect.
	Code        int
	Description string
	// Body is sent as it is, with Code (or 502) and this content type (or text/html),
	// as a proxy in between would. The call has no effect.
	Body        string
	ContentType string
	// Cut breaks the connection.
	Cut Cut
}

func (f *Fault) hits(c *call) bool {
	return (f.Method == "" || strings.EqualFold(f.Method, c.Method)) &&
		(f.Chat == 0 || f.Chat == c.Chat) && (f.Thread == 0 || f.Thread == c.Thread)
}

// decides reports whether the fault takes the place of the call's effect.
func (f *Fault) decides() bool {
	return f.RetryAfter > 0 || f.Code != 0 || f.Body != "" || f.Cut == CutBefore
}

// Inject makes calls fail or wait. The first fault that fits a call is the one
// that hits it. The function it returns takes the fault back.
func (s *Server) Inject(f Fault) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := &f
	s.faults = append(s.faults, kept)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = slices.DeleteFunc(s.faults, func(f *Fault) bool { return f == kept })
	}
}

// takeFault returns the fault that hits a call, and uses it up.
func (s *Server) takeFault(c *call) *Fault {
	i := slices.IndexFunc(s.faults, func(f *Fault) bool { return f.hits(c) })
	if i < 0 {
		return nil
	}
	f := s.faults[i]
	if f.Times > 0 {
		if f.Times--; f.Times == 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
	}
	once := *f
	return &once
}

// refuse returns what a fault answers in Telegram's form, if it does.
func (s *Server) refuse(c *call) *refusal {
	f := c.fault
	if f == nil {
		return nil
	}
	c.Faulted = f.decides() || f.Cut != NoCut
	if !f.decides() {
		return nil
	}
	switch {
	case f.Cut == CutBefore:
		return &refusal{} // nobody hears of it
	case f.RetryAfter > 0:
		return tooMany(s.guard.order(Key{c.Chat, c.Family}, f.RetryAfter, now()))
	}
	code := f.Code
	if code == 0 {
		code = http.StatusBadGateway
	}
	return &refusal{code: code, text: f.Description}
}

// wait lets time pass, or the client go.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeRaw sends what a proxy would.
func (f *Fault) writeRaw(w http.ResponseWriter) {
	kind, code := f.ContentType, f.Code
	if kind == "" {
		kind = "text/html"
	}
	if code == 0 {
		code = http.StatusBadGateway
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(code)
	_, _ = w.Write([]byte(f.Body)) // a client that's gone is none of the stand-in's business
}
