package app_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/memnet"
)

// What's written in a topic is typed into a real pane, and what the pane prints is in
// the topic, over a restart of the daemon. A stranger in the same group gets nothing.
func TestTelegramToAPaneAndBack(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	operator, stranger := telegram.AddUser(telegramtest.User{FirstName: "O"}), telegram.AddUser(telegramtest.User{FirstName: "S"})
	group := telegram.AddForum("Agents", operator, stranger)

	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, group)
	d.cfg.Access.Operators = []string{"telegram:" + strconv.FormatInt(operator.ID, 10)}
	d.cfg.Mirrors = []config.Mirror{{Session: "*", To: "telegram:" + strconv.FormatInt(group, 10), View: "stream", Input: true}}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "cat", Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.api.Input(d.ctx(), "cat", "first line", true); err != nil {
		t.Fatal(err)
	}
	var topic telegramtest.Place
	d.await("the session's topic", func() bool {
		for _, one := range telegram.Topics(group) {
			if one.Name == "cat" {
				topic = one.Place
			}
		}
		return topic.Thread != 0
	})
	shows := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(telegram.See(topic), func(m telegramtest.Message) bool {
				return m.From.IsBot && strings.Contains(m.Text, text)
			})
		}
	}
	d.await("the first line in the topic", shows("first line"))

	say := func(p *telegramtest.Person, text string) int {
		id, err := p.Say(topic, text)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	say(stranger, "typed by a stranger")
	asked := say(operator, "typed from a phone")
	d.await("the text in the pane", d.has(s.ID, "typed from a phone"))
	d.await("the text in the topic", shows("typed from a phone"))
	d.await("the sign that it was submitted", func() bool {
		return slices.ContainsFunc(telegram.See(topic), func(m telegramtest.Message) bool {
			return m.ID == asked && slices.ContainsFunc(m.Reactions, func(r telegramtest.Reaction) bool { return r.Emoji == "👍" })
		})
	})

	d.stop()
	say(operator, "typed while nobody listened")
	d.start()
	d.await("the text in the pane, after a restart", d.has(s.ID, "typed while nobody listened"))
	d.await("the text in the topic, after a restart", shows("typed while nobody listened"))
	for _, line := range d.lines(s.ID) {
		if strings.Contains(line, "stranger") {
			t.Errorf("the session has %q", line)
		}
	}
	if refused := telegram.Refusals(); len(refused) != 0 {
		t.Errorf("Telegram refused %+v", refused)
	}
}

