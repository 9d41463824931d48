package api

import (
	"net/http"
	"time"

	"github.com/panebridge/panebridge/internal/push"
)

// Push says how the calling browser is notified though no page is open.
type Push struct {
	Key          string         `json:"key"`                    // what it subscribes with, as base64url
	Subscription *push.Standing `json:"subscription,omitempty"` // its own; nil: it isn't notified
}

// maxPushBytes bounds a subscription: an endpoint, and the ids of 500 sessions.
const maxPushBytes = 32 << 10

// withPush refuses calls where nobody is notified, and from who isn't a browser.
func (a *api) withPush(h apiHandler) apiHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if a.opts.Push == nil {
			return errPageOff
		}
		if browserOf(r.Context()).ID == "" {
			return &Error{Status: http.StatusConflict, Code: "conflict", Message: "only a browser is notified so: open the page, and then Notifications… below the list"}
		}
		return h(w, r)
	}
}

// push serves GET /api/v1/page/push.
func (a *api) push(w http.ResponseWriter, r *http.Request) error {
	p := Push{Key: a.opts.Push.PublicKey()}
	if s, ok := a.opts.Push.Find(browserOf(r.Context()).ID); ok {
		p.Subscription = &s
	}
	writeJSON(w, http.StatusOK, p)
	return nil
}

// subscribe serves POST /api/v1/page/push.
func (a *api) subscribe(w http.ResponseWriter, r *http.Request) error {
	var body push.Subscription
	if err := readJSON(w, r, maxPushBytes, &body); err != nil {
		return err
	}
	body.Browser = browserOf(r.Context()).ID
	if err := a.opts.Push.Subscribe(r.Context(), time.Now(), body); err != nil {
		return err
	}
	return a.push(w, r)
}

// unsubscribe serves DELETE /api/v1/page/push.
func (a *api) unsubscribe(w http.ResponseWriter, r *http.Request) error {
	if err := a.opts.Push.Unsubscribe(r.Context(), browserOf(r.Context()).ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
