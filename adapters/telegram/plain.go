package telegram

import "sync"

// plainMost is how many messages are remembered that were refused with entities.
const plainMost = 1000

// plain remembers the messages whose entities Telegram has refused: they go plain
// from then on. It's forgotten at a restart, which costs a refusal more.
type plain struct {
	mu   sync.Mutex
	keys map[string]bool
	past []string // oldest first
}

// has says whether a message is known for refusals.
func (p *plain) has(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[key]
}

// note has a message go plain from now on.
func (p *plain) note(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys[key] {
		return
	}
	if p.keys == nil {
		p.keys = map[string]bool{}
	}
	if len(p.past) == plainMost {
		delete(p.keys, p.past[0])
		p.past = p.past[1:]
	}
	p.keys[key] = true
	p.past = append(p.past, key)
}
