package web_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
)

// letterBox is mail and fleets in memory.
type letterBox struct {
	mu      sync.Mutex
	letters []api.Letter
	fleets  []api.Fleet
	sent    []string
}

func (b *letterBox) Letters(context.Context, string) ([]api.Letter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.letters), nil
}

func (b *letterBox) WriteLetter(_ context.Context, person, to, text, _ string) (api.Letter, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, strings.Join([]string{person, to, text}, " "))
	return api.Letter{ID: "m_2", From: person, To: to, Text: text}, "it’s at work", nil
}

func (b *letterBox) AnswerLetter(ctx context.Context, person, id, text, key string) (api.Letter, string, error) {
	l, _, err := b.WriteLetter(ctx, person, "answer to "+id, text, key)
	return l, "", err
}

func (b *letterBox) SettleLetter(_ context.Context, _, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.letters = slices.DeleteFunc(b.letters, func(l api.Letter) bool { return l.ID == id })
	return nil
}

func (b *letterBox) Fleets(context.Context) ([]api.Fleet, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.fleets), nil
}

// fillMail has a fleet of two and a letter.
func (s *site) fillMail() {
	lead, worker := s.daemon.Add("lead", "claude"), s.daemon.Add("worker", "codex")
	s.mail.mu.Lock()
	defer s.mail.mu.Unlock()
	s.mail.fleets = []api.Fleet{{Name: "build", Members: []api.FleetMember{
		{ID: lead, Name: "lead", State: "idle", Directs: true, LastReceived: time.Now().Add(-3 * time.Minute)}, {ID: worker, Name: "worker", State: "working", Unread: 2},
	}}}
	s.mail.letters = []api.Letter{{ID: "m_1", From: "worker", To: "web", Text: "The tests <b>fail</b>.\nShall I go on?", At: time.Now().Add(-time.Minute)}}
}

// Fleets and mail are shown by one dialog: a letter is answered and settled there, and others are written.
func TestMailIsReadAndWrittenOnThePage(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.fillMail()
	b := browse(t, 1280, 900)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"), chromedp.Click("#mail"), chromedp.WaitVisible("#mail-done-m_1"))
	text := browsertest.Eval[string](b, `document.querySelector('#mail-dialog').innerText`)
	for _, want := range []string{"build", "lead", "director", "received mail 3 minutes ago", "idle · received no mail yet · 2 unread", "The tests <b>fail</b>.\nShall I go on?"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q isn't in %s", want, text)
		}
	}
	b.Shot("mail")
	b.Do(chromedp.Click("#mail-answer-m_1"), chromedp.SendKeys("#mail-text", "yes, do"), chromedp.Click("#mail-send"))
	b.Until("the answer is sent", `/^Sent to answer to m_1/.test(document.querySelector('#mail-said').textContent)`)
	b.Do(chromedp.SendKeys("#mail-to", "lead"), chromedp.SendKeys("#mail-text", "go on"), chromedp.Click("#mail-send"))
	b.Until("why it isn't told", `/^Stored for lead, who wasn’t told of it yet: it’s at work/.test(document.querySelector('#mail-said').textContent)`)
	b.Do(chromedp.Click("#mail-done-m_1"))
	b.Until("it's settled", `!document.querySelector('#mail-none').hidden && document.querySelectorAll('#mail-letters > *').length === 0`)
	s.mail.mu.Lock()
	defer s.mail.mu.Unlock()
	if want := []string{"web answer to m_1 yes, do", "web lead go on"}; !slices.Equal(s.mail.sent, want) {
		t.Errorf("sent are %q", s.mail.sent)
	}
}
