package discord_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/internal/faults"
	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const first = sessions.ID("pb_000000000001")

// world is a stand-in for Discord in a bubble, with a server, on which are a text
// channel whose sessions get threads, a forum channel, a plain channel, and a person.
type world struct {
	*testing.T
	*discordtest.Server
	net    *memnet.Network
	client *http.Transport
	ada    *discordtest.Person
	house  *discordtest.Guild
	agents string // a text channel
	posts  string // a forum channel
	plain  string // a text channel for one session
	// fate is what happens to a call of the REST API.
	fate atomic.Pointer[func(r *http.Request, body []byte) faults.Fate]
}

// fateOf is what happens to a call on its way.
func (w *world) fateOf(r *http.Request, body []byte) faults.Fate {
	if fate := w.fate.Load(); fate != nil {
		return (*fate)(r, body)
	}
	return faults.Fate{}
}

// begins is when worlds begin. A bubble's clock begins before Discord's ids do, which
// say when something was made.
var begins = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// newWorld makes a world that nobody reaches yet.
func newWorld(t *testing.T, opts discordtest.Options) *world {
	t.Helper()
	time.Sleep(time.Until(begins))
	w := &world{T: t, Server: discordtest.New(opts)}
	w.ada = w.Person("Ada")
	w.house = w.Guild("house")
	w.agents, w.posts, w.plain = w.house.TextChannel("agents").ID, w.house.ForumChannel("posts").ID, w.house.TextChannel("plain").ID
	return w
}

// inBubble runs a test with a world.
func inBubble(t *testing.T, opts discordtest.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, opts)
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

// adapter returns one for all channels of the world.
func (w *world) adapter(change func(o *discord.Options)) *discord.Adapter {
	w.Helper()
	opt := discord.Options{
		Token: exchange.Token(w.Token()), APIURL: "http://discord.test/api", Transport: w.client, Guild: w.house.ID,
		Channels: []discord.ChannelConfig{{ID: w.agents, Threads: true}, {ID: w.posts, Threads: true}, {ID: w.plain}},
		QoS:      qos.Options{Mode: qos.CoalesceOnly, Rounding: 1500 * time.Millisecond, Seed: 1},
	}
	if change != nil {
		change(&opt)
	}
	a, err := discord.New(opt)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// noting returns one with notes.
func (w *world) noting(n platform.Notes) *discord.Adapter {
	w.Helper()
	return w.adapter(func(o *discord.Options) { o.Notes = n })
}

func target(channel, thread string) adapters.Target {
	return adapters.Target{Adapter: discord.Name, Chat: channel, Thread: thread}
}

func page(lines ...string) adapters.Page { return adaptertest.Page(lines...) }

// bridge is a hub with the adapter, and the sessions that it mirrors.
type bridge struct {
	*world
	*adaptertest.Bridge
	change func(o *discord.Options)
	bot    *discord.Adapter // of the newest process
}

func (w *world) bridge(rules ...adapters.MirrorRule) *bridge {
	b := &bridge{world: w}
	b.Bridge = adaptertest.NewBridge(w.T, func() adapters.Adapter {
		b.bot = w.adapter(func(o *discord.Options) {
			if b.change != nil {
				b.change(o)
			}
			o.Learn = func(s qos.Scope, l qos.Learned) { b.Hub.LearnLimit(discord.Name, s, l) }
		})
		return b.bot
	}, rules...)
	return b
}

// thread returns a session's thread, the newest of its name.
func (b *bridge) thread(channel, name string) discordtest.ChannelState {
	b.Helper()
	threads := b.Threads(channel)
	for _, t := range slices.Backward(threads) {
		if t.Name == name {
			return t
		}
	}
	b.Fatalf("there's no thread %q in %+v", name, threads)
	return discordtest.ChannelState{}
}

// seen is what a person sees in a channel, of what sessions say there.
func (w *world) seen(channel string) []adaptertest.Message {
	w.Helper()
	var out []adaptertest.Message
	for _, m := range w.Messages(channel) {
		if m.Kind != 0 || m.Author.ID != w.Bot().ID || m.ID == channel { // a post begins with its title
			continue
		}
		text, wrong := rendertest.ReadDiscord(m.Content)
		for _, what := range wrong {
			w.Errorf("in %q: %s", m.Content, what)
		}
		x := adaptertest.Message{ID: m.ID, Text: plain(text), Rang: m.Rang, Edits: len(m.History), At: m.At}
		for _, f := range m.Files {
			x.Data = f.Content
		}
		for _, link := range markedLink.FindAllStringSubmatch(m.Content, -1) {
			text, _ := rendertest.ReadDiscord(link[1])
			x.Links = append(x.Links, adaptertest.Link{Text: text, Address: link[2]})
		}
		out = append(out, x)
	}
	return out
}

// plain is a text without what nobody sees, and without the addresses that endings
// lead to.
func plain(text string) string {
	return addresses.ReplaceAllString(strings.ReplaceAll(text, "\u200b", ""), "")
}

// Within messages, the text and address of a link with which a line begins; within what's seen of them, the addresses of messages.
var (
	markedLink = regexp.MustCompile(`(?m)^\[((?:\\.|[^\]\\])*)\]\(<([^>]*)>\)`)
	addresses  = regexp.MustCompile(`https://discord\.com/channels/[0-9/]+`)
)

// compare holds a channel against all that a session has printed.
func (b *bridge) compare(channel string, id sessions.ID) {
	b.Helper()
	b.Compare(b.seen(channel), id)
}

// noRefusals fails for each call that Discord has refused by itself.
func (w *world) noRefusals() {
	w.Helper()
	for _, r := range w.Refusals() {
		w.Errorf("at %v, %s to %s was refused: %d %d %s", r.At.Sub(begins), r.Call, r.Channel, r.Status, r.Code, r.Error)
	}
}

func lines(from, n int) []string { return adaptertest.Lines(from, n) }

// after lets time pass, and what happens in it.
func after(d time.Duration) { adaptertest.After(d) }
