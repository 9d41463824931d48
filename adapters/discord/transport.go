package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/qos"
)

// maxAnswer bounds what an answer may take, in bytes. The largest are 100 messages of
// 4,000 characters with embeds.
const maxAnswer = 8 << 20

// exchange makes requests of the REST API: one request, one answer, nothing again.
// It's what the library calls through (http.RoundTripper). It sends them to where the
// API is, reads the limits of each answer, refuses what would surely be refused, and
// leaves the library neither a failure nor a limit that it could act on.
type exchange struct {
	next    http.RoundTripper
	base    *url.URL // in place of "https://discord.com/api"
	limits  *limits
	learn   func(qos.Scope, qos.Learned)
	secrets []string
}

func newExchange(opt Options, next http.RoundTripper) *exchange {
	base, _ := url.Parse(strings.TrimRight(opt.APIURL, "/")) // it was checked
	return &exchange{next: next, base: base, limits: newLimits(), learn: opt.Learn, secrets: secretsOf(opt)}
}

// secretsOf are what no error may show. The first part of a token is the bot's id,
// which everybody may know.
func secretsOf(opt Options) []string {
	_, secret, _ := strings.Cut(string(opt.Token), ".")
	secrets := []string{secret}
	if u, err := url.Parse(opt.Proxy); err == nil {
		if password, ok := u.User.Password(); ok && password != "" {
			secrets = append(secrets, password, url.QueryEscape(password))
		}
	}
	return secrets
}

// purpose is what a call is for, in its context.
type purpose struct {
	scope qos.Scope // whose slot it has; zero: none's
	spare bool      // nobody misses it much: it's the first that isn't made when it gets tight
}

type purposeKey struct{}

func withPurpose(ctx context.Context, p purpose) context.Context {
	return context.WithValue(ctx, purposeKey{}, p)
}

func purposeOf(ctx context.Context) purpose {
	p, _ := ctx.Value(purposeKey{}).(purpose)
	return p
}

// RoundTrip implements http.RoundTripper. The error is a *failure: whatever isn't an
// accepted call is one.
func (x *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	at, ok := strings.CutPrefix(r.URL.Path, apiPath)
	if !ok {
		return nil, x.failed(r.Method, qos.Rejected, errors.New("it's no call of the API"))
	}
	call := callOf(r.Method, at)
	if err := r.Context().Err(); err != nil {
		return nil, x.failed(call.route, qos.NotSent, err)
	}
	p := purposeOf(r.Context())
	b, f := x.limits.begin(time.Now(), call, p)
	if f != nil {
		return nil, f
	}
	defer x.limits.end(b)
	// A request that never had a connection surely didn't leave. One that had may
	// have, whatever happened then.
	var connected atomic.Bool
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.Host = x.base.Scheme, x.base.Host, ""
	out.URL.Path, out.URL.RawPath = x.base.Path+strings.TrimPrefix(r.URL.Path, "/api"), rawPath(x.base, r.URL)
	resp, err := x.next.RoundTrip(out)
	switch {
	case err == nil:
	case !connected.Load():
		return nil, x.failed(call.route, qos.NotSent, err)
	default:
		f := x.failed(call.route, qos.Uncertain, err)
		f.over = r.Context().Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded)
		return nil, f
	}
	defer resp.Body.Close()
	return x.read(call, p, resp)
}

// apiPath begins the paths that the library asks for.
var apiPath = strings.TrimPrefix(discordgo.EndpointAPI, "https://discord.com")

// rawPath is the path as it's written, where that's not the plain one (an emoji's).
func rawPath(base, asked *url.URL) string {
	if asked.RawPath == "" {
		return ""
	}
	return base.EscapedPath() + strings.TrimPrefix(asked.RawPath, "/api")
}

// read takes an answer in.
func (x *exchange) read(call call, p purpose, resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	now := time.Now()
	if l, ok := x.limits.answered(now, call, p.scope, resp.Header); ok {
		x.learn(p.scope, l)
	}
	if resp.StatusCode >= http.StatusOK && resp.StatusCode < http.StatusMultipleChoices {
		switch {
		case err != nil:
		case resp.StatusCode == http.StatusNoContent && len(body) > 0, resp.StatusCode != http.StatusNoContent && !json.Valid(body):
			err = errors.New("it isn't Discord's: check api_url, and the proxy if there's one")
		}
		if err != nil {
			return nil, x.unreadable(call.route, err)
		}
		x.limits.accepted()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		stripLimits(resp.Header)
		return resp, nil
	}
	f := refusal(call.route, resp, body)
	f.text = x.clean(f.text)
	x.limits.refused(now, call, f, resp.Header)
	return nil, f
}

// unreadable is the failure of a call whose answer leaves open whether it was done.
func (x *exchange) unreadable(route string, err error) *failure {
	f := x.failed(route, qos.Uncertain, fmt.Errorf("read the answer: %w", err))
	f.over = true
	return f
}

// failed is the failure of a call that has no answer.
func (x *exchange) failed(route string, outcome qos.Outcome, err error) *failure {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, which may have a token
	}
	f := &failure{route: route, outcome: outcome, text: x.clean(err.Error())}
	if f.text == err.Error() {
		f.cause = err
	}
	return f
}

// clean takes secrets out of a text.
func (x *exchange) clean(s string) string {
	for _, secret := range x.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}
