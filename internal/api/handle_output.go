package api

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

const (
	defaultOutputLines = 500
	maxOutputLines     = 5000
)

func (a *api) output(w http.ResponseWriter, r *http.Request) error {
	from, err := queryInt(r, "from", 0)
	if err != nil {
		return err
	}
	limit, err := queryInt(r, "limit", defaultOutputLines)
	if err != nil {
		return err
	}
	if limit == 0 || limit > maxOutputLines {
		return badRequest(fmt.Sprintf("limit must be 1 to %d", maxOutputLines))
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	out, err := a.opts.Output.Read(r.Context(), s.ID, from, int(limit))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, Output{
		Lines: notNil(out.Lines), Gaps: notNil(out.Gaps), Next: out.Next, Secrets: a.secrets(r.Context(), s.ID, out.Lines),
	})
	return nil
}

// maxFailures is how many failed turns are listed at most, the newest.
const maxFailures = 500

func (a *api) failures(w http.ResponseWriter, r *http.Request) error {
	from, err := queryInt(r, "from", 0)
	if err != nil {
		return err
	}
	to, err := queryInt(r, "to", math.MaxInt64)
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	turns, err := a.opts.Output.Failures(r.Context(), s.ID, from, to, maxFailures)
	if err != nil {
		return err
	}
	all := []Failure{}
	for _, t := range slices.Backward(turns) {
		all = append(all, Failure{Turn: t.Number, After: t.LastLine, Why: a.hiddenText(t.Failed), StartedAt: t.StartedAt, EndedAt: t.EndedAt})
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}

// queryInt returns a query parameter that is a number ≥ 0.
func queryInt(r *http.Request, name string, def int64) (int64, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return 0, badRequest(fmt.Sprintf("%s must be a number from 0, not %q", name, v))
	}
	return n, nil
}

// notNil makes JSON write [] instead of null.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (a *api) screen(w http.ResponseWriter, r *http.Request) error {
	write, contentType, err := a.screenFormat(r.URL.Query().Get("format"))
	if err != nil {
		return err
	}
	show, err := showsSecrets(r.URL.Query().Get("secrets"))
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	screen, err := a.opts.Sessions.Screen(r.Context(), s.ID)
	if err != nil {
		return err
	}
	if !show {
		screen.Rows = a.hidden(screen.Rows)
	}
	body, err := write(screen)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(body)
	return nil
}

// showsSecrets reads the parameter "secrets" of a screen: they're masked unless it says
// "show".
func showsSecrets(text string) (bool, error) {
	switch text {
	case "", "mask":
		return false, nil
	case "show":
		return true, nil
	default:
		return false, badRequest(fmt.Sprintf("secrets must be mask or show, not %q", text))
	}
}

// screenFormat is how a screen is written, and as what.
func (a *api) screenFormat(name string) (write func(sessions.Screen) ([]byte, error), contentType string, err error) {
	as := func(text func(sessions.Screen) string) func(sessions.Screen) ([]byte, error) {
		return func(s sessions.Screen) ([]byte, error) { return []byte(text(s)), nil }
	}
	switch {
	case name == "", name == "text":
		return as(screenText), "text/plain; charset=utf-8", nil
	case name == "ansi":
		return as(func(s sessions.Screen) string { return joinRows(s.Rows) }), "text/plain; charset=utf-8", nil
	case name == "html":
		return as(screenHTML), "text/html; charset=utf-8", nil
	case name == "png" && a.opts.Picture != nil:
		return a.opts.Picture, "image/png", nil
	default:
		return nil, "", badRequest(fmt.Sprintf("format must be text, ansi, html or png, not %q", name))
	}
}

func screenText(s sessions.Screen) string {
	rows := make([]string, len(s.Rows))
	for i, row := range s.Rows {
		rows[i] = sgr.Plain(row)
	}
	return joinRows(rows)
}

func joinRows(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.Join(rows, "\n") + "\n"
}
