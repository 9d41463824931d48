package adapters

import (
	"context"
	"fmt"

	"github.com/panebridge/panebridge/qos"
)

// Shape returns what messages at a place can hold, as its adapter says: MaxFile may
// be more than documents use. A place of no adapter holds as good as nothing.
func (h *Hub) Shape(place Target) Shape {
	var s Shape
	if o := h.outlets[place.Adapter]; o != nil {
		s = o.adapter.Shape(place)
	}
	largest := s.MaxFile
	s = s.withDefaults()
	s.MaxFile = largest
	return s
}

// Limits says how the limits stand that calls to a place fall under, and what waits
// for its chat.
type Limits struct {
	Mode qos.Mode
	Bot  qos.BotStatus
	Chat qos.ChatStatus // zero: nothing was called lately, and nothing waits
}

// Limits asks an adapter's scheduler; it waits until ctx ends.
func (h *Hub) Limits(ctx context.Context, place Target) (Limits, error) {
	o, err := h.outletOf(place)
	if err != nil {
		return Limits{}, err
	}
	s, err := o.scheduler.Snapshot(ctx)
	if err != nil {
		return Limits{}, fmt.Errorf("ask the scheduler of %s: %w", place.Adapter, err)
	}
	l := Limits{Mode: s.Mode, Bot: s.Bot}
	key := o.adapter.Chat(place)
	for _, c := range s.Chats {
		if c.Chat == key {
			l.Chat = c
		}
	}
	return l, nil
}
