package discordtest

import (
	"net/http"
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
	// Call and Channel choose the calls; empty means any. Call is a name such as
	// "CreateMessage".
	Call, Channel string
	// Times is how many calls it hits; 0 means all of them.
	Times int

	// Before passes until the call arrives, After until its answer leaves.
	Before, After time.Duration

	// RetryAfter is a 429 of that Scope (user, unless said otherwise): the bucket, or
	// for ScopeGlobal everything, stays closed as long. The call has no effect.
	RetryAfter time.Duration
	Scope      Scope
	// Status, with Code and Message, is an error in Discord's form, such as 500. The
	// call has no effect.
	Status, Code int
	Message      string
	// Body is sent as it is, with Status (or 502) and this content type (or
	// text/html), as a proxy in between would. The call has no effect.
	Body        string
	ContentType string
	// Cut breaks the connection.
	Cut Cut
}

func (f *Fault) hits(c *call) bool {
	return (f.Call == "" || f.Call == c.Name) && (f.Channel == "" || f.Channel == c.Channel)
}

// decides reports whether the fault takes the place of the call's effect.
func (f *Fault) decides() bool {
	return f.RetryAfter > 0 || f.Status != 0 || f.Body != "" || f.Cut == CutBefore
}

// Inject makes calls fail or wait. The first fault that fits a call is the one
// that hits it. The function it returns takes the fault back.
func (s *Server) Inject(f Fault) (remove func()) { return s.faults.Add(f, f.Times) }

// refuseByFault returns what a fault answers in Discord's form, if it does.
func (s *Server) refuseByFault(c *call) *refusal {
	f := c.fault
	if f == nil {
		return nil
	}
	c.Faulted = f.decides() || f.Cut != NoCut
	switch {
	case !f.decides():
		return nil
	case f.Cut == CutBefore:
		return &refusal{} // nobody hears of it
	case f.RetryAfter > 0 && f.Scope == ScopeGlobal:
		s.guard.silence = c.At.Add(f.RetryAfter)
		r := tooMany(ScopeGlobal, f.RetryAfter)
		r.noReset = s.opts.GlobalWithoutReset
		return r
	case f.RetryAfter > 0:
		scope := f.Scope
		if scope == "" {
			scope = ScopeUser
		}
		s.guard.block(c, f.RetryAfter, scope)
		return tooMany(scope, f.RetryAfter)
	case f.Status != 0:
		return refuse(f.Status, f.Code, f.Message)
	}
	return refuse(http.StatusBadGateway, 0, f.Message)
}
