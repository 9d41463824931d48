// Package client calls panebridge's HTTP API over its Unix socket, for the
// command line.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// ErrNotRunning says that nobody listens on the socket.
var ErrNotRunning = errors.New("panebridge isn't running")

// Client calls the API. What the API refuses is an *api.Error, found with
// errors.As; if no daemon runs, the error is ErrNotRunning.
type Client struct {
	socket string
	http   *http.Client
	quiet  bool
	asked  func()
}

// New returns a Client for the socket of that path. It connects when it's
// called, anew for every call that finds no idle connection.
func New(socketPath string) *Client {
	var d net.Dialer
	return &Client{socket: socketPath, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", socketPath)
		},
	}}}
}

// Quiet returns the same client for calls for which nobody is to be asked whether they may
// be made where this is called: they're refused there, see Inside.
func (c *Client) Quiet() *Client {
	quiet := *c
	quiet.quiet = true
	return &quiet
}

// OnAsked has f called when somebody is being asked whether a call may be made, which
// takes them some minutes.
func (c *Client) OnAsked(f func()) { c.asked = f }

// Inside says whether a call was refused since it came from a session's pane.
func Inside(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && e.Inside()
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Socket returns the path of the socket.
func (c *Client) Socket() string { return c.socket }

// Health returns the health document, also when it says that the daemon is down.
func (c *Client) Health(ctx context.Context) (api.Health, error) {
	var doc api.Health
	resp, err := c.do(ctx, http.MethodGet, "/api/v1/health", nil, nil)
	if err != nil {
		return doc, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusServiceUnavailable {
		return doc, decode(resp, &doc)
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return doc, fmt.Errorf("read the health document: %w", err)
	}
	return doc, nil
}

// Adapters lists the chat platforms and what waits for them.
func (c *Client) Adapters(ctx context.Context) ([]api.Adapter, error) {
	var list []api.Adapter
	return list, c.call(ctx, http.MethodGet, "/api/v1/adapters", nil, nil, &list)
}

// Explain says who's next in a chat, which is named as people know it.
func (c *Client) Explain(ctx context.Context, chat string) (api.Explanation, error) {
	var x api.Explanation
	return x, c.call(ctx, http.MethodGet, "/api/v1/qos/explain", url.Values{"chat": {chat}}, nil, &x)
}

// Reload has the daemon read its configuration again.
func (c *Client) Reload(ctx context.Context) (api.Reloaded, error) {
	var done api.Reloaded
	return done, c.call(ctx, http.MethodPost, "/api/v1/config/reload", nil, nil, &done)
}

// Sessions lists all sessions.
func (c *Client) Sessions(ctx context.Context) ([]api.Session, error) {
	var list []api.Session
	return list, c.call(ctx, http.MethodGet, "/api/v1/sessions", nil, nil, &list)
}

// Session returns one by id or name.
func (c *Client) Session(ctx context.Context, idOrName string) (api.Session, error) {
	var s api.Session
	return s, c.call(ctx, http.MethodGet, sessionPath(idOrName, ""), nil, nil, &s)
}

// State returns what a session, by id or name, is doing.
func (c *Client) State(ctx context.Context, idOrName string) (sessions.State, error) {
	var s sessions.State
	return s, c.call(ctx, http.MethodGet, sessionPath(idOrName, "/state"), nil, nil, &s)
}

// NewSession makes a session. Tmux must be empty.
func (c *Client) NewSession(ctx context.Context, r api.Create) (api.Session, error) {
	var s api.Session
	return s, c.call(ctx, http.MethodPost, "/api/v1/sessions", nil, r, &s)
}

// Adopt mirrors panes that exist. Tmux must be given.
func (c *Client) Adopt(ctx context.Context, r api.Create) ([]api.Session, error) {
	var list []api.Session
	return list, c.call(ctx, http.MethodPost, "/api/v1/sessions", nil, r, &list)
}

// CloseSession ends a session that lives.
func (c *Client) CloseSession(ctx context.Context, idOrName string) error {
	return c.call(ctx, http.MethodDelete, sessionPath(idOrName, ""), url.Values{"state": {"living"}}, nil, nil)
}

// ForgetSession drops a session that has ended, with its output log.
func (c *Client) ForgetSession(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, sessionPath(id, ""), url.Values{"state": {"ended"}}, nil, nil)
}

// Rename gives a living session another name, and returns it.
func (c *Client) Rename(ctx context.Context, idOrName, name string) (api.Session, error) {
	var s api.Session
	return s, c.call(ctx, http.MethodPost, sessionPath(idOrName, "/name"), nil, api.Rename{Name: name}, &s)
}

// Restart ends a session's program and starts it anew, with its conversation. It returns the session, which is another one
// if the first had ended.
func (c *Client) Restart(ctx context.Context, idOrName string) (api.Session, error) {
	var s api.Session
	return s, c.call(ctx, http.MethodPost, sessionPath(idOrName, "/restart"), nil, nil, &s)
}

// Conversations returns those that an agent can go on with in a folder ("": the home folder), the one that changed last first.
func (c *Client) Conversations(ctx context.Context, agent, folder string) ([]api.PastConversation, error) {
	var list []api.PastConversation
	return list, c.call(ctx, http.MethodGet, "/api/v1/agents/"+url.PathEscape(agent)+"/conversations", url.Values{"folder": {folder}}, nil, &list)
}

// Bind has a chat mirror a session.
func (c *Client) Bind(ctx context.Context, idOrName string, b api.Bind) (api.Binding, error) {
	var out api.Binding
	return out, c.call(ctx, http.MethodPost, sessionPath(idOrName, "/bindings"), nil, b, &out)
}

// Unbind ends a binding.
func (c *Client) Unbind(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/api/v1/bindings/"+url.PathEscape(id), nil, nil, nil)
}

// Pair makes a code that lets a person in; "" is the role operator.
func (c *Client) Pair(ctx context.Context, role string) (api.Pairing, error) {
	var out api.Pairing
	return out, c.call(ctx, http.MethodPost, "/api/v1/pairings", nil, api.PairRequest{Role: role}, &out)
}

// Input stores a text to be typed, with Enter behind it if submit.
func (c *Client) Input(ctx context.Context, idOrName, text string, submit bool) (sessions.Receipt, error) {
	var r sessions.Receipt
	if !utf8.ValidString(text) { // JSON can't carry it as it is
		return r, fmt.Errorf("%w input: it isn't valid UTF-8", sessions.ErrInvalid)
	}
	return r, c.call(ctx, http.MethodPost, sessionPath(idOrName, "/input"), nil, api.Input{Text: text, Submit: &submit}, &r)
}

// Receipt says how far an input got.
func (c *Client) Receipt(ctx context.Context, id string) (sessions.Receipt, error) {
	var r sessions.Receipt
	return r, c.call(ctx, http.MethodGet, "/api/v1/receipts/"+url.PathEscape(id), nil, nil, &r)
}

// Cancel takes back an input that isn't typed yet.
func (c *Client) Cancel(ctx context.Context, receiptID string) (sessions.Receipt, error) {
	var r sessions.Receipt
	return r, c.call(ctx, http.MethodDelete, "/api/v1/receipts/"+url.PathEscape(receiptID), nil, nil, &r)
}

// Waiting lists a session's inputs that aren't done, in their order.
func (c *Client) Waiting(ctx context.Context, idOrName string) ([]sessions.Receipt, error) {
	var list []sessions.Receipt
	return list, c.call(ctx, http.MethodGet, sessionPath(idOrName, "/receipts"), nil, nil, &list)
}

// SendAnyway sends a text that only a dialog's words hold; quoted is its receipt's, as
// somebody has looked at the screen.
func (c *Client) SendAnyway(ctx context.Context, receiptID, quoted string) (sessions.Receipt, error) {
	var r sessions.Receipt
	return r, c.call(ctx, http.MethodPost, "/api/v1/receipts/"+url.PathEscape(receiptID)+"/anyway", nil, api.Anyway{Quoted: quoted}, &r)
}

// Prompts lists the questions that are open.
func (c *Client) Prompts(ctx context.Context) ([]api.Prompt, error) {
	var list []api.Prompt
	return list, c.call(ctx, http.MethodGet, "/api/v1/prompts", nil, nil, &list)
}

// Answer answers a question. What it refuses is an *api.Error that has the prompt.
func (c *Client) Answer(ctx context.Context, promptID string, r api.AnswerRequest) (api.Prompt, error) {
	var p api.Prompt
	return p, c.call(ctx, http.MethodPost, "/api/v1/prompts/"+url.PathEscape(promptID)+"/answer", nil, r, &p)
}

// Keys presses keys, named as tmux names them.
func (c *Client) Keys(ctx context.Context, idOrName string, keys ...string) error {
	return c.call(ctx, http.MethodPost, sessionPath(idOrName, "/keys"), nil, api.Keys{Keys: keys}, nil)
}

// KeysAt presses keys at a frame that Terminal has told of.
func (c *Client) KeysAt(ctx context.Context, idOrName string, frame int64, keys ...string) error {
	return c.call(ctx, http.MethodPost, sessionPath(idOrName, "/keys"), nil, api.Keys{Keys: keys, Frame: frame}, nil)
}

// Output reads at most limit lines (0: the server's default) from number from on.
func (c *Client) Output(ctx context.Context, idOrName string, from int64, limit int) (api.Output, error) {
	query := url.Values{"from": {strconv.FormatInt(from, 10)}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	var out api.Output
	return out, c.call(ctx, http.MethodGet, sessionPath(idOrName, "/output"), query, nil, &out)
}

// Search finds lines by words, the newest first but for skip of them, at most limit (0: the server's default), of a session or,
// if none is named, of all.
func (c *Client) Search(ctx context.Context, text, idOrName string, limit, skip int) (api.SearchResult, error) {
	query := url.Values{"q": {text}}
	if idOrName != "" {
		query.Set("session", idOrName)
	}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if skip != 0 {
		query.Set("skip", strconv.Itoa(skip))
	}
	var found api.SearchResult
	return found, c.call(ctx, http.MethodGet, "/api/v1/search", query, nil, &found)
}

// DiffQuery says which of a session's changes are wanted.
type DiffQuery struct {
	Since string // a commit; "": since the session began
	File  string // or a folder; "": all
	Mask  bool   // without secrets, and without what's kept back
}

// Diff returns what a session has changed in its repository.
func (c *Client) Diff(ctx context.Context, idOrName string, q DiffQuery) (api.Changes, error) {
	query := url.Values{"secrets": {"show"}}
	if q.Mask {
		query.Set("secrets", "mask")
	}
	for name, value := range map[string]string{"since": q.Since, "file": q.File} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var changes api.Changes
	return changes, c.call(ctx, http.MethodGet, sessionPath(idOrName, "/diff"), query, nil, &changes)
}

// Screen returns the pane as it is now; format is text, ansi or html.
func (c *Client) Screen(ctx context.Context, idOrName, format string) (string, error) {
	resp, err := c.do(ctx, http.MethodGet, sessionPath(idOrName, "/screen"), url.Values{"format": {format}, "secrets": {"show"}}, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", readError(resp)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", fmt.Errorf("read the screen: %w", err)
	}
	return string(text), nil
}

func sessionPath(idOrName, rest string) string {
	return "/api/v1/sessions/" + url.PathEscape(idOrName) + rest
}

// call sends body, if any, and reads the answer into result, if any.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, result any) error {
	resp, err := c.do(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return decode(resp, result)
}

func (c *Client) do(ctx context.Context, method, path string, query url.Values, body any) (*http.Response, error) {
	r, err := newRequest(ctx, method, path, query, body)
	if err != nil {
		return nil, fmt.Errorf("prepare the call of %s: %w", path, err)
	}
	if c.quiet {
		r.Header.Set(api.AskHeader, "no")
	} else if c.asked != nil {
		r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			if code == http.StatusProcessing {
				c.asked()
			}
			return nil
		}}))
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.callError(path, err)
	}
	return resp, nil
}

// callError explains why a call had no answer.
func (c *Client) callError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w (nobody listens on %s): start it with “panebridge run”", ErrNotRunning, c.socket)
	}
	return fmt.Errorf("call %s: %w", path, err)
}

// newRequest makes a request; the host is for form's sake, the socket decides.
func newRequest(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	address := "http://panebridge" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	if body == nil {
		return http.NewRequestWithContext(ctx, method, address, http.NoBody)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

func decode(resp *http.Response, result any) error {
	if resp.StatusCode >= http.StatusBadRequest {
		return readError(resp)
	}
	if result == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(result); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// readError returns the error that the server answered.
func readError(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var doc struct {
		Error api.Error `json:"error"`
	}
	if json.Unmarshal(text, &doc) != nil || doc.Error.Message == "" {
		doc.Error = api.Error{Code: "http", Message: resp.Status + ": " + strings.TrimSpace(string(text))}
	}
	doc.Error.Status = resp.StatusCode
	return &doc.Error
}
