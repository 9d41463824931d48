package web_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/continuing"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/sessions"
)

// goesOnSite is a site whose sessions go on by themselves when limits are over.
func goesOnSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s.stop()
	goesOn := continuing.New(continuing.Options{Sessions: s.daemon, Store: db, Text: func() string { return "continue" }, Changed: s.daemon.Feed.PublishSession})
	s.goesOn = goesOn
	s.start(t)
	return s
}

// The page says what a session uses and until when it's limited, has it go on by a button, and takes that back.
func TestTheSessionGoesOnByAButton(t *testing.T) {
	t.Parallel()
	slow(t)
	s := goesOnSite(t)
	id := s.daemon.Add("api", "claude")
	now := time.Now()
	u := sessions.Usage{
		Agent: "claude", Tokens: sessions.Tokens{Input: 1200, CacheRead: 40_000, Output: 300}, CostUSD: 0.25,
		Context: &sessions.ContextUse{Used: 50_000, Window: 200_000},
		Windows: []sessions.AccountWindow{{Minutes: 300, UsedPercent: 42.5, ResetsAt: now.Add(time.Hour)}, {Minutes: 10080, UsedPercent: 7, ResetsAt: now.Add(-time.Hour)}},
	}
	s.daemon.SetUsage(id, &u)
	for _, size := range [][2]int{{1200, 800}, {390, 844}} {
		b := browse(t, size[0], size[1])
		b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
		browsertest.Eval[string](b, `location.hash = '`+string(id)+`'`)
		b.Do(chromedp.WaitVisible("#foot"))
		b.Until("what was used", `document.querySelector('#usage').textContent.startsWith('context 25 % full, 150k left · 42k tokens · $0.25 · 43 % of the account’s 5 h until ') && document.querySelector('#limit').hidden`)
		limited := u
		limited.Limit = &sessions.UsageLimit{At: time.Now(), Until: now.Add(30 * time.Minute)}
		s.daemon.SetState(id, sessions.StateError, "its last turn failed: You've hit your limit")
		s.daemon.SetUsage(id, &limited)
		b.Until("the limit", `/^The agent is limited until (\w+ \d+ )?\d+:\d\d/.test(document.querySelector('#limit-words').textContent) && /limited until/.test(document.querySelector('#about').textContent)`)
		b.Shot(fmt.Sprint("limit-", size[0]))
		b.Do(chromedp.Click("#go-on"))
		b.Until("it goes on", `document.querySelector('#go-on').textContent === 'Don’t go on' && !document.querySelector('#go-on').disabled && /Then “continue” is sent, unless somebody writes before \(this page\)/.test(document.querySelector('#limit-words').textContent)`)
		b.Shot(fmt.Sprint("limit-goes-on-", size[0]))
		if _, ok := s.goesOn.ContinuationOf(id); !ok {
			t.Error("nobody knows that it goes on")
		}
		b.Do(chromedp.Click("#go-on"))
		b.Until("it doesn't", `document.querySelector('#go-on').textContent === 'Go on then' && !/Then/.test(document.querySelector('#limit-words').textContent)`)
		s.daemon.SetState(id, sessions.StateIdle, "")
		s.daemon.SetUsage(id, &u)
		b.Until("no limit", `document.querySelector('#limit').hidden`)
	}
}
