package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
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
	barred              // it's refused, and nobody is asked
)

// words says whether a call is made for a program in a session's pane.
func (r insideRule) words() string {
	return map[insideRule]string{
		free: "yes", own: "of its own session, else when somebody allows it", ownKnown: "of its own session, else when somebody allows it",
		asked: "when somebody allows it", asksWho: "when somebody who gives access allows it", noRule: "no", barred: "no",
	}[r]
}

// route is one call of the API.
type route struct {
	do     apiHandler
	inside insideRule
	needs  access.Role // of a browser; socketOnly: the call is there on the Unix socket only
	does   string      // what it does, as people are asked; not needed of those that are free
}

// socketOnly is in a role's place where no browser may.
const socketOnly access.Role = ""

// permit returns nil if a browser may make a call by its roles. Who comes by the Unix socket may.
func (a *api) permit(r *http.Request, rt route) error {
	if a.author == authorCLI {
		return nil
	}
	roles := browserOf(r.Context()).Roles
	switch {
	case rt.needs == socketOnly:
		return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: "this is there for the command line only"}
	case !roles.Has(rt.needs):
		return &Error{Status: http.StatusForbidden, Code: codeRole, Message: "this device may be used by a " + cmp.Or(roles.String(), "stranger") + ", and this takes " + withArticle(rt.needs)}
	}
	return nil
}

// may reports whether a caller has a role.
func (a *api) may(ctx context.Context, role access.Role) bool {
	return a.author == authorCLI || browserOf(ctx).Roles.Has(role)
}

// authorOf is who a call is from, as sessions and people read it. name is "" for the command line
// and the owner's own browsers.
func (a *api) authorOf(r *http.Request) (author, name string) {
	b := browserOf(r.Context())
	if b.Name == "" {
		return a.author, ""
	}
	return a.author + ":" + b.ID, b.Name
}

// withArticle is a role as a sentence needs it.
func withArticle(r access.Role) string {
	if strings.ContainsRune("aeiou", rune(r[0])) {
		return "an " + string(r)
	}
	return "a " + string(r)
}

// CallerPlace is where a caller was begun.
type CallerPlace struct {
	Inside  bool        // in a session's pane, or nobody can tell
	Session sessions.ID // whose pane; "": it can't be told
	Why     string      // it can't be told
	Ending  bool        // it can't be told because the daemon ends
	Program string      // what calls, as people read it; "": it isn't known
}

// Places finds out where the program at the other end of a connection was begun. It
// takes some ms.
type Places func(ctx context.Context, c net.Conn) CallerPlace

// AskedCall is a call that takes somebody's word.
type AskedCall struct {
	CallerPlace

	Does   string // what it does, as words for people
	Method string
	Target string // path and query
	Body   string // all of it
	Access bool   // it gives access: only who may do that can allow it
}

// Confirm asks people whether a call may be made, and returns when somebody has answered
// or nobody does; nil: it may, this once. An error says why not.
type Confirm func(ctx context.Context, c AskedCall) error

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

// connection is a caller's connection. Where it comes from is found out when it's needed, and again as
// long as nobody can tell: a page would be locked out for as long as its browser keeps the connection.
type connection struct {
	net.Conn

	elsewhere bool       // it's no connection of the daemon's own user on this machine
	mu        sync.Mutex // held while it's found out
	known     bool
	place     CallerPlace
}

type connectionKey struct{}

// withConnection is an http.Server's ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if last, ok := c.(*lent); ok {
		ctx = context.WithValue(ctx, lentKey{}, true)
		c = last.Conn
	}
	kept, ok := c.(*guardedConn)
	if ok {
		ctx = context.WithValue(ctx, guardedKey{}, kept)
		c = kept.Conn
	}
	return context.WithValue(ctx, connectionKey{}, &connection{Conn: c, elsewhere: ok && kept.whose != whoseOwn})
}

