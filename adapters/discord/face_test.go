package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/qos"
)

// someToken looks like one.
const someToken = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.a-secret-that-nobody-may-see-anywhere"

// face is Discord's API in front of a platform in memory: it takes what the adapter
// writes, reads its texts as a person sees them, and answers as Discord does.
type face struct {
	t     *testing.T
	conn  *adaptertest.Conn
	forum bool
}

// The suite's chats have numbers below zero, and Discord's channels none.
const channelPrefix = "77000000"

func channelFor(chat string) string { return channelPrefix + strings.TrimPrefix(chat, "-") }

func chatFor(channel string) (chat string, ok bool) {
	digits, ok := strings.CutPrefix(channel, channelPrefix)
	return "-" + digits, ok
}

// written is what the adapter writes in bodies, of all its calls.
type written struct {
	Content  *string `json:"content"`
	Nonce    string  `json:"nonce"`
	Enforce  bool    `json:"enforce_nonce"`
	Flags    int     `json:"flags"`
	Mentions *struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
	Name     string   `json:"name"`
	Type     int      `json:"type"`
	Archived *bool    `json:"archived"`
	Message  *written `json:"message"`
}

func (f *face) RoundTrip(r *http.Request) (*http.Response, error) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v9/"), "/")
	route := r.Method + " " + strings.Join(append(path[2:], ""), "/")
	chat, ok := chatFor(path[1])
	if route == "GET " {
		kind := map[bool]int{false: 0, true: 15}[f.forum]
		return adaptertest.Respond(r, http.StatusOK, map[string]any{"id": path[1], "type": kind}), nil
	}
	c := adaptertest.Call{Chat: chat}
	if !ok {
		c.Chat, c.Thread = f.conn.ChatOf(path[1]), path[1]
	}
	w, err := f.read(r, &c)
	if err != nil {
		return nil, err
	}
	switch {
	case route == "POST messages/":
		c.Silent, c.Nonce = w.Flags&(1<<12) != 0, w.Nonce
		if c.Method = adaptertest.Send; c.Data != nil {
			c.Method = adaptertest.SendFile
		}
		c.Text = f.seen(w)
		if w.Enforce != (w.Nonce != "") || len(w.Nonce) > 25 || w.Flags&(1<<2) == 0 {
			f.t.Errorf("a message has flags %d and nonce %q, enforced: %v", w.Flags, w.Nonce, w.Enforce)
		}
	case strings.HasPrefix(route, "PATCH messages/"):
		c.Method, c.Message, c.Text = adaptertest.Edit, path[3], f.seen(w)
	case route == "POST threads/":
		c.Method, c.Text = adaptertest.CreateThread, w.Name
		if f.forum != (w.Message != nil) || f.forum && f.seen(*w.Message) == "" || !f.forum && w.Type != 11 {
			f.t.Errorf("in a forum: %v, a thread is made with %+v", f.forum, w)
		}
	case route == "PATCH " && w.Archived != nil && *w.Archived:
		c.Method = adaptertest.CloseThread
	case route == "PATCH " && w.Name != "":
		c.Method, c.Text = adaptertest.RenameThread, w.Name
	default:
		return nil, fmt.Errorf("no call %s", route)
	}
	answer, err := f.conn.Do(r.Context(), c)
	if !errors.Is(err, adaptertest.ErrNoConnection) {
		adaptertest.Connected(r.Context())
	}
	if r.Method == http.MethodPatch {
		answer.ID = path[len(path)-1] // of what was changed
	}
	return f.answer(r, w, answer, err)
}

// seen is what a person would see of a message.
func (f *face) seen(w written) string {
	if w.Content == nil {
		return ""
	}
	if w.Mentions == nil || w.Mentions.Parse == nil || len(w.Mentions.Parse) > 0 {
		f.t.Errorf("a message may mention people: %+v", w.Mentions)
	}
	seen, wrong := rendertest.ReadDiscord(*w.Content)
	for _, what := range wrong {
		f.t.Errorf("in %q: %s", *w.Content, what)
	}
	return strings.ReplaceAll(seen, "\u200b", "")
}

// read reads a body, and the file in it.
func (f *face) read(r *http.Request, c *adaptertest.Call) (w written, err error) {
	if r.Header.Get("Authorization") != "Bot "+someToken {
		f.t.Errorf("the header is %v", r.Header)
	}
	kind, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return w, err
	}
	if kind == "application/json" {
		return w, json.NewDecoder(r.Body).Decode(&w)
	}
	form, err := adaptertest.ReadForm(r, attributes["boundary"])
	if err != nil {
		return w, err
	}
	for _, field := range form {
		if field.Name != "payload_json" {
			c.Name, c.Data = field.File, field.Content
		} else if err := json.Unmarshal(field.Content, &w); err != nil {
			return w, err
		}
	}
	return w, nil
}

