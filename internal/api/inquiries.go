package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Inquiries puts questions of programs to people: showing.Inquirer. Errors wrap those of packages sessions and showing.
type Inquiries interface {
	// Ask puts a question. The same key of a session asks once. It does disk I/O.
	Ask(ctx context.Context, s sessions.Session, r sessions.InquiryRequest) (sessions.Inquiry, error)
	// Inquiry returns one by its id. It may do disk I/O.
	Inquiry(ctx context.Context, id string) (sessions.Inquiry, error)
	// Await returns one when it's final, or as it stands after that time.
	Await(ctx context.Context, id string, within time.Duration) (sessions.Inquiry, error)
	// Withdraw closes one that nobody has answered. It does disk I/O.
	Withdraw(ctx context.Context, id string) (sessions.Inquiry, error)
}

// InquiryRequest is the body of POST /api/v1/sessions/{id}/inquiries.
type InquiryRequest struct {
	// Key is the caller's name for the question, 16 to 64 letters and digits: the same key asks once.
	Key       string   `json:"key"`
	Text      string   `json:"text"`
	Options   []string `json:"options,omitempty"`
	TakesText bool     `json:"takes_text,omitempty"` // as it does without options
	TimeoutMS int64    `json:"timeout_ms,omitempty"` // 0: 10 minutes; at most a day
	Stays     bool     `json:"stays,omitempty"`      // it stays open though nobody waits for the answer
}

// Inquiry is what a program asks people, as whoever asked reads it.
type Inquiry struct {
	ID      string                  `json:"id"`
	Session sessions.ID             `json:"session"`
	Outcome sessions.InquiryOutcome `json:"outcome,omitempty"` // "": it's open
	// Answer is the option's label, or the text: to the Unix socket as it was written, else without secrets.
	Answer   string    `json:"answer,omitempty"`
	Option   int       `json:"option,omitempty"` // its number, from 1; 0: it's a text
	By       string    `json:"by,omitempty"`     // who answered, as people call them
	Author   string    `json:"author,omitempty"` // their id: "web", "cli", "PLATFORM:123"
	Reason   string    `json:"reason,omitempty"` // why there's no answer
	OpenedAt time.Time `json:"opened_at"`
	ClosedAt time.Time `json:"closed_at,omitzero"`
	Deadline time.Time `json:"deadline"`
}

func (a *api) newInquiry(q sessions.Inquiry) Inquiry {
	out := Inquiry{
		ID: q.ID, Session: q.Session, Outcome: q.Outcome, Reason: q.Reason, OpenedAt: q.OpenedAt, ClosedAt: q.ClosedAt, Deadline: q.Deadline,
	}
	if q.Answer == nil {
		return out
	}
	out.By, out.Author = a.shownText(q.Who()), q.Answer.Author
	switch {
	case q.Outcome == sessions.InquiryRefused:
		out.Reason = out.By + " chose to give no answer"
	case len(q.Answer.Options) > 0:
		out.Option = q.Answer.Options[0] + 1
		fallthrough
	default:
		out.Answer = a.shownText(q.Chosen())
	}
	return out
}

// maxAwait bounds how long a call waits for an answer: who waits calls again, and is missed if they don't.
const maxAwait = 25 * time.Second

// awaitOf is how long a request waits: the query wait_ms.
func awaitOf(r *http.Request) (time.Duration, error) {
	ms, err := queryInt(r, "wait_ms", 0)
	if err != nil || ms < 0 {
		return 0, badRequest(`"wait_ms" is a number of milliseconds`)
	}
	return min(time.Duration(min(ms, maxWaitMS))*time.Millisecond, maxAwait), nil
}

// untilQuit is a request's context, which ends with the server, too.
func (a *api) untilQuit(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	a.cancelAtQuit(ctx, cancel)
	return ctx, cancel
}

var errNoInquiries = &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "nobody is asked anything here"}

// inquire serves POST /api/v1/sessions/{id}/inquiries.
func (a *api) inquire(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Inquiries == nil {
		return errNoInquiries
	}
	var body InquiryRequest
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if body.TimeoutMS < 0 || body.TimeoutMS > maxWaitMS {
		return badRequest(fmt.Sprintf("timeout_ms must be a number from 0 to %d, not %d", sessions.MaxInquiryTimeout.Milliseconds(), body.TimeoutMS))
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	q, err := a.opts.Inquiries.Ask(r.Context(), s, sessions.InquiryRequest{
		Key: body.Key, Text: body.Text, Options: body.Options, TakesText: body.TakesText,
		Timeout: time.Duration(body.TimeoutMS) * time.Millisecond, Stays: body.Stays, Outside: !a.opts.placeOf(r.Context()).Inside,
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newInquiry(q))
	return nil
}

// inquiryOf finds the inquiry that a request is about.
func (a *api) inquiryOf(r *http.Request) (sessions.Inquiry, error) {
	if a.opts.Inquiries == nil {
		return sessions.Inquiry{}, errNoInquiries
	}
	s, err := a.session(r)
	if err != nil {
		return sessions.Inquiry{}, err
	}
	q, err := a.opts.Inquiries.Inquiry(r.Context(), r.PathValue("n"))
	if err == nil && q.Session != s.ID {
		err = fmt.Errorf("%w question of %s", sessions.ErrUnknown, s.Name)
	}
	return q, err
}

// inquiry serves GET /api/v1/sessions/{id}/inquiries/{n}: with the query wait_ms it waits so long for the answer, at
// most 25 s.
func (a *api) inquiry(w http.ResponseWriter, r *http.Request) error {
	within, err := awaitOf(r)
	if err != nil {
		return err
	}
	q, err := a.inquiryOf(r)
	if err == nil && within > 0 && !q.Final() {
		ctx, cancel := a.untilQuit(r)
		defer cancel()
		if q, err = a.opts.Inquiries.Await(ctx, q.ID, within); ctx.Err() != nil {
			return errEnding
		}
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newInquiry(q))
	return nil
}

// withdrawInquiry serves DELETE /api/v1/sessions/{id}/inquiries/{n}: the answer is how it stands.
func (a *api) withdrawInquiry(w http.ResponseWriter, r *http.Request) error {
	q, err := a.inquiryOf(r)
	if err != nil {
		return err
	}
	if q, err = a.opts.Inquiries.Withdraw(r.Context(), q.ID); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newInquiry(q))
	return nil
}
