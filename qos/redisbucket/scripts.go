package redisbucket

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/panebridge/panebridge/qos"
)

//go:embed scripts/prelude.lua
var preludeSource string

//go:embed scripts/acquire.lua
var acquireSource string

//go:embed scripts/member.lua
var memberSource string

//go:embed scripts/admin.lua
var adminSource string

//go:embed scripts/look.lua
var lookSource string

// The scripts. They never change, so they're made once.
var (
	acquireScript = redis.NewScript(preludeSource + acquireSource) //nolint:gochecknoglobals // a constant
	memberScript  = redis.NewScript(preludeSource + memberSource)  //nolint:gochecknoglobals // a constant
	adminScript   = redis.NewScript(preludeSource + adminSource)   //nolint:gochecknoglobals // a constant
	lookScript    = redis.NewScript(preludeSource + lookSource)    //nolint:gochecknoglobals // a constant
)

// keys are the names in Redis of one bot. They share a hash tag, so that they're in
// one slot of a Cluster.
type keys string

func keysOf(bot string) keys { return keys("panebridge:{" + bot + "}:") }

func (k keys) state() string     { return string(k) + "state" }
func (k keys) members() string   { return string(k) + "members" }
func (k keys) penalties() string { return string(k) + "penalties" }
func (k keys) channel() string   { return string(k) + "events" }
func (k keys) botRing() string   { return string(k) + "ring" }
func (k keys) botBegan() string  { return string(k) + "began" }
func (k keys) botClaims() string { return string(k) + "claims" }

func (k keys) ring(l chatFamily) string   { return string(k) + "ring:" + l.name() }
func (k keys) began(l chatFamily) string  { return string(k) + "began:" + l.name() }
func (k keys) claims(l chatFamily) string { return string(k) + "claims:" + l.name() }

func (k keys) seats(l chatFamily) string { return string(k) + "seats:" + l.name() }

func (k keys) learned(s qos.Scope) string { return string(k) + "learned:" + scopeName(s) }

// chatFamily is a chat and the family whose windows a call counts in.
type chatFamily struct {
	chat   qos.ChatKey
	family qos.Family
}

func (l chatFamily) name() string { return string(l.chat) + "|" + string(l.family) }

// scopeName is a scope as a field: "", "chat|*" or "chat|family".
func scopeName(s qos.Scope) string {
	switch {
	case s.Chat == "":
		return ""
	case s.AllFamilies:
		return string(s.Chat) + "|*"
	default:
		return string(s.Chat) + "|" + string(s.Family)
	}
}

func parseScope(name string) qos.Scope {
	i := strings.LastIndexByte(name, '|')
	if i < 0 {
		return qos.Scope{}
	}
	s := qos.Scope{Chat: qos.ChatKey(name[:i])}
	if s.AllFamilies = name[i+1:] == "*"; !s.AllFamilies {
		s.Family = qos.Family(name[i+1:])
	}
	return s
}

// limitOf is the limit of a family in a chat, and the lane it counts in.
func limitOf(limits qos.Limits, chat qos.ChatKey, family qos.Family) (qos.Limit, chatFamily) {
	limit, counts := limits.LimitOf(chat, family)
	return limit, chatFamily{chat, counts}
}

// longest is the longest of all windows.
func longest(windows []qos.Window) time.Duration {
	if len(windows) == 0 {
		return 0
	}
	return slices.MaxFunc(windows, func(a, b qos.Window) int { return cmp.Compare(a.Per, b.Per) }).Per
}

// longestOf is the longest window of all limits.
func longestOf(l qos.Limits) time.Duration {
	d := max(longest(l.Bot.Windows), longest(l.Group.Windows), longest(l.Private.Windows))
	for _, f := range l.Families {
		d = max(d, longest(f.Windows))
	}
	return d
}

// shareOf are the limits of one of so many processes that don't know of each other,
// where it has a share (see hasShare).
func shareOf(l qos.Limits, processes int) qos.Limits {
	share := func(limit qos.Limit) qos.Limit {
		limit.Windows = slices.Clone(limit.Windows)
		for i, w := range limit.Windows {
			limit.Windows[i].Calls = max(w.Calls/processes, min(w.Calls, 1))
		}
		return limit
	}
	s := l
	s.Bot, s.Group, s.Private = share(l.Bot), share(l.Group), share(l.Private)
	s.Families = map[qos.Family]qos.Limit{}
	for family, limit := range l.Families {
		s.Families[family] = share(limit)
	}
	return s
}

// replyReader takes a script's reply apart. After the first error all it returns is zero.
type replyReader struct {
	values []any
	err    error
}

func (r *replyReader) next() any {
	if r.err == nil && len(r.values) == 0 {
		r.err = fmt.Errorf("read redis' answer: it's too short")
	}
	if r.err != nil {
		return nil
	}
	v := r.values[0]
	r.values = r.values[1:]
	return v
}

func (r *replyReader) text() string {
	switch v := r.next().(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	default:
		r.err = fmt.Errorf("read redis' answer: %T isn't text", v)
		return ""
	}
}

func (r *replyReader) number() int64 {
	s := r.text()
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		r.err = fmt.Errorf("read redis' answer: %w", err)
	}
	return n
}

