package telegram_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
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

// face is the Bot API in front of a platform in memory: it takes what the adapter
// writes, has the stand-in's checks look at its texts, and answers as Telegram does.
type face struct {
	t       *testing.T
	conn    *adaptertest.Conn
	standIn *telegramtest.Server
}

// form is a call as it was written.
type form struct {
	method string
	values map[string]string
	file   []byte
	name   string
}

func (f *face) RoundTrip(r *http.Request) (*http.Response, error) {
	call, err := readForm(r)
	if err != nil {
		return nil, err
	}
	c := adaptertest.Call{Chat: call.values["chat_id"], Thread: call.values["message_thread_id"], Silent: call.values["disable_notification"] == "true"}
	switch call.method {
	case "sendMessage":
		c.Method, c.Text = adaptertest.Send, f.shown(call, "text", "entities")
	case "editMessageText":
		c.Method, c.Message, c.Text = adaptertest.Edit, call.values["message_id"], f.shown(call, "text", "entities")
	case "sendDocument":
		c.Method, c.Name, c.Data, c.Text = adaptertest.SendFile, call.name, call.file, f.shown(call, "caption", "caption_entities")
	case "createForumTopic":
		c.Method, c.Text = adaptertest.CreateThread, call.values["name"]
	case "closeForumTopic":
		c.Method = adaptertest.CloseThread
	default:
		return nil, fmt.Errorf("no method %s", call.method)
	}
	answer, err := f.conn.Do(r.Context(), c)
	if !errors.Is(err, adaptertest.ErrNoConnection) {
		adaptertest.Connected(r.Context())
	}
	return f.answer(r, c, answer, err)
}

// shown is what a person would see of a text.
func (f *face) shown(call form, text, entities string) string {
	var list []telegramtest.Entity
	if raw := call.values[entities]; raw != "" {
		if err := json.Unmarshal([]byte(raw), &list); err != nil {
			f.t.Errorf("entities are %q", raw)
		}
	}
	seen, _, err := f.standIn.Shown(call.values[text], list)
	if err != nil {
		f.t.Errorf("Telegram would refuse %q with %v: %v", call.values[text], list, err)
	}
	return strings.ReplaceAll(seen, "\u200b", "") // which keeps indentation from being cut
}

func readForm(r *http.Request) (form, error) {
	call := form{method: path.Base(r.URL.Path), values: map[string]string{}}
	_, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return call, err
	}
	fields, err := adaptertest.ReadForm(r, attributes["boundary"])
	if err != nil {
		return call, err
	}
	for _, field := range fields {
		if field.File != "" {
			call.name, call.file = field.File, field.Content
		} else {
			call.values[field.Name] = string(field.Content)
		}
	}
	return call, nil
}

func (f *face) answer(r *http.Request, c adaptertest.Call, answer adaptertest.Answer, err error) (*http.Response, error) {
	var refused *adaptertest.Error
	switch {
	case err == nil:
		return adaptertest.Respond(r, http.StatusOK, map[string]any{"ok": true, "result": result(c, answer)}), nil
	case !errors.As(err, &refused):
		return nil, err
	case refused.Code == http.StatusBadGateway:
		return adaptertest.RespondRaw(r, refused.Code, "<html>bad gateway</html>"), nil
	}
	code, words, parameters := refused.Code, inTelegramsWords(refused.Text), map[string]any{}
	switch {
	case code == http.StatusTooManyRequests:
		parameters["retry_after"] = int(refused.RetryAfter.Seconds())
	case refused.MigratedTo != "":
		id, _ := strconv.ParseInt(refused.MigratedTo, 10, 64)
		parameters["migrate_to_chat_id"] = id
	case code == http.StatusInternalServerError:
		// Of Telegram's own 500 nobody knows whether it was done. What surely wasn't, and
		// may be later, is this.
		code, words = http.StatusUnauthorized, "Unauthorized"
	}
	return adaptertest.Respond(r, code, map[string]any{"ok": false, "error_code": code, "description": words, "parameters": parameters}), nil
}

func inTelegramsWords(text string) string {
	switch text {
	case adaptertest.ChatNotFound:
		return "Forbidden: bot was kicked from the supergroup chat"
	case adaptertest.TooMany:
		return "Too Many Requests: retry after a while"
	default:
		return "Bad Request: " + text
	}
}

func result(c adaptertest.Call, answer adaptertest.Answer) any {
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	switch c.Method {
	case adaptertest.Send, adaptertest.SendFile:
		return map[string]any{"message_id": number(answer.ID), "message_thread_id": number(c.Thread), "date": 1}
	case adaptertest.Edit:
		return map[string]any{"message_id": number(c.Message), "date": 1}
	case adaptertest.CreateThread:
		return map[string]any{"message_thread_id": number(answer.ID), "name": c.Text, "icon_color": 7322096}
	default:
		return true
	}
}

// behind makes adapters for a platform in memory, on which -100 is a forum or not, and
// -1000 to -1003 are groups.
func behind(t *testing.T, topics bool) adaptertest.New {
	t.Helper()
	standIn := telegramtest.New(telegramtest.Options{})
	return func(conn *adaptertest.Conn) adapters.Adapter {
		a, err := telegram.New(telegram.Options{
			Token: telegramtest.DefaultToken, QoS: qos.Options{FlushLimit: 24 * time.Hour, Seed: 1},
			Chats:     []telegram.ChatConfig{{ID: -100, Topics: topics}, {ID: -1000}, {ID: -1001}, {ID: -1002}, {ID: -1003}},
			Transport: &face{t: t, conn: conn, standIn: standIn},
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

func TestAdapterConforms(t *testing.T) {
	for name, topics := range map[string]bool{"topics": true, "plain": false} {
		t.Run(name, func(t *testing.T) { adaptertest.Run(t, behind(t, topics)) })
	}
}

// Random lives with a scheduler, faults, crashes and restarts.
func TestHubHistories(t *testing.T) {
	times := drawtest.Times(500, 30, 10)
	for name, topics := range map[string]bool{"topics": true, "a chat each": false} {
		t.Run(name, func(t *testing.T) {
			adaptertest.HubHistories(t, times, adaptertest.Daemon{
				New: behind(t, topics),
			})
		})
	}
}
