package telegramtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// poll reads updates and returns their ids.
func (w *world) poll(a args) []int64 {
	w.t.Helper()
	var list []struct {
		ID int64 `json:"update_id"`
	}
	decode(w.t, w.must("getUpdates", a).Result, &list)
	ids := []int64{}
	for _, u := range list {
		ids = append(ids, u.ID)
	}
	return ids
}

func TestAcknowledgedUpdatesAreGone(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	for range 4 {
		got(t)(w.ada.Say(w.at(), "x"))
	}
	all := w.poll(args{})
	if len(all) != 5 || len(w.poll(args{"limit": 2})) != 2 {
		t.Fatalf("updates are %v", all)
	}
	if rest := w.poll(args{"offset": all[2]}); len(rest) != 3 || rest[0] != all[2] {
		t.Errorf("after acknowledging two: %v", rest)
	}
	if rest := w.poll(args{"offset": all[0]}); len(rest) != 3 {
		t.Errorf("asking for the old ones again: %v", rest)
	}
	kept := w.Pending()
	if rest := w.poll(args{"offset": -1}); len(rest) != 1 || rest[0] != all[4] {
		t.Errorf("the last one: %v", rest)
	}
	ok(t, w.Redeliver(kept[0], kept[1]))
	if rest := w.poll(args{}); len(rest) != 3 || rest[0] != all[2] {
		t.Errorf("delivered again: %v", rest)
	}
	pushed := w.Push(map[string]any{"message": "not a message"})
	if rest := w.poll(args{"offset": pushed}); len(rest) != 1 || rest[0] != all[4]+1 {
		t.Errorf("pushed: %v", rest)
	}
}

func TestAllowedUpdatesAreRemembered(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	w.poll(args{"offset": 1 << 40, "allowed_updates": []string{"callback_query"}})
	got(t)(w.ada.Say(w.at(), "x"))
	w.poll(args{})
	got(t)(w.ada.Say(w.at(), "x"))
	press(w)
	if n := len(w.poll(args{})); n != 1 {
		t.Errorf("%d updates, want the press alone", n)
	}
	w.poll(args{"allowed_updates": "[]"})
	got(t)(w.ada.Say(w.at(), "x"))
	if n := len(w.poll(args{})); n != 2 {
		t.Errorf("%d updates, want press and message", n)
	}
}

func TestLongPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		w.poll(args{"offset": 1 << 40})
		start := time.Now()
		if n := len(w.poll(args{"timeout": 30})); n != 0 || time.Since(start) != 30*time.Second {
			t.Errorf("%d updates after %v", n, time.Since(start))
		}
		start = time.Now()
		w.poll(args{"timeout": 3600})
		if time.Since(start) != 50*time.Second {
			t.Errorf("a poll of an hour took %v", time.Since(start))
		}

		go func() {
			time.Sleep(7 * time.Second)
			got(t)(w.ada.Say(w.at(), "x"))
		}()
		start = time.Now()
		ids := w.poll(args{"timeout": 30})
		if len(ids) != 1 || time.Since(start) != 7*time.Second {
			t.Errorf("%v after %v", ids, time.Since(start))
		}

		// A second reader ends the first.
		first := make(chan answer, 1)
		go func() { first <- w.call("getUpdates", args{"timeout": 30, "offset": ids[0] + 1}) }()
		synctest.Wait()
		second := make(chan answer, 1)
		go func() { second <- w.call("getUpdates", args{"timeout": 30}) }()
		if a := <-first; a.ErrorCode != 409 || a.Description != "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running" {
			t.Errorf("the first reader gets %+v", a)
		}
		synctest.Wait()
		w.must("setWebhook", args{"url": "https://example.com/"})
		if a := <-second; a.ErrorCode != 409 || a.Description != "Conflict: terminated by setWebhook request" {
			t.Errorf("the second reader gets %+v", a)
		}
	})
}

func TestWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := http.StatusInternalServerError
		var bodies []string
		var secrets []string
		receiver := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			var u struct {
				ID int64 `json:"update_id"`
			}
			if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
				t.Error(err)
			}
			bodies = append(bodies, r.Host)
			secrets = append(secrets, r.Header.Get("X-Telegram-Bot-Api-Secret-Token"))
			rw.WriteHeader(status)
		})
		network := memnet.New()
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, telegramtest.Options{Transport: network.Transport()})
		ended := make(chan error, 2)
		go func() { ended <- memnet.Serve(ctx, network, receiver) }()
		go func() { ended <- w.Run(ctx) }()

		w.must("setWebhook", args{"url": "http://bot.example/hook", "secret_token": "s-1", "drop_pending_updates": true, "max_connections": 500})
		got(t)(w.ada.Say(w.at(), "x"))
		time.Sleep(10 * time.Second) // tried at 0, 1, 3 and 7 s
		synctest.Wait()
		if len(bodies) != 4 || bodies[0] != "bot.example" || secrets[0] != "s-1" {
			t.Errorf("%d attempts, to %v with %v", len(bodies), bodies, secrets)
		}
		info := string(w.must("getWebhookInfo", nil).Result)
		for _, part := range []string{`"pending_update_count":1`, `"last_error_message":"Wrong response from the webhook: 500 Internal Server Error"`, `"max_connections":100`} {
			if !strings.Contains(info, part) {
				t.Errorf("getWebhookInfo says %s, without %s", info, part)
			}
		}
		status = http.StatusOK
		got(t)(w.ada.Say(w.at(), "y"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(bodies) != 6 || len(w.Pending()) != 0 {
			t.Errorf("%d attempts, %d updates wait", len(bodies), len(w.Pending()))
		}
		ok(t, network.Close())
		got(t)(w.ada.Say(w.at(), "z"))
		time.Sleep(time.Second / 2)
		if info := string(w.must("getWebhookInfo", nil).Result); !strings.Contains(info, "Connection refused") {
			t.Errorf("getWebhookInfo says %s", info)
		}
		w.must("setWebhook", args{"url": ""})
		if n := len(w.poll(args{})); n != 1 {
			t.Errorf("%d updates after the webhook", n)
		}
		w.must("deleteWebhook", args{"drop_pending_updates": true})
		if len(w.Pending()) != 0 {
			t.Error("updates weren't dropped")
		}
		cancel()
		for range 2 {
			if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		}
	})
}
