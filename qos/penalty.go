package qos

import "time"

const (
	// paceCut is what a penalty multiplies the pace by, and pacePerMinute what a
	// clean minute with traffic adds: decrease fast, recover slowly.
	paceCut       = 0.7
	pacePerMinute = 0.05

	// paceLeast is the least part of the pace, slow start included: of 20 calls a minute four or
	// five, so that what waited out a penalty is there a minute after it. Bans were reported from
	// eight a minute on.
	paceLeast = 0.3

	// slowStart is for how long half the reduced pace holds after a penalty has lifted.
	slowStart = time.Minute

	// penaltyMargin is added to the platform's time, as 0.1 s to 1 s at random, so
	// that a clock that runs differently there doesn't make us too early.
	penaltyMarginLeast = 100 * time.Millisecond
	penaltyMarginMost  = time.Second

	// A penalty of up to familyPenalty is for one method family; a longer one for
	// the whole chat, unless the platform says otherwise: field reports have bans from
	// hidden calls of another family.
	familyPenalty = 5 * time.Second

	// So many chats that are told off within so long mean the bot as a whole.
	botPenaltyChats  = 3
	botPenaltyWithin = 2 * time.Second

	// penaltyMemory is for how long a reduced pace is remembered after its penalty
	// has lifted, when nothing more is sent.
	penaltyMemory = time.Hour
)

// throttle is what penalties do to a scope: a time of silence, then one probe,
// then a slower pace that recovers.
type throttle struct {
	until   time.Time // silence; zero: never any
	cut     float64   // what the pace is multiplied by, less 1: 0 is full pace
	probing bool      // the first call since until hasn't succeeded yet
	slow    time.Time // half the pace until then
	clean   time.Time // since when no penalty came, or the last recovery
}

// multiplier is what the pace is multiplied by, from paceLeast to 1, slow start
// left aside.
func (t *throttle) multiplier() float64 { return 1 + t.cut }

// paceNow is the multiplier with slow start.
func (t *throttle) paceNow(now time.Time) float64 {
	if now.Before(t.slow) {
		return max(paceLeast, t.multiplier()/2)
	}
	return t.multiplier()
}

// silence keeps quiet until a time. An earlier time than that in force changes
// nothing.
func (t *throttle) silence(until time.Time) {
	if until.After(t.until) {
		t.until = until
	}
	t.clean = t.until
	t.probing = true
	t.slow = time.Time{}
}

// reduce cuts the pace for a penalty that lifts at until. Where no call was accepted since the
// last one (probe), it's the same trouble: that a probe is refused tells that the silence was too
// short, and nothing about a pace.
func (t *throttle) reduce(until time.Time, probe bool) {
	if !probe {
		t.cut = max(paceLeast, t.multiplier()*paceCut) - 1
	}
	t.clean = later(t.clean, until)
}

// heard takes in a penalty from before a restart, or from another process.
func (t *throttle) heard(p Penalty, now time.Time) {
	if p.Multiplier > 0 && p.Multiplier < t.multiplier() {
		t.cut = max(paceLeast, p.Multiplier) - 1
	}
	if p.Until.After(now) {
		t.silence(p.Until)
		return
	}
	t.until = later(t.until, p.Until)
	t.clean = later(t.clean, p.Until)
	t.slow = later(t.slow, p.Until.Add(slowStart))
}

// succeeded says that a call which had begun at a time was accepted. It ends the
// probe, which leaves what's left of the slow start: where calls failed for another reason
// since the penalty, or none was made, it has been slow for so long already. It recovers some
// of the pace after each clean minute.
func (t *throttle) succeeded(now, began time.Time) {
	if began.Before(t.until) {
		return // it was under way already when the penalty came
	}
	if t.probing {
		t.probing = false
		t.slow = t.until.Add(slowStart)
		t.clean = now
		return
	}
	if t.cut < 0 && now.Sub(t.clean) >= time.Minute {
		t.cut = min(0, t.cut+pacePerMinute)
		t.clean = now
	}
}

