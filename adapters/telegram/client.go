package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// client makes calls of the Bot API: no retries, no sleeping, no redirects, and no
// secret in what it returns. Its methods may be called at the same time, and end
// with their context. Their errors are, or wrap, a *failure.
type client struct {
	exchange *exchange.Exchange
	options  []bot.Option // of the library
	token    Token
	address  string // of methods: "https://api.telegram.org/bot…/"
	files    string // of files: "https://api.telegram.org/file/bot…/"
}

// newClient returns a client. The options are valid.
func newClient(opt Options) *client {
	base := strings.TrimRight(opt.APIURL, "/")
	_, secret, _ := strings.Cut(string(opt.Token), ":") // what's before it is the bot's id, which everybody may know
	x := &exchange.Exchange{Platform: "Telegram", Deeds: deeds, Transport: opt.Transport, Secrets: append([]string{secret}, exchange.Passwords(opt.Proxy)...)}
	if x.Transport == nil {
		x.Transport = exchange.NewTransport(opt.proxy())
	}
	return &client{
		exchange: x, token: opt.Token, address: base + "/bot" + string(opt.Token) + "/", files: base + "/file/bot" + string(opt.Token) + "/",
		options: []bot.Option{
			bot.WithSkipGetMe(), bot.WithServerURL(base), bot.WithUpdatesChannelCap(0),
			bot.WithErrorsHandler(func(error) {}), // its methods return theirs
		},
	}
}

// call makes a call of the library's, and decodes its result into `into`; nil: it must be
// true. What the library makes of the answer isn't used: an answer with
// something it doesn't know is an error to it, though the call was done. So each call
// has the library to itself, and its result is that of the one request.
func call[P, R any](ctx context.Context, c *client, into any, method func(*bot.Bot, context.Context, P) (R, error), params P) error {
	ctx, cancel := exchange.WithTimeout(ctx)
	defer cancel()
	one := &oneCall{exchange: c.exchange}
	b, err := bot.New(string(c.token), slices.Concat(c.options, []bot.Option{bot.WithHTTPClient(0, one)})...)
	if err == nil {
		_, err = method(b, ctx, params)
	}
	if one.result != nil {
		return c.decode(one.method, one.result, into)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if err == nil {
		err = errors.New("it has no result")
	}
	return &failure{Failure: c.exchange.Unreadable(one.method, err)}
}

// ask makes a call of the library's that takes nothing.
func ask[R any](ctx context.Context, c *client, into any, method func(*bot.Bot, context.Context) (R, error)) error {
	return call(ctx, c, into, func(b *bot.Bot, ctx context.Context, _ struct{}) (R, error) { return method(b, ctx) }, struct{}{})
}

// raw makes a call that the library doesn't offer. params become a JSON object. into is as call's.
func (c *client) raw(ctx context.Context, method string, params, into any) error {
	ctx, cancel := exchange.WithTimeout(ctx)
	defer cancel()
	body, err := json.Marshal(params)
	if err != nil {
		return &failure{Failure: c.exchange.Failed(method, qos.Rejected, fmt.Errorf("encode the request: %w", err))}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+method, bytes.NewReader(body))
	if err != nil {
		return &failure{Failure: c.exchange.Failed(method, qos.NotSent, err)}
	}
	r.Header.Set("Content-Type", "application/json")
	got, f := c.exchange.Do(method, r)
	if f != nil {
		return &failure{Failure: *f}
	}
	result, err := read(c.exchange, method, got)
	if err != nil {
		return err
	}
	return c.decode(method, result, into)
}

// decode reads a result. nil wants the plain true of calls that return nothing.
func (c *client) decode(method string, result json.RawMessage, into any) error {
	if into == nil {
		into = new(done)
	}
	if f := c.exchange.Decode(method, result, into); f != nil {
		return &failure{Failure: *f}
	}
	return nil
}

// done is the result of calls that return nothing.
type done bool

// Check implements exchange.Checked.
func (d done) Check() error {
	if !d {
		return errors.New("it isn't true")
	}
	return nil
}
