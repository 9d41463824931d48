package app_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/push/pushtest"
)

// pushService is a push service on loopback, with the way to it.
func pushService(t *testing.T) (*pushtest.Service, push.Route) {
	t.Helper()
	certificate, roots, err := pushtest.Certificate("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &pushtest.Service{Origin: "https://" + l.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- memnet.Serve(ctx, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}}), s)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the push service ended with %v", err)
		}
	})
	return s, push.Route{Loopback: true, AnyPort: true, Roots: roots}
}

// A browser subscribes, and is told what a program asks, without its secret; also when the daemon was restarted before it could
// be sent, and once. It's taken back when the program was answered in its pane. A browser that's revoked is told nothing.
func TestABrowserIsNotifiedWithoutAPage(t *testing.T) {
	slow(t)
	if _, err := os.Stat("/proc/self/wchan"); err != nil {
		t.Skip("this system doesn't tell what processes wait for")
	}
	service, route := pushService(t)
	d := newDaemon(t)
	d.stop()
	d.start()
	signer, base := d.letIn()
	call := func(method, body string, want int) (out api.Push) {
		t.Helper()
		status, text, err := signedCall(signer, method, base+"/api/v1/page/push", body)
		if err != nil || status != want {
			t.Fatalf("%s %s: %d %s, %v; want %d", method, body, status, text, err, want)
		}
		if want == http.StatusOK {
			if err := json.Unmarshal([]byte(text), &out); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	device := service.Subscribe(call(http.MethodGet, "", http.StatusOK).Key)
	body := fmt.Sprintf(`{"endpoint":%q,"p256dh":%q,"auth":%q,"questions":true,"ends":false,"errors":false}`, device.Endpoint, device.Key, device.Auth)
	call(http.MethodPost, body, http.StatusUnprocessableEntity) // it's loopback
	call(http.MethodPost, `{"questions":true}`, http.StatusNotFound)
	call(http.MethodPost, `{"questions":1}`, http.StatusBadRequest)
	d.stop()

	d.push = route
	d.start()
	signer, base = d.letIn()
	call(http.MethodPost, body, http.StatusOK)
	if got := call(http.MethodGet, "", http.StatusOK).Subscription; got == nil || got.Endpoint != device.Endpoint || !got.Questions || got.Ends {
		t.Errorf("the browser is known as %+v", got)
	}
	const pause = 12 * time.Second
	service.Break(pushtest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "12"})
	const secret = "ghp_Zq8Xk2Lw9Rt4Vb7Nm3Pc6Yd1Hf5Js0GaUeI0"
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "deploy", Command: []string{"sh", "-c", "printf 'Use " + secret + "? '; read -r line; sleep 1000"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("the attempt", func() bool { return device.Asked() == 1 })
	attempt := time.Now()
	d.stop()
	d.start()
	d.await("the question", func() bool { return len(device.Messages()) == 1 })
	if waited := time.Since(attempt); waited < pause-time.Second {
		t.Errorf("a service that asks for a pause of %v has it for %v, over a restart", pause, waited)
	}
	first, err := pushtest.ReadMessage(device.Messages()[0])
	if err != nil || first.Title != "deploy" || !strings.HasPrefix(first.Text, "Use ") || strings.Contains(first.Text, secret[4:]) || first.Session != string(s.ID) {
		t.Errorf("it's told %+v, %v", first, err)
	}
	d.stop()
	d.start()
	d.tmux("send-keys", "-t", d.paneOf(s.ID), "yes", "Enter")
	d.await("the end of it", func() bool {
		screen, err := device.Screen()
		return err == nil && len(device.Messages()) > 1 && len(screen) == 0
	})
	// The daemon may have been stopped before it knew that the question was taken: then it's told again, in the same place.
	told := device.Messages()
	if again, err := pushtest.ReadMessage(told[1]); err == nil && !again.Over && again.Key == first.Key {
		told = told[1:]
	}
	if len(told) != 2 {
		t.Errorf("it's told %+v", told)
	}

	page, err := d.api.Page(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range page.Browsers {
		if err := d.api.RevokeBrowser(d.ctx(), b.ID); err != nil {
			t.Fatal(err)
		}
	}
	asked := device.Asked()
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "again", Command: []string{"sh", "-c", "printf 'Go on? '; read -r line"}}); err != nil {
		t.Fatal(err)
	}
	d.await("the next question", func() bool {
		all, err := d.api.Prompts(d.ctx())
		return err == nil && len(all) == 1
	})
	d.stop() // whatever was to be sent is
	if device.Asked() != asked {
		t.Error("a browser that was revoked is told of a question")
	}
}