// placeOf finds out where a request comes from. What another user's proxy or another machine
// hands on was begun in no pane.
func (o *Options) placeOf(ctx context.Context) CallerPlace {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok || o.Places == nil || c.elsewhere {
		return CallerPlace{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		c.place = o.Places(ctx, c.Conn)
		c.known = c.place.Why == ""
	}
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
	if place.Ending {
		return errEnding
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

// errEnding says that a call came when the daemon was about to end.
var errEnding = &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "panebridge is ending"}

// insideMessage says why a call isn't made for where it comes from.
func (a *api) insideMessage(place CallerPlace, why error) string {
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
func (a *api) ownSession(r *http.Request, place CallerPlace) bool {
	if place.Session == "" {
		return false
	}
	switch r.URL.Path {
	case "/api/v1/sessions":
		return true // the handler shows no other
	case "/api/v1/events", "/api/v1/search":
		s, err := a.opts.Sessions.Get(r.URL.Query().Get("session"))
		return err == nil && s.ID == place.Session
	}
	s, err := a.session(r)
	return err == nil && s.ID == place.Session
}

var errNobodyAsked = errors.New("nobody was asked")

// ask has people asked about a call.
func (a *api) ask(w http.ResponseWriter, r *http.Request, rt route, place CallerPlace) error {
	if a.author != authorCLI {
		return errors.New("by the page's port nobody is asked")
	}
	if rt.inside == noRule || rt.inside == barred || rt.does == "" || a.opts.Confirm == nil || r.Header.Get(AskHeader) == "no" {
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
	a.cancelAtQuit(ctx, cancel)
	err = a.opts.Confirm(ctx, AskedCall{
		CallerPlace: place, Does: rt.does, Method: r.Method, Target: r.RequestURI, Body: string(body), Access: rt.inside == asksWho,
	})
	if deadline := control.SetWriteDeadline(time.Now().Add(answerTime)); deadline != nil && err == nil {
		return fmt.Errorf("and the answer can't be sent: %w", deadline)
	}
	return err
}

// String is the rule's name.
func (r insideRule) String() string {
	return [...]string{"none", "free", "own", "own, if that's known", "asked", "asked of who gives access", "refused"}[r]
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

// AccessEntry is a role that a person has, or had.
type AccessEntry struct {
	Person string `json:"person"` // "PLATFORM:123"
	Name   string `json:"name,omitempty"`
	Role   string `json:"role"`
	// By is who gave it: "configuration", "cli", "web" or a person.
	By       string    `json:"by"`
	At       time.Time `json:"at,omitzero"`
	Chat     string    `json:"chat,omitempty"` // the group that it goes by; "": none
	LastUsed time.Time `json:"last_used,omitzero"`
	Checked  time.Time `json:"checked,omitzero"` // when the person was seen in Chat last
	Void     string    `json:"void,omitempty"`   // why it doesn't count; "": it does
}

// AccessRequest is the body of POST /api/v1/access.
type AccessRequest struct {
	Person string `json:"person"`
	Role   string `json:"role"`
}

// AccessRevoked says what's left of a person's access.
type AccessRevoked struct {
	Rest    []string `json:"rest"` // roles that the configuration gives; never null
	Message string   `json:"message"`
}

// Access lists and changes who may do what in chats. Errors wrap those of package
// sessions.
type Access interface {
	List() []AccessEntry
	// Grant gives a role; by is "cli" or "web".
	Grant(ctx context.Context, person, role, by string) error
	// Revoke takes a role back that was given; "": all.
	Revoke(ctx context.Context, person, role, by string) (AccessRevoked, error)
}

func (a *api) listAccess(w http.ResponseWriter, _ *http.Request) error {
	if a.opts.Access == nil {
		return noOutbound
	}
	list := a.opts.Access.List()
	if list == nil {
		list = []AccessEntry{}
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

func (a *api) grantAccess(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Access == nil {
		return noOutbound
	}
	var body AccessRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	by, _ := a.authorOf(r)
	if err := a.opts.Access.Grant(r.Context(), body.Person, body.Role, by); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// revokeAccess serves DELETE /api/v1/access/{person}?role=….
func (a *api) revokeAccess(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Access == nil {
		return noOutbound
	}
	by, _ := a.authorOf(r)
	done, err := a.opts.Access.Revoke(r.Context(), r.PathValue("person"), r.URL.Query().Get("role"), by)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, done)
	return nil
}

// NeededRoles are all calls, as "POST /api/v1/pairings", with the role that each takes of a
// browser; "": none may make it.
func NeededRoles() map[string]access.Role {
	out := map[string]access.Role{}
	for path, m := range (&api{}).table() {
		for method, rt := range m {
			out[method+" "+path] = rt.needs
		}
	}
	return out
}

// cancelAtQuit calls cancel when the server ends, unless ctx has ended before. It returns at once.
func (a *api) cancelAtQuit(ctx context.Context, cancel func()) {
	go func() {
		select {
		case <-a.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
}
