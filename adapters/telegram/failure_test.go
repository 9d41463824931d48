package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
)

func TestFaultsHaveTheirOutcomes(t *testing.T) {
	const html = "<html>bad gateway of some proxy</html>"
	tests := map[string]struct {
		fault telegramtest.Fault
		want  adapters.Reply
		words string
	}{
		"throttled briefly":   {telegramtest.Fault{RetryAfter: 3 * time.Second}, adapters.Reply{Outcome: qos.Throttled, RetryAfter: 3 * time.Second}, "429"},
		"throttled for hours": {telegramtest.Fault{RetryAfter: 7728 * time.Second}, adapters.Reply{Outcome: qos.Throttled, RetryAfter: 7728 * time.Second}, "429"},
		"internal error":      {telegramtest.Fault{Code: 500, Description: "Internal Server Error"}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, "500"},
		"bad gateway":         {telegramtest.Fault{Code: 502, Description: "Bad Gateway"}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, "502"},
		"a proxy's 502":       {telegramtest.Fault{Code: 502, Body: html}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, "status 502"},
		"a proxy's 403":       {telegramtest.Fault{Code: 403, Body: html}, adapters.Reply{Outcome: qos.Failed}, "check api_url"},
		"a proxy's 429":       {telegramtest.Fault{Code: 429, Body: html}, adapters.Reply{Outcome: qos.Throttled}, "429"},
		"a redirect":          {telegramtest.Fault{Code: 302, Body: html}, adapters.Reply{Outcome: qos.Failed}, "302"},
		"something else":      {telegramtest.Fault{Code: 200, Body: html}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, "no answer of Telegram's"},
		"half an answer":      {telegramtest.Fault{Code: 200, Body: `{"ok":true,"result":{"messa`}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, ""},
		"no result":           {telegramtest.Fault{Code: 200, Body: `{"ok":true}`}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, ""},
		"a strange result":    {telegramtest.Fault{Code: 200, Body: `{"ok":true,"result":7}`}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, ""},
		"cut before":          {telegramtest.Fault{Cut: telegramtest.CutBefore}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, ""},
		"cut after":           {telegramtest.Fault{Cut: telegramtest.CutAfter}, adapters.Reply{Outcome: qos.Uncertain, Over: true}, ""},
		"too slow":            {telegramtest.Fault{After: time.Hour}, adapters.Reply{Outcome: qos.Uncertain}, "deadline"},
		"the token":           {telegramtest.Fault{Code: 401, Description: "Unauthorized"}, adapters.Reply{Outcome: qos.Failed}, "@BotFather"},
		"the address":         {telegramtest.Fault{Code: 404, Description: "Not Found"}, adapters.Reply{Outcome: qos.Failed}, "api_url"},
		"too large":           {telegramtest.Fault{Code: 413, Description: "Request Entity Too Large"}, adapters.Reply{Outcome: qos.Rejected, Content: true}, "too large"},
		"kicked":              {telegramtest.Fault{Code: 403, Description: "Forbidden: bot was kicked from the supergroup chat"}, adapters.Reply{Outcome: qos.ChatGone}, "add it again"},
		"blocked":             {telegramtest.Fault{Code: 403, Description: "Forbidden: bot was blocked by the user"}, adapters.Reply{Outcome: qos.ChatGone}, "unblock"},
		"never opened":        {telegramtest.Fault{Code: 403, Description: "Forbidden: bot can't initiate conversation with a user"}, adapters.Reply{Outcome: qos.ChatGone}, "/start"},
		"another 403":         {telegramtest.Fault{Code: 403, Description: "Forbidden: something new"}, adapters.Reply{Outcome: qos.ChatGone}, "something new"},
		"no such chat":        {telegramtest.Fault{Code: 400, Description: "Bad Request: chat not found"}, adapters.Reply{Outcome: qos.ChatGone}, "check its number"},
		"may not write":       {telegramtest.Fault{Code: 400, Description: "Bad Request: not enough rights to send text messages to the chat"}, adapters.Reply{Outcome: qos.ChatGone}, "allow it"},
		"may not write, old":  {telegramtest.Fault{Code: 400, Description: "Bad Request: have no rights to send a message"}, adapters.Reply{Outcome: qos.ChatGone}, "allow it"},
		"closed topic":        {telegramtest.Fault{Code: 400, Description: "Bad Request: TOPIC_CLOSED"}, adapters.Reply{Outcome: qos.Rejected}, "reopen it"},
		"no topic":            {telegramtest.Fault{Code: 400, Description: "Bad Request: message thread not found"}, adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingThread}, ""},
		"no message":          {telegramtest.Fault{Code: 400, Description: "Bad Request: message to edit not found"}, adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingMessage}, ""},
		"a frozen message":    {telegramtest.Fault{Code: 400, Description: "Bad Request: message can't be edited"}, adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingMessage}, ""},
		"another 400":         {telegramtest.Fault{Code: 400, Description: "Bad Request: something 'that a user wrote' is wrong"}, adapters.Reply{Outcome: qos.Failed}, "something … is wrong"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Options{}, func(w *world) {
				a := w.adapter(nil)
				tt.fault.Times = 1
				w.Inject(tt.fault)
				ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
				defer cancel()
				op := adapters.Op{Kind: adapters.KindSend, Target: target(w.group, 0), Page: page("hello")}
				r := a.Call(ctx, op)
				if r.Err == nil || !strings.Contains(r.Err.Error(), tt.words) {
					w.Errorf("it's explained as %v, want …%s…", r.Err, tt.words)
				}
				if r.Err = nil; r != tt.want {
					w.Errorf("the reply is %+v, want %+v", r, tt.want)
				}
				if n := len(w.Calls()); n != 1 {
					w.Errorf("%d calls were made, want 1", n)
				}
				if tt.want.Outcome == qos.Throttled && tt.want.RetryAfter > 0 {
					time.Sleep(tt.want.RetryAfter)
				}
				if r := a.Call(w.Context(), op); r.Outcome != qos.Delivered {
					w.Errorf("the next call: %+v", r)
				}
			})
		})
	}
}

