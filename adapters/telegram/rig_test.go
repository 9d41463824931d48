package telegram_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/sessions"
)

// world is a stand-in for Telegram in a bubble, with a forum, a group, and a
// person who has written to the bot.
type world struct {
	*testing.T
	*telegramtest.Server
	net    *telegramtest.Network
	client *http.Transport
	ada    *telegramtest.Person
	forum  int64
	group  int64
}

// inBubble runs a test with a world.
func inBubble(t *testing.T, opts telegramtest.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, Server: telegramtest.New(opts), net: telegramtest.NewNetwork()}
		w.ada = w.AddUser(telegramtest.User{FirstName: "Ada"})
		w.forum = w.AddForum("agents", w.ada)
		w.group = w.AddChat(telegramtest.ChatSpec{Title: "group", Kind: telegramtest.Group}, w.ada)
		if _, err := w.ada.Say(telegramtest.Place{Chat: w.ada.ID}, "/start"); err != nil {
			t.Fatal(err)
		}
		w.client = w.net.Transport()
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- telegramtest.Serve(ctx, w.net, w.Server) }()
		defer func() {
			w.client.CloseIdleConnections()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		test(w)
	})
}

// adapter returns one for all chats of the world; the forum has topics.
func (w *world) adapter(change func(o *telegram.Options)) *telegram.Adapter {
	w.Helper()
	opt := telegram.Options{
		Token: telegram.Token(w.Token()), APIURL: "http://api", Transport: w.client,
		Chats: []telegram.Chat{{ID: w.forum, Topics: true}, {ID: w.group}, {ID: w.ada.ID}},
		QoS:   qos.Options{Seed: 1},
	}
	if change != nil {
		change(&opt)
	}
	a, err := telegram.New(opt)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func target(chat int64, thread int) adapters.Target {
	t := adapters.Target{Adapter: telegram.Name, Chat: number(chat)}
	if thread != 0 {
		t.Thread = strconv.Itoa(thread)
	}
	return t
}

// page shows lines of a pane.
func page(lines ...string) adapters.Page {
	var p adapters.Page
	for i, text := range lines {
		p.Pieces = append(p.Pieces, adapters.Piece{Line: sessions.Line{N: int64(i + 1), Kind: sessions.KindPane, Text: text}, To: len(text)})
	}
	return p
}

// bridge is a hub with the adapter, and the sessions that it mirrors. What it keeps
// outlives its processes.
type bridge struct {
	*world
	backend *adaptertest.Memory
	house   *adaptertest.House
	ledger  *qostest.MemLedger
	rules   []adapters.Rule
	change  func(o *telegram.Options)

	hub  *adapters.Hub
	stop func()
	kill func() // what happens from then on isn't kept
}

func (w *world) bridge(rules ...adapters.Rule) *bridge {
	m := adaptertest.NewMemory(0)
	return &bridge{world: w, backend: m, house: adaptertest.NewHouse(m), ledger: qostest.NewMemLedger(), rules: rules}
}

// start begins a process, which stop ends.
func (b *bridge) start() {
	b.Helper()
	ledger, store := b.ledger.Process(), &adaptertest.Process{Store: b.backend}
	b.kill = func() {
		ledger.Kill()
		store.Kill()
	}
	var err error
	b.hub, err = adapters.NewHub(adapters.HubOptions{
		Outlets: []adapters.Outlet{{Adapter: b.adapter(b.change), Budget: qos.NewLocalBudget(ledger)}},
		Store:   store, Log: b.backend, Sessions: b.house, Screens: b.house,
		Settings: adapters.Settings{Rules: b.rules}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := b.hub.Load(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.house.SetSink(b.hub)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.hub.Run(ctx) }()
	b.stop = func() {
		b.Helper()
		b.house.SetSink(nil)
		cancel()
		if err := <-ended; err != nil && !store.Killed() {
			b.Error(err)
		}
	}
}

func (b *bridge) print(id sessions.ID, o adaptertest.Output) {
	b.Helper()
	if err := b.house.Print(id, o); err != nil {
		b.Fatal(err)
	}
}

func (b *bridge) begin(id sessions.ID, name string) {
	b.Helper()
	if err := b.house.Begin(id, name); err != nil {
		b.Fatal(err)
	}
}

func (b *bridge) end(id sessions.ID) {
	b.Helper()
	if err := b.house.End(id, "session ended"); err != nil {
		b.Fatal(err)
	}
}

// topic returns the place of a session's topic, the newest of its name.
func (b *bridge) topic(chat int64, name string) telegramtest.Topic {
	b.Helper()
	topics := b.Topics(chat)
	for _, t := range slices.Backward(topics) {
		if t.Name == name {
			return t
		}
	}
	b.Fatalf("there's no topic %q in %+v", name, topics)
	return telegramtest.Topic{}
}

// seen is what a person sees at a place, without what isn't the bot's.
func (w *world) seen(at telegramtest.Place) []adaptertest.Message {
	var out []adaptertest.Message
	for _, m := range w.See(at) {
		if m.Service != "" || m.From.ID != w.Bot().ID {
			continue
		}
		x := adaptertest.Message{
			ID: strconv.Itoa(m.ID), Text: strings.ReplaceAll(m.Text, "\u200b", ""), Rang: m.Rang, Edits: len(m.History), At: m.At,
		}
		if m.File != nil {
			x.Data = m.File.Content
		}
		out = append(out, x)
	}
	return out
}

// compare holds a place against all that a session has printed.
func (b *bridge) compare(at telegramtest.Place, id sessions.ID) {
	b.Helper()
	s, err := b.house.Get(string(id))
	if err != nil {
		b.Fatal(err)
	}
	for _, wrong := range b.house.Compare(b.seen(at), adaptertest.Want{Session: id, To: s.Lines, Oldest: 1}) {
		b.Errorf("%s: %s", s.Name, wrong)
	}
}

// noRefusals fails for each call that Telegram has refused by itself.
func (w *world) noRefusals() {
	w.Helper()
	for _, c := range w.Refusals() {
		w.Errorf("at %v, %s to chat %d was refused: %s", c.At, c.Method, c.Chat, c.Description)
	}
}

func lines(from, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("line %d of what the agent says as it works", from+i))
	}
	return out
}

// after lets time pass, and what happens in it.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
