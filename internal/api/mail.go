package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

// Letter is a text from an agent to a person, or from a person to an agent, without secrets.
type Letter struct {
	ID   string    `json:"id"`
	From string    `json:"from"` // as it's called
	To   string    `json:"to"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// Fleet is a group of sessions that work together.
type Fleet struct {
	Name    string        `json:"name"`
	Members []FleetMember `json:"members"` // its director first; never null
}

// FleetMember is a session of a fleet.
type FleetMember struct {
	ID           sessions.ID    `json:"id"`
	Name         string         `json:"name,omitempty"` // "": it's gone
	State        sessions.State `json:"state,omitempty"`
	Directs      bool           `json:"directs,omitempty"`
	LastReceived time.Time      `json:"last_received_at,omitzero"` // when it was shown mail last
	Unread       int            `json:"unread"`                    // open mail that it wasn't shown
}

// Mailbox is the agents' mail, as far as people have to do with it. A person is who a call is from. Methods do disk I/O;
// errors wrap those of package sessions, or inbox.ErrNotYours.
type Mailbox interface {
	// Letters returns what waits for a person, the newest first.
	Letters(ctx context.Context, person string) ([]Letter, error)
	// WriteLetter sends a letter to a session, AnswerLetter one to who wrote a letter, which is settled by it. Both return
	// why the session wasn't told of it; "": it was. The same key is sent once.
	WriteLetter(ctx context.Context, person, to, text, key string) (l Letter, why string, err error)
	AnswerLetter(ctx context.Context, person, id, text, key string) (l Letter, why string, err error)
	// SettleLetter says that a letter needs nothing more of its recipient.
	SettleLetter(ctx context.Context, person, id string) error
	// Fleets returns all fleets; of their members it has neither names nor states.
	Fleets(ctx context.Context) ([]Fleet, error)
}

// NewLetter is the body of POST /api/v1/mail: to whom it's written, or which letter it answers.
type NewLetter struct {
	To      string `json:"to,omitempty"`      // a session's name or id
	Answers string `json:"answers,omitempty"` // Letter.ID
	Text    string `json:"text"`
	Key     string `json:"key"` // a random word; what has the same is sent once
}

// LetterSent is the answer of POST /api/v1/mail.
type LetterSent struct {
	Letter

	Untold string `json:"untold,omitempty"` // why the session wasn't told of it yet
}

func (a *api) mail() (Mailbox, error) {
	if a.opts.Mail == nil {
		return nil, &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "there's no mail here"}
	}
	return a.opts.Mail, nil
}

// mailError is an error of a Mailbox, as the API tells it.
func mailError(err error) error {
	if errors.Is(err, inbox.ErrNotYours) {
		return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: err.Error()}
	}
	return err
}

// shownLetter is a letter without secrets.
func (a *api) shownLetter(l Letter) Letter {
	l.From, l.To, l.Text = a.shownText(l.From), a.shownText(l.To), a.hiddenText(l.Text)
	return l
}

// listFleets serves GET /api/v1/fleets.
func (a *api) listFleets(w http.ResponseWriter, r *http.Request) error {
	box, err := a.mail()
	if err != nil {
		return err
	}
	fleets, err := box.Fleets(r.Context())
	if err != nil {
		return err
	}
	for i := range fleets {
		fleets[i].Name, fleets[i].Members = a.shownText(fleets[i].Name), notNil(fleets[i].Members)
		for j := range fleets[i].Members {
			m := &fleets[i].Members[j]
			if s, err := a.opts.Sessions.Get(string(m.ID)); err == nil {
				m.Name, m.State = a.shownText(s.Name), s.State
			}
		}
	}
	writeJSON(w, http.StatusOK, notNil(fleets))
	return nil
}

// letters serves GET /api/v1/mail: what waits for who asks.
func (a *api) letters(w http.ResponseWriter, r *http.Request) error {
	box, err := a.mail()
	if err != nil {
		return err
	}
	person, _ := a.authorOf(r)
	all, err := box.Letters(r.Context(), person)
	if err != nil {
		return err
	}
	for i := range all {
		all[i] = a.shownLetter(all[i])
	}
	writeJSON(w, http.StatusOK, notNil(all))
	return nil
}

// writeLetter serves POST /api/v1/mail.
func (a *api) writeLetter(w http.ResponseWriter, r *http.Request) error {
	box, err := a.mail()
	if err != nil {
		return err
	}
	var body NewLetter
	if err := readJSON(w, r, maxInputBodyBytes, &body); err != nil {
		return err
	}
	if (body.To == "") == (body.Answers == "") {
		return badRequest(`give "to" or "answers": to whom it's written, or which letter it answers`)
	}
	if !uploadNames.MatchString(body.Key) {
		return badRequest(`"key" is a word of 8 to 64 letters and digits, another for each letter`)
	}
	person, _ := a.authorOf(r)
	write, to := box.WriteLetter, body.To
	if body.Answers != "" {
		write, to = box.AnswerLetter, body.Answers
	}
	l, why, err := write(r.Context(), person, to, body.Text, "page "+person+" "+body.Key)
	if err != nil {
		return mailError(err)
	}
	writeJSON(w, http.StatusOK, LetterSent{a.shownLetter(l), a.shownText(why)})
	return nil
}

// settleLetter serves DELETE /api/v1/mail/{id}: it needs nothing more of who calls.
func (a *api) settleLetter(w http.ResponseWriter, r *http.Request) error {
	box, err := a.mail()
	if err != nil {
		return err
	}
	person, _ := a.authorOf(r)
	if err := box.SettleLetter(r.Context(), person, r.PathValue("id")); err != nil {
		return mailError(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