// carrier is a function that carries requests.
type carrier func(*http.Request) (*http.Response, error)

func (f carrier) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWhatSurelyDidntLeave(t *testing.T) {
	for name, call := range map[string]struct {
		time time.Duration
		via  carrier
	}{
		"no connection": {time.Minute, func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }},
		"no time":       {-1, func(*http.Request) (*http.Response, error) { panic("it left") }},
	} {
		a, err := telegram.New(telegram.Options{Token: telegramtest.DefaultToken, Transport: call.via})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), call.time)
		defer cancel()
		r := a.Call(ctx, adapters.Op{Kind: adapters.KindSend, Target: target(-1, 0), Page: page("hello")})
		if r.Outcome != qos.NotSent || r.Err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// An edit that changes nothing is done.
func TestUnchangedEdit(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		a := w.adapter(nil)
		op := adapters.Op{Kind: adapters.KindSend, Target: target(w.group, 0), Page: page("hello")}
		r := a.Call(w.Context(), op)
		op.Kind, op.Message = adapters.KindEdit, r.ID
		if r := a.Call(w.Context(), op); r.Outcome != qos.Delivered || r.Err != nil {
			w.Errorf("an edit to the same text: %+v", r)
		}
	})
}

// The token reaches nobody: not by errors, not by logs, not by a redirect, whatever
// comes back, however it's printed.
func TestTokenIsNeverShown(t *testing.T) {
	const token = "7000000001:AAthis-is-a-secret_0123456789"
	const password = "pass-word+0123"
	secrets := []string{"AAthis-is-a-secret_0123456789", password, url.QueryEscape(password)}
	leaks := func(t *rapid.T, what string) {
		for _, s := range secrets {
			if strings.Contains(what, s) {
				t.Fatalf("a secret is shown: %s", what)
			}
		}
	}
	drawtest.Check(t, func(t *rapid.T) {
		address := "https://api.example/bot" + token + "/sendMessage"
		echo := rapid.SampledFrom([]string{address, token, secrets[0], "proxy http://me:" + password + "@host"}).Draw(t, "echo")
		status := rapid.SampledFrom([]int{200, 301, 302, 307, 400, 401, 403, 404, 409, 413, 429, 500, 502}).Draw(t, "status")
		body := rapid.SampledFrom([]string{
			"<html>" + echo, "", `{"ok":false,"error_code":%d,"description":%q}`, `{"ok":true,"result":` + fmt.Sprintf("%q", echo) + `}`, `{"ok":`,
		}).Draw(t, "body")
		if strings.Contains(body, "%d") {
			body = fmt.Sprintf(body, status, "Bad Request: "+echo)
		}
		failure := rapid.SampledFrom([]error{nil, errors.New("dial " + echo), &url.Error{Op: "Post", URL: address, Err: errors.New(echo)}}).Draw(t, "failure")
		var asked []string
		via := carrier(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Host)
			if failure != nil {
				return nil, failure
			}
			return &http.Response{
				StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body)),
				Header: http.Header{"Location": {"https://elsewhere.example/"}, "Retry-After": {echo}},
			}, nil
		})
		var logged bytes.Buffer
		opt := telegram.Options{
			Token: token, Proxy: "http://me:" + url.QueryEscape(password) + "@host:1", APIURL: "https://api.example", Transport: via,
			Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		a, err := telegram.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		opt.Logger.Info("options", "opt", opt.Token)
		leaks(t, fmt.Sprintf("%v %+v %#v %s %d", opt.Token, opt.Token, opt.Token, opt.Token, opt.Token))
		at := target(-1, 7)
		calls := []adapters.Reply{
			a.Post(context.Background(), adapters.Post{To: at, Text: "hi", Picture: []byte("png")}, ""),
			a.Post(context.Background(), adapters.Post{To: at, ReplyTo: "3", Reaction: "👍"}, ""),
			a.Typing(context.Background(), at),
			a.Draft(context.Background(), at, "bd_1", adapters.Page{Live: []string{"x"}}),
		}
		for _, kind := range []adapters.OpKind{adapters.KindSend, adapters.KindEdit, adapters.KindFile, adapters.KindThread, adapters.KindClose, adapters.KindOpen, adapters.KindRename} {
			calls = append(calls, a.Call(context.Background(), adapters.Op{
				Kind: kind, Target: at, Message: "5", Text: "title", Page: page("hi"), File: &adapters.File{Name: "a.txt", Data: []byte("a")},
			}))
		}
		for _, r := range calls {
			leaks(t, fmt.Sprintf("%v %+v", r.Err, r.Err))
			for err := r.Err; err != nil; err = errors.Unwrap(err) {
				leaks(t, err.Error())
			}
		}
		leaks(t, logged.String())
		for _, host := range asked {
			if host != "api.example" {
				t.Fatalf("%s was asked: a redirect was followed", host)
			}
		}
	})
}

