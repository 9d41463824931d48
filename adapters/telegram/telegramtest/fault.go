package telegramtest

import (
	"net/http"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// Cut says when a connection breaks.
type Cut = faults.Cut

// Where a connection breaks: not at all, before the call took effect, or after it
// did and before the answer.
const (
	NoCut     = faults.NoCut
	CutBefore = faults.CutBefore
	CutAfter  = faults.CutAfter
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
func (s *Server) Inject(f Fault) (remove func()) { return s.faults.Add(f, f.Times) }

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