// A token that Telegram doesn't take shows in the daemon's health, with what to do.
func TestAWrongTokenShowsInHealth(t *testing.T) {
	t.Parallel()
	telegram := telegramtest.New(telegramtest.Options{Token: "1:another"})
	d := newDaemon(t)
	d.stop()
	tg := telegramConfig(d.cfg)
	tg.Enabled, tg.Token, tg.APIURL = true, config.NewSecret(telegramtest.DefaultToken), onAPort(t, telegram)
	d.start()
	var part api.HealthPart
	d.await("health to say so", func() bool {
		h, err := d.api.Health(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, part = range h.Parts {
			if part.Name == "telegram" {
				return h.State == api.HealthDown && part.State == api.HealthDown
			}
		}
		return false
	})
	if !strings.Contains(part.Detail, "@BotFather") || strings.Contains(part.Detail, telegramtest.DefaultToken) {
		t.Errorf("health says %q", part.Detail)
	}
}

// useForum has a daemon that isn't started yet use a forum of Telegram's.
func (d *daemon) useForum(telegram *telegramtest.Server, group int64) {
	d.Helper()
	tg := telegramConfig(d.cfg)
	tg.Enabled, tg.Token, tg.APIURL = true, config.NewSecret(telegramtest.DefaultToken), onAPort(d.T, telegram)
	tg.Chats = []telegramChat{{ID: group, Topics: true}}
}

// onAPort puts a stand-in on a port of its own.
func onAPort(t *testing.T, s http.Handler) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- memnet.Serve(ctx, l, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// A chat that doesn't show a session as it should is said wherever people look, while it
// lasts: here one where the bot may make no topics.
func TestAMirrorThatDoesNotWorkIsSaid(t *testing.T) {
	slow(t)
	for name, tc := range map[string]struct {
		broken func(p *telegramtest.Person, group int64) error
		state  api.HealthState
		words  string
	}{
		"muted":     {(*telegramtest.Person).MuteBot, api.HealthDown, "the bot may not"},
		"no topics": {func(p *telegramtest.Person, group int64) error { return p.SetBotRights(group, &telegramtest.Rights{}) }, api.HealthDegraded, "make it an administrator"},
	} {
		t.Run(name, func(t *testing.T) { mirrorThatDoesNotWork(t, tc.broken, tc.state, tc.words) })
	}
}

func mirrorThatDoesNotWork(t *testing.T, broken func(p *telegramtest.Person, group int64) error, state api.HealthState, words string) {
	t.Helper()
	telegram := telegramtest.New(telegramtest.Options{})
	operator := telegram.AddUser(telegramtest.User{FirstName: "O"})
	group := telegram.AddForum("Agents", operator)
	if err := broken(operator, group); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, group)
	d.cfg.Mirrors = []config.Mirror{{Session: "*", To: "telegram:" + strconv.FormatInt(group, 10), View: "stream", Input: true}}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "said", Command: []string{"sh", "-c", "echo hello; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	mirrors := func() (part api.HealthPart) {
		h, err := d.api.Health(d.ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range h.Parts {
			if p.Name == "telegram mirrors" {
				part = p
			}
		}
		return part
	}
	d.await("health to say so", func() bool { return mirrors().State == state })
	if p := mirrors(); !strings.Contains(p.Detail, words) {
		t.Errorf("health says %+v", p)
	}
	now, err := d.api.Session(d.ctx(), string(s.ID))
	if err != nil || len(now.Bindings) != 1 || !strings.Contains(now.Bindings[0].Trouble(), words) {
		t.Errorf("the session is %+v, %v", now, err)
	}
	rights := telegramtest.AllRights()
	if err := operator.SetBotRights(group, &rights); err != nil {
		t.Fatal(err)
	}
	d.await("the session's topic", func() bool { return len(telegram.Topics(group)) == 1 })
	d.await("health to be well", func() bool { return mirrors().Name == "" })
	for _, m := range telegram.See(telegram.Topics(group)[0].Place) {
		if strings.Contains(m.Text, "doesn't mirror") {
			t.Errorf("the chat is told that it wasn't told: %q", m.Text)
		}
	}
	if state == api.HealthDown && !slices.ContainsFunc(d.lines(s.ID), func(line string) bool { return strings.Contains(line, "doesn't mirror") }) {
		t.Errorf("the session's log is %q", d.lines(s.ID))
	}
}

// One chat of several that can't be written to makes health degraded, which a probe reads as 200; it's down once none can.
func TestOneChatOfSeveralThatDoesNotWork(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	operator := telegram.AddUser(telegramtest.User{FirstName: "O"})
	well, muted := telegram.AddForum("Well", operator), telegram.AddForum("Muted", operator)
	if err := operator.MuteBot(muted); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, well)
	tg := telegramConfig(d.cfg)
	tg.Chats = append(tg.Chats, telegramChat{ID: muted, Topics: true})
	for name, group := range map[string]int64{"one": well, "two": muted} {
		d.cfg.Mirrors = append(d.cfg.Mirrors, config.Mirror{Session: name, To: "telegram:" + strconv.FormatInt(group, 10), View: "stream"})
	}
	d.start()
	for _, name := range []string{"one", "two"} {
		if _, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", "while sleep 0.2; do date +%N; done"}}); err != nil {
			t.Fatal(err)
		}
	}
	awaitHealth := func(want api.HealthState) {
		d.await("health to be "+string(want), func() bool {
			h, err := d.api.Health(d.ctx())
			i := slices.IndexFunc(h.Parts, func(p api.HealthPart) bool { return p.Name == "telegram mirrors" })
			return err == nil && i >= 0 && h.State == want && h.Parts[i].State == want && strings.Contains(h.Parts[i].Detail, "bot may not")
		})
	}
	d.await("the session's topic", func() bool { return len(telegram.Topics(well)) == 1 })
	awaitHealth(api.HealthDegraded)
	if err := operator.MuteBot(well); err != nil {
		t.Fatal(err)
	}
	awaitHealth(api.HealthDown)
}

// /new leads somewhere: the session's topic is there at once, with a card, though its program
// says nothing until it's asked; whoever asked is told where; what's written there is answered.
func TestNewLeadsToATopic(t *testing.T) {
	slow(t)
	telegram := telegramtest.New(telegramtest.Options{})
	operator := telegram.AddUser(telegramtest.User{FirstName: "O"})
	group := telegram.AddForum("Agents", operator)
	d := newDaemon(t)
	d.stop()
	d.useForum(telegram, group)
	d.cfg.Access.Operators = []string{"telegram:" + strconv.FormatInt(operator.ID, 10)}
	d.start()
	dir := t.TempDir()
	asked := time.Now()
	if _, err := operator.Say(telegramtest.Place{Chat: group}, "/new shell "+dir); err != nil {
		t.Fatal(err)
	}
	d.await("a topic", func() bool { return len(telegram.Topics(group)) == 1 })
	at := telegram.Topics(group)[0].Place
	has := func(at telegramtest.Place, words string) func() bool {
		return func() bool {
			return slices.ContainsFunc(telegram.See(at), func(m telegramtest.Message) bool { return m.From.IsBot && strings.Contains(m.Text, words) })
		}
	}
	d.await("a card", has(at, "Write a command here"))
	t.Logf("topic and card came %s after /new", time.Since(asked).Round(time.Millisecond))
	d.await("whoever asked to be told where", has(telegramtest.Place{Chat: group}, "Write to it there"))
	if _, err := operator.Say(at, "echo one-$((1+1))"); err != nil {
		t.Fatal(err)
	}
	d.await("the answer", has(at, "one-2"))
}
