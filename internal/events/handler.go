package events

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"golang.org/x/time/rate"
)

// How often one event is written: that many at once, and then so many a second.
const (
	burst     = 60
	perSecond = 1
)

// Keys that the handler adds.
const (
	keyEvent = "event"   // its name
	keyLost  = "omitted" // how many of its kind weren't written since the last one that was
)

// Named returns the names of all events by their messages.
func Named() map[string]string { return maps.Clone(named) }

// Handler gives each record its event's name, and leaves out those that come too often.
type Handler struct {
	next slog.Handler
	log  *shared
}

// shared is what all handlers of one log have in common.
type shared struct {
	mu      sync.Mutex
	kinds   map[string]*kind
	written map[slog.Level]int64
	omitted int64
}

// kind is one event.
type kind struct {
	limit   *rate.Limiter
	omitted int64 // since the last one that was written
}

// NewHandler returns a handler before next.
func NewHandler(next slog.Handler) *Handler {
	return &Handler{next: next, log: &shared{kinds: map[string]*kind{}, written: map[slog.Level]int64{}}}
}

// Counts is what became of the records of a log.
type Counts struct {
	Written map[slog.Level]int64
	Omitted int64
}

// Count returns what became of the records so far.
func (h *Handler) Count() Counts {
	h.log.mu.Lock()
	defer h.log.mu.Unlock()
	return Counts{Written: maps.Clone(h.log.written), Omitted: h.log.omitted}
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	name := named[r.Message] // "" for all that have none, of which there are no more than a library logs
	omitted, ok := h.log.admit(name, r)
	if !ok {
		return nil
	}
	r = r.Clone()
	if name != "" {
		r.AddAttrs(slog.String(keyEvent, name))
	}
	if omitted > 0 {
		r.AddAttrs(slog.Int64(keyLost, omitted))
	}
	return h.next.Handle(ctx, r)
}

// admit says whether a record is written, and how many of its kind weren't since the last one.
func (s *shared) admit(name string, r slog.Record) (omitted int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kinds[name]
	if k == nil {
		k = &kind{limit: rate.NewLimiter(perSecond, burst)}
		s.kinds[name] = k
	}
	if !k.limit.AllowN(r.Time, 1) {
		k.omitted++
		s.omitted++
		return 0, false
	}
	omitted, k.omitted = k.omitted, 0
	s.written[r.Level]++
	return omitted, true
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.next.WithAttrs(attrs), h.log}
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.log}
}
