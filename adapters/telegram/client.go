package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-telegram/bot"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
)

// callTimeout is how long a call may take whose context has no deadline.
const callTimeout = 20 * time.Second

// client makes calls of the Bot API: no retries, no sleeping, no redirects, and no
// secret in what it returns. Its methods may be called at the same time, and end
// with their context. Their errors are, or wrap, a *failure.
type client struct {
	bot      *bot.Bot // encodes calls; its own polling isn't used
	exchange *exchange
	address  string // of methods: "https://api.telegram.org/bot…/"
	files    string // of files: "https://api.telegram.org/file/bot…/"
}

// newClient returns a client. The options are valid.
func newClient(opt Options) (*client, error) {
	base := strings.TrimRight(opt.APIURL, "/")
	x := &exchange{
		http: &http.Client{
			Transport: opt.Transport,
			// Telegram never redirects. Following would hand the token to somebody else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		secrets: secretsOf(opt),
	}
	if x.http.Transport == nil {
		x.http.Transport = adapters.NewTransport(opt.proxy())
	}
	c := &client{
		exchange: x, address: base + "/bot" + string(opt.Token) + "/", files: base + "/file/bot" + string(opt.Token) + "/",
	}
	var err error
	c.bot, err = bot.New(string(opt.Token), bot.WithSkipGetMe(), bot.WithServerURL(base), bot.WithHTTPClient(callTimeout, x),
		bot.WithErrorsHandler(func(error) {})) // its methods return theirs
	if err != nil {
		return nil, fmt.Errorf("make the client: %s", x.clean(err.Error()))
	}
	return c, nil
}

// secretsOf are what no error may show. The number before a token's colon is the
// bot's id, which everybody may know.
func secretsOf(opt Options) []string {
	_, secret, _ := strings.Cut(string(opt.Token), ":")
	secrets := []string{secret}
	if u, err := url.Parse(opt.Proxy); err == nil {
		if password, ok := u.User.Password(); ok && password != "" {
			secrets = append(secrets, password, url.QueryEscape(password))
		}
	}
	return secrets
}

// do makes a call of the library's, and decodes its result into `into`; nil: it must be
// true. What the library makes of the answer isn't used: an answer with
// something it doesn't know is an error to it, though the call was done.
func (c *client) do(ctx context.Context, into any, call func(context.Context) error) error {
	ctx, cancel := withTimeout(ctx)
	defer cancel()
	var result json.RawMessage
	err := call(context.WithValue(ctx, resultKey{}, &result))
	if result == nil {
		return c.asFailure(err)
	}
	return c.decode("", result, into)
}

// raw makes a call that the library doesn't offer. params become a JSON object; nil:
// an empty one. into is as do's.
func (c *client) raw(ctx context.Context, method string, params, into any) error {
	ctx, cancel := withTimeout(ctx)
	defer cancel()
	if params == nil {
		params = map[string]any{}
	}
	body, err := json.Marshal(params)
	if err != nil {
		return c.exchange.failed(method, qos.Rejected, fmt.Errorf("encode the request: %w", err))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+method, bytes.NewReader(body))
	if err != nil {
		return c.exchange.failed(method, qos.NotSent, err)
	}
	r.Header.Set("Content-Type", "application/json")
	var result json.RawMessage
	resp, err := c.exchange.Do(r.WithContext(context.WithValue(ctx, resultKey{}, &result)))
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return c.exchange.unreadable(method, err)
	}
	return c.decode(method, result, into)
}

func withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, callTimeout)
}

// asFailure finds the failure in an error of the library's.
func (c *client) asFailure(err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if err == nil {
		err = errors.New("it has no result")
	}
	return c.exchange.unreadable("", err)
}

// checked is a result that knows what it must have.
type checked interface {
	// check says why it can't be what was asked for.
	check() error
}

// decode reads a result. nil wants the plain true of calls that return nothing.
func (c *client) decode(method string, result json.RawMessage, into any) error {
	if into == nil {
		into = new(done)
	}
	err := json.Unmarshal(result, into)
	if err == nil && string(result) == "null" {
		err = errors.New("it's null")
	}
	if r, ok := into.(checked); ok && err == nil {
		err = r.check()
	}
	if err != nil {
		return c.exchange.unreadable(method, err)
	}
	return nil
}

// done is the result of calls that return nothing.
type done bool

func (d done) check() error {
	if !d {
		return errors.New("it isn't true")
	}
	return nil
}
