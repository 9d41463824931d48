package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	token    Token
	exchange *limited
	http     *http.Client // of calls: adds nothing to what's asked but limits
	files    *http.Client // of downloads: no limits, no token, whatever address
}

// newClient returns a client. The options are valid.
func newClient(opt Options) *client {
	x := newLimited(opt)
	return &client{token: opt.Token, exchange: x, http: &http.Client{Transport: x}, files: x.Client()}
}

// session is the library's, for one call. It has no memory of limits that it could
// sleep on, and no lock that two calls could wait for.
func (c *client) session() *discordgo.Session {
	return &discordgo.Session{
		Token: "Bot " + string(c.token), Client: c.http, Ratelimiter: discordgo.NewRatelimiter(),
		UserAgent: "DiscordBot (https://github.com/panebridge/panebridge, 1) discordgo/" + discordgo.VERSION,
	}
}

// do makes a call of the library's. All options must be passed on.
func (c *client) do(ctx context.Context, call func(*discordgo.Session, ...discordgo.RequestOption) error) error {
	ctx, cancel := exchange.WithTimeout(ctx)
	defer cancel()
	err := call(c.session(), discordgo.WithContext(ctx), discordgo.WithRestRetries(0), discordgo.WithRetryOnRatelimit(false))
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return &failure{Failure: c.exchange.Unreadable("", err)}
}

// raw makes a call that the library doesn't offer, or not with all its fields. path is
// without the version: "channels/1/messages?limit=50". body becomes JSON; nil: none.
// The answer is decoded into `into`; nil: whatever Discord answers is right.
func (c *client) raw(ctx context.Context, method, path string, body, into any) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return &failure{Failure: c.exchange.Failed(routeOf(method, path), qos.Rejected, fmt.Errorf("encode the request: %w", err))}
		}
	}
	return c.send(ctx, method, path, "application/json", encoded, into)
}

// upload makes a call with files: body becomes its payload_json.
func (c *client) upload(ctx context.Context, method, path string, body any, files []*discordgo.File, into any) error {
	kind, encoded, err := discordgo.MultipartBodyWithJSON(body, files)
	if err != nil {
		return &failure{Failure: c.exchange.Failed(routeOf(method, path), qos.Rejected, fmt.Errorf("encode the request: %w", err))}
	}
	return c.send(ctx, method, path, kind, encoded, into)
}

func (c *client) send(ctx context.Context, method, path, kind string, body []byte, into any) error {
	var answer []byte
	err := c.do(ctx, func(s *discordgo.Session, options ...discordgo.RequestOption) error {
		var err error
		answer, err = s.RequestRaw(method, discordgo.EndpointAPI+path, kind, body, "", 0, options...)
		return err
	})
	if err != nil || into == nil {
		return err
	}
	if f := c.exchange.Decode(routeOf(method, path), answer, into); f != nil {
		return &failure{Failure: *f}
	}
	return nil
}

// same is an answer about one thing, which has the id that it was asked by.
type same struct {
	ID   string `json:"id"`
	want string
}

func (s *same) Check() error {
	if s.ID != s.want {
		return errors.New("it's about something else")
	}
	return nil
}
