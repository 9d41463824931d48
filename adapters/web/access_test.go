package web_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// accessList is who may do what, in memory.
type accessList struct {
	mu      sync.Mutex
	entries []api.AccessEntry
}

func (l *accessList) List() []api.AccessEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

func (l *accessList) Grant(_ context.Context, person, role, by string) error {
	if person != "telegram:7" {
		return fmt.Errorf("%w: %q names nobody; write the platform and the person's id, such as telegram:123456", sessions.ErrInvalid, person)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, api.AccessEntry{Person: person, Role: role, By: by, At: time.Now()})
	return nil
}

func (l *accessList) Revoke(_ context.Context, person, role, _ string) (api.AccessRevoked, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(e api.AccessEntry) bool {
		return e.Person == person && e.Role == role && e.By != "configuration"
	})
	return api.AccessRevoked{Rest: []string{}, Message: person + " isn't " + role + " any more."}, nil
}

// Who may do what in chats can be read, given and taken back on the page, on a phone's
// screen too; what the configuration gives can't be taken back here.
func TestAccessIsGivenAndTakenBack(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, width := range []int{1200, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.adapters = []api.Adapter{{Name: "telegram", Mode: "strict", Chats: []api.Chat{}}}
			day := 24 * time.Hour
			s.access.entries = []api.AccessEntry{
				{Person: "telegram:1", Role: "admin", By: "configuration"},
				{Person: "telegram:22", Name: "<b>Grüße</b> 🦊", Role: "operator", By: "telegram:1", At: time.Now().Add(-9 * day), Chat: "telegram:-1001", LastUsed: time.Now().Add(-time.Hour)},
				{Person: "telegram:333", Role: "viewer", By: "cli", At: time.Now().Add(-40 * day), Void: "it isn't in the group any more that gave it"},
			}
			b := browse(t, width, 800)
			b.Ignore("status of 422")
			b.Do(s.enter())
			b.Until("the button", `!document.querySelector('#access-foot').hidden`)
			if width < 720 {
				b.Do(chromedp.Click("#menu"))
			}
			b.Do(chromedp.WaitVisible("#access"), chromedp.Click("#access"), chromedp.WaitVisible("#access-dialog"))
			text := `document.querySelector('#access-list').textContent`
			b.Until("all of it", text+`.includes('<b>Grüße</b> 🦊') && `+text+`.includes('Doesn’t count: it isn')`)
			b.Shot(fmt.Sprintf("access-%d", width))
			if n := browsertest.Eval[int](b, `document.querySelectorAll('#access-list button').length`); n != 2 {
				t.Errorf("%d can be taken back, want 2", n)
			}
			if wide := browsertest.Eval[int](b, `document.querySelector('#access-dialog').scrollWidth - document.querySelector('#access-dialog').clientWidth`); wide > 0 {
				t.Errorf("the dialog is %d pixels too wide", wide)
			}

			b.Do(chromedp.SendKeys("#access-person", "7"), chromedp.Click("#access-grant"))
			b.Until("why not", `document.querySelector('#access-error').textContent.includes('telegram:123456')`)
			b.Do(chromedp.SetValue("#access-person", "telegram:7"), chromedp.SetValue("#access-role", "approver"), chromedp.Click("#access-grant"))
			b.Until("what was given", text+`.includes('given on this page, just now')`)
			if got := s.access.List(); len(got) != 4 || got[3].Role != "approver" || got[3].By != "web" {
				t.Errorf("%+v", got)
			}
			b.Do(chromedp.Click(`[id="revoke-telegram:22-operator"]`))
			b.Until("that it's taken back", `document.querySelector('#access-said').textContent.includes("isn't operator any more")`)
			b.Until("it's gone", `!`+text+`.includes('Grüße')`)
			if got := s.access.List(); len(got) != 3 {
				t.Errorf("%+v", got)
			}
		})
	}
}
