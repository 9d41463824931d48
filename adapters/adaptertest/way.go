package adaptertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"
)

// Call is one API request.
type Call struct {
	Method  Method
	Chat    string
	Thread  string
	Message string // Edit
	Text    string // of a message, beside a file, or a thread's title
	Name    string // SendFile
	Data    []byte
	Silent  bool   // nobody is notified
	Nonce   string // "": none
	// Of posts; nobody sees them here.
	Picture, Buttons bool
	ReplyTo          string
}

// Errors of the way to a platform.
var (
	// ErrNoConnection: the request surely didn't leave.
	ErrNoConnection = errors.New("no connection")
	// ErrNoAnswer: the request left, and no answer came in time.
	ErrNoAnswer = errors.New("no answer in time")
)

// Arrival is a call that reached the platform.
type Arrival struct {
	At      time.Time
	Call    Call
	Refused string        // Error.Text; "": it was done
	Ordered time.Duration // the silence that its answer ordered
	Heard   time.Time     // when its answer was heard; zero: it wasn't
}

// Fault is what goes wrong with one call.
type Fault struct {
	Kind       FaultKind
	RetryAfter time.Duration // Throttled
	Out, Back  time.Duration // how long the request and its answer take
}

// FaultKind is how a call goes wrong.
type FaultKind uint8

// The faults.
const (
	Works        FaultKind = iota
	Unconnected            // ErrNoConnection
	Throttled              // 429 with RetryAfter, though there was room
	ServerError            // refused with what surely isn't done, and may be later
	BadGateway             // 502; not done, which nobody knows
	BadGatewayOK           // 502, but done
	Lost                   // no answer; never arrives
	Unanswered             // no answer, but done
	faultKinds
)

func (k FaultKind) String() string {
	return [faultKinds]string{"works", "unconnected", "throttled", "server error", "bad gateway", "bad gateway, done", "lost", "unanswered"}[k]
}

// Traffic is the calls of all processes on their way to a platform, and what goes wrong there. It's
// safe for concurrent use.
type Traffic struct {
	mu       sync.Mutex
	fault    func(c Call) Fault
	arrivals []Arrival
	running  sync.WaitGroup
}

// SetFault has a function asked before each call what goes wrong with it; it may call nothing of the
// platform's. Nil: all works at once.
func (t *Traffic) SetFault(fault func(c Call) Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = fault
}

// Arrivals returns all calls that arrived, in order.
func (t *Traffic) Arrivals() []Arrival {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.arrivals)
}

// Wait returns when no call is under way any more, those included that nobody waits
// for.
func (t *Traffic) Wait() { t.running.Wait() }

// Worst returns the most calls of those that arrived in any stretch of a window's length, of
// those that count.
func Worst(arrivals []Arrival, per time.Duration, counts func(Call) bool) int {
	var at []time.Time
	for _, a := range arrivals {
		if counts(a.Call) {
			at = append(at, a.At)
		}
	}
	worst, from := 0, 0
	for i, t := range at {
		for t.Sub(at[from]) >= per {
			from++
		}
		worst = max(worst, i-from+1)
	}
	return worst
}

// Banned returns the calls of those that arrived while silence was ordered where they went, and
// somebody had heard the order. What goes to the same place has the same limits.
func Banned[P comparable](arrivals []Arrival, place func(Call) P) []Arrival {
	var out []Arrival
	until, unheard := map[P]time.Time{}, map[P][]Arrival{}
	for _, a := range arrivals {
		p := place(a.Call)
		unheard[p] = slices.DeleteFunc(unheard[p], func(o Arrival) bool {
			heard := !a.At.Before(o.Heard)
			if end := o.At.Add(o.Ordered); heard && end.After(until[p]) {
				until[p] = end
			}
			return heard
		})
		if a.At.Before(until[p]) {
			out = append(out, a)
		}
		if a.Ordered > 0 && !a.Heard.IsZero() {
			unheard[p] = append(unheard[p], a)
		}
	}
	return out
}

// faultOf is what goes wrong with a call.
func (t *Traffic) faultOf(call Call) Fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fault == nil || call.Method == "" {
		return Fault{}
	}
	return t.fault(call)
}

// noteHeard notes that the answer of an arrival was heard.
func (t *Traffic) noteHeard(arrival int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if arrival >= 0 {
		t.arrivals[arrival].Heard = time.Now()
	}
}