func TestOptionsThatCantBe(t *testing.T) {
	const secret = "AA secret with\nblanks"
	_, err := telegram.New(telegram.Options{
		Token: "1:" + secret, APIURL: "api.telegram.org", Proxy: "nonsense",
		Chats: []telegram.ChatConfig{{ID: -1}, {ID: -1}, {}},
	})
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Fatalf("the error is %v", err)
	}
	for _, want := range []string{"token", "api_url", "proxy", "chat -1 is there twice", "no number"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing is said about %q: %v", want, err)
		}
	}
}

// Real connections, and the library's address with a slash at its end.
func TestOverLoopback(t *testing.T) {
	s := telegramtest.New(telegramtest.Options{})
	ada := s.AddUser(telegramtest.User{FirstName: "Ada"})
	group := s.AddChat(telegramtest.ChatSpec{Title: "group"}, ada)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	call := func() adapters.Reply {
		a, err := telegram.New(telegram.Options{Token: exchange.Token(s.Token()), APIURL: server.URL + "/"})
		if err != nil {
			t.Fatal(err)
		}
		return a.Call(t.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(group, 0), Page: page("hello")})
	}
	if r := call(); r.Outcome != qos.Delivered {
		t.Errorf("the call: %+v", r)
	}
	if seen := s.See(telegramtest.Place{Chat: group}); len(seen) != 1 || seen[0].Text != "hello" || seen[0].Rang {
		t.Errorf("a person sees %+v", seen)
	}
	server.Close()
	if r := call(); r.Outcome != qos.NotSent {
		t.Errorf("a call to nobody: %+v", r)
	}
}
