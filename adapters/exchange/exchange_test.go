package exchange_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// way is a transport that does as it's told.
type way func(*http.Request) (*http.Response, error)

func (w way) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func exchangeOver(w way) *exchange.Exchange {
	return &exchange.Exchange{
		Platform: "Chat", Deeds: map[string]string{"post": "post a message"}, Transport: w,
		Secrets: append([]string{"s3cret"}, exchange.Passwords("http://me:pass%20word@proxy:1")...),
	}
}

func request(ctx context.Context, t *testing.T, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://chat.example/bot-s3cret/post", io.MultiReader(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A call without a connection surely wasn't made; with one it's uncertain, and over if nothing can
// arrive any more.
func TestFailuresSayWhetherACallWasMade(t *testing.T) {
	connected := func(r *http.Request) {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		way     way
		outcome qos.CallOutcome
		over    bool
	}{
		"no connection": {func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }, qos.NotSent, false},
		"ended before":  {func(*http.Request) (*http.Response, error) { return nil, errors.New("it was called") }, qos.NotSent, false},
		"broken":        {func(r *http.Request) (*http.Response, error) { connected(r); return nil, io.ErrUnexpectedEOF }, qos.Uncertain, true},
	} {
		ctx := t.Context()
		if name == "ended before" {
			ctx = ended
		}
		_, f := exchangeOver(c.way).Do("post", request(ctx, t, "{}"))
		if f == nil || f.Outcome != c.outcome || f.Over != c.over || !strings.HasPrefix(f.Error(), "post a message: ") || f.Text == "it was called" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	slow, stop := context.WithCancel(t.Context())
	_, f := exchangeOver(func(r *http.Request) (*http.Response, error) { connected(r); stop(); return nil, slow.Err() }).Do("post", request(slow, t, "{}"))
	if f == nil || f.Outcome != qos.Uncertain || f.Over {
		t.Errorf("given up: %+v", f)
	}
}

// The body has its length, whatever it was read from.
func TestBodiesHaveTheirLength(t *testing.T) {
	a, f := exchangeOver(func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		if string(text) != "hello" || r.ContentLength != 5 || r.GetBody == nil {
			t.Errorf("%q of %d bytes was sent, %v", text, r.ContentLength, err)
		}
		rec := httptest.NewRecorder()
		rec.WriteHeader(http.StatusTeapot)
		_, _ = rec.WriteString("short and stout")
		return rec.Result(), nil
	}).Do("post", request(t.Context(), t, "hello"))
	if f != nil || a.Status != http.StatusTeapot || string(a.Body) != "short and stout" || a.Err != nil {
		t.Errorf("%+v, %v", a, f)
	}
}

// An answer without an end takes no more than the bound.
func TestAnswersAreBounded(t *testing.T) {
	a, f := exchangeOver(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.LimitReader(zeros{}, 1<<30))}, nil
	}).Do("post", request(t.Context(), t, ""))
	if f != nil || a.Err == nil || len(a.Body) > 9<<20 {
		t.Errorf("%d bytes, %v, %v", len(a.Body), a.Err, f)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// No failure shows a secret, in whatever error it stood.
func TestSecretsAreCleaned(t *testing.T) {
	_, f := exchangeOver(func(r *http.Request) (*http.Response, error) {
		return nil, errors.New("dial " + r.URL.String() + " by http://me:pass+word@proxy: pass word")
	}).Do("post", request(t.Context(), t, ""))
	if f == nil || strings.Contains(f.Error(), "s3cret") || strings.Contains(f.Error(), "pass") || f.Unwrap() != nil {
		t.Errorf("%v, %v", f, errors.Unwrap(f))
	}
}

// What isn't the platform's is never taken for done.
func TestForeignAnswers(t *testing.T) {
	x := exchangeOver(nil)
	for status, want := range map[int]qos.CallOutcome{
		200: qos.Uncertain, 302: qos.Failed, 403: qos.Failed, 429: qos.Throttled, 502: qos.Uncertain,
	} {
		if f := x.Foreign("post", exchange.Response{Status: status}); f.Outcome != want || f.Over != (want == qos.Uncertain) || !strings.Contains(f.Text, "no answer of Chat's") {
			t.Errorf("%d: %+v", status, f)
		}
	}
	for _, text := range []string{"<html>", "null", `{"id":0}`} {
		if f := x.Decode("post", []byte(text), &made{}); f == nil || f.Outcome != qos.Uncertain || !f.Over {
			t.Errorf("%s: %+v", text, f)
		}
	}
	if f := x.Decode("post", []byte(`{"id":7}`), &made{}); f != nil {
		t.Error(f)
	}
}

type made struct {
	ID int `json:"id"`
}

// Check implements exchange.CheckedResult.
func (m *made) Check() error {
	if m.ID == 0 {
		return errors.New("it has no number")
	}
	return nil
}

func TestWhatMayPass(t *testing.T) {
	x := exchangeOver(nil)
	for status, passes := range map[int]bool{0: true, 404: false, 429: true, 500: true} {
		f := x.Refused("post", exchange.Response{Status: status})
		f.RetryAfter = time.Minute
		err := exchange.Passing(&f)
		if errors.Is(err, sessions.ErrUnavailable) != passes || exchange.RetryAfter(err) != time.Minute {
			t.Errorf("%d: %v", status, err)
		}
	}
	if err := errors.New("another"); !errors.Is(exchange.Passing(err), err) || exchange.RetryAfter(err) != 0 || exchange.IsUnauthorized(err) {
		t.Error("another error is taken for a failure")
	}
}
