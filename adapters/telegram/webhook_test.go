package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// kept is a Keeper that remembers, or fails.
type kept struct {
	mu      sync.Mutex
	updates []intake.Update
	err     error
}

func (k *kept) Keep(_ context.Context, updates []intake.Update) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return k.err
	}
	k.updates = append(k.updates, updates...)
	return nil
}

// fail has it fail from now on; nil: not any more.
func (k *kept) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.updates, k.err = nil, err
}

// keys are the keys of what was kept since fail was called.
func (k *kept) keys() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var list []string
	for _, u := range k.updates {
		list = append(list, u.Key)
	}
	return strings.Join(list, " ")
}

func TestWebhookTakesUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		public := memnet.New() // over which Telegram reaches us
		out := public.Transport()
		w := &world{T: t, Server: telegramtest.New(telegramtest.Options{Transport: out}), net: memnet.New()}
		w.ada = w.AddUser(telegramtest.User{FirstName: "Ada"})
		w.client = w.net.Transport()
		k := &kept{}
		var log bytes.Buffer
		a := w.adapter(func(o *telegram.Options) {
			o.Chats, o.Logger = nil, slog.New(slog.NewTextHandler(&log, nil))
		})
		hook, err := a.Webhook(telegram.WebhookOptions{Keeper: k, URL: "http://bot.example/telegram"})
		if err != nil {
			t.Fatal(err)
		}
		end := w.inBackground(
			func(ctx context.Context) error { return memnet.Serve(ctx, w.net, w.Server) },
			func(ctx context.Context) error { return memnet.Serve(ctx, public, hook) },
			w.Server.Run, hook.Run,
		)
		w.say("one")
		w.say("two")
		after(time.Second)
		w.condition(hook, intake.Well, "")
		if k.keys() != "870000001 870000002" || len(w.Pending()) != 0 {
			t.Errorf("kept %s, %d wait", k.keys(), len(w.Pending()))
		}

		k.fail(errors.New("the disk is full"))
		w.say("three")
		after(5 * time.Minute)
		w.condition(hook, intake.Down, "can't deliver them")
		if k.keys() != "" || len(w.Pending()) != 1 {
			t.Errorf("kept %s, %d wait", k.keys(), len(w.Pending()))
		}
		k.fail(nil)
		after(2 * time.Minute)
		w.condition(hook, intake.Well, "")
		if k.keys() != "870000003" || len(w.Pending()) != 0 {
			t.Errorf("kept %s, %d wait", k.keys(), len(w.Pending()))
		}

		w.set("setWebhook", `{"url":"http://other.example"}`)
		after(3 * time.Minute)
		w.condition(hook, intake.Down, "another program has set this bot's webhook")
		w.client.CloseIdleConnections()
		out.CloseIdleConnections()
		end()
	})
}

func TestWebhookStarts(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		w.Inject(telegramtest.Fault{Method: "setWebhook", Times: 1, RetryAfter: 100 * time.Second})
		w.Inject(telegramtest.Fault{Method: "setWebhook", Times: 1, Cut: telegramtest.CutBefore})
		hook, err := w.adapter(nil).Webhook(telegram.WebhookOptions{Keeper: &kept{}, URL: "https://bot.example"})
		if err != nil {
			w.Fatal(err)
		}
		end := w.inBackground(hook.Run)
		after(99 * time.Second)
		w.condition(hook, intake.Down, "")
		after(time.Minute)
		w.condition(hook, intake.Well, "")
		list := w.calls("setWebhook")
		if len(list) != 3 || list[1].InPenalty || list[2].Params["max_connections"] != "1" {
			w.Errorf("the calls are %+v", list)
		}
		end()
	})
}

func TestWebhookRefuses(t *testing.T) {
	a, err := telegram.New(telegram.Options{Token: telegramtest.DefaultToken})
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{}
	hook, err := a.Webhook(telegram.WebhookOptions{Keeper: k, URL: "https://bot.example"})
	if err != nil {
		t.Fatal(err)
	}
	const update = `{"update_id":7,"message":{}}`
	right := hook.Secret()
	for name, c := range map[string]struct {
		method, secret, body string
		err                  error
		want                 int
	}{
		"as it should be":  {"POST", right, update, nil, 200},
		"no secret":        {"POST", "", update, nil, 401},
		"a wrong secret":   {"POST", right[:len(right)-1] + "_", update, nil, 401},
		"part of it":       {"POST", right[:len(right)-1], update, nil, 401},
		"another method":   {"GET", right, update, nil, 405},
		"too much":         {"POST", right, `{"update_id":7,"x":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413},
		"not JSON":         {"POST", right, `{"update_id":7`, nil, 400},
		"no number":        {"POST", right, `{}`, nil, 400},
		"a huge number":    {"POST", right, `{"update_id":9223372036854775807}`, nil, 400},
		"nowhere to store": {"POST", right, update, errors.New("the disk is full"), 503},
	} {
		k.fail(c.err)
		r := httptest.NewRequestWithContext(t.Context(), c.method, "/telegram", strings.NewReader(c.body))
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", c.secret)
		rec := httptest.NewRecorder()
		hook.ServeHTTP(rec, r)
		if rec.Code != c.want || (k.keys() == "7") != (c.want == 200) || strings.Contains(rec.Body.String(), "disk") {
			t.Errorf("%s: %d %q, kept %s", name, rec.Code, rec.Body, k.keys())
		}
	}
	// A sender that breaks off.
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.MultiReader(strings.NewReader(update), broken{}))
	r.Header.Set("X-Telegram-Bot-Api-Secret-Token", right)
	rec := httptest.NewRecorder()
	if hook.ServeHTTP(rec, r); rec.Code != http.StatusBadRequest {
		t.Errorf("half an update: %d", rec.Code)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestWebhookOptions(t *testing.T) {
	a, err := telegram.New(telegram.Options{Token: telegramtest.DefaultToken})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []telegram.WebhookOptions{
		{URL: ""},
		{URL: "bot.example"},
		{URL: "ftp://bot.example"},
	} {
		if _, err := a.Webhook(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