// duration reads microseconds.
func (r *replyReader) duration() time.Duration { return time.Duration(r.number()) * time.Microsecond }

// list reads what's within.
func (r *replyReader) list() *replyReader {
	v, ok := r.next().([]any)
	if r.err == nil && !ok {
		r.err = fmt.Errorf("read redis' answer: a list is missing")
	}
	return &replyReader{values: v, err: r.err}
}

func (r *replyReader) more() bool { return r.err == nil && len(r.values) > 0 }

// membership is an answer of member.lua.
type membership struct {
	kind      string
	redis     int64
	epoch     string
	version   string
	empty     time.Duration // how long ago; negative: never
	members   []BucketMember
	max       int64
	penalties []qos.Penalty
}

// askMember runs member.lua.
func (b *Budget) askMember(ctx context.Context, p *params, timeout time.Duration) (membership, time.Time, error) {
	// What's begun is ended, so that it's known what Redis was told.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	reply, err := memberScript.Run(ctx, b.opt.Client, p.keys, p.args...).Slice()
	received := time.Now()
	r := &replyReader{values: reply, err: err}
	a := membership{kind: r.text(), redis: r.number()}
	switch a.kind {
	case "ok":
		a.epoch, a.version, a.empty = r.text(), r.text(), r.duration()
		a.members = readMembers(r.list())
		for l := r.list(); l.more(); {
			q := qos.Penalty{Scope: parseScope(l.text()), Until: received.Add(l.duration())}
			q.Multiplier, _ = strconv.ParseFloat(l.text(), 64)
			a.penalties = append(a.penalties, q)
		}
	case "full":
		a.members = readMembers(r.list())
	case "max":
		a.max = r.number()
	}
	if r.err != nil {
		return membership{}, received, fmt.Errorf("%w: %w", errNoAnswer, r.err)
	}
	return a, received, nil
}

// refusal says why a join was refused; nil: it wasn't.
func (b *Budget) refusal(a membership) error {
	switch a.kind {
	case "ok":
		return nil
	case "full":
		return &FullError{MaxProcesses: b.opt.MaxProcesses, Members: a.members}
	case "max":
		return fmt.Errorf("redis.max_processes is %d here and %d in the processes that run; make it the same and restart", b.opt.MaxProcesses, a.max)
	default:
		return fmt.Errorf("%w sensibly: %q", errNoAnswer, a.kind)
	}
}

// FullError says that there are as many members as may be.
type FullError struct {
	MaxProcesses int
	Members      []BucketMember
}

func (e *FullError) Error() string {
	var vanished []string
	for _, m := range e.Members {
		if m.Vanished {
			vanished = append(vanished, m.ID)
		}
	}
	text := fmt.Sprintf("%d processes share this bot already, and redis.max_processes is %d", len(e.Members), e.MaxProcesses)
	if len(vanished) > 0 {
		text += "; of these " + strings.Join(vanished, ", ") + " vanished: if they don't come back, run panebridge redis forget ID"
	}
	return text
}

// epochNumber is the part of an epoch's name that counts them.
func epochNumber(epoch string) int64 {
	number, _, _ := strings.Cut(epoch, ".")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n
}

// operation is something that Redis is told off the critical path. What it says is
// looked up when it's written.
type operation struct {
	kind  operationKind
	grant *grant
	scope qos.Scope
	lane  chatFamily
}

type operationKind uint8

const (
	stamp operationKind = iota
	giveBack
	penalty
	learn
	seat // it's told in a join only
)

// queueOperation has Redis told soon; b.mu is held. A process that isn't linked tells
// everything when it joins, and what comes while it does so, afterwards.
func (b *Budget) queueOperation(o operation) {
	if b.link.state == linked || b.link.merging {
		b.todo = append(b.todo, o)
		b.wakeServe()
	}
}

// allOperations is all that the process knows. What's still asked for isn't among it: Redis
// would take it for granted. b.mu is held.
func (b *Budget) allOperations() []operation {
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

// forgetTold forgets what Redis knows now. b.mu is held.
func (b *Budget) forgetTold(moves []move, done []operation) {
	b.moves = b.moves[len(moves):]
	for _, o := range done {
		if o.kind == giveBack {
			delete(b.grants, o.grant.id)
		}
	}
}

// memberParams are those of member.lua up to the operations. b.mu is held.
func (b *Budget) memberParams(now time.Time, mode string, timeout time.Duration) *params {
	settle := b.settleTime(longestOf(b.limits))
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
	moves, all = b.moves, b.allOperations()
	b.writeOperations(p, now, moves, all)
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

// writeOperations adds operations. b.mu is held.
func (b *Budget) writeOperations(p *params, now time.Time, moves []move, todo []operation) {
	p.add(len(moves)*b.operationsPerMove() + len(todo))
	k := b.keys
	for _, m := range moves {
		p.add("q", scopeName(qos.Scope{Chat: m.from, AllFamilies: true}), scopeName(qos.Scope{Chat: m.to, AllFamilies: true}))
		for _, f := range b.families() {
			from, to := chatFamily{m.from, f}, chatFamily{m.to, f}
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
