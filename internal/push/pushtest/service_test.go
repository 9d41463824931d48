package pushtest_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/panebridge/panebridge/internal/push/pushtest"
)

// handedOn is a client that changes requests and hands them to a service.
type handedOn struct {
	service http.Handler
	change  func(r *http.Request)
}

func (h handedOn) Do(r *http.Request) (*http.Response, error) {
	h.change(r)
	w := httptest.NewRecorder()
	h.service.ServeHTTP(w, r)
	return w.Result(), nil
}

// The stand-in takes what's good, and refuses what one of the real services refuses, with the same status.
func TestTheServiceIsStrict(t *testing.T) {
	private, public, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		t.Fatal(err)
	}
	otherPrivate, otherPublic, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		t.Fatal(err)
	}
	type attempt struct {
		options webpush.Options
		text    string
		change  func(r *http.Request)
	}
	set := func(name, value string) func(a *attempt) {
		return func(a *attempt) { a.change = func(r *http.Request) { r.Header.Set(name, value) } }
	}
	for _, c := range []struct {
		name   string
		change func(a *attempt)
		want   int
	}{
		{"a good one", func(*attempt) {}, 201},
		{"a mail address", func(a *attempt) { a.options.Subscriber = "ops@example.com" }, 201},
		{"no TTL", func(a *attempt) { a.change = func(r *http.Request) { r.Header.Del("TTL") } }, 400},
		{"more than 28 days", func(a *attempt) { a.options.TTL = 28*24*3600 + 1 }, 400},
		{"less than nothing", set("TTL", "-1"), 400},
		{"a topic of 33 characters", set("Topic", strings.Repeat("x", 33)), 400},
		{"a topic in another alphabet", set("Topic", "a+b"), 400},
		{"an urgency of its own", set("Urgency", "urgent"), 400},
		{"another encoding", set("Content-Encoding", "aesgcm"), 400},
		{"none", func(a *attempt) { a.change = func(r *http.Request) { r.Header.Del("Content-Encoding") } }, 400},
		{"not signed", set("Authorization", ""), 403},
		{"another scheme", set("Authorization", "WebPush abc"), 403},
		{"another sender", func(a *attempt) { a.options.VAPIDPrivateKey, a.options.VAPIDPublicKey = otherPrivate, otherPublic }, 403},
		{"signed by another", func(a *attempt) { a.options.VAPIDPrivateKey = otherPrivate }, 403},
		{"mailto: twice", func(a *attempt) { a.options.Subscriber = "mailto:ops@example.com" }, 403},
		{"nobody to turn to", func(a *attempt) { a.options.Subscriber = "" }, 403},
		{"this machine", func(a *attempt) { a.options.Subscriber = "https://localhost" }, 403},
		{"too long", func(a *attempt) { a.options.RecordSize = 4097; a.text = strings.Repeat("x", 3990) }, 413},
		{"a record that isn't delimited", func(a *attempt) {
			a.change = func(r *http.Request) { r.Body = http.NoBody }
		}, 400},
		{"a GET", func(a *attempt) { a.change = func(r *http.Request) { r.Method = http.MethodGet } }, 405},
		{"another endpoint", func(a *attempt) { a.change = func(r *http.Request) { r.URL.Path = "/push/none" } }, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &pushtest.Service{Origin: "https://push.example"}
			d := s.Subscribe(public)
			a := attempt{text: "hello", change: func(*http.Request) {}, options: webpush.Options{
				Subscriber: "https://example.com/ops", Topic: "t", TTL: 60, Urgency: webpush.UrgencyHigh, VAPIDPublicKey: public, VAPIDPrivateKey: private,
			}}
			c.change(&a)
			a.options.HTTPClient = handedOn{s, a.change}
			resp, err := webpush.SendNotificationWithContext(t.Context(), []byte(a.text), &webpush.Subscription{Endpoint: d.Endpoint, Keys: webpush.Keys{Auth: d.Auth, P256dh: d.Key}}, &a.options)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if resp.StatusCode != c.want || (len(d.Messages()) == 1) != (c.want == 201) {
				var said bytes.Buffer
				_, _ = said.ReadFrom(resp.Body)
				t.Errorf("it's answered %d %s, want %d; %d messages came", resp.StatusCode, said.String(), c.want, len(d.Messages()))
			}
		})
	}
}

// A service in whose time a token is over, or good for more than a day, refuses it.
func TestTheServiceLooksAtTheClock(t *testing.T) {
	private, public, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		t.Fatal(err)
	}
	for ahead, want := range map[time.Duration]int{0: 201, 13 * time.Hour: 403, -13 * time.Hour: 403} {
		s := &pushtest.Service{Origin: "https://push.example", Ahead: ahead}
		d := s.Subscribe(public)
		resp, err := webpush.SendNotificationWithContext(t.Context(), []byte("hello"), &webpush.Subscription{Endpoint: d.Endpoint, Keys: webpush.Keys{Auth: d.Auth, P256dh: d.Key}}, &webpush.Options{
			HTTPClient: handedOn{s, func(*http.Request) {}}, Subscriber: "https://example.com", TTL: 60, VAPIDPublicKey: public, VAPIDPrivateKey: private,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("by a clock that's %v ahead it's answered %d, want %d", ahead, resp.StatusCode, want)
		}
	}
}