// forgettable is when nothing of a throttle matters any more; zero: now.
func (t *throttle) forgettable() time.Time {
	if t.cut == 0 && !t.probing {
		return t.until
	}
	return later(t.until, t.clean).Add(penaltyMemory)
}

// penalized takes in a "too many requests" for a call in chat c that was
// answered now.
func (e *Engine) penalized(now time.Time, c *chat, l *lane, r Result) {
	asked := max(r.RetryAfter, time.Second)
	margin := penaltyMarginLeast + time.Duration(e.random.Int64N(int64(penaltyMarginMost-penaltyMarginLeast)))
	until := now.Add(asked + margin)
	e.totals.Penalties++
	e.opt.Observer.Penalized(l.family, asked)

	wide := asked > familyPenalty && !r.Narrow
	if l.family == FamilyMessage || wide {
		c.throttle.reduce(until, c.throttle.probing || l.throttle.probing)
	}
	if wide {
		e.silence(now, &c.throttle, Scope{Chat: c.key, AllFamilies: true}, until)
	} else {
		e.silence(now, &l.throttle, Scope{Chat: c.key, Family: l.family}, until)
	}
	if r.Narrow {
		return
	}
	e.toldOff = append(e.toldOff, toldOff{c, now, until})
	if latest, many := e.manyToldOff(now); r.Global || many {
		e.bot.throttle.reduce(until, e.bot.throttle.probing)
		e.silence(now, &e.bot.throttle, Scope{}, later(until, latest))
	}
}

// silence begins a penalty and has it kept.
func (e *Engine) silence(now time.Time, t *throttle, scope Scope, until time.Time) {
	t.silence(until)
	multiplier := e.bot.throttle.multiplier()
	if c := e.chats[scope.Chat]; c != nil {
		multiplier = c.throttle.multiplier()
	}
	e.budget.Penalize(now, Penalty{Scope: scope, Until: t.until, Multiplier: multiplier})
	e.opt.Logger.Warn("penalty", "target", string(scope.Chat), "family", string(scope.Family), "until", t.until)
	e.emit(Event{Kind: ChatSilenced, Chat: scope.Chat, Until: t.until})
}

// toldOff is a chat that got a penalty lately.
type toldOff struct {
	chat      *chat
	at, until time.Time
}

// manyToldOff says whether so many chats got penalties at about the same time
// that the bot as a whole is meant, and when the last of these lifts.
func (e *Engine) manyToldOff(now time.Time) (latest time.Time, many bool) {
	kept := e.toldOff[:0]
	chats := map[*chat]bool{}
	for _, t := range e.toldOff {
		if now.Sub(t.at) > botPenaltyWithin {
			continue
		}
		kept = append(kept, t)
		chats[t.chat] = true
		latest = later(latest, t.until)
	}
	clear(e.toldOff[len(kept):])
	e.toldOff = kept
	return latest, len(chats) >= botPenaltyChats
}

// Heard takes in a penalty that the budget reported.
func (e *Engine) Heard(now time.Time, p Penalty) {
	now = e.advance(now)
	if p.Scope.Chat == "" {
		e.bot.throttle.heard(p, now)
		e.touchAll()
	} else {
		c := e.chatOf(p.Scope.Chat)
		if p.Scope.AllFamilies {
			c.throttle.heard(p, now)
		} else {
			c.laneOf(p.Scope.Family).throttle.heard(p, now)
			c.throttle.heard(Penalty{Multiplier: p.Multiplier}, now)
		}
		e.touch(c)
	}
	if p.Until.After(now) {
		e.emit(Event{Kind: ChatSilenced, Chat: p.Scope.Chat, Until: p.Until})
	}
}

// silentUntil is until when nothing may go to a chat: penalties and back-off.
func (e *Engine) silentUntil(c *chat) time.Time {
	return later(e.penalty(c), c.backoff.until)
}

// penalty is until when penalties silence a chat; zero if none ever did.
func (e *Engine) penalty(c *chat) time.Time {
	return later(c.throttle.until, e.bot.throttle.until)
}
