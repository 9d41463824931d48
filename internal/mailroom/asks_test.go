package mailroom

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// A session that waits for somebody is told of once: with its question, whichever of the two is
// known first, or as waiting where nobody can read what it asks.
func TestOneNoticeForOneQuestion(t *testing.T) {
	question := &sessions.Dialog{Kind: sessions.PromptPermission, Title: "May I?", Print: "1"}
	unread := &sessions.Dialog{Kind: sessions.PromptUnread, Title: "?", Print: "2"}
	began := time.Unix(1_000_000, 0)
	type step struct {
		after time.Duration
		do    func(a *waitNotices, now time.Time) string
	}
	see := func(after time.Duration, p *sessions.Dialog, another bool) step {
		return step{after, func(a *waitNotices, _ time.Time) string { return a.seePrompt(p, another) }}
	}
	state := func(after time.Duration, s sessions.State) step {
		return step{after, func(a *waitNotices, now time.Time) string { a.changeState(s, "", now); return "" }}
	}
	for name, c := range map[string]struct {
		steps []step
		want  []string
	}{
		"the question first":           {[]step{see(0, question, true), state(0, sessions.StateWaiting)}, []string{"asks: May I?"}},
		"the state first":              {[]step{state(0, sessions.StateWaiting), see(2*time.Second, question, true)}, []string{"asks: May I?"}},
		"not recognised":               {[]step{see(0, unread, true), state(0, sessions.StateWaiting)}, []string{"waits: a dialog is open"}},
		"recognised later":             {[]step{see(0, unread, true), state(0, sessions.StateWaiting), see(time.Second, question, true)}, []string{"asks: May I?"}},
		"passes":                       {[]step{state(0, sessions.StateWaiting), state(time.Second, sessions.StateWorking)}, nil},
		"two questions":                {[]step{see(0, question, true), state(0, sessions.StateWaiting), see(time.Minute, question, true)}, []string{"asks: May I?", "asks: May I?"}},
		"the same, of the daemon past": {[]step{see(0, question, false), state(0, sessions.StateWaiting)}, nil},
		"answered, and then unread": {
			[]step{see(0, question, true), state(0, sessions.StateWaiting), see(time.Second, nil, true), state(time.Second, sessions.StateWorking), see(time.Minute, unread, true), state(time.Minute, sessions.StateWaiting)},
			[]string{"asks: May I?", "waits: a dialog is open"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a waitNotices
			var got []string
			tell := func(msg string) {
				if msg != "" {
					got = append(got, msg)
				}
			}
			at := time.Duration(0)
			for _, s := range c.steps {
				for ; at < s.after; at += 100 * time.Millisecond {
					tell(a.takeWaiting(began.Add(at)))
				}
				tell(s.do(&a, began.Add(at)))
			}
			for end := at + time.Minute; at < end; at += 100 * time.Millisecond {
				tell(a.takeWaiting(began.Add(at)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("told %q, wanted %q", got, c.want)
			}
		})
	}
}

// However question and state come and go: what's told of one stretch of waiting is one question
// for each that's drawn, or one word that it waits if none is.
func TestEachWaitIsTold(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		var a waitNotices
		now := time.Unix(1_000_000, 0)
		for range rapid.IntRange(1, 6).Draw(t, "waits") {
			readable, late := rapid.Bool().Draw(t, "readable"), rapid.Bool().Draw(t, "state first")
			told := 0
			count := func(msg string) {
				if msg != "" {
					told++
				}
			}
			see := func() {
				kind := sessions.PromptUnread
				if readable {
					kind = sessions.PromptChoice
				}
				count(a.seePrompt(&sessions.Dialog{Kind: kind, Title: "Which?"}, true))
			}
			if !late {
				see()
			}
			a.changeState(sessions.StateWaiting, "", now)
			if late {
				now = now.Add(time.Duration(rapid.IntRange(0, 2900).Draw(t, "ms")) * time.Millisecond)
				count(a.takeWaiting(now))
				see()
			}
			for range 100 {
				now = now.Add(100 * time.Millisecond)
				count(a.takeWaiting(now))
			}
			if told != 1 {
				t.Fatalf("told %d times", told)
			}
			count(a.seePrompt(nil, true))
			a.changeState(sessions.StateWorking, "", now)
			if told != 1 {
				t.Fatal("told of when it was over")
			}
		}
	})
}
