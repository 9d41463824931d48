package discord_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/qos"
)

func (w *world) call(a *discord.Adapter, op adapters.Op) adapters.Reply {
	w.Helper()
	after(time.Second)
	return a.Call(w.Context(), op)
}

// done makes a call that must be done, and returns the new id.
func (w *world) done(a *discord.Adapter, op adapters.Op) string {
	w.Helper()
	r := w.call(a, op)
	if r.Outcome != qos.Delivered || r.Err != nil {
		w.Fatalf("%s: %+v", op.Kind, r)
	}
	return r.ID
}

// nonces tell sends apart.
var nonces atomic.Uint64

func send(to adapters.Target, text string) adapters.Op {
	return adapters.Op{Kind: adapters.KindSend, Target: to, Page: page(text), Nonce: fmt.Sprintf("%016x", nonces.Add(1))}
}

func edit(to adapters.Target, message, text string) adapters.Op {
	return adapters.Op{Kind: adapters.KindEdit, Target: to, Message: message, Page: page(text)}
}

// Every kind of call, in a text channel and in a forum.
func TestEveryKindOfCall(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		for _, channel := range []string{w.agents, w.posts} {
			id := w.done(a, adapters.Op{Kind: adapters.KindThread, Target: target(channel, ""), Text: "api  *server*\n"})
			at := target(channel, id)
			state, _ := w.Channel(id)
			if state.Name != "api *server*" || state.Parent != channel || state.Archived {
				w.Errorf("the thread is %+v", state)
			}
			message := w.done(a, send(at, "begins"))
			w.done(a, edit(at, message, "goes on"))
			if m := last(w, id); m.ID != message || m.Content != "```\ngoes on\n```" || m.Rang || len(m.History) != 1 {
				w.Errorf("the message is %+v", m)
			}
			w.done(a, adapters.Op{Kind: adapters.KindSend, Target: at, Page: page("done"), Ring: true})
			if m := last(w, id); !m.Rang {
				w.Errorf("the message didn't ring: %+v", m)
			}
			data := bytes.Repeat([]byte("x"), 3<<20)
			w.done(a, adapters.Op{Kind: adapters.KindFile, Target: at, Page: page("end"), File: &adapters.File{Name: "out.txt", Data: data}})
			if m := last(w, id); len(m.Files) != 1 || !bytes.Equal(m.Files[0].Content, data) || m.Files[0].Name != "out.txt" || m.Content == "" {
				w.Errorf("the file's message says %q, with %d files", m.Content, len(m.Files))
			}
			w.done(a, adapters.Op{Kind: adapters.KindRename, Target: at, Text: strings.Repeat("n", 200)})
			w.done(a, adapters.Op{Kind: adapters.KindClose, Target: at})
			if state, _ = w.Channel(id); !state.Archived || len(state.Name) != 99+len("…") {
				w.Errorf("the closed thread is %+v", state)
			}
			w.done(a, adapters.Op{Kind: adapters.KindOpen, Target: at})
			if state, _ = w.Channel(id); state.Archived {
				w.Errorf("the opened thread is %+v", state)
			}
			w.done(a, adapters.Op{Kind: adapters.KindClose, Target: at})
			w.done(a, send(at, "more")) // which opens it again
			if r := a.Typing(w.Context(), at); r.Outcome != qos.Delivered || !w.Typing(id) {
				w.Errorf("typing: %+v", r)
			}
		}
		if n := len(w.CallsTo("GetChannel")); n != 4 {
			w.Errorf("for two channels and two threads to be opened it was asked %d times what they are", n)
		}
		w.noRefusals()
	})
}

// Ids that aren't any never become part of an address.
func TestIDsThatAreNone(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		for _, op := range []adapters.Op{
			send(target("../users/@me", ""), "x"), send(target(w.agents, "1?a=b"), "x"), edit(target(w.plain, ""), "1/../2", "x"),
			{Kind: adapters.KindClose, Target: target(w.agents, "")},
			{Kind: "dance", Target: target(w.plain, "")},
		} {
			if r := w.call(a, op); r.Outcome != qos.Rejected || r.Err == nil {
				w.Errorf("%+v: %+v", op, r)
			}
		}
		for _, bad := range []adapters.Target{target("x", ""), target(w.agents, "x"), target("1", ""), target("-5", "")} {
			if err := a.Check(bad); err == nil {
				w.Errorf("%v is fine", bad)
			}
		}
		if err := errors.Join(a.Check(target(w.agents, "5")), a.Check(target(w.plain, ""))); err != nil || len(w.Calls()) > 0 {
			w.Errorf("%v, %d calls", err, len(w.Calls()))
		}
	})
}

