package discordtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Call is one call of the bot, as it arrived.
type Call struct {
	Name       string // such as "CreateMessage"; empty for an unknown address
	Method     string // of HTTP
	Path       string // below the version
	Channel    string // that it names, or whose thread or interaction it's about
	Message    string // that it names or made
	At         time.Time
	Body       string        // its JSON
	Status     int           // of the answer; 0 while it has had no effect
	Code       int           // Discord's, of a refusal
	Error      string        // of a refusal
	RetryAfter time.Duration // of a 429
	Scope      Scope         // of a 429
	Faulted    bool          // a Fault decided its answer, or that there was none
}

// Refused reports whether the answer was an error.
func (c Call) Refused() bool { return c.Status >= http.StatusBadRequest }

// call is a call on its way through the stand-in.
type call struct {
	*Call
	version       string // "v9"
	route         *route
	known         bool // the address exists, with whatever method
	vars          map[string]string
	query         url.Values
	authorization string
	body          []byte
	files         map[string]upload // by number
	bad           *refusal          // what's wrong with the body
	headers       http.Header       // of the answer
	fault         *Fault
}

// newCall reads a request.
func (s *Server) newCall(r *http.Request) *call {
	c := &call{
		Call: &Call{Method: r.Method}, query: r.URL.Query(), authorization: r.Header.Get("Authorization"),
		headers: http.Header{}, files: map[string]upload{},
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/")
	if ok {
		c.version, c.Path, _ = strings.Cut(rest, "/")
	} else {
		c.version, c.Path = "v9", r.URL.Path
	}
	c.Path = "/" + c.Path
	c.route, c.vars, c.known = s.match(r.Method, c.Path)
	if c.route != nil {
		c.Name = c.route.name
	}
	c.Channel, c.Message = c.vars["channel"], c.vars["message"]
	c.readBody(r)
	c.Body = string(c.body)
	return c
}

// Calls returns the calls that have arrived so far, in order.
func (s *Server) Calls() []Call { return s.callsIf(func(Call) bool { return true }) }

// CallsTo returns the calls of one name that have arrived, in order.
func (s *Server) CallsTo(name string) []Call {
	return s.callsIf(func(c Call) bool { return c.Name == name })
}

func (s *Server) callsIf(want func(Call) bool) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Call
	for _, c := range s.calls {
		if want(*c) {
			list = append(list, *c)
		}
	}
	return list
}

// Refusals returns what was refused, in order: calls that were answered with an
// error, and gateway connections that were closed for what the bot did on them.
// What a test asked for by a Fault, or by closing connections, isn't among them.
func (s *Server) Refusals() []Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refusals)
}
