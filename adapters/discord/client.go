package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// connectTimeout is how long the gateway's connection may take to come up.
const connectTimeout = 10 * time.Second

// client makes calls of the REST API: no retries, no sleeping, no redirects, and no
// secret in what it returns. Its methods may be called at the same time, and end with
// their context. Their errors are, or wrap, a *failure.
type client struct {
	token    exchange.Token
	exchange *limitedExchange
	http     *http.Client // of calls: adds nothing to what's asked but limits
	files    *http.Client // of downloads: no limits, no token, whatever address
}

// newClient returns a client. The options are valid.
func newClient(opt Options) *client {
	x := newLimited(opt)
	return &client{token: opt.Token, exchange: x, http: &http.Client{Transport: x}, files: x.Client()}
}

// librarySession is the library's, for one call. It has no memory of limits that it could
// sleep on, and no lock that two calls could wait for.
func (c *client) librarySession() *discordgo.Session {
	return &discordgo.Session{
		Token: "Bot " + string(c.token), Client: c.http, Ratelimiter: discordgo.NewRatelimiter(),
		UserAgent: "DiscordBot (https://github.com/panebridge/panebridge, 1) discordgo/" + discordgo.VERSION,
	}
}

// callLibrary makes a call of the library's. All options must be passed on.
func (c *client) callLibrary(ctx context.Context, call func(*discordgo.Session, ...discordgo.RequestOption) error) error {
	ctx, cancel := exchange.WithTimeout(ctx)
	defer cancel()
	err := call(c.librarySession(), discordgo.WithContext(ctx), discordgo.WithRestRetries(0), discordgo.WithRetryOnRatelimit(false))
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return &failure{CallFailure: c.exchange.Unreadable("", err)}
}

// callPath makes a call that the library doesn't offer, or not with all its fields. path is
// without the version: "channels/1/messages?limit=50". body becomes JSON; nil: none.
// The answer is decoded into `into`; nil: whatever Discord answers is right.
func (c *client) callPath(ctx context.Context, method, path string, body, into any) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return &failure{CallFailure: c.exchange.Failed(routeOf(method, path), qos.Rejected, fmt.Errorf("encode the request: %w", err))}
		}
	}
	return c.sendBody(ctx, method, path, "application/json", encoded, into)
}

// callWithFiles makes a call with files: body becomes its payload_json.
func (c *client) callWithFiles(ctx context.Context, method, path string, body any, files []*discordgo.File, into any) error {
	kind, encoded, err := discordgo.MultipartBodyWithJSON(body, files)
	if err != nil {
		return &failure{CallFailure: c.exchange.Failed(routeOf(method, path), qos.Rejected, fmt.Errorf("encode the request: %w", err))}
	}
	return c.sendBody(ctx, method, path, kind, encoded, into)
}

func (c *client) sendBody(ctx context.Context, method, path, kind string, body []byte, into any) error {
	var answer []byte
	err := c.callLibrary(ctx, func(s *discordgo.Session, options ...discordgo.RequestOption) error {
		var err error
		answer, err = s.RequestRaw(method, discordgo.EndpointAPI+path, kind, body, "", 0, options...)
		return err
	})
	if err != nil || into == nil {
		return err
	}
	if f := c.exchange.Decode(routeOf(method, path), answer, into); f != nil {
		return &failure{CallFailure: *f}
	}
	return nil
}

// sameThing is an answer about one thing, which has the id that it was asked by.
type sameThing struct {
	ID   string `json:"id"`
	want string
}

func (s *sameThing) Check() error {
	if s.ID != s.want {
		return errors.New("it's about something else")
	}
	return nil
}

// limitedExchange makes requests of the REST API. It's what the library calls through
// (http.RoundTripper). It sends them to where the
// API is, reads the limits of each answer, refuses what would surely be refused, and
// leaves the library neither a failure nor a limit that it could act on.
type limitedExchange struct {
	*exchange.Exchange
	base   *url.URL // in place of "https://discord.com/api"
	limits *rateLimits
	learn  func(qos.Scope, qos.Learned)
}

func newLimited(opt Options) *limitedExchange {
	base, _ := url.Parse(strings.TrimRight(opt.APIURL, "/")) // it was checked
	_, secret, _ := strings.Cut(string(opt.Token), ".")      // its first part is the bot's id, which everybody may know
	x := exchange.New("Discord", deeds, secret, opt.Proxy, opt.Transport)
	return &limitedExchange{Exchange: x, base: base, limits: newLimits(), learn: opt.Learn}
}

// callPurpose is what a call is for, in its context.
type callPurpose struct {
	scope qos.Scope // whose slot it has; zero: none's
	spare bool      // nobody misses it much: it's the first that isn't made when it gets tight
}

type purposeKey struct{}

func withPurpose(ctx context.Context, p callPurpose) context.Context {
	return context.WithValue(ctx, purposeKey{}, p)
}

func purposeOf(ctx context.Context) callPurpose {
	p, _ := ctx.Value(purposeKey{}).(callPurpose)
	return p
}

// RoundTrip implements http.RoundTripper. The error is a *failure: whatever isn't an
// accepted call is one.
func (x *limitedExchange) RoundTrip(r *http.Request) (*http.Response, error) {
	at, ok := strings.CutPrefix(r.URL.Path, apiPath)
	if !ok {
		return nil, &failure{CallFailure: x.Failed(r.Method, qos.Rejected, errors.New("it's no call of the API"))}
	}
	call := callOf(r.Method, at)
	if err := r.Context().Err(); err != nil {
		return nil, &failure{CallFailure: x.Failed(call.route, qos.NotSent, err)}
	}
	p := purposeOf(r.Context())
	b, f := x.limits.beginCall(time.Now(), call, p)
	if f != nil {
		return nil, f
	}
	defer x.limits.endCall(b)
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = x.base.Scheme, x.base.Host, ""
	out.URL.Path, out.URL.RawPath = x.base.Path+strings.TrimPrefix(r.URL.Path, "/api"), rawPath(x.base, r.URL)
	answer, failed := x.Do(call.route, out)
	if failed != nil {
		return nil, &failure{CallFailure: *failed}
	}
	return x.readAnswer(call, p, answer)
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

// readAnswer takes an answer in.
func (x *limitedExchange) readAnswer(call limitedCall, p callPurpose, a exchange.Response) (*http.Response, error) {
	now := time.Now()
	if l, ok := x.limits.learnHeaders(now, call, p.scope, a.Header); ok {
		x.learn(p.scope, l)
	}
	if a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices {
		switch {
		case a.Err != nil:
		case a.Status == http.StatusNoContent && len(a.Body) > 0, a.Status != http.StatusNoContent && !json.Valid(a.Body):
			a.Err = errors.New("it isn't Discord's: check api_url, and the proxy if there's one")
		}
		if a.Err != nil {
			return nil, &failure{CallFailure: x.Unreadable(call.route, a.Err)}
		}
		x.limits.noteAccepted()
		stripLimits(a.Header)
		return &http.Response{StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body))}, nil
	}
	f := refusal(x.Exchange, call.route, a)
	f.Text = x.Clean(f.Text)
	x.limits.noteRefused(now, call, f, a.Header)
	return nil, f
}