// lateBy is how long after its deadline a call may still arrive.
const lateBy = 5 * time.Second

// way is one process's way to a platform.
type way struct {
	traffic *Traffic

	mu     sync.Mutex
	killed bool
	lost   bool // what was under way when it was killed doesn't arrive
}

// Kill ends the process: it makes no further calls. Those under way arrive all the
// same, unless lost.
func (w *way) Kill(lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.killed, w.lost = true, lost
}

func (w *way) state() (killed, lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.killed, w.lost
}

// carry takes a call to the platform. There, arrive does it, and returns which arrival it was; -1: it
// isn't counted. Without an error its answer came back. The error is ErrNoConnection, or wraps
// ErrNoAnswer when ctx has ended; the call may then still arrive, up to 5 s after ctx's deadline.
func (w *way) carry(ctx context.Context, call Call, arrive func(f Fault) (arrival int)) error {
	if killed, _ := w.state(); killed {
		return ErrNoConnection
	}
	f := w.traffic.faultOf(call)
	if f.Kind == Unconnected || ctx.Err() != nil {
		return ErrNoConnection
	}
	done := make(chan struct{}, 1)
	w.traffic.running.Go(func() {
		time.Sleep(f.Out)
		deadline, timed := ctx.Deadline()
		_, lost := w.state()
		if f.Kind == Lost || lost || timed && time.Now().After(deadline.Add(lateBy)) {
			return
		}
		arrival := arrive(f)
		if f.Kind == Unanswered {
			return
		}
		time.Sleep(f.Back)
		if killed, _ := w.state(); !killed && ctx.Err() == nil {
			w.traffic.noteHeard(arrival)
			done <- struct{}{}
		}
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNoAnswer, ctx.Err())
	}
}

// Wire is the way to a stand-in that's spoken to by HTTP. The world of one embeds it.
type Wire struct {
	Traffic
	StandIn http.Handler
	// Read says what a request asks for. What's no Method is neither counted nor goes wrong.
	Read func(r *http.Request) Call
	// Refuse has the stand-in refuse the next call as a fault says that's Throttled, ServerError or
	// BadGateway.
	Refuse func(f Fault)
	// Ordered is the silence that a 429 orders by its body; 0: none.
	Ordered func(body []byte) time.Duration

	serving sync.Mutex
}

// Connect returns a new process's transport, and what ends the process as way.Kill does.
func (w *Wire) Connect() (transport http.RoundTripper, kill func(lost bool)) {
	c := &wireEnd{&way{traffic: &w.Traffic}, w}
	return c, c.Kill
}

// wireEnd is a process's end of a wire.
type wireEnd struct {
	*way
	wire *Wire
}

// RoundTrip implements http.RoundTripper.
func (c *wireEnd) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	late := context.WithoutCancel(r.Context()) // a call that was given up meanwhile still arrives
	in, read := r.Clone(late), r.Clone(late)
	in.Body, read.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	call := c.wire.Read(read)
	var answer *httptest.ResponseRecorder
	err = c.carry(r.Context(), call, func(f Fault) (arrival int) {
		answer, arrival = c.wire.serve(in, call, f)
		return arrival
	})
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotConn != nil && !errors.Is(err, ErrNoConnection) {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// serve has the stand-in answer, one call at a time, so that a fault hits the one that it's meant for.
func (w *Wire) serve(r *http.Request, call Call, f Fault) (answer *httptest.ResponseRecorder, arrival int) {
	w.serving.Lock()
	defer w.serving.Unlock()
	if f.Kind == Throttled || f.Kind == ServerError || f.Kind == BadGateway {
		w.Refuse(f)
	}
	answer = httptest.NewRecorder()
	w.StandIn.ServeHTTP(answer, r)
	if call.Method == "" {
		return answer, -1
	}
	a := Arrival{At: time.Now(), Call: call}
	if answer.Code == http.StatusTooManyRequests {
		a.Refused, a.Ordered = TooMany, w.Ordered(answer.Body.Bytes())
	}
	if f.Kind == BadGatewayOK && answer.Code < http.StatusMultipleChoices {
		answer = httptest.NewRecorder()
		answer.WriteHeader(http.StatusBadGateway)
		_, _ = answer.WriteString("<html>bad gateway</html>") // it never fails
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrivals = append(w.arrivals, a)
	return answer, len(w.arrivals) - 1
}
