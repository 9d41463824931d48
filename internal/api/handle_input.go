package api

import (
	"fmt"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// maxKeys bounds one call of keys: more is a text, and belongs in input, where
// it's stored and verified.
const maxKeys = 100

func (a *api) input(w http.ResponseWriter, r *http.Request) error {
	var body Input
	if err := readJSON(w, r, maxInputBodyBytes, &body); err != nil {
		return err
	}
	if len(body.Text) > sessions.MaxInputBytes {
		return &Error{
			Status: http.StatusRequestEntityTooLarge, Code: codeTooLarge,
			Message: fmt.Sprintf("the text has %d bytes, more than %d", len(body.Text), sessions.MaxInputBytes),
		}
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	rcpt, err := a.opts.Sessions.Input(r.Context(), s.ID, sessions.InputRequest{
		Text: body.Text, Submit: body.Submit == nil || *body.Submit, Author: a.author,
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, a.receiptFor(rcpt))
	return nil
}

func (a *api) receipt(w http.ResponseWriter, r *http.Request) error {
	rcpt, err := a.opts.Sessions.Receipt(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.receiptFor(rcpt))
	return nil
}

func (a *api) cancelReceipt(w http.ResponseWriter, r *http.Request) error {
	rcpt, err := a.opts.Sessions.Cancel(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.receiptFor(rcpt))
	return nil
}

// openReceipts serves GET /api/v1/sessions/{id}/receipts: the inputs that aren't done, in
// their order, wherever they were written.
func (a *api) openReceipts(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	list := []any{}
	for _, rcpt := range a.opts.Sessions.Waiting(s.ID) {
		list = append(list, a.receiptFor(rcpt))
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// sendAnyway serves POST /api/v1/receipts/{id}/anyway. It returns when the text, or its
// Enter, is in the pane.
func (a *api) sendAnyway(w http.ResponseWriter, r *http.Request) error {
	var body Anyway
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if body.Quoted == "" {
		return badRequest(`"quoted" says which screen was looked at: the receipt has it`)
	}
	var rcpt sessions.Receipt
	var err error
	if body.Revival == "" {
		rcpt, err = a.opts.Sessions.SendAnyway(r.Context(), r.PathValue("id"), body.Quoted, a.author)
	} else {
		rcpt, err = a.opts.Sessions.Revive(r.Context(), r.PathValue("id"), body.Quoted, a.author, body.Revival)
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.receiptFor(rcpt))
	return nil
}

// seenAgo is how old what a person at the page presses a key for is at least: what has come
// up since then, nobody has pressed it for.
const seenAgo = 700 * time.Millisecond

func (a *api) keys(w http.ResponseWriter, r *http.Request) error {
	var body Keys
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if len(body.Keys) == 0 || len(body.Keys) > maxKeys {
		return badRequest(fmt.Sprintf(`"keys" takes 1 to %d key names, such as "Escape" or "C-c"`, maxKeys))
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	press := sessions.KeyPress{Keys: body.Keys, Author: a.author, Answers: true}
	if a.author != authorCLI {
		press.Seen = time.Now().Add(-seenAgo)
	}
	if err := a.opts.Sessions.Keys(r.Context(), s.ID, press); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
