package api

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters/access"
)

// api is the API as one door serves it.
type api struct {
	opts    Options
	author  string          // who an input through this door is from
	quit    <-chan struct{} // closed when the server ends: event streams end then
	origin  string          // where the page is, on this machine; "": it's off, or this is its door
	streams *streams
	last    *lastLines
	begun   creations
	showing chan struct{} // has an element for each file that's read to be shown and not stored yet
}

// apiHandler answers a request, or returns an error before it has written any of
// the answer.
type apiHandler func(http.ResponseWriter, *http.Request) error

// methods are the calls of one path.
type methods map[string]route

// table has all calls of the API. Each says what becomes of it when it comes from a
// session's pane.
func (a *api) table() map[string]methods {
	return map[string]methods{
		"/api/v1/health":                             {"GET": {a.health, asked, access.Viewer, "say how panebridge works"}},
		"/api/v1/adapters":                           {"GET": {a.adapters, asked, access.Viewer, "list the chats"}},
		"/api/v1/qos/explain":                        {"GET": {a.explain, asked, access.Viewer, "say who's next in a chat"}},
		"/api/v1/agents":                             {"GET": {a.agents, asked, access.Operator, "list the agents that can be begun"}},
		"/api/v1/agents/{name}/conversations":        {"GET": {a.conversations, asked, access.Operator, "list what an agent can go on with"}},
		"/api/v1/config/reload":                      {"POST": {a.reload, asksWho, access.Admin, "read the configuration again"}},
		"/api/v1/sessions":                           {"GET": {a.listSessions, own, access.Viewer, "list all sessions"}, "POST": {a.createSession, asked, access.Operator, "begin a session"}},
		"/api/v1/sessions/{id}":                      {"GET": {a.getSession, own, access.Viewer, "show a session"}, "DELETE": {a.deleteSession, asked, access.Operator, "end or forget a session"}},
		"/api/v1/sessions/{id}/restart":              {"POST": {a.restart, asked, access.Operator, "start a session's program anew"}},
		"/api/v1/sessions/{id}/name":                 {"POST": {a.rename, asked, access.Operator, "give a session another name"}},
		"/api/v1/sessions/{id}/input":                {"POST": {a.input, asked, access.Operator, "type into a session"}},
		"/api/v1/sessions/{id}/input/withdraw":       {"POST": {a.withdraw, asked, access.Operator, "take back a text that was sent"}},
		"/api/v1/sessions/{id}/files":                {"GET": {a.giveFile, asked, access.Operator, "get a file from a session's folder"}, "POST": {a.takeFile, asked, access.Operator, "put a file into a session's folder"}},
		"/api/v1/sessions/{id}/diff":                 {"GET": {a.diff, own, access.Viewer, "show what a session has changed in its repository"}},
		"/api/v1/sessions/{id}/keys":                 {"POST": {a.keys, asked, access.Operator, "press keys in a session"}},
		"/api/v1/sessions/{id}/receipts":             {"GET": {a.openReceipts, own, access.Viewer, "list what waits to be typed into a session"}},
		"/api/v1/sessions/{id}/progress":             {"GET": {a.progress, own, access.Viewer, "say how far texts to a session got"}},
		"/api/v1/sessions/{id}/output":               {"GET": {a.output, own, access.Viewer, "read what a session has shown"}},
		"/api/v1/sessions/{id}/prompts":              {"GET": {a.answeredPrompts, own, access.Viewer, "list which questions of a session were answered"}},
		"/api/v1/sessions/{id}/turns":                {"GET": {a.turns, own, access.Viewer, "list a session's turns"}},
		"/api/v1/sessions/{id}/tools/{n}":            {"GET": {a.toolUse, own, access.Viewer, "show what a session's tool was called with and returned"}},
		"/api/v1/sessions/{id}/wait":                 {"POST": {a.wait, free, access.Viewer, ""}},
		"/api/v1/sessions/{id}/state":                {"GET": {a.state, free, access.Viewer, ""}},
		"/api/v1/sessions/{id}/screen":               {"GET": {a.screen, own, access.Viewer, "show a session's screen"}},
		"/api/v1/sessions/{id}/terminal":             {"GET": {a.terminal, own, access.Viewer, "follow a session's screen"}},
		"/api/v1/sessions/{id}/continuation":         {"POST": {a.schedule, asked, access.Operator, "have a session go on when its limit is over"}, "DELETE": {a.unschedule, asked, access.Operator, "have a session not go on by itself"}},
		"/api/v1/sessions/{id}/inquiries":            {"POST": {a.inquire, own, access.Operator, "ask people something in a session's name"}},
		"/api/v1/sessions/{id}/inquiries/{n}":        {"GET": {a.inquiry, own, access.Operator, "read the answer to what a session's program asked"}, "DELETE": {a.withdrawInquiry, own, access.Operator, "take back what a session's program asked"}},
		"/api/v1/sessions/{id}/exhibits":             {"GET": {a.exhibits, own, access.Viewer, "list what a session has shown"}, "POST": {a.show, own, access.Operator, "show people a file in a session's name"}},
		"/api/v1/sessions/{id}/exhibits/{n}":         {"GET": {a.exhibit, own, access.Viewer, "say where a file is shown"}},
		"/api/v1/sessions/{id}/exhibits/{n}/content": {"GET": {a.exhibitContent, own, access.Viewer, "get a file that a session has shown"}},
		"/api/v1/usage":                              {"GET": {a.usage, asked, access.Viewer, "say what agents have used"}},
		"/api/v1/sessions/{id}/bindings":             {"POST": {a.bind, asked, access.Operator, "mirror a session to a chat"}},
		"/api/v1/sessions/{id}/recording":            {"GET": {a.record, asked, socketOnly, "record a session"}},
		"/api/v1/programs":                           {"GET": {a.programs, asked, access.Admin, "list the sessions' programs"}},
		"/api/v1/bindings/{id}":                      {"DELETE": {a.unbind, asked, access.Operator, "end the mirroring to a chat"}},
		"/api/v1/pairings":                           {"POST": {a.pair, asksWho, socketOnly, "make a code that lets a person in"}},
		"/api/v1/access":                             {"GET": {a.listAccess, asksWho, access.Admin, "list who may do what"}, "POST": {a.grantAccess, asksWho, access.Admin, "give a person access"}},
		"/api/v1/access/{person}":                    {"DELETE": {a.revokeAccess, asksWho, access.Admin, "take back a person's access"}},
		"/api/v1/receipts/{id}":                      {"GET": {a.receipt, asked, access.Viewer, "say what became of a text"}, "DELETE": {a.cancelReceipt, asked, access.Operator, "take back a text"}},
		"/api/v1/receipts/{id}/anyway":               {"POST": {a.sendAnyway, asked, access.Approver, "type a text that's held"}},
		"/api/v1/prompts":                            {"GET": {a.prompts, asked, access.Viewer, "list open questions"}},
		"/api/v1/prompts/{id}":                       {"GET": {a.prompt, asked, access.Viewer, "show a question"}},
		"/api/v1/prompts/{id}/answer":                {"POST": {a.answerPrompt, asked, access.Approver, "answer a question"}},
		"/api/v1/events":                             {"GET": {a.events, own, access.Viewer, "follow all sessions"}},
		"/api/v1/search":                             {"GET": {a.search, own, access.Viewer, "search all sessions"}},
		"/api/v1/hooks":                              {"POST": {a.hooks, free, socketOnly, ""}},
		"/api/v1/hooks/decision":                     {"POST": {a.decision, free, socketOnly, ""}},
		"/api/v1/page":                               {"GET": {a.withPage(a.pageInfo), asksWho, access.Admin, "list the browsers that may use the page"}},
		"/api/v1/page/me":                            {"GET": {a.withPage(a.me), asked, access.Viewer, "say how a browser is known"}},
		"/api/v1/page/push":                          {"GET": {a.withPush(a.push), asked, access.Viewer, "say how a browser is notified"}, "POST": {a.withPush(a.subscribe), asked, access.Viewer, "have a browser be notified"}, "DELETE": {a.withPush(a.unsubscribe), asked, access.Viewer, "have a browser not be notified"}},
		"/api/v1/page/addresses":                     {"POST": {a.withPage(a.newAddress), asksWho, socketOnly, "let a browser use the page"}},
		"/api/v1/page/shares":                        {"POST": {a.withPage(a.newShare), barred, socketOnly, ""}},
		"/api/v1/page/browsers/{id}":                 {"DELETE": {a.withPage(a.revoke), asksWho, access.Admin, "shut a browser out of the page"}},
		"/api/v1/page/browsers/{id}/confirm":         {"POST": {a.withPage(a.confirm), barred, socketOnly, ""}},
		"/api/v1/page/rotate":                        {"POST": {a.withPage(a.rotate), asksWho, socketOnly, "shut all browsers out of the page"}},
		"/api/v1/inbox/announce":                     {"POST": {a.announce, free, socketOnly, ""}},
		"/api/v1/sessions/{id}/mailbox":              {"GET": {a.mailbox, ownKnown, access.Operator, "use another session's mail"}},
		"/api/v1/people/{name}/mailbox":              {"GET": {a.mailbox, asked, access.Admin, "use a person's mail"}},
		"/api/v1/fleets":                             {"GET": {a.listFleets, asked, access.Viewer, "list the fleets"}, "POST": {a.changeFleet, asked, access.Operator, "change a fleet"}},
		"/api/v1/mail":                               {"GET": {a.letters, asked, access.Operator, "read a person's mail"}, "POST": {a.writeLetter, asked, access.Operator, "write mail as a person"}},
		"/api/v1/mail/{id}":                          {"DELETE": {a.settleLetter, asked, access.Operator, "settle a person's mail"}},
		"/healthz":                                   {"GET": {a.probe(a.opts.Healthz), free, socketOnly, ""}},
		"/readyz":                                    {"GET": {a.probe(a.opts.Readyz), free, socketOnly, ""}},
		"/metrics":                                   {"GET": {a.metrics, asked, access.Admin, "show panebridge's counters"}},
	}
}

