package redisbucket

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// params are the keys and arguments of a script.
type params struct {
	keys  []string
	args  []any
	index map[string]int
}

// preamble are those of prelude.lua. b.mu is held.
func (b *Budget) preamble(now time.Time, settle time.Duration, timeout time.Duration) *params {
	earliest, latest := b.link.clock.span(now, timeout)
	return &params{
		keys: []string{b.keys.state(), b.keys.members(), b.keys.penalties()},
		args: []any{b.note.Member, b.link.epoch, b.link.ack, settle.Microseconds(), earliest, latest, b.keys.channel()},
	}
}

func (p *params) add(args ...any) { p.args = append(p.args, args...) }

func (p *params) windows(list []qos.Window) {
	p.add(len(list))
	for _, w := range list {
		p.add(w.Calls, w.Per.Microseconds())
	}
}

// sentQuestion is a question as it goes out.
type sentQuestion struct {
	params *params
	at     time.Time
	epoch  string
}

// prepareQuestion writes down a question for Redis. b.mu is held.
func (b *Budget) prepareQuestion(now time.Time, q *slotQuestion, g *grant) sentQuestion {
	p := b.preamble(now, b.settleTime(b.longestWindow(q)), b.opt.Timeout)
	k, l := b.keys, q.lane
	p.keys = append(p.keys, k.claims(l), k.botClaims(), k.began(l), k.botBegan(), k.botRing(), k.ring(l))
	rings := 1
	if l.family == qos.FamilyMessage {
		for _, f := range b.former {
			if _, own := b.limits.Families[f]; !own {
				p.keys = append(p.keys, k.ring(chatFamily{l.chat, f}))
				rings++
			}
		}
	}
	spare := 0
	if l.family == qos.FamilyMessage {
		spare = q.ask.Spare
	}
	weight := q.ask.Weight
	if weight <= 0 {
		weight = 1
	}
	unguarded := 0
	if q.ask.Unguarded {
		unguarded = 1
	}
	p.add(permit(g), l.name(), int(q.ask.Class), weight, q.ask.Deadline.Add(grace).Sub(now).Microseconds(), unguarded, spare,
		q.limit.Gap.Microseconds(), b.limits.Bot.Gap.Microseconds(), margin.Microseconds(), rings, b.opt.MaxProcesses)
	for _, s := range qos.ScopesOf(l.chat, l.family) {
		p.keys = append(p.keys, k.learned(s))
		p.add(scopeName(s))
	}
	p.keys = append(p.keys, k.seats(l))
	p.windows(b.limits.Bot.Windows)
	p.windows(q.limit.Windows)
	for _, o := range b.todo { // so that what's given back can be granted at once
		if o.kind == giveBack && o.grant.lane == l {
			p.add(permit(o.grant))
		}
	}
	for _, o := range b.telling {
		if o.kind == giveBack && o.grant.lane == l {
			p.add(permit(o.grant))
		}
	}
	return sentQuestion{params: p, at: now, epoch: b.link.epoch}
}

func permit(g *grant) string { return strconv.FormatUint(uint64(g.id), 16) }

// acquireSlot asks Redis, once.
func (b *Budget) acquireSlot(q *slotQuestion, g *grant, s sentQuestion) {
	began := time.Now()
	// From when it was written down: it says itself until when it's good.
	ctx, cancel := context.WithDeadline(context.Background(), s.at.Add(b.opt.Timeout))
	reply, err := acquireScript.Run(ctx, b.opt.Client, s.params.keys, s.params.args...).Slice()
	cancel()
	received := time.Now()
	a, err := parseAcquired(reply, err)
	b.opt.Meter.CountQuestion(a.kind, received.Sub(began))
	b.takeAcquired(q, g, s, a, received, err)
}

// acquired is an answer of acquire.lua.
type acquired struct {
	kind       string
	redis      int64
	seat       bool // the grant came with one
	wait       time.Duration
	scope      string
	multiplier float64
}

func parseAcquired(reply []any, err error) (acquired, error) {
	r := replyReader{values: reply, err: err}
	a := acquired{kind: r.text(), redis: r.number()}
	switch a.kind {
	case "granted":
		a.seat = r.number() == 1
	case "wait", "missing":
		a.wait = r.duration()
	case "penalty":
		a.wait, a.scope = r.duration(), r.text()
		a.multiplier, _ = strconv.ParseFloat(r.text(), 64)
	}
	if r.err != nil {
		return acquired{kind: "error"}, r.err
	}
	return a, nil
}

// takeAcquired takes in what Redis said about a grant.
func (b *Budget) takeAcquired(q *slotQuestion, g *grant, s sentQuestion, a acquired, received time.Time, err error) {
	b.mu.Lock()
	if err != nil { // it may hold the slot, or not
		b.takeGrantBack(received, g)
		b.rejoin(received)
		b.mu.Unlock()
		q.reply(qos.SlotAnswer{State: qos.NotBefore, At: received.Add(beatEvery / 2), Err: fmt.Errorf("%w: %w", errNoAnswer, err)})
		return
	}
	sound := b.answeredAt(s.at, received, a.redis)
	current := b.link.state == linked && b.link.epoch == s.epoch
	switch {
	case a.kind == "granted" && sound && current:
		g.state = inFlight
		b.countLearned(q)
		if a.seat {
			b.seats[q.lane] = s.at
		}
		b.confirmAnswer(received, a.redis)
		b.mu.Unlock()
		q.reply(qos.SlotAnswer{State: qos.Granted, Permit: g.id})
		return
	case a.kind == "wait", a.kind == "penalty", a.kind == "missing":
		b.dropGrant(received, g)
	default: // Redis may hold it, from a first try of the client's
		b.takeGrantBack(received, g)
	}
	answer := qos.SlotAnswer{State: qos.NotBefore, At: received.Add(max(a.wait, time.Millisecond))}
	switch a.kind {
	case "wait", "penalty":
		if sound && current {
			b.confirmAnswer(received, a.redis)
		}
	case "missing":
		answer.At = received.Add(min(a.wait, beatEvery)) // or when the last one has merged
	default: // join, empty, clock, granted too late
		if b.link.epoch == s.epoch {
			b.rejoin(received)
		}
		b.mu.Unlock()
		b.askAgain(q)
		return
	}
	b.mu.Unlock()
	if a.kind == "penalty" {
		b.takePenalties(received, []qos.Penalty{{Scope: parseScope(a.scope), Until: received.Add(a.wait), Multiplier: a.multiplier}})
	}
	q.reply(answer)
}
