package telegram_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
)

// oddAnswers are what isn't an answer to what was asked, though it looks like one.
var oddAnswers = map[string]faults.Answer{
	"a login page":        {Status: http.StatusOK, Header: map[string]string{"Content-Type": "text/html"}, Body: "<!doctype html><title>Free Wi-Fi</title>"},
	"a page, accepted":    {Status: http.StatusAccepted, Body: "<html>queued</html>"},
	"nothing":             {Status: http.StatusOK},
	"no content":          {Status: http.StatusNoContent},
	"null":                {Status: http.StatusOK, Body: "null"},
	"an empty object":     {Status: http.StatusOK, Body: "{}"},
	"an empty list":       {Status: http.StatusOK, Body: "[]"},
	"ok alone":            {Status: http.StatusOK, Body: `{"ok":true}`},
	"a null result":       {Status: http.StatusOK, Body: `{"ok":true,"result":null}`},
	"a number":            {Status: http.StatusOK, Body: `{"ok":true,"result":7}`},
	"false":               {Status: http.StatusOK, Body: `{"ok":true,"result":false}`},
	"a text":              {Status: http.StatusOK, Body: `{"ok":true,"result":"true"}`},
	"an empty result":     {Status: http.StatusOK, Body: `{"ok":true,"result":{}}`},
	"an empty list's":     {Status: http.StatusOK, Body: `{"ok":true,"result":[]}`},
	"another's result":    {Status: http.StatusOK, Body: `{"ok":true,"result":{"message_id":0,"message_thread_id":0,"status":"x","username":""}}`},
	"ok, but in words":    {Status: http.StatusOK, Body: `{"ok":"true","result":true}`},
	"half an answer":      {Status: http.StatusOK, Body: `{"ok":true,"resu`},
	"two answers at once": {Status: http.StatusOK, Body: `{"ok":true,"result":true}{"ok":true,"result":true}`},
}

// What isn't the answer to what was asked leaves open whether it was done, for every call,
// and holds nobody up for longer than it took.
func TestOddAnswersLeaveItOpen(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		topic := a.Call(w.Context(), adapters.Op{Kind: adapters.KindThread, Target: target(w.forum, 0), Text: "topic"})
		at := adapters.Target{Adapter: telegram.Name, Chat: number(w.forum), Thread: topic.ID}
		sent := a.Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: at, Page: page("hello")})
		if topic.Outcome != qos.Delivered || sent.Outcome != qos.Delivered {
			w.Fatalf("%+v, %+v", topic, sent)
		}
		picture := func(p adapters.Post) adapters.Post { p.To, p.Text = at, "look"; return p }
		call := func(op adapters.Op) func(context.Context) adapters.Reply {
			op.Target = at
			return func(ctx context.Context) adapters.Reply { return a.Call(ctx, op) }
		}
		post := func(p adapters.Post, id string) func(context.Context) adapters.Reply {
			p.To = at
			return func(ctx context.Context) adapters.Reply { return a.Post(ctx, p, id) }
		}
		calls := map[string]func(context.Context) adapters.Reply{
			"send":         call(adapters.Op{Kind: adapters.KindSend, Page: page("x")}),
			"edit":         call(adapters.Op{Kind: adapters.KindEdit, Message: sent.ID, Page: page("x")}),
			"file":         call(adapters.Op{Kind: adapters.KindFile, File: &adapters.File{Name: "x.txt", Data: []byte("x")}}),
			"thread":       call(adapters.Op{Kind: adapters.KindThread, Text: "another"}),
			"close":        call(adapters.Op{Kind: adapters.KindClose}),
			"open":         call(adapters.Op{Kind: adapters.KindOpen}),
			"rename":       call(adapters.Op{Kind: adapters.KindRename, Text: "other"}),
			"post":         post(adapters.Post{Text: "x"}, ""),
			"edited post":  post(adapters.Post{Text: "x"}, sent.ID),
			"picture":      post(picture(adapters.Post{Picture: []byte("png")}), ""),
			"edited below": post(picture(adapters.Post{Picture: []byte("png")}), sent.ID),
			"reaction":     post(adapters.Post{Reaction: "👀", ReplyTo: sent.ID}, ""),
			"pin":          post(adapters.Post{Pin: sent.ID}, ""),
		}
		for what, make := range calls {
			for name, odd := range oddAnswers {
				if name == "two answers at once" && what != "send" {
					continue // it's no JSON, as the others that aren't
				}
				w.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{Lost: true, Answer: &odd} }))
				began := time.Now()
				ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
				r := make(ctx)
				cancel()
				if r.Outcome != qos.Uncertain || !r.Over || r.Err == nil {
					w.Errorf("%s, answered with %s: %+v", what, name, r)
				}
				if strings.Contains(r.Err.Error(), w.Token()) || time.Since(began) > 0 {
					w.Errorf("%s, answered with %s, took %s: %v", what, name, time.Since(began), r.Err)
				}
			}
		}
		// A connection that breaks before, and within, an answer.
		for _, end := range []faults.End{faults.Reset, faults.Half} {
			w.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{End: end} }))
			if r := calls["send"](w.Context()); r.Outcome != qos.Uncertain || !r.Over {
				w.Errorf("a connection broke (%d): %+v", end, r)
			}
		}
		// And one that's slower than the caller's patience isn't over: it arrives later.
		w.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{Here: 22 * time.Second} }))
		before := len(w.Calls())
		ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
		defer cancel()
		if r := calls["send"](ctx); r.Outcome != qos.Uncertain || r.Over {
			w.Errorf("a call that was given up: %+v", r)
		}
		time.Sleep(3 * time.Second)
		if n := len(w.Calls()) - before; n != 1 {
			w.Errorf("%d calls arrived, want the one that was given up", n)
		}
	})
}

