package telegramtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// The waits of a webhook: its answer is awaited for at most a minute, and what
// wasn't taken is sent again (github.com/tdlib/telegram-bot-api/issues/341).
const (
	webhookTimeout = time.Minute
	webhookRetry   = time.Second
	webhookRest    = time.Minute
)

// secretForm: "1-256 characters. Only characters A-Z, a-z, 0-9, _ and - are
// allowed" (core.telegram.org/bots/api#setwebhook).
var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{0,256}$`)

// webhook is where updates go instead of into getUpdates.
type webhook struct {
	url            string
	secret         string
	maxConnections int
	lastError      time.Time
	lastErrorText  string
}

// wireWebhook is core.telegram.org/bots/api#webhookinfo.
type wireWebhook struct {
	URL                  string   `json:"url"`
	HasCustomCertificate bool     `json:"has_custom_certificate"`
	PendingUpdateCount   int      `json:"pending_update_count"`
	LastErrorDate        int64    `json:"last_error_date,omitempty"`
	LastErrorMessage     string   `json:"last_error_message,omitempty"`
	MaxConnections       int      `json:"max_connections,omitempty"`
	AllowedUpdates       []string `json:"allowed_updates,omitempty"`
}

// setWebhook takes plain http too, as a Bot API server of one's own does. An
// empty URL removes the webhook.
func (s *Server) setWebhook(c *call) (any, *refusal) {
	address := strings.TrimSpace(c.text("url"))
	if address == "" {
		return s.deleteWebhook(c)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, badRequest("bad webhook: invalid webhook URL specified")
	case !secretForm.MatchString(c.text("secret_token")):
		return nil, badRequest("secret token contains unallowed characters")
	}
	allowed, r := allowedUpdates(c)
	if r != nil {
		return nil, r
	}
	if c.has("allowed_updates") {
		s.queue.allowed = allowed
	}
	if c.flag("drop_pending_updates") {
		s.queue.pending = nil
	}
	s.queue.end(conflict("terminated by setWebhook request"))
	connections := 40
	if n := int(c.number("max_connections")); n > 0 {
		connections = min(n, 100)
	}
	s.webhook = webhook{url: address, secret: c.text("secret_token"), maxConnections: connections}
	s.Touch()
	return true, nil
}

func (s *Server) deleteWebhook(c *call) (any, *refusal) {
	if c.flag("drop_pending_updates") {
		s.queue.pending = nil
	}
	s.webhook = webhook{}
	s.Touch()
	return true, nil
}

func (s *Server) getWebhookInfo(*call) (any, *refusal) {
	h := s.webhook
	w := wireWebhook{
		URL: h.url, PendingUpdateCount: len(s.queue.pending), LastErrorMessage: h.lastErrorText,
		MaxConnections: h.maxConnections, AllowedUpdates: s.queue.allowed,
	}
	if !h.lastError.IsZero() {
		w.LastErrorDate = h.lastError.Unix()
	}
	return w, nil
}

// Run carries updates to the webhook, while there's one, until ctx ends. It sends
// one at a time and in order, and the same again until it's answered with 2xx. An
// answer that is a call itself isn't carried out.
func (s *Server) Run(ctx context.Context) error {
	rest := webhookRetry
	for {
		hook, next, changed := s.nextPush()
		if next == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		err := s.push(ctx, hook, next.body)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to end
		}
		s.pushed(hook, next.id, err)
		if err == nil {
			rest = webhookRetry
			continue
		}
		if faults.Wait(ctx, rest) != nil {
			return nil //nolint:nilerr // it was told to end
		}
		rest = min(2*rest, webhookRest)
	}
}

// nextPush returns the oldest update, or nothing and what to wait for.
func (s *Server) nextPush() (webhook, *pending, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.expire()
	if s.webhook.url == "" || len(s.queue.pending) == 0 {
		return webhook{}, nil, s.Changed()
	}
	next := s.queue.pending[0]
	return s.webhook, &next, s.Changed()
}

func (s *Server) push(ctx context.Context, hook webhook, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Close = true // nothing of a connection may outlive Run
	r.Header.Set("Content-Type", "application/json")
	if hook.secret != "" {
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", hook.secret)
	}
	resp, err := s.opts.Transport.RoundTrip(r)
	if err != nil {
		return complain("Connection refused")
	}
	_, err = io.Copy(io.Discard, resp.Body)
	err = errors.Join(err, resp.Body.Close())
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		err = complain("Wrong response from the webhook: %s", resp.Status)
	}
	return err
}

// pushed writes down what became of an update, if the webhook is still the same.
func (s *Server) pushed(hook webhook, id int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.queue.acknowledge(id + 1)
	case s.webhook.url == hook.url:
		s.webhook.lastError, s.webhook.lastErrorText = now(), fmt.Sprint(err)
	}
	s.Touch()
}
