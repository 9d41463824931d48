package api

import (
	"net/http"
	"time"

	"github.com/panebridge/panebridge/internal/browsers"
)

// Page says where the page is, and which browsers may use it.
type Page struct {
	URL      string    `json:"url"`      // without a token; "": the page is off
	Start    string    `json:"start"`    // the name of this start of the daemon
	Browsers []Browser `json:"browsers"` // never null; who was here last first
}

// Browser is a browser that may use the page.
type Browser struct {
	ID      string    `json:"id"`
	Label   string    `json:"label"`
	Address string    `json:"address"` // of the page, as the browser calls it
	Created time.Time `json:"created_at"`
	Used    time.Time `json:"used_at"`
	Expires time.Time `json:"expires_at"`
}

// PageAddress is an address that lets one browser in, once.
type PageAddress struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires_at"`
}

// Rotated says what a rotation has ended.
type Rotated struct {
	Browsers int `json:"browsers"`
}

// onUnix refuses what's there on the Unix socket only: a browser that's let in lets in no
// other.
func (a *api) onUnix(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case a.author != authorCLI:
			return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: "who may use the page is said in the terminal: panebridge page"}
		case a.opts.Browsers == nil:
			return errPageOff
		}
		return h(w, r)
	}
}

var errPageOff = &Error{
	Status: http.StatusConflict, Code: "conflict",
	Message: "the page is off: set adapters.web.enabled to true and start the daemon anew",
}

// pageInfo serves GET /api/v1/page.
func (a *api) pageInfo(w http.ResponseWriter, _ *http.Request) error {
	now := time.Now()
	p := Page{Browsers: []Browser{}}
	if a.host != "" {
		p.URL = "http://" + a.host + "/"
	}
	p.Start, _ = a.opts.Browsers.Now(now)
	for _, b := range a.opts.Browsers.List(now) {
		p.Browsers = append(p.Browsers, newBrowser(b))
	}
	writeJSON(w, http.StatusOK, p)
	return nil
}

func newBrowser(b browsers.Browser) Browser {
	return Browser{ID: b.ID, Label: b.Label, Address: b.Address, Created: b.Created, Used: b.LastUsed, Expires: b.Expires}
}

// newAddress serves POST /api/v1/page/addresses.
func (a *api) newAddress(w http.ResponseWriter, _ *http.Request) error {
	if a.host == "" {
		return errPageOff
	}
	var out PageAddress
	out.URL, out.Expires = a.opts.Browsers.NewAddress(time.Now(), a.host)
	writeJSON(w, http.StatusCreated, out)
	return nil
}

// revoke serves DELETE /api/v1/page/browsers/{id}.
func (a *api) revoke(w http.ResponseWriter, r *http.Request) error {
	if err := a.opts.Browsers.Revoke(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// rotate serves POST /api/v1/page/rotate.
func (a *api) rotate(w http.ResponseWriter, r *http.Request) error {
	n, err := a.opts.Browsers.Rotate(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, Rotated{n})
	return nil
}
