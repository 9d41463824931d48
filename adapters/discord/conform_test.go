package discord_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/qos"
)

// place is where sessions are mirrored to.
type place struct {
	name           string
	threads, forum bool
}

var places = []place{{name: "threads", threads: true}, {name: "posts", threads: true, forum: true}, {name: "a channel each"}}

// conforming is a stand-in for Discord as an adaptertest.World.
type conforming struct {
	adaptertest.Wire
	*world
	place place
	chats []string
}

func (p place) newConforming(t *testing.T) adaptertest.New {
	t.Helper()
	return func(unlimited bool) adaptertest.World {
		var opts discordtest.Options
		if unlimited {
			all := discordtest.Window{Calls: 1e9, Per: time.Second}
			opts.Limits = discordtest.Limits{Global: all, Threads: all, Routes: map[string]discordtest.Window{}}
			for _, name := range []string{"CreateMessage", "EditMessage", "StartThread", "EditChannel"} {
				opts.Limits.Routes[name] = all
			}
		}
		c := &conforming{world: newWorld(t, opts), place: p}
		c.StandIn, c.Read, c.Refuse, c.Ordered = c.Server, c.readCall, c.refuse, ordered
		c.chats = []string{c.agents}
		if p.forum {
			c.chats[0] = c.posts
		}
		for i := range 4 {
			c.chats = append(c.chats, c.house.TextChannel(fmt.Sprint("channel ", i)).ID)
		}
		return c
	}
}

// written is what the adapter writes in bodies, of all its calls.
type written struct {
	Content  *string           `json:"content"`
	Nonce    string            `json:"nonce"`
	Enforce  bool              `json:"enforce_nonce"`
	Flags    discordtest.Flags `json:"flags"`
	Mentions *struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
	Archived bool     `json:"archived"`
	Message  *written `json:"message"`
}

// readCall says what a request asks for.
func (c *conforming) readCall(r *http.Request) adaptertest.Call {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v9/channels/"), "/")
	call := adaptertest.Call{Chat: path[0]}
	if at, ok := c.Channel(path[0]); ok && at.Parent != "" {
		call.Chat, call.Thread = at.Parent, at.ID
	}
	switch route := r.Method + " " + strings.Join(path[1:min(2, len(path))], ""); {
	case route == "POST messages" && strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/"):
		call.Method = adaptertest.SendFile
	case route == "POST messages":
		call.Method = adaptertest.Send
	case route == "PATCH messages":
		call.Method = adaptertest.Edit
	case route == "POST threads":
		call.Method = adaptertest.CreateThread
	case route == "PATCH ":
		var w written
		if call.Method = adaptertest.RenameThread; json.NewDecoder(r.Body).Decode(&w) == nil && w.Archived {
			call.Method = adaptertest.CloseThread
		}
	}
	return call
}

func (c *conforming) refuse(f adaptertest.Fault) {
	c.Inject(map[adaptertest.FaultKind]discordtest.Fault{
		adaptertest.Throttled: {Times: 1, RetryAfter: f.RetryAfter},
		// Of Discord's own 500 nobody knows whether it was done.
		adaptertest.ServerError: {Times: 1, Status: http.StatusNotFound, Message: "404: Not Found"},
		adaptertest.BadGateway:  {Times: 1, Body: "<html></html>"},
	}[f.Kind])
}

// ordered is the silence that a 429 orders. One with a code, of a message too old to be edited, orders none.
func ordered(body []byte) time.Duration {
	var answer struct {
		Code    int     `json:"code"`
		Seconds float64 `json:"retry_after"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Code != 0 {
		return 0
	}
	return time.Duration(answer.Seconds * float64(time.Second))
}

func (c *conforming) NewProcess() (a adapters.Adapter, kill func(lost bool)) {
	transport, kill := c.Connect()
	return c.adapter(func(o *discord.Options) {
		o.Transport, o.QoS, o.Channels = transport, qos.Options{FlushLimit: 24 * time.Hour, Seed: 1}, nil
		for i, channel := range c.chats {
			o.Channels = append(o.Channels, discord.ChannelConfig{ID: channel, Threads: c.place.threads && i == 0})
		}
	}), kill
}

func (c *conforming) Chats() []string { return c.chats }

func (c *conforming) Seen(chat, thread string) []adaptertest.Message {
	return c.seen(cmp.Or(thread, chat))
}

func (c *conforming) Threads(chat, title string) (out []string) {
	for _, t := range c.world.Threads(chat) {
		if t.Name == title {
			out = append(out, t.ID)
		}
	}
	return out
}

func (c *conforming) Closed(_, thread string) bool {
	at, _ := c.Channel(thread)
	return at.Archived
}

func (c *conforming) Wrong() (out []string) {
	for _, r := range c.Refusals() {
		// What isn't there any more, what's closed already, what's too old or comes too early, and where the
		// bot was thrown out.
		if r.Status != http.StatusTooManyRequests && !slices.Contains([]int{10003, 10008, 50083, 50001}, r.Code) {
			out = append(out, fmt.Sprintf("%s was refused: %d %s", r.Call, r.Code, r.Error))
		}
	}
	for _, call := range c.Calls() {
		var w written
		_ = json.Unmarshal([]byte(call.Body), &w) // what's no message has no content
		if w.Message != nil {                     // of a post
			w = *w.Message
		}
		if w.Content == nil {
			continue
		}
		_, wrong := rendertest.ReadDiscord(*w.Content)
		if w.Mentions == nil || w.Mentions.Parse == nil || len(w.Mentions.Parse) > 0 {
			wrong = append(wrong, "it may mention people")
		}
		if call.Name != "EditMessage" && w.Flags&discordtest.SuppressEmbeds == 0 || w.Enforce != (w.Nonce != "") {
			wrong = append(wrong, fmt.Sprintf("it has flags %d and nonce %q, enforced: %v", w.Flags, w.Nonce, w.Enforce))
		}
		for _, what := range wrong {
			out = append(out, fmt.Sprintf("in %q: %s", *w.Content, what))
		}
	}
	return out
}

func (c *conforming) AddThread(chat, title string) string {
	thread, err := c.ada.CreateThread(chat, title)
	c.noErr(err)
	return thread
}

func (c *conforming) DeleteMessage(_, id string)     { c.noErr(c.ada.Delete(id)) }
func (c *conforming) FreezeMessage(_, id string)     { c.world.FreezeMessage(id) }
func (c *conforming) DeleteThread(_, thread string)  { c.noErr(c.ada.DeleteChannel(thread)) }
func (c *conforming) DeleteChat(string)              { c.house.Kick() }
func (c *conforming) MoveChat(string) (stays string) { return "" }

func TestAdapterConforms(t *testing.T) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) { adaptertest.Run(t, p.newConforming(t)) })
	}
}

// Random lives with a scheduler, faults, crashes and restarts, by Discord's windows.
func TestHubHistories(t *testing.T) {
	times := drawtest.Times(500, 30, 10)
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			adaptertest.HubHistories(t, times, adaptertest.Daemon{New: p.newConforming(t)})
		})
	}
}
