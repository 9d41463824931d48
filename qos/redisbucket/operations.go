package redisbucket

import (
	"strconv"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// operation is something that Redis is told off the critical path. What it says is
// looked up when it's written.
type operation struct {
	kind  operationKind
	grant *grant
	scope qos.Scope
	lane  lane
}

type operationKind uint8

const (
	stamp operationKind = iota
	giveBack
	penalty
	learn
	seat // it's told in a join only
)

// tell has Redis told soon; b.mu is held. A process that isn't linked tells
// everything when it joins, and what comes while it does so, afterwards.
func (b *Budget) tell(o operation) {
	if b.link.state == linked || b.link.merging {
		b.todo = append(b.todo, o)
		b.poke()
	}
}

// everything is all that the process knows. What's still asked for isn't among it: Redis
// would take it for granted. b.mu is held.
func (b *Budget) everything() []operation {
	var all []operation
	for _, g := range b.grants {
		switch g.state {
		case asking:
		case gone:
			all = append(all, operation{kind: giveBack, grant: g})
		case inFlight, settled:
			all = append(all, operation{kind: stamp, grant: g})
		}
	}
	for s := range b.penalties {
		all = append(all, operation{kind: penalty, scope: s})
	}
	for s := range b.learned {
		all = append(all, operation{kind: learn, scope: s})
	}
	for l := range b.seats {
		all = append(all, operation{kind: seat, lane: l})
	}
	return all
}

// told forgets what Redis knows now. b.mu is held.
func (b *Budget) told(moves []move, done []operation) {
	b.moves = b.moves[len(moves):]
	for _, o := range done {
		if o.kind == giveBack {
			delete(b.grants, o.grant.id)
		}
	}
}

// memberParams are those of member.lua up to the operations. b.mu is held.
func (b *Budget) memberParams(now time.Time, mode string, timeout time.Duration) *params {
	settle := b.settle(longestOf(b.limits))
	p := b.preamble(now, settle, timeout)
	moved := 0
	if b.link.moved {
		moved = 1
	}
	version := b.link.version
	if mode == "join" { // the server may count anew
		version = ""
	}
	p.add(mode, b.opt.MaxProcesses, moved, b.link.newest, version, b.note.Seen, len(b.note.Members)+len(b.note.Left))
	for _, id := range b.note.Members {
		p.add(id, 0)
	}
	for _, id := range b.note.Left {
		p.add(id, 1)
	}
	p.key(b.keys.botRing())
	return p
}

// allParams are those of member.lua with everything, and the moves among it. b.mu is
// held.
func (b *Budget) allParams(now time.Time, mode string) (p *params, moves []move, all []operation) {
	p = b.memberParams(now, mode, joinTimeouts*b.opt.Timeout)
	moves, all = b.moves, b.everything()
	b.write(p, now, moves, all)
	return p, moves, all
}

// key is the number of a key, for Lua.
func (p *params) key(name string) int {
	if p.index == nil {
		p.index = map[string]int{}
	}
	i, known := p.index[name]
	if !known {
		p.keys = append(p.keys, name)
		i = len(p.keys)
		p.index[name] = i
	}
	return i
}

// families are all that can have a ring in a chat.
func (b *Budget) families() []qos.Family {
	list := append([]qos.Family{qos.FamilyMessage}, b.former...)
	for f := range b.limits.Families {
		list = append(list, f)
	}
	return list
}

// operationsPerMove is how many operations write makes of one move.
func (b *Budget) operationsPerMove() int { return 1 + 3*len(b.families()) }

// write adds operations. b.mu is held.
func (b *Budget) write(p *params, now time.Time, moves []move, todo []operation) {
	p.add(len(moves)*b.operationsPerMove() + len(todo))
	k := b.keys
	for _, m := range moves {
		p.add("q", scopeName(qos.Scope{Chat: m.from, AllFamilies: true}), scopeName(qos.Scope{Chat: m.to, AllFamilies: true}))
		for _, f := range b.families() {
			from, to := lane{m.from, f}, lane{m.to, f}
			p.add("k", p.key(k.ring(from)), p.key(k.ring(to)))
			p.add("q", scopeName(qos.Scope{Chat: m.from, Family: f}), scopeName(qos.Scope{Chat: m.to, Family: f}))
			p.add("d", p.key(k.claims(from)))
		}
	}
	for _, o := range todo {
		switch o.kind {
		case stamp:
			p.add("s", p.key(k.ring(o.grant.lane)), permit(o.grant), now.Sub(o.grant.stamp).Microseconds())
		case giveBack:
			l := o.grant.lane
			p.add("r", p.key(k.ring(l)), p.key(k.began(l)), p.key(k.botBegan()), string(l.chat), permit(o.grant))
		case penalty:
			q := b.penalties[o.scope]
			p.add("p", scopeName(o.scope), q.Until.Sub(now).Microseconds(), strconv.FormatFloat(q.Multiplier, 'f', -1, 64))
		case seat:
			p.add("h", p.key(k.seats(o.lane)), now.Sub(b.seats[o.lane]).Microseconds())
		case learn:
			l := b.learned[o.scope]
			p.add("l", p.key(k.learned(o.scope)), l.Remaining, l.Reset.Sub(now).Microseconds())
		}
	}
}
