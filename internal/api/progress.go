package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// TextProgress says how far a text got that a person wrote, as GET /api/v1/sessions/{id}/progress lists them. It has
// neither the text nor the receipt's id: who sees the line sees what it shows.
type TextProgress struct {
	Line   int64                 `json:"line"` // number of its first line
	Submit bool                  `json:"submit"`
	State  sessions.ReceiptState `json:"state"`
	Cause  sessions.Cause        `json:"cause,omitempty"`
	Reason string                `json:"reason,omitempty"` // without secrets
}

// maxProgress is of how many lines one call asks at most.
const maxProgress = 100

// progress serves GET /api/v1/sessions/{id}/progress?lines=12,40: how far the texts got that begin at these lines. What
// has no receipt, or is gone, is left out.
func (a *api) progress(w http.ResponseWriter, r *http.Request) error {
	numbers, err := lineNumbers(r.URL.Query().Get("lines"))
	if err != nil {
		return err
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	out := []TextProgress{}
	for _, n := range numbers {
		read, err := a.opts.Output.Read(r.Context(), s.ID, n, 1)
		if err != nil {
			return err
		}
		if len(read.Lines) == 0 || read.Lines[0].N != n || !read.Lines[0].Begins || read.Lines[0].Receipt == "" {
			continue
		}
		rcpt, err := a.opts.Sessions.Receipt(r.Context(), read.Lines[0].Receipt)
		switch {
		case errors.Is(err, sessions.ErrUnknown):
			continue
		case err != nil:
			return err
		}
		out = append(out, TextProgress{Line: n, Submit: rcpt.Submit, State: rcpt.State, Cause: rcpt.Cause, Reason: a.shownText(rcpt.Reason)})
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// lineNumbers reads numbers with commas between.
func lineNumbers(text string) ([]int64, error) {
	words := strings.Split(text, ",")
	if text == "" || len(words) > maxProgress {
		return nil, badRequest(fmt.Sprintf(`"lines" takes 1 to %d numbers of lines with commas between`, maxProgress))
	}
	var out []int64
	for _, word := range words {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < 1 {
			return nil, badRequest(fmt.Sprintf(`"lines" has numbers of lines from 1 on, not %q`, word))
		}
		out = append(out, n)
	}
	return out, nil
}
