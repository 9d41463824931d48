// Package exchange is what adapters share of an HTTP exchange with their platform: one request, one
// answer, nothing again. It knows of a call that failed whether it was surely not made, surely not
// done, or may have been done; it bounds what an answer may take; and it takes secrets out of what's
// said about a failure.
//
// What an answer means is the adapter's to say: its refusals, its orders of silence, its limits.
package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/qos"
)

const (
	// maxAnswer bounds what an answer may take, in bytes. The largest are 100 updates or messages,
	// of which one with a full text has some 30 kB.
	maxAnswer = 8 << 20
	// callTimeout is how long a call may take whose context has no deadline.
	callTimeout = 20 * time.Second
)

// Exchange makes requests of one platform. Its methods may be called at the same time.
type Exchange struct {
	Platform  string            // as people call it: "Telegram"
	Deeds     map[string]string // what calls do that people see, in plain words, by the call's name
	Transport http.RoundTripper
	Secrets   []string // what no failure may show
}

// New returns the exchange with a platform. Without a transport it makes one, through proxy, an address that
// ParseProxy takes. secret is the part of the token that nobody may see.
func New(platform string, deeds map[string]string, secret, proxy string, transport http.RoundTripper) *Exchange {
	x := &Exchange{Platform: platform, Deeds: deeds, Transport: transport, Secrets: append([]string{secret}, Passwords(proxy)...)}
	if transport == nil {
		u, _ := ParseProxy(proxy)
		x.Transport = NewTransport(u)
	}
	return x
}

// Response is what a platform answered to a request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error // Body isn't all of it, and why
}

// Do makes a request. Its body is read first, so that it has a length, and net/http may use another
// connection if nothing was written to the first one. It follows no redirect: that would hand the
// token to somebody else. It blocks until the answer is there, or the request's context ends.
func (x *Exchange) Do(call string, r *http.Request) (Response, *CallFailure) {
	fails := func(outcome qos.CallOutcome, err error) (Response, *CallFailure) {
		f := x.Failed(call, outcome, err)
		return Response{}, &f
	}
	body, err := readAll(r.Body)
	if err != nil {
		return fails(qos.Rejected, fmt.Errorf("encode the request: %w", err))
	}
	if err := r.Context().Err(); err != nil {
		return fails(qos.NotSent, err)
	}
	// A request that never had a connection surely didn't leave. One that had may
	// have, whatever happened then.
	var connected atomic.Bool
	out := r.Clone(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}))
	if out.ContentLength = int64(len(body)); len(body) > 0 {
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		out.Body, _ = out.GetBody()
	} else {
		out.Body = http.NoBody
	}
	resp, err := x.Transport.RoundTrip(out)
	switch {
	case err == nil:
	case !connected.Load():
		return fails(qos.NotSent, err)
	default:
		f := x.Failed(call, qos.Uncertain, err)
		f.Over = r.Context().Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded)
		return Response{}, &f
	}
	defer resp.Body.Close()
	a := Response{Status: resp.StatusCode, Header: resp.Header}
	a.Body, a.Err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if a.Err == nil && len(a.Body) > maxAnswer {
		a.Err = fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	return a, nil
}

func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	text, err := io.ReadAll(body)
	return text, errors.Join(err, body.Close())
}

// Token is a bot's token. However it's printed, it's ***.
type Token string

const masked = "***"

// String implements fmt.Stringer.
func (Token) String() string { return masked }

// Format implements fmt.Formatter, for verbs that would pass String by.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue implements slog.LogValuer.
func (Token) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText implements encoding.TextMarshaler.
func (Token) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Client returns a client for downloads. It follows no redirect.
func (x *Exchange) Client() *http.Client {
	return &http.Client{Transport: x.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// CheckedResult is a result that knows what it must have.
type CheckedResult interface {
	// Check says why it can't be what was asked for.
	Check() error
}

// Decode reads a result into a pointer, and returns nil if all is well. null is no result; a CheckedResult is
// asked whether it can be right.
func (x *Exchange) Decode(call string, result []byte, into any) *CallFailure {
	err := json.Unmarshal(result, into)
	if err == nil && string(bytes.TrimSpace(result)) == "null" {
		err = errors.New("it's null")
	}
	if r, ok := into.(CheckedResult); ok && err == nil {
		err = r.Check()
	}
	if err == nil {
		return nil
	}
	f := x.Unreadable(call, err)
	return &f
}

// WithTimeout gives a call 20 s if its context has no deadline.
func WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, callTimeout)
}

// Passwords are the secrets in a proxy's address, as it has them and as they're escaped there.
func Passwords(proxy string) []string {
	u, err := url.Parse(proxy)
	if err != nil {
		return nil
	}
	password, ok := u.User.Password()
	if !ok || password == "" {
		return nil
	}
	return []string{password, url.QueryEscape(password)}
}

// Clean returns a text with *** in place of the secrets.
func (x *Exchange) Clean(text string) string {
	for _, secret := range x.Secrets {
		text = strings.ReplaceAll(text, secret, masked)
	}
	return text
}

const (
	// connectTimeout is how long a TLS connection may take to come up.
	connectTimeout = 10 * time.Second
	// idleTimeout is how long an unused connection is kept. Telegram closes them after
	// some more than a minute; a request on one that's just being closed would be
	// lost without anybody knowing.
	idleTimeout = 45 * time.Second
)

// NewTransport makes connections to a platform, through a proxy if there's one; else as
// the environment says (HTTPS_PROXY). HTTP/1.1 only: a connection of its own for each
// call under way, so that one that hangs holds up no other.
func NewTransport(proxy *url.URL) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http documents it
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.ForceAttemptHTTP2 = false
	t.TLSHandshakeTimeout = connectTimeout
	t.IdleConnTimeout = idleTimeout
	t.MaxIdleConnsPerHost = 10 // eight calls, a poll, and one to spare
	return t
}

// ParseProxy reads a proxy's address: http, https or socks5. "": there's none, and the
// address is nil. The error repeats nothing of it: there may be a password in it.
func ParseProxy(address string) (*url.URL, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	u, err := url.Parse(address)
	if err == nil && u.Host != "" {
		switch u.Scheme {
		case "http", "https", "socks5", "socks5h":
			return u, nil
		}
	}
	return nil, errors.New("proxy is not an address; as in socks5://127.0.0.1:1080")
}

// CheckAPI says whether an address can be an API's; example is one. The error repeats
// nothing of it.
func CheckAPI(address, example string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return errors.New("api_url is not an address; as in " + example)
	}
	return nil
}