// A send that wasn't answered is made again with its nonce, and is there once.
func TestNonces(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		to := target(w.plain, "")
		if shape := a.Shape(to); shape.NonceFor != 2*time.Minute {
			w.Errorf("nonces are known for %v", shape.NonceFor)
		}
		w.Inject(discordtest.Fault{Call: "CreateMessage", Times: 1, Cut: discordtest.CutAfter})
		op := send(to, "begins")
		if r := w.call(a, op); r.Outcome != qos.Uncertain {
			w.Fatalf("no answer came: %+v", r)
		}
		first := last(w, w.plain).ID
		after(90 * time.Second)
		if r := w.call(a, op); r.Outcome != qos.Delivered || r.Existed || r.ID != first {
			w.Errorf("made again: %+v, want message %s, with the same text", r, first)
		}
		op.Page = page("begins", "and goes on")
		if r := w.call(a, op); r.Outcome != qos.Delivered || !r.Existed || r.ID != first {
			w.Errorf("made again, with more: %+v, want message %s, which existed", r, first)
		}
		op.Nonce = "ffffffffffffffff"
		if r := w.call(a, op); r.Outcome != qos.Delivered || r.Existed || r.ID == first {
			w.Errorf("another: %+v", r)
		}
		if n := len(w.Messages(w.plain)); n != 2 {
			w.Errorf("%d messages are there", n)
		}
		w.noRefusals()
	})
}

// refused is a call that Discord refuses, and what that must mean.
type refused struct {
	name    string
	world   func(w *world, thread, message string) error // changes it
	op      func(w *world, at adapters.Target, message string) adapters.Op
	want    qos.CallOutcome
	missing adapters.Missing
	says    string // part of the error
}

func refusals() []refused {
	deny := func(p discordtest.Permission) func(*world, string, string) error {
		return func(w *world, _, _ string) error {
			w.house.TextChannel("agents").Deny(p)
			return nil
		}
	}
	sending := func(_ *world, at adapters.Target, _ string) adapters.Op { return send(at, "more") }
	editing := func(_ *world, at adapters.Target, message string) adapters.Op { return edit(at, message, "changed") }
	kind := func(k adapters.OpKind) func(*world, adapters.Target, string) adapters.Op {
		return func(_ *world, at adapters.Target, _ string) adapters.Op {
			return adapters.Op{Kind: k, Target: at, Text: "name", File: &adapters.File{Name: "a", Data: []byte("x")}, Page: page("x")}
		}
	}
	inParent := func(op func(*world, adapters.Target, string) adapters.Op) func(*world, adapters.Target, string) adapters.Op {
		return func(w *world, at adapters.Target, message string) adapters.Op {
			at.Thread = ""
			return op(w, at, message)
		}
	}
	remove := func(w *world, thread, _ string) error { return w.ada.DeleteChannel(thread) }
	return []refused{
		{"the message is gone", func(w *world, _, message string) error { return w.ada.Delete(message) }, editing, qos.Rejected, adapters.MissingMessage, "10008"},
		{"the thread is gone: a message", remove, sending, qos.Rejected, adapters.MissingThread, "10003"},
		{"the thread is gone: an edit", remove, editing, qos.Rejected, adapters.MissingThread, "10003"},
		{"the thread is gone: its end", remove, kind(adapters.KindClose), qos.Rejected, adapters.MissingThread, "10003"},
		{"the thread is archived: an edit", func(w *world, thread, _ string) error { return w.ada.Archive(thread) }, editing, qos.Rejected, adapters.MissingMessage, "50083"},
		{"the channel is gone", func(w *world, _, _ string) error { return w.ada.DeleteChannel(w.agents) }, inParent(sending), qos.ChatGone, adapters.NothingMissing, adviceOfChannel},
		{"the channel is hidden", deny(discordtest.ViewChannel), sending, qos.ChatGone, adapters.NothingMissing, adviceOfChannel},
		{"nothing may be written", deny(discordtest.SendMessages), inParent(sending), qos.ChatGone, adapters.NothingMissing, "may not write"},
		{"nothing may be written in threads", deny(discordtest.SendInThreads), sending, qos.ChatGone, adapters.NothingMissing, "may not write"},
		{"no files may be sent", deny(discordtest.AttachFiles), kind(adapters.KindFile), qos.Rejected, adapters.NothingMissing, "attach files"},
		{"no threads may be made", deny(discordtest.CreateThreads), inParent(kind(adapters.KindThread)), qos.Rejected, adapters.NothingMissing, "create public threads"},
		{"the bot was removed", func(w *world, _, _ string) error { w.house.Kick(); return nil }, sending, qos.ChatGone, adapters.NothingMissing, adviceOfChannel},
	}
}

const adviceOfChannel = "doesn't see the channel, or it's gone"