// Nor does it say anything about people, commands, or who the bot is: nobody loses what a
// group gave them, no name is forgotten, no command counts as set.
func TestOddAnswersAreNoNews(t *testing.T) {
	for name, odd := range oddAnswers {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				kept := notes{}
				p := w.noting(kept)
				first := p.Identity()
				if !first.AskUntilKnown(w.Context()) {
					w.Fatal("it isn't known who the bot is")
				}
				was := maps.Clone(kept)
				w.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{Lost: true, Answer: &odd} }))
				if in, err := p.Member(w.Context(), target(w.group, 0), telegram.Name+":"+number(w.ada.ID)); err == nil {
					w.Errorf("somebody is in the group: %t", in)
				}
				if err := p.SetCommands(w.Context(), []intake.CommandInfo{{Name: "help", Help: "help"}}); err == nil {
					w.Error("the commands are set")
				}
				second := w.noting(kept).Identity()
				if !second.AskUntilKnown(w.Context()) || !maps.Equal(was, kept) {
					w.Errorf("what was known has become %v, was %v", kept, was)
				}
			})
		})
	}
}

// However an order of silence is written, it's kept: the longest of what it says.
func TestOrdersOfSilenceInEveryForm(t *testing.T) {
	const form = `{"ok":false,"error_code":429,"description":"Too Many Requests%s","parameters":{"retry_after":%s}}`
	for name, tc := range map[string]struct {
		answer faults.Answer
		want   time.Duration
	}{
		"a number":         {faults.Answer{Body: fmt.Sprintf(form, ": retry after 7", "7")}, 7 * time.Second},
		"a fraction":       {faults.Answer{Body: fmt.Sprintf(form, "", "6.25")}, 7 * time.Second},
		"a text":           {faults.Answer{Body: fmt.Sprintf(form, "", `"7"`)}, 7 * time.Second},
		"words alone":      {faults.Answer{Body: fmt.Sprintf(form, ": retry after 7", "null")}, 7 * time.Second},
		"nonsense, words":  {faults.Answer{Body: fmt.Sprintf(form, ": retry after 7", `{"x":[1]}`)}, 7 * time.Second},
		"a header longer":  {faults.Answer{Body: fmt.Sprintf(form, "", "2"), Header: map[string]string{"Retry-After": "7"}}, 7 * time.Second},
		"a page's header":  {faults.Answer{Body: "<html>slow down", Header: map[string]string{"Retry-After": "7"}}, 7 * time.Second},
		"none":             {faults.Answer{Body: `{"ok":false,"error_code":429,"description":"Too Many Requests"}`}, 0},
		"less than none":   {faults.Answer{Body: fmt.Sprintf(form, "", "-3")}, 0},
		"ten minutes":      {faults.Answer{Body: fmt.Sprintf(form, "", "600")}, 10 * time.Minute},
		"for ever":         {faults.Answer{Body: fmt.Sprintf(form, "", "1e300")}, 365 * 24 * time.Hour},
		"a date in header": {faults.Answer{Body: fmt.Sprintf(form, "", "7"), Header: map[string]string{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}}, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				tc.answer.Status = http.StatusTooManyRequests
				w.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{Lost: true, Answer: &tc.answer} }))
				r := w.adapter(nil).Call(w.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(w.group, 0), Page: page("x")})
				if r.Outcome != qos.Throttled || r.RetryAfter != tc.want {
					w.Errorf("%+v, want to be silent for %s", r, tc.want)
				}
			})
		})
	}
}
