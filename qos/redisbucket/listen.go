package redisbucket

import (
	"context"
	"strings"

	"github.com/panebridge/panebridge/qos"
)

// listen hears what other processes did until ctx ends. What's said there is only a
// reason to look: a message that's lost costs time, and nothing else.
func (b *Budget) listen(ctx context.Context) {
	events := b.opt.Client.Subscribe(ctx, b.keys.channel())
	defer events.Close()
	messages := events.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-messages:
			if !open {
				return
			}
			b.event(m.Payload)
		}
	}
}

// event takes in a message: e, an epoch began or somebody has merged; p, there's a
// new penalty; f and perhaps a chat, slots are free earlier than was said.
func (b *Budget) event(text string) {
	b.mu.Lock()
	freed := b.freed
	b.mu.Unlock()
	switch chat, isFree := strings.CutPrefix(text, "f"); {
	case isFree:
		freed(qos.Chat(chat))
	case text == "e":
		b.poke()
		freed("")
	case text == "p":
		b.poke()
	}
}
