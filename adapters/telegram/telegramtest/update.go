package telegramtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
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
