package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// insideRule says what becomes of a call by a program that was begun in a session's pane.
// An agent is such a program, and so is what an operator types into a shell: neither may
// do by panebridge's command line what its person may not.
type insideRule int

// The rules. Each call has one; without one it's refused.
const (
	noRule   insideRule = iota
	free                // it's done: mail, notices, waiting, hooks
	own                 // it's done if it's about the caller's own session, else as asked
	ownKnown            // as own, but done too if nobody can tell which session is the caller's
	asked               // approvers are asked whether this one call may be made
	asksWho             // as asked, of those who may give access: it gives some
)

// route is one call of the API.
type route struct {
	do     handler
	inside insideRule
	does   string // what it does, as people are asked; not needed of those that are free
}

// Place is where a caller was begun.
type Place struct {
	Inside  bool        // in a session's pane, or nobody can tell
	Session sessions.ID // whose pane; "": it can't be told
	Why     string      // it can't be told
	Program string      // what calls, as people read it; "": it isn't known
}

// Places finds out where the program at the other end of a connection was begun. It
// takes some ms.
type Places func(ctx context.Context, c net.Conn) Place

// Call is a call that takes somebody's word.
type Call struct {
	Place

	Does   string // what it does, as words for people
	Method string
	Target string // path and query
	Body   string // all of it
	Access bool   // it gives access: only who may do that can allow it
}

// Confirm asks people whether a call may be made, and returns when somebody has answered
// or nobody does; nil: it may, this once. An error says why not.
type Confirm func(ctx context.Context, c Call) error

const (
	// maxAskedBytes bounds what's asked about: people see all of it.
	maxAskedBytes = 1200
	// codeInside is the code of calls that aren't made for where they come from.
	codeInside = "inside"
	// AskHeader says "no" if nobody is to be asked, whatever the call is: for what isn't
	// worth it, such as completion.
	AskHeader = "Panebridge-Ask"
	// answerTime is what a call has once it's allowed, as other calls have from the start.
	answerTime = 2 * time.Minute
)

// connection is a caller's connection. Where it comes from is found out when it's needed.
type connection struct {
	net.Conn

	once  sync.Once
	place Place
}

type connectionKey struct{}

// withConnection is an http.Server's ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if last, ok := c.(*lent); ok {
		ctx = context.WithValue(ctx, lentKey{}, true)
		c = last.Conn
	}
	kept, ok := c.(*guarded)
	if ok {
		ctx = context.WithValue(ctx, guardedKey{}, kept)
		c = kept.Conn
	}
	return context.WithValue(ctx, connectionKey{}, &connection{Conn: c})
}

// placeOf finds out where a request comes from.
func (o *Options) placeOf(ctx context.Context) Place {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok || o.Places == nil {
		return Place{}
	}
	c.once.Do(func() { c.place = o.Places(ctx, c.Conn) })
	return c.place
}

// admit returns nil if a call may be made where it comes from, which may take somebody's
// word and as long as they need for it.
func (a *api) admit(w http.ResponseWriter, r *http.Request, rt route) error {
	if rt.inside == free {
		return nil
	}
	place := a.opts.placeOf(r.Context())
	lost := place.Session == "" && rt.inside == ownKnown
	if !place.Inside || lost || (rt.inside == own || rt.inside == ownKnown) && a.ownSession(r, place) {
		return nil
	}
	why := a.ask(w, r, rt, place)
	if why == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](why); ok {
		return e
	}
	return &Error{Status: http.StatusForbidden, Code: codeInside, Message: a.insideMessage(place, why)}
}

// insideMessage says why a call isn't made for where it comes from.
func (a *api) insideMessage(place Place, why error) string {
	at := "in a session's pane"
	if s, err := a.opts.Sessions.Get(string(place.Session)); err == nil {
		at = "in the pane of session " + s.Name
	}
	if place.Why != "" {
		at = "where nobody can tell (" + place.Why + ")"
	}
	return fmt.Sprintf("this is called %s: programs there may send and read mail and notices, wait, and look at their own session; the rest takes somebody's word in a chat or on the page. %s", at, sentence(why.Error()))
}

// sentence is a text as a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimRight(text[1:], ".") + "."
}

// ownSession says whether a call is about the session in whose pane its caller was begun.
func (a *api) ownSession(r *http.Request, place Place) bool {
	if place.Session == "" {
		return false
	}
	switch r.URL.Path {
	case "/api/v1/sessions":
		return true // the handler shows no other
	case "/api/v1/events":
		s, err := a.opts.Sessions.Get(r.URL.Query().Get("session"))
		return err == nil && s.ID == place.Session
	}
	s, err := a.session(r)
	return err == nil && s.ID == place.Session
}

var errNobodyAsked = errors.New("nobody was asked")

// ask has people asked about a call.
func (a *api) ask(w http.ResponseWriter, r *http.Request, rt route, place Place) error {
	if a.author != authorCLI {
		return errors.New("by the page's port nobody is asked")
	}
	if rt.inside == noRule || rt.does == "" || a.opts.Confirm == nil || r.Header.Get(AskHeader) == "no" {
		return errNobodyAsked
	}
	if place.Session == "" {
		return errors.New("and without a session there's no place to ask at")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAskedBytes+1))
	if len(body)+len(r.RequestURI) > maxAskedBytes {
		return errors.New("it's too long to be shown to anybody")
	}
	if err != nil {
		return bodyError(err)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	control := http.NewResponseController(w)
	// The server's read timeout would end the call: it also runs while the server looks
	// whether the client has gone.
	if err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})); err != nil {
		return fmt.Errorf("and nobody can be waited for: %w", err)
	}
	if r.ProtoAtLeast(1, 1) {
		w.WriteHeader(http.StatusProcessing) // so that who calls can say what's waited for
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-a.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	err = a.opts.Confirm(ctx, Call{
		Place: place, Does: rt.does, Method: r.Method, Target: r.RequestURI, Body: string(body), Access: rt.inside == asksWho,
	})
	if deadline := control.SetWriteDeadline(time.Now().Add(answerTime)); deadline != nil && err == nil {
		return fmt.Errorf("and the answer can't be sent: %w", deadline)
	}
	return err
}

// String is the rule's name.
func (r insideRule) String() string {
	return [...]string{"none", "free", "own", "own, if that's known", "asked", "asked of who gives access"}[r]
}

// InsideRules are all calls, as "POST /api/v1/pairings", with what becomes of each when it
// comes from a session's pane.
func InsideRules() map[string]string {
	out := map[string]string{}
	for path, m := range (&api{}).table() {
		for method, rt := range m {
			out[method+" "+path] = rt.inside.String()
		}
	}
	return out
}