func TestRefusals(t *testing.T) {
	for _, tc := range refusals() {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, discordtest.Options{}, func(w *world) {
				a := w.adapter(nil)
				thread := w.done(a, adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: "api"})
				at := target(w.agents, thread)
				message := w.done(a, send(at, "begins"))
				if err := tc.world(w, thread, message); err != nil {
					w.Fatal(err)
				}
				r := w.call(a, tc.op(w, at, message))
				if r.Outcome != tc.want || r.Missing != tc.missing || r.Err == nil || !strings.Contains(r.Err.Error(), tc.says) {
					w.Errorf("the reply is %+v, want %v, missing %v, and %q", r, tc.want, tc.missing, tc.says)
				}
			})
		})
	}
}

// A thread whose closing wasn't answered is closed again, which Discord refuses, and which is as good.
func TestAClosedThreadIsClosedAgain(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		at := target(w.agents, w.done(a, adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: "api"}))
		for range 2 {
			w.done(a, adapters.Op{Kind: adapters.KindClose, Target: at})
		}
		if state, _ := w.Channel(at.Thread); !state.Archived {
			w.Errorf("the thread is %+v", state)
		}
	})
}

// Discord takes few edits of messages that are more than an hour old. What's known to be
// too much isn't called; what's to be said goes into a new message.
func TestOldMessages(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		to := target(w.plain, "")
		message := w.done(a, send(to, "begins"))
		after(58 * time.Minute)
		w.done(a, edit(to, message, "still young"))
		after(10 * time.Minute)
		done, refused := 0, 0
		for i := range 60 {
			switch r := w.call(a, edit(to, message, fmt.Sprint("old ", i))); {
			case r.Outcome == qos.Delivered:
				done++
			case r.Outcome == qos.Rejected && r.Missing == adapters.MissingMessage:
				refused++
			default:
				w.Fatalf("edit %d: %+v", i, r)
			}
		}
		if done != 6 || refused != 54 {
			w.Errorf("in a minute %d edits were made, and %d not", done, refused)
		}
		w.noRefusals()
	})
	// Somebody else may use the limit up: that's no order to be silent.
	inBubble(t, discordtest.Options{Limits: discordtest.Limits{OldEdits: discordtest.Window{Calls: 1, Per: time.Hour}}}, func(w *world) {
		a := w.adapter(nil)
		to := target(w.plain, "")
		message := w.done(a, send(to, "begins"))
		after(2 * time.Hour)
		w.done(a, edit(to, message, "old"))
		if r := w.call(a, edit(to, message, "older")); r.Outcome != qos.Rejected || r.Missing != adapters.MissingMessage || !strings.Contains(r.Err.Error(), "30046") {
			w.Errorf("the reply is %+v", r)
		}
		w.done(a, send(to, "goes on"))
	})
}

// What the headers don't say of renames is known, and an order of ten minutes silences
// nothing but renames.
func TestOrdersAreNarrow(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		thread := w.done(a, adapters.Op{Kind: adapters.KindThread, Target: target(w.agents, ""), Text: "api"})
		at := target(w.agents, thread)
		rename := adapters.Op{Kind: adapters.KindRename, Target: at}
		for _, name := range []string{"b", "c"} {
			rename.Text = name
			w.done(a, rename)
		}
		rename.Text = "d"
		r := w.call(a, rename)
		if r.Outcome != qos.Throttled || r.RetryAfter < 9*time.Minute || !r.Narrow || r.Global {
			w.Errorf("a third rename: %+v", r)
		}
		w.done(a, send(at, "goes on"))
		if r = w.call(a, rename); r.Outcome != qos.Throttled || len(w.CallsTo("EditChannel")) != 3 {
			w.Errorf("a fourth, which is known to be refused: %+v", r)
		}
	})
}

// Discord's own error, or a lost answer: who knows whether it was done.
func TestUncertainCalls(t *testing.T) {
	inBubble(t, discordtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		for _, f := range []discordtest.Fault{
			{Status: http.StatusInternalServerError, Message: "500: Internal Server Error"},
			{Body: "<html>bad gateway</html>"},
			{Cut: discordtest.CutBefore},
			{After: time.Hour},
		} {
			f.Times = 1
			w.Inject(f)
			if r := w.call(a, send(target(w.plain, ""), "x")); r.Outcome != qos.Uncertain || r.Err == nil {
				w.Errorf("%+v: %+v", f, r)
			}
		}
		nobody := memnet.New()
		if err := nobody.Close(); err != nil {
			w.Fatal(err)
		}
		a = w.adapter(func(o *discord.Options) { o.Transport = nobody.Transport() })
		if r := w.call(a, send(target(w.plain, ""), "x")); r.Outcome != qos.NotSent {
			w.Errorf("nobody listens: %+v", r)
		}
	})
}