// Call is a call of the API.
type Call struct {
	Method string
	Path   string      // with {id} for what varies
	Role   access.Role // that a browser needs; "": it's there on the Unix socket only
	Does   string      // "list all sessions"; "": programs make it, and people don't
	Inside string      // whether it's made for programs in sessions' panes, in words
}

// Calls returns all calls of the API, sorted by their paths.
func Calls() []Call {
	var all []Call
	for path, m := range (&api{}).table() {
		for method, rt := range m {
			all = append(all, Call{method, path, rt.needs, rt.does, rt.inside.words()})
		}
	}
	slices.SortFunc(all, func(x, y Call) int { return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Method, y.Method)) })
	return all
}

// routes serves the API's calls.
func (a *api) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for path, m := range a.table() {
		mux.Handle(path, a.serve(m))
	}
	mux.Handle("/", a.serve(nil))
	return mux
}

// metrics are written by a handler of another's.
func (a *api) metrics(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Metrics == nil {
		return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "there are no metrics"}
	}
	a.opts.Metrics.ServeHTTP(w, r)
	return nil
}

// probe answers a question for which there may be nobody to answer.
func (a *api) probe(h http.HandlerFunc) apiHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if h == nil {
			return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "there is no " + r.URL.Path}
		}
		h(w, r)
		return nil
	}
}

// serve picks the handler of a request's method and writes its error.
func (a *api) serve(m methods) http.Handler {
	allow := strings.Join(slices.Sorted(maps.Keys(m)), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rt, ok := m[r.Method]
		switch {
		case m == nil:
			writeError(w, &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "there is no " + r.URL.Path})
		case !ok:
			w.Header().Set("Allow", allow)
			writeError(w, &Error{Status: http.StatusMethodNotAllowed, Code: codeMethod, Message: "this address takes " + allow})
		default:
			a.answer(w, r, func(w http.ResponseWriter, r *http.Request) error {
				if err := a.admit(w, r, rt); err != nil {
					return err
				}
				if err := a.permit(r, rt); err != nil {
					return err
				}
				return a.audited(w, r, rt)
			})
		}
	})
}

func (a *api) answer(w http.ResponseWriter, r *http.Request, h apiHandler) {
	err := h(w, r)
	if err == nil || r.Context().Err() != nil {
		return // answered, or nobody is there to hear it
	}
	e := toError(err)
	if e.Code == codeInternal {
		a.opts.Log.Error("answering an API call", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	writeError(w, e)
}
