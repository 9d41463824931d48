package discord_test

import (
	"context"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/qos"
)

// foreignAnswers are what no answer of Discord's is, whatever was asked.
var foreignAnswers = map[string]faults.Answer{
	"a login page":      {Status: http.StatusOK, Header: map[string]string{"Content-Type": "text/html"}, Body: "<!doctype html><title>Free Wi-Fi</title>"},
	"a page, accepted":  {Status: http.StatusAccepted, Body: "<html>queued</html>"},
	"nothing":           {Status: http.StatusOK},
	"half an answer":    {Status: http.StatusOK, Body: `{"id":"1`},
	"content, but none": {Status: http.StatusNoContent, Header: map[string]string{"Content-Length": "0"}, Body: ""},
}

// otherAnswers are what isn't an answer to a call that makes, changes or looks for something.
var otherAnswers = map[string]faults.Answer{
	"null":              {Status: http.StatusOK, Body: "null"},
	"an empty object":   {Status: http.StatusOK, Body: "{}"},
	"an empty list":     {Status: http.StatusOK, Body: "[]"},
	"a number":          {Status: http.StatusOK, Body: "7"},
	"an empty id":       {Status: http.StatusOK, Body: `{"id":""}`},
	"an id that's none": {Status: http.StatusOK, Body: `{"id":7,"type":"text"}`},
	"no id":             {Status: http.StatusOK, Body: `{"content":"x","type":0,"user":{}}`},
}

// What isn't the answer to what was asked leaves open whether it was done, for every call,
// and holds nobody up for longer than it took.
func TestOddAnswersLeaveItOpen(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		thread := w.call(a, adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: "thread"})
		at := target(w.agents, thread.ID)
		sent := w.call(a, send(at, "hello"))
		if thread.Outcome != qos.Delivered || sent.Outcome != qos.Delivered {
			w.Fatalf("%+v, %+v", thread, sent)
		}
		call := func(op adapters.Op) func(context.Context) adapters.Reply {
			op.Target = at
			return func(ctx context.Context) adapters.Reply { return a.Call(ctx, op) }
		}
		post := func(p adapters.Post, id string) func(context.Context) adapters.Reply {
			p.To = at
			return func(ctx context.Context) adapters.Reply { return a.Post(ctx, p, id) }
		}
		calls := map[string]func(context.Context) adapters.Reply{
			"send":        call(send(at, "x")),
			"edit":        call(edit(at, sent.ID, "x")),
			"file":        call(adapters.Op{Kind: adapters.KindFile, File: &adapters.File{Name: "x.txt", Data: []byte("x")}}),
			"thread":      call(adapters.Op{Kind: adapters.KindThread, Text: "another"}),
			"close":       call(adapters.Op{Kind: adapters.KindClose}),
			"rename":      call(adapters.Op{Kind: adapters.KindRename, Text: "other"}),
			"post":        post(adapters.Post{Text: "x"}, ""),
			"edited post": post(adapters.Post{Text: "x"}, sent.ID),
			"picture":     post(adapters.Post{Picture: []byte("png")}, ""),
			"reaction":    post(adapters.Post{Reaction: "👀", ReplyTo: sent.ID}, ""),
			"pin":         post(adapters.Post{Pin: sent.ID}, ""),
		}
		try := func(what, name string, odd faults.Answer) {
			after(2 * time.Second)
			w.fate.Store(new(func(r *http.Request, _ []byte) faults.Fate {
				if r.Method == http.MethodGet {
					return faults.Fate{} // to look at something first is no call that could be done
				}
				return faults.Fate{Lost: true, Answer: &odd}
			}))
			ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
			defer cancel()
			r := calls[what](ctx)
			if r.Outcome != qos.Uncertain || !r.Over || r.Err == nil || strings.Contains(r.Err.Error(), w.Token()) {
				w.Errorf("%s, answered with %s: %+v", what, name, r)
			}
		}
		for what := range calls {
			quiet := what == "reaction" || what == "pin" // their answer has no content, and none is wrong
			for name, odd := range foreignAnswers {
				if !quiet || odd.Status != http.StatusNoContent {
					try(what, name, odd)
				}
			}
			for name, odd := range otherAnswers {
				if !quiet {
					try(what, name, odd)
				}
			}
		}
		// A connection that breaks before, and within, an answer.
		for _, end := range []faults.End{faults.Reset, faults.Half} {
			w.fate.Store(new(func(*http.Request, []byte) faults.Fate { return faults.Fate{End: end} }))
			if r := w.call(a, send(at, "x")); r.Outcome != qos.Uncertain || !r.Over {
				w.Errorf("a connection broke (%d): %+v", end, r)
			}
		}
		// And one that's slower than the caller's patience isn't over: it arrives later.
		w.fate.Store(new(func(*http.Request, []byte) faults.Fate { return faults.Fate{Here: 22 * time.Second} }))
		ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
		defer cancel()
		if r := a.Call(ctx, send(at, "later")); r.Outcome != qos.Uncertain || r.Over {
			w.Errorf("a call that was given up: %+v", r)
		}
	})
}

// Nor does it say anything about people, commands, or what there is: nobody loses what a
// group gave them or keeps what they lost, no command counts as set, no thread is made
// twice because what's there couldn't be read.
func TestOddAnswersAreNoNews(t *testing.T) {
	all := maps.Clone(foreignAnswers)
	maps.Copy(all, otherAnswers)
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusProxyAuthRequired} {
		all[http.StatusText(status)] = faults.Answer{Status: status, Body: "<html>no</html>"}
	}
	for name, odd := range all {
		t.Run(name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				kept := &notes{kept: map[string]string{}}
				p := w.noting(kept)
				member := discord.Name + ":" + w.ada.ID
				if in, err := p.Member(w.Context(), target(w.plain, ""), member); err != nil || !in {
					w.Fatalf("somebody is in there: %t, %v", in, err)
				}
				var made atomic.Int32
				known := regexp.MustCompile("/(channels/[0-9]+|users/@me)$")
				w.fate.Store(new(func(r *http.Request, _ []byte) faults.Fate {
					if strings.HasSuffix(r.URL.Path, "/threads") {
						made.Add(1)
					}
					if known.MatchString(r.URL.Path) {
						return faults.Fate{}
					}
					return faults.Fate{Lost: true, Answer: &odd}
				}))
				if in, err := p.Member(w.Context(), target(w.plain, ""), member); err == nil {
					w.Errorf("somebody is in there: %t", in)
				}
				after(2 * time.Hour) // whoever refused is asked again
				list := name == "an empty list"
				if err := p.SetCommands(w.Context(), []intake.CommandInfo{{Name: "help", Help: "help"}}); err == nil && !list {
					w.Error("the commands are set")
				}
				after(2 * time.Hour)
				if r := p.Call(w.Context(), adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: "one", Again: true}); r.Outcome == qos.Delivered || r.Outcome == qos.Rejected {
					w.Errorf("a thread that may be there already: %+v", r)
				}
				if n := made.Load(); n != 0 {
					w.Errorf("%d threads were made though nobody knew what's there", n)
				}
			})
		})
	}
}
