package telegram

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

	"github.com/panebridge/panebridge/qos"
)

// maxAnswer bounds what an answer may take, in bytes. The largest are those of
// getUpdates: 100 updates, of which one with a full text and entities has some 30 kB.
const maxAnswer = 8 << 20

// exchange makes requests of the Bot API: one request, one answer, nothing again.
// It's what the library calls through (bot.HttpClient).
type exchange struct {
	http    *http.Client
	secrets []string
}

// resultKey is the key under which a call's context holds where its result goes.
type resultKey struct{}

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

// Do makes a request. Its body is read first, so that it has a length, and net/http
// may use another connection if nothing was written to the first one. The error is
// a *failure: whatever isn't an accepted call is one.
func (x *exchange) Do(r *http.Request) (*http.Response, error) {
	method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	body, err := readAll(r.Body)
	if err != nil {
		return nil, x.failed(method, qos.Rejected, fmt.Errorf("encode the request: %w", err))
	}
	if err := r.Context().Err(); err != nil {
		return nil, x.failed(method, qos.NotSent, err)
	}
	// A request that never had a connection surely didn't leave. One that had may
	// have, whatever happened then.
	var connected atomic.Bool
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	out := r.Clone(ctx)
	out.ContentLength = int64(len(body))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody()
	resp, err := x.http.Do(out)
	switch {
	case err == nil:
	case !connected.Load():
		return nil, x.failed(method, qos.NotSent, err)
	default:
		f := x.failed(method, qos.Uncertain, err)
		f.over = r.Context().Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded)
		return nil, f
	}
	defer resp.Body.Close()
	return x.read(r.Context(), method, resp)
}

func readAll(body io.Reader) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return io.ReadAll(body)
}

// read takes an answer in.
func (x *exchange) read(ctx context.Context, method string, resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, x.unreadable(method, err)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || a.OK == nil {
		return nil, x.foreign(method, resp)
	}
	if !*a.OK {
		f := refusal(method, resp, a)
		f.text = x.clean(f.text)
		return nil, f
	}
	if result, ok := ctx.Value(resultKey{}).(*json.RawMessage); ok {
		*result = a.Result
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// foreign is the failure of an answer that isn't Telegram's: somebody in between
// gave it. Only the status is of use; the page may quote what was asked.
func (x *exchange) foreign(method string, resp *http.Response) *failure {
	f := &failure{
		method: method, code: resp.StatusCode, outcome: qos.Uncertain, over: true,
		text: fmt.Sprintf("status %d, and no answer of Telegram's: check api_url, and the proxy if there's one", resp.StatusCode),
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		f.outcome, f.over = qos.Throttled, false
		f.retryAfter = orderOf(resp.Header.Get("Retry-After"))
	case resp.StatusCode >= 300 && resp.StatusCode < 500:
		f.outcome, f.over = qos.Failed, false // it wasn't passed on
	}
	return f
}

// unreadable is the failure of a call whose answer leaves open whether it was done.
func (x *exchange) unreadable(method string, err error) *failure {
	f := x.failed(method, qos.Uncertain, fmt.Errorf("read the answer: %w", err))
	f.over = true
	return f
}

// failed is the failure of a call that has no answer.
func (x *exchange) failed(method string, outcome qos.Outcome, err error) *failure {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, which has the token
	}
	f := &failure{method: method, outcome: outcome, text: x.clean(err.Error())}
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
