package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// limited makes requests of the REST API. It's what the library calls through
// (http.RoundTripper). It sends them to where the
// API is, reads the limits of each answer, refuses what would surely be refused, and
// leaves the library neither a failure nor a limit that it could act on.
type limited struct {
	exchange.Exchange
	base   *url.URL // in place of "https://discord.com/api"
	limits *limits
	learn  func(qos.Scope, qos.Learned)
}

func newLimited(opt Options) *limited {
	base, _ := url.Parse(strings.TrimRight(opt.APIURL, "/")) // it was checked
	_, secret, _ := strings.Cut(string(opt.Token), ".")      // its first part is the bot's id, which everybody may know
	x := exchange.Exchange{Platform: "Discord", Deeds: deeds, Transport: opt.Transport, Secrets: append([]string{secret}, exchange.Passwords(opt.Proxy)...)}
	if x.Transport == nil {
		x.Transport = exchange.NewTransport(opt.proxy())
	}
	return &limited{Exchange: x, base: base, limits: newLimits(), learn: opt.Learn}
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
func (x *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	at, ok := strings.CutPrefix(r.URL.Path, apiPath)
	if !ok {
		return nil, &failure{Failure: x.Failed(r.Method, qos.Rejected, errors.New("it's no call of the API"))}
	}
	call := callOf(r.Method, at)
	if err := r.Context().Err(); err != nil {
		return nil, &failure{Failure: x.Failed(call.route, qos.NotSent, err)}
	}
	p := purposeOf(r.Context())
	b, f := x.limits.begin(time.Now(), call, p)
	if f != nil {
		return nil, f
	}
	defer x.limits.end(b)
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = x.base.Scheme, x.base.Host, ""
	out.URL.Path, out.URL.RawPath = x.base.Path+strings.TrimPrefix(r.URL.Path, "/api"), rawPath(x.base, r.URL)
	answer, failed := x.Do(call.route, out)
	if failed != nil {
		return nil, &failure{Failure: *failed}
	}
	return x.read(call, p, answer)
}

// apiPath begins the paths that the library asks for.
var apiPath = strings.TrimPrefix(discordgo.EndpointAPI, "https://discord.com") //nolint:gochecknoglobals // a constant

// rawPath is the path as it's written, where that's not the plain one (an emoji's).
func rawPath(base, asked *url.URL) string {
	if asked.RawPath == "" {
		return ""
	}
	return base.EscapedPath() + strings.TrimPrefix(asked.RawPath, "/api")
}

// read takes an answer in.
func (x *limited) read(call call, p purpose, a exchange.Answer) (*http.Response, error) {
	now := time.Now()
	if l, ok := x.limits.answered(now, call, p.scope, a.Header); ok {
		x.learn(p.scope, l)
	}
	if a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices {
		switch {
		case a.Err != nil:
		case a.Status == http.StatusNoContent && len(a.Body) > 0, a.Status != http.StatusNoContent && !json.Valid(a.Body):
			a.Err = errors.New("it isn't Discord's: check api_url, and the proxy if there's one")
		}
		if a.Err != nil {
			return nil, &failure{Failure: x.Unreadable(call.route, a.Err)}
		}
		x.limits.accepted()
		stripLimits(a.Header)
		return &http.Response{StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body))}, nil
	}
	f := refusal(&x.Exchange, call.route, a)
	f.Text = x.Clean(f.Text)
	x.limits.refused(now, call, f, a.Header)
	return nil, f
}
