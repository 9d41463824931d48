package telegram_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

// conforming is a stand-in for Telegram as an adaptertest.World: a forum, and groups.
type conforming struct {
	adaptertest.Wire
	*world
	topics bool // sessions have topics in the forum
	chats  []string
	moved  map[int64]int64 // whence chats have come
}

func newConforming(t *testing.T, topics bool) adaptertest.New {
	t.Helper()
	return func(unlimited bool) adaptertest.World {
		var opts telegramtest.Options
		if unlimited {
			all := []telegramtest.Window{{Calls: 1e9, Per: time.Second}}
			opts.Limits = telegramtest.Limits{Group: all, Private: all, Bot: all, Typing: all}
		}
		c := &conforming{world: newWorld(t, opts), topics: topics, moved: map[int64]int64{}}
		c.StandIn, c.Read, c.Refuse, c.Ordered = c.Server, readCall, c.refuse, ordered
		c.chats = []string{number(c.forum)}
		for i := range 4 {
			c.chats = append(c.chats, number(c.AddChat(telegramtest.ChatSpec{Title: fmt.Sprint("group ", i), Kind: telegramtest.Group}, c.ada)))
		}
		return c
	}
}

// readCall says what a request asks for.
func readCall(r *http.Request) adaptertest.Call {
	methods := map[string]adaptertest.Method{
		"sendMessage": adaptertest.Send, "editMessageText": adaptertest.Edit, "sendDocument": adaptertest.SendFile,
		"createForumTopic": adaptertest.CreateThread, "closeForumTopic": adaptertest.CloseThread,
	}
	return adaptertest.Call{Method: methods[path.Base(r.URL.Path)], Chat: r.FormValue("chat_id"), Thread: r.FormValue("message_thread_id")}
}

func (c *conforming) refuse(f adaptertest.Fault) {
	c.Inject(map[adaptertest.FaultKind]telegramtest.Fault{
		adaptertest.Throttled: {Times: 1, RetryAfter: f.RetryAfter},
		// Of Telegram's own 500 nobody knows whether it was done.
		adaptertest.ServerError: {Times: 1, Code: http.StatusUnauthorized, Description: "Unauthorized"},
		adaptertest.BadGateway:  {Times: 1, Body: "<html>bad gateway</html>"},
	}[f.Kind])
}

// ordered is the silence that a 429 orders.
func ordered(body []byte) time.Duration {
	var answer struct {
		Parameters struct {
			Seconds int `json:"retry_after"`
		} `json:"parameters"`
	}
	_ = json.Unmarshal(body, &answer) // it's the stand-in's
	return time.Duration(answer.Parameters.Seconds) * time.Second
}

func (c *conforming) NewProcess() (a adapters.Adapter, kill func(lost bool)) {
	transport, kill := c.Connect()
	return c.adapter(func(o *telegram.Options) {
		o.Transport, o.QoS, o.Chats = transport, qos.Options{FlushLimit: 24 * time.Hour, Seed: 1}, nil
		for i, chat := range c.chats {
			o.Chats = append(o.Chats, telegram.ChatConfig{ID: placeIn(chat, "").Chat, Topics: c.topics && i == 0})
		}
	}), kill
}

func (c *conforming) Chats() []string { return c.chats }

// placeIn is a place in the stand-in's numbers.
func placeIn(chat, thread string) telegramtest.Place {
	id, _ := strconv.ParseInt(chat, 10, 64)
	topic, _ := strconv.Atoi(thread) // "": none
	return telegramtest.Place{Chat: id, Thread: topic}
}

func (c *conforming) Seen(chat, thread string) []adaptertest.Message {
	at := placeIn(chat, thread)
	var before []adaptertest.Message
	if from := c.moved[at.Chat]; from != 0 {
		before = c.seen(telegramtest.Place{Chat: from})
	}
	return append(before, c.seen(at)...)
}

func (c *conforming) Threads(chat, title string) (out []string) {
	for _, t := range c.Topics(placeIn(chat, "").Chat) {
		if t.Name == title {
			out = append(out, strconv.Itoa(t.Thread))
		}
	}
	return out
}

func (c *conforming) Closed(chat, thread string) bool {
	at := placeIn(chat, thread)
	return slices.ContainsFunc(c.Topics(at.Chat), func(t telegramtest.Topic) bool { return t.Place == at && t.Closed })
}

// Wrong is what Telegram refuses of a message, whatever else there is.
func (c *conforming) Wrong() (out []string) {
	expected := []string{"not modified", "_NOT_MODIFIED", "not found", "can't be edited", "TOPIC_ID_INVALID", "upgraded", "kicked", "Too Many Requests"}
	for _, r := range c.Refusals() {
		if !slices.ContainsFunc(expected, func(words string) bool { return strings.Contains(r.Description, words) }) {
			out = append(out, fmt.Sprintf("%s was refused: %s: %q", r.Method, r.Description, cmp.Or(r.Params["text"], r.Params["caption"])))
		}
	}
	return out
}

func (c *conforming) AddThread(chat, title string) string {
	topic, err := c.ada.CreateTopic(placeIn(chat, "").Chat, title)
	c.must(err)
	return strconv.Itoa(topic)
}

func (c *conforming) DeleteMessage(chat, id string) {
	at := placeIn(chat, id)
	c.must(c.ada.Delete(at.Chat, at.Thread))
}

func (c *conforming) FreezeMessage(chat, id string) {
	at := placeIn(chat, id)
	c.world.FreezeMessage(at.Chat, at.Thread)
}

func (c *conforming) DeleteThread(chat, thread string) {
	c.must(c.ada.DeleteTopic(placeIn(chat, thread)))
}
func (c *conforming) DeleteChat(chat string) { c.must(c.ada.KickBot(placeIn(chat, "").Chat)) }

func (c *conforming) MoveChat(chat string) string {
	from := placeIn(chat, "").Chat
	to, err := c.ada.Migrate(from, false)
	c.must(err)
	c.moved[to] = from
	return number(to)
}

func (c *conforming) must(err error) {
	if err != nil {
		c.Error(err)
	}
}

func TestAdapterConforms(t *testing.T) {
	for name, topics := range map[string]bool{"topics": true, "plain": false} {
		t.Run(name, func(t *testing.T) { adaptertest.Run(t, newConforming(t, topics)) })
	}
}

// Random lives with a scheduler, faults, crashes and restarts.
func TestHubHistories(t *testing.T) {
	times := drawtest.Times(500, 30, 10)
	for name, topics := range map[string]bool{"topics": true, "a chat each": false} {
		t.Run(name, func(t *testing.T) {
			adaptertest.HubHistories(t, times, adaptertest.Daemon{New: newConforming(t, topics)})
		})
	}
}
