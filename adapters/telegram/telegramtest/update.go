package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/faults"
)

// maxPoll is how long one getUpdates call waits at most, whatever it asks for.
const maxPoll = 50 * time.Second

// maxUpdates: "Values between 1-100 are accepted"
// (core.telegram.org/bots/api#getupdates).
const maxUpdates = 100

// notByDefault are the kinds of updates that a bot gets only if it asks for them
// (core.telegram.org/bots/api#getupdates, allowed_updates).
var notByDefault = []string{"chat_member", "message_reaction", "message_reaction_count"}

// keptFor: "incoming updates are stored on the server until the bot receives them either way, but
// they will not be kept longer than 24 hours" (core.telegram.org/bots/api#getting-updates).
const keptFor = 24 * time.Hour

// expire forgets the updates that nobody has taken in time.
func (q *queue) expire() {
	q.pending = slices.DeleteFunc(q.pending, func(p pending) bool { return now().Sub(p.at) > keptFor })
}

// maxKnown is how many of the updates that were acknowledged can be repeated.
const maxKnown = 100

// pending is an update that hasn't been acknowledged.
type pending struct {
	id   int64
	kind string
	body json.RawMessage
	at   time.Time
}

// queue holds the updates of the bot, and who reads them.
type queue struct {
	pending []pending
	known   []pending // the newest that were acknowledged, at most maxKnown
	lastID  int64
	lost    bool     // see Server.Unheard
	allowed []string // nil: the default
	reader  *reader
}

// reader is a getUpdates call that's waiting.
type reader struct {
	ended chan struct{}
	why   *refusal
}

func newQueue() queue { return queue{lastID: 870_000_000} }

func (q *queue) wants(kind string) bool {
	if len(q.allowed) == 0 {
		return !slices.Contains(notByDefault, kind)
	}
	return slices.Contains(q.allowed, kind)
}

// update queues an update for the bot, if it wants its kind. The lock is held.
func (s *Server) update(kind string, content any) {
	if !s.queue.wants(kind) {
		return
	}
	s.queue.lastID++
	if s.queue.lost {
		return
	}
	body, err := json.Marshal(map[string]any{"update_id": s.queue.lastID, kind: content})
	if err != nil {
		panic("telegramtest: " + err.Error()) // its own structs
	}
	s.queue.pending = append(s.queue.pending, pending{s.queue.lastID, kind, body, now()})
	s.Touch()
}

// Unheard does something of which nobody gets an update, as if none had been read for a day.
func (s *Server) Unheard(do func()) {
	set := func(lost bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.queue.lost = lost
	}
	set(true)
	defer set(false)
	do()
}

// Push queues an update that no person here makes: anything, such as what an
// attacker or a newer Telegram might send. It gets the next update_id, unless it
// has one, and that's returned.
func (s *Server) Push(update map[string]any) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.lastID++
	whole := map[string]any{"update_id": s.queue.lastID}
	maps.Copy(whole, update)
	body, err := json.Marshal(whole)
	if err != nil {
		panic("telegramtest: push of something that isn't JSON: " + err.Error())
	}
	s.queue.pending = append(s.queue.pending, pending{s.queue.lastID, "", body, now()})
	s.Touch()
	return s.queue.lastID
}

// Redeliver queues updates again as they were, ids included, as happens when the
// acknowledgement of a batch is lost.
func (s *Server) Redeliver(updates ...json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := make([]pending, 0, len(updates))
	for _, body := range updates {
		var head struct {
			ID int64 `json:"update_id"`
		}
		if err := json.Unmarshal(body, &head); err != nil {
			return fmt.Errorf("read an update to deliver again: %w", err)
		}
		again = append(again, pending{id: head.ID, body: body, at: now()})
	}
	s.queue.pending = append(again, s.queue.pending...)
	s.Touch()
	return nil
}

// Repeat brings the newest updates again that were acknowledged, so many of them: a server that
// wasn't told of the acknowledgement takes over.
func (s *Server) Repeat(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queue
	again := slices.Clone(q.known[max(0, len(q.known)-n):])
	for i := range again {
		again[i].at = now()
	}
	q.pending, q.known = slices.Concat(again, q.pending), q.known[:len(q.known)-len(again)]
	s.Touch()
}

// Pending returns the updates that nobody has acknowledged.
func (s *Server) Pending() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.expire()
	list := make([]json.RawMessage, 0, len(s.queue.pending))
	for _, p := range s.queue.pending {
		list = append(list, p.body)
	}
	return list
}

// acknowledge forgets updates for good: those below the offset, or with a
// negative one all but the last that many.
func (q *queue) acknowledge(offset int64) {
	if offset < 0 {
		keep := min(int(-offset), len(q.pending))
		q.pending = q.pending[len(q.pending)-keep:]
		return
	}
	var left []pending
	for _, p := range q.pending {
		if p.id < offset {
			q.known = append(q.known, p)
		} else {
			left = append(left, p)
		}
	}
	q.pending, q.known = left, q.known[max(0, len(q.known)-maxKnown):]
}

// end ends the call that's reading, in favour of another.
func (q *queue) end(why *refusal) {
	if q.reader != nil {
		q.reader.why = why
		close(q.reader.ended)
		q.reader = nil
	}
}

// getUpdates is core.telegram.org/bots/api#getupdates.
func (s *Server) getUpdates(ctx context.Context, c *call) (any, *refusal) {
	me, r := s.startReading(c)
	if r != nil {
		return nil, r
	}
	defer s.stopReading(me)
	limit := int(c.number("limit"))
	if limit < 1 || limit > maxUpdates {
		limit = maxUpdates
	}
	timer := time.NewTimer(min(time.Duration(max(0, c.number("timeout")))*time.Second, maxPoll))
	defer timer.Stop()
	for {
		list, changed := s.nextUpdates(limit)
		if len(list) > 0 {
			return list, nil
		}
		select {
		case <-changed:
		case <-me.ended:
			return nil, me.why
		case <-timer.C:
			return []json.RawMessage{}, nil
		case <-ctx.Done():
			return []json.RawMessage{}, nil
		}
	}
}

// startReading acknowledges, and sends away who else is reading.
func (s *Server) startReading(c *call) (*reader, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook.url != "" {
		return nil, conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	allowed, r := allowedUpdates(c)
	if r != nil {
		return nil, r
	}
	if c.has("allowed_updates") {
		s.queue.allowed = allowed
	}
	s.queue.end(conflict("terminated by other getUpdates request; make sure that only one bot instance is running"))
	s.queue.acknowledge(c.number("offset"))
	s.queue.reader = &reader{ended: make(chan struct{})}
	s.Touch()
	return s.queue.reader, nil
}

func allowedUpdates(c *call) ([]string, *refusal) {
	var list []string
	if err := c.decode("allowed_updates", &list); err != nil {
		return nil, badRequest("can't parse allowed updates JSON object")
	}
	return list, nil
}

func (s *Server) stopReading(me *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.reader == me {
		s.queue.reader = nil
	}
}

func (s *Server) nextUpdates(limit int) ([]json.RawMessage, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.expire()
	var list []json.RawMessage
	for _, p := range s.queue.pending[:min(limit, len(s.queue.pending))] {
		list = append(list, p.body)
	}
	return list, s.Changed()
}

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
