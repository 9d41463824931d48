package api

import (
	"fmt"
	"io"
	"net/http"
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
	writeJSON(w, http.StatusOK, Output{Lines: notNil(out.Lines), Gaps: notNil(out.Gaps), Next: out.Next})
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
	write, contentType, err := screenFormat(r.URL.Query().Get("format"))
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
	w.Header().Set("Content-Type", contentType)
	_, _ = io.WriteString(w, write(screen))
	return nil
}

func screenFormat(name string) (func(sessions.Screen) string, string, error) {
	switch name {
	case "", "text":
		return screenText, "text/plain; charset=utf-8", nil
	case "ansi":
		return func(s sessions.Screen) string { return joinRows(s.Rows) }, "text/plain; charset=utf-8", nil
	case "html":
		return screenHTML, "text/html; charset=utf-8", nil
	default:
		return nil, "", badRequest(fmt.Sprintf("format must be text, ansi or html, not %q", name))
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
