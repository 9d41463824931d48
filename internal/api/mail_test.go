package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// letterBox has one letter for each person, and notes what's done.
type letterBox struct {
	fleet []api.Fleet
	done  []string
}

func (b *letterBox) Letters(_ context.Context, person string) ([]api.Letter, error) {
	return []api.Letter{{ID: "m_1", From: "worker", To: person, Text: "the token is " + secret, At: time.Now()}}, nil
}

func (b *letterBox) WriteLetter(_ context.Context, person, to, text, key string) (api.Letter, string, error) {
	b.done = append(b.done, strings.Join([]string{person, "to", to, text, key}, " "))
	return api.Letter{ID: "m_2", From: person, To: to, Text: text}, "it's at work", nil
}

func (b *letterBox) AnswerLetter(_ context.Context, person, id, text, _ string) (api.Letter, string, error) {
	b.done = append(b.done, strings.Join([]string{person, "answers", id, text}, " "))
	return api.Letter{ID: "m_3"}, "", nil
}

func (b *letterBox) SettleLetter(_ context.Context, person, id string) error {
	if id != "m_1" {
		return fmt.Errorf("settle %s: %w", id, inbox.ErrNotYours)
	}
	b.done = append(b.done, person+" settles "+id)
	return nil
}

func (b *letterBox) Fleets(context.Context) ([]api.Fleet, error) { return b.fleet, nil }

// A viewer sees fleets and no mail; an operator has the mail of the own device, writes, answers and settles. Nobody gets
// a secret that's in a letter.
func TestMailAndFleets(t *testing.T) {
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	box := &letterBox{}
	b := setup(t, reaching(proxied), func(o *api.Options) { o.Masker, o.Mail = masker, box })
	id := b.daemon.Add("lead", "claude")
	box.fleet = []api.Fleet{{Name: "build", Members: []api.FleetMember{{ID: id, Directs: true}, {ID: "pb_gone", Unread: 2}}}, {Name: "empty"}}
	operator, viewer := b.device(t, publicHost, "Operator", access.Operator), b.device(t, publicHost, "Viewer", access.Viewer)
	call := func(who *browserstest.Signer, method, path, body string) (int, string) {
		t.Helper()
		sign := at(who, publicHost, "100.64.0.7")
		got, text := b.send(t, method, "/api/v1/"+path, body, func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json")
			sign(r)
		})
		return got.status, text
	}
	for _, who := range []*browserstest.Signer{operator, viewer} {
		status, text := call(who, http.MethodGet, "fleets", "")
		if status != http.StatusOK || !strings.Contains(text, `"name":"lead","state":"`+string(sessions.StateIdle)+`","directs":true`) || !strings.Contains(text, `"id":"pb_gone","unread":2`) || !strings.Contains(text, `"members":[]`) {
			t.Errorf("fleets: %d %s", status, text)
		}
	}
	if status, text := call(operator, http.MethodGet, "mail", ""); status != http.StatusOK || !strings.Contains(text, `"to":"web:br_`) || strings.Contains(text, secret) {
		t.Errorf("mail: %d %s", status, text)
	}
	const letter = `{"to":"lead","text":"go on","key":"0123456789"}`
	if status, text := call(operator, http.MethodPost, "mail", letter); status != http.StatusOK || !strings.Contains(text, `"untold":"it's at work"`) {
		t.Errorf("a letter: %d %s", status, text)
	}
	for body, want := range map[string]int{
		`{"answers":"m_1","text":"yes","key":"0123456789"}`:        http.StatusOK,
		`{"answers":"m_1","to":"a","text":"x","key":"0123456789"}`: http.StatusBadRequest,
		`{"text":"x","key":"0123456789"}`:                          http.StatusBadRequest,
		`{"to":"a","text":"x"}`:                                    http.StatusBadRequest,
	} {
		if status, text := call(operator, http.MethodPost, "mail", body); status != want {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if status, text := call(operator, http.MethodDelete, "mail/m_1", ""); status != http.StatusNoContent {
		t.Errorf("settled: %d %s", status, text)
	}
	if status, text := call(operator, http.MethodDelete, "mail/m_9", ""); status != http.StatusForbidden {
		t.Errorf("another's: %d %s", status, text)
	}
	done := len(box.done)
	for path, method := range map[string]string{"mail": http.MethodGet, "mail/m_1": http.MethodDelete} {
		if status, text := call(viewer, method, path, ""); status != http.StatusForbidden {
			t.Errorf("a viewer, %s %s: %d %s", method, path, status, text)
		}
	}
	if status, text := call(viewer, http.MethodPost, "mail", letter); status != http.StatusForbidden || len(box.done) != done || done != 3 {
		t.Errorf("a viewer's letter: %d %s; %q", status, text, box.done)
	}
}
