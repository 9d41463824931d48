package telegram_test

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// world is a stand-in for Telegram in a bubble, with a forum, a group, and a
// person who has written to the bot.
type world struct {
	*testing.T
	*telegramtest.Server
	net    *memnet.Network
	client *http.Transport
	ada    *telegramtest.Person
	forum  int64
	group  int64
	// fate is what happens to the calls of a method.
	fate atomic.Pointer[func(method string, body []byte) faults.Fate]
}

// fateOf is what happens to a call on its way.
func (w *world) fateOf(r *http.Request, body []byte) faults.Fate {
	if fate := w.fate.Load(); fate != nil {
		return (*fate)(path.Base(r.URL.Path), body)
	}
	return faults.Fate{}
}

// newWorld makes a world that nobody reaches yet, in which nobody has written.
func newWorld(t *testing.T, opts telegramtest.Options) *world {
	t.Helper()
	w := &world{T: t, Server: telegramtest.New(opts)}
	w.ada = w.AddUser(telegramtest.User{FirstName: "Ada"})
	w.forum = w.AddForum("agents", w.ada)
	w.group = w.AddChat(telegramtest.ChatSpec{Title: "group", Kind: telegramtest.Group}, w.ada)
	return w
}

// inBubble runs a test with a world.
func inBubble(t *testing.T, opts telegramtest.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, opts)
		if _, err := w.ada.Say(telegramtest.Place{Chat: w.ada.ID}, "/start"); err != nil {
			t.Fatal(err)
		}
		net, stop := memnet.Start(faults.NewProxy(w.Server, w.fateOf))
		w.net, w.client = net, net.Transport()
		defer func() {
			w.client.CloseIdleConnections()
			if err := stop(); err != nil {
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
		Token: exchange.Token(w.Token()), APIURL: "http://api", Transport: w.client,
		Chats: []telegram.ChatConfig{{ID: w.forum, Topics: true}, {ID: w.group}, {ID: w.ada.ID}},
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

// noting returns one with notes.
func (w *world) noting(n platform.Notes) *telegram.Adapter {
	w.Helper()
	return w.adapter(func(o *telegram.Options) { o.Notes = n })
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func target(chat int64, thread int) adapters.Target {
	t := adapters.Target{Adapter: telegram.Name, Chat: number(chat)}
	if thread != 0 {
		t.Thread = strconv.Itoa(thread)
	}
	return t
}

func page(lines ...string) adapters.Page { return adaptertest.Page(lines...) }

// bridge is a hub with the adapter, and the sessions that it mirrors.
type bridge struct {
	*world
	*adaptertest.Bridge
	change func(o *telegram.Options)
}

func (w *world) bridge(rules ...adapters.MirrorRule) *bridge {
	b := &bridge{world: w}
	b.Bridge = adaptertest.NewBridge(w.T, func() adapters.Adapter { return w.adapter(b.change) }, rules...)
	return b
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
		units := utf16.Encode([]rune(m.Text))
		for _, e := range m.Entities {
			if e.Type == "text_link" {
				x.Links = append(x.Links, adaptertest.Link{Text: string(utf16.Decode(units[e.Offset : e.Offset+e.Length])), Address: e.URL})
			}
		}
		out = append(out, x)
	}
	return out
}

// compare holds a place against all that a session has printed.
func (b *bridge) compare(at telegramtest.Place, id sessions.ID) {
	b.Helper()
	b.Compare(b.seen(at), id)
}

// noRefusals fails for each call that Telegram has refused by itself.
func (w *world) noRefusals() {
	w.Helper()
	for _, c := range w.Refusals() {
		w.Errorf("at %v, %s to chat %d was refused: %s", c.At, c.Method, c.Chat, c.Description)
	}
}

func lines(from, n int) []string { return adaptertest.Lines(from, n) }

// after lets time pass, and what happens in it.
func after(d time.Duration) { adaptertest.After(d) }
