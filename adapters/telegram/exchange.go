package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/qos"
)

// answer is what the Bot API answers (core.telegram.org/bots/api#making-requests).
type answer struct {
	OK          *bool           `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter order `json:"retry_after"`
		MigratedTo int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// oneCall is what the library makes one call through (bot.HttpClient), and keeps what came of it.
type oneCall struct {
	exchange *exchange.Exchange
	method   string          // once it's known
	result   json.RawMessage // nil: it wasn't accepted
}

// Do makes a request. The error is a *failure: whatever isn't an accepted call is one.
func (c *oneCall) Do(r *http.Request) (*http.Response, error) {
	c.method = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	got, f := c.exchange.Do(c.method, r)
	if f != nil {
		return nil, &failure{Failure: *f}
	}
	result, err := read(c.exchange, c.method, got)
	if err != nil {
		return nil, err
	}
	c.result = result
	return &http.Response{StatusCode: got.Status, Header: got.Header, Body: io.NopCloser(bytes.NewReader(got.Body))}, nil
}

// read takes an answer in, and returns the result of an accepted call.
func read(x *exchange.Exchange, method string, got exchange.Answer) (json.RawMessage, error) {
	if got.Err != nil {
		return nil, &failure{Failure: x.Unreadable(method, got.Err)}
	}
	var a answer
	if err := json.Unmarshal(got.Body, &a); err != nil || a.OK == nil {
		return nil, foreign(x, method, got)
	}
	if !*a.OK {
		return nil, refusal(x, method, got, a)
	}
	return a.Result, nil
}

// foreign is the failure of an answer that isn't Telegram's.
func foreign(x *exchange.Exchange, method string, got exchange.Answer) *failure {
	f := &failure{Failure: x.Foreign(method, got)}
	f.Text = fmt.Sprintf("status %d, and %s", got.Status, f.Text)
	if f.Outcome == qos.Throttled {
		f.RetryAfter = orderOf(got.Header.Get("Retry-After"))
	}
	return f
}
