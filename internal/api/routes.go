package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// api is the API as one door serves it.
type api struct {
	opts    Options
	author  string          // who an input through this door is from
	quit    <-chan struct{} // closed when the server ends: event streams end then
	host    string          // where the page is; "": it's off, or this is its door
	streams *streams
}

// handler answers a request, or returns an error before it has written any of
// the answer.
type handler func(http.ResponseWriter, *http.Request) error

// methods are the handlers of one path.
type methods map[string]handler

// routes returns the API's calls.
func (a *api) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for path, m := range map[string]methods{
		"/api/v1/health":                  {"GET": a.health},
		"/api/v1/adapters":                {"GET": a.adapters},
		"/api/v1/config/reload":           {"POST": a.reload},
		"/api/v1/sessions":                {"GET": a.listSessions, "POST": a.createSession},
		"/api/v1/sessions/{id}":           {"GET": a.getSession, "DELETE": a.deleteSession},
		"/api/v1/sessions/{id}/input":     {"POST": a.input},
		"/api/v1/sessions/{id}/keys":      {"POST": a.keys},
		"/api/v1/sessions/{id}/receipts":  {"GET": a.openReceipts},
		"/api/v1/sessions/{id}/output":    {"GET": a.output},
		"/api/v1/sessions/{id}/wait":      {"POST": a.wait},
		"/api/v1/sessions/{id}/screen":    {"GET": a.screen},
		"/api/v1/sessions/{id}/bindings":  {"POST": a.bind},
		"/api/v1/sessions/{id}/recording": {"GET": a.record},
		"/api/v1/programs":                {"GET": a.programs},
		"/api/v1/bindings/{id}":           {"DELETE": a.unbind},
		"/api/v1/pairings":                {"POST": a.pair},
		"/api/v1/receipts/{id}":           {"GET": a.receipt, "DELETE": a.cancelReceipt},
		"/api/v1/receipts/{id}/anyway":    {"POST": a.sendAnyway},
		"/api/v1/prompts":                 {"GET": a.prompts},
		"/api/v1/prompts/{id}":            {"GET": a.prompt},
		"/api/v1/prompts/{id}/answer":     {"POST": a.answerPrompt},
		"/api/v1/events":                  {"GET": a.events},
		"/api/v1/hooks":                   {"POST": a.hooks},
		"/api/v1/hooks/decision":          {"POST": a.decision},
		"/api/v1/page":                    {"GET": a.onUnix(a.pageInfo)},
		"/api/v1/page/addresses":          {"POST": a.onUnix(a.newAddress)},
		"/api/v1/page/browsers/{id}":      {"DELETE": a.onUnix(a.revoke)},
		"/api/v1/page/rotate":             {"POST": a.onUnix(a.rotate)},
		"/api/v1/inbox/announce":          {"POST": a.announce},
		"/api/v1/inbox/ping":              {"POST": a.ping},
	} {
		mux.Handle(path, a.serve(m))
	}
	if a.opts.Metrics != nil {
		mux.Handle("GET /metrics", a.opts.Metrics)
	}
	mux.Handle("/", a.serve(nil))
	return mux
}

// serve picks the handler of a request's method and writes its error.
func (a *api) serve(m methods) http.Handler {
	allow := strings.Join(slices.Sorted(maps.Keys(m)), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, ok := m[r.Method]
		switch {
		case m == nil:
			writeError(w, &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "there is no " + r.URL.Path})
		case !ok:
			w.Header().Set("Allow", allow)
			writeError(w, &Error{Status: http.StatusMethodNotAllowed, Code: codeMethod, Message: "this address takes " + allow})
		default:
			a.answer(w, r, h)
		}
	})
}

func (a *api) answer(w http.ResponseWriter, r *http.Request, h handler) {
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
