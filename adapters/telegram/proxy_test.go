package telegram_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/qos"
)

// With a proxy all calls go through it, with its password, whatever the environment
// says of loopback addresses. One that refuses is an error without the password.
func TestCallsGoThroughTheProxy(t *testing.T) {
	const password = "geheim&/"
	api := telegramtest.New(telegramtest.Options{})
	group := api.AddChat(telegramtest.ChatSpec{Title: "group"}, api.AddUser(telegramtest.User{FirstName: "P"}))
	behind := httptest.NewServer(api)
	defer behind.Close()
	passed, open := 0, true
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := httptest.NewRequest(http.MethodGet, "/", nil)
		said.Header.Set("Authorization", r.Header.Get("Proxy-Authorization"))
		if user, given, _ := said.BasicAuth(); !open || user != "me" || given != password {
			http.Error(w, "not with "+password, http.StatusProxyAuthRequired)
			return
		}
		passed++
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL = p.In.URL }}).ServeHTTP(w, r)
	}))
	defer proxy.Close()
	a, err := telegram.New(telegram.Options{
		Token: telegramtest.DefaultToken, APIURL: behind.URL, Chats: []telegram.ChatConfig{{ID: group}},
		Proxy: "http://me:" + url.QueryEscape(password) + "@" + strings.TrimPrefix(proxy.URL, "http://"),
	})
	if err != nil {
		t.Fatal(err)
	}
	send := func() adapters.Reply {
		return a.Call(t.Context(), adapters.Op{Kind: adapters.KindSend, Target: target(group, 0), Page: page("hello")})
	}
	if r := send(); r.Outcome != qos.Delivered || passed != 1 {
		t.Errorf("%+v, and %d calls went through the proxy", r, passed)
	}
	open = false
	if r := send(); r.Outcome != qos.Failed || r.Err == nil || strings.Contains(r.Err.Error(), "geheim") {
		t.Errorf("a proxy that refuses: %+v", r)
	}
	if n := len(api.Calls()); n != 1 {
		t.Errorf("%d calls came", n)
	}
}