func (f *face) answer(r *http.Request, w written, answer adaptertest.Answer, err error) (*http.Response, error) {
	var refused *adaptertest.Error
	switch {
	case err == nil && answer.Existed:
		return adaptertest.Respond(r, http.StatusOK, map[string]any{"id": answer.ID, "content": "what it was sent with"}), nil
	case err == nil:
		content := ""
		if w.Content != nil {
			content = *w.Content
		}
		return adaptertest.Respond(r, http.StatusOK, map[string]any{"id": answer.ID, "content": content}), nil
	case !errors.As(err, &refused):
		return nil, err
	case refused.Code == http.StatusBadGateway:
		return adaptertest.RespondRaw(r, refused.Code, "<html></html>"), nil
	case refused.Code == http.StatusInternalServerError:
		// Of Discord's own 500 nobody knows whether it was done. What surely wasn't, and
		// may be later, is this.
		return adaptertest.Respond(r, http.StatusNotFound, map[string]any{"message": "404: Not Found", "code": 0}), nil
	case refused.Text == adaptertest.NotModified:
		return adaptertest.Respond(r, http.StatusOK, map[string]any{"id": answer.ID}), nil
	}
	body := map[string]any{"message": "refused", "code": codes[refused.Text]}
	if refused.Code == http.StatusTooManyRequests {
		body["retry_after"], body["global"] = refused.RetryAfter.Seconds(), false
	}
	return adaptertest.Respond(r, refused.Code, body), nil
}

// codes are Discord's for the platform's refusals.
var codes = map[string]int{
	adaptertest.TooLong: 50035, adaptertest.Empty: 50006, adaptertest.FileTooLarge: 40005, adaptertest.MessageNotFound: 10008,
	adaptertest.NotEditable: 30046, adaptertest.ThreadNotFound: 10003, adaptertest.ChatNotFound: 50001,
}

// numbered is an adapter to which the suite's chats are channels.
type numbered struct{ *discord.Adapter }

func numberedTarget(t adapters.Target) adapters.Target {
	t.Chat = channelFor(t.Chat)
	return t
}

func (n numbered) Check(t adapters.Target) error { return n.Adapter.Check(numberedTarget(t)) }

func (n numbered) Chat(t adapters.Target) qos.ChatKey { return n.Adapter.Chat(numberedTarget(t)) }

func (n numbered) Shape(t adapters.Target) adapters.Shape { return n.Adapter.Shape(numberedTarget(t)) }

func (n numbered) Typing(context.Context, adapters.Target) adapters.Reply {
	return adapters.Reply{Outcome: qos.Delivered} // nobody sees it
}

func (n numbered) Call(ctx context.Context, op adapters.Op) adapters.Reply {
	op.Target = numberedTarget(op.Target)
	return n.Adapter.Call(ctx, op)
}

// ChatsStay implements adaptertest.Stays.
func (numbered) ChatsStay() bool { return true }

// place is where sessions are mirrored to.
type place struct {
	name           string
	threads, forum bool
}

var places = []place{{name: "threads", threads: true}, {name: "posts", threads: true, forum: true}, {name: "a channel each"}}

// behind makes adapters for a platform in memory.
func (p place) behind(t *testing.T) adaptertest.New {
	t.Helper()
	return func(conn *adaptertest.Conn) adapters.Adapter {
		channels := []discord.ChannelConfig{{ID: channelFor("-100"), Threads: p.threads}}
		for i := range 4 {
			channels = append(channels, discord.ChannelConfig{ID: channelFor(fmt.Sprint("-100", i))})
		}
		a, err := discord.New(discord.Options{
			Token: someToken, Channels: channels, Transport: &face{t: t, conn: conn, forum: p.forum},
			QoS: qos.Options{FlushLimit: 24 * time.Hour, Seed: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		return numbered{a}
	}
}

func TestAdapterConforms(t *testing.T) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) { adaptertest.Run(t, p.behind(t)) })
	}
}

// Random lives with a scheduler, faults, crashes and restarts, by Discord's windows.
func TestHubHistories(t *testing.T) {
	times := drawtest.Times(500, 30, 10)
	five := []adaptertest.Window{{Calls: 5, Per: 5 * time.Second}}
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			adaptertest.HubHistories(t, times, adaptertest.Daemon{
				New:      p.behind(t),
				Platform: adaptertest.Options{PerThread: true, MaxText: 2000, MaxFile: 10_000_000, Group: five, Bot: []adaptertest.Window{{Calls: 50, Per: time.Second}}},
			})
		})
	}
}
