package qos

import (
	"math"
	"time"
)

// slowUntil is when the next final or stream may go while a penalty slows its chat
// down; zero when none does. The probe doesn't wait for it: it goes when the penalty lifts.
func (e *SlotEngine) slowUntil(now time.Time, c *chat) time.Time {
	if e.opt.Mode == Off || c.throttle.cut == 0 || c.lastPaced.IsZero() || e.probes(c) {
		return time.Time{}
	}
	tick := time.Duration(float64(e.fullTick(now, c)) / c.throttle.multiplier())
	return c.lastPaced.Add(roundUp(tick, e.opt.Rounding))
}

// probes says whether the next message of a chat is a probe.
func (e *SlotEngine) probes(c *chat) bool {
	return c.throttle.probing || c.lanes[0].throttle.probing || e.bot.throttle.probing
}

// beginCatchUp has streams make up for what a silence cost them, after the probe that ended it:
// they're paced faster until as many have gone as would have meanwhile, half a window at most. The
// silence has left so many slots.
func (e *SlotEngine) beginCatchUp(now time.Time, c *chat, since time.Time) {
	if since.IsZero() {
		return
	}
	c.catchUp = min(int(now.Sub(since)/e.fullTick(now, c)), e.mainWindow(c).Calls/2)
}

const (
	// paceParts is how many parts a full pace has: so many that each step is a whole number of them. Fractions
	// wouldn't add up to all of it.
	paceParts = 320

	// A penalty halves the pace, and an accepted call adds paceStep: after
	// the first penalty the pace is whole again five calls behind the probe. Each further one that
	// clean traffic hasn't worked off halves the step.
	paceStep = paceParts / 10

	// cleanCalls is how many accepted calls work a penalty off: a window of a group.
	cleanCalls = 20

	// mostStrikes is how many penalties are counted at most, so that the pace recovers from any
	// number of them.
	mostStrikes = 6

	// paceLeast is the least part of the pace, slow start included: of 20 calls a minute four or
	// five, so that what waited out a penalty is there a minute after it. Bans were reported from
	// eight a minute on.
	paceLeast = paceParts * 3 / 10

	// From penaltyMarginLeast to penaltyMarginMost, at random, is added to the platform's
	// time, so that a clock that runs differently there doesn't make us too early.
	penaltyMarginLeast = 100 * time.Millisecond
	penaltyMarginMost  = time.Second

	// A penalty of up to familyPenalty is for one method family; a longer one for
	// the whole chat, unless the platform says otherwise: field reports have bans from
	// hidden calls of another family.
	familyPenalty = 5 * time.Second

	// So many chats that are told off within so long mean the bot as a whole.
	botPenaltyChats  = 3
	botPenaltyWithin = 2 * time.Second

	// penaltyMemory is for how long a chat with a reduced pace is remembered that makes no calls at all,
	// and so can't recover.
	penaltyMemory = time.Hour

	// catchUpPace is how much faster streams go after a penalty until they've made up for what it cost
	// them.
	catchUpPace = 2
)

// throttle is what penalties do to a scope: a time of silence, then one probe,
// then a slower pace that recovers with each call that's accepted.
type throttle struct {
	until   time.Time // silence; zero: never any
	cut     int       // parts of the pace that are missing, of paceParts: 0 is full pace
	strikes int       // penalties that aren't worked off
	clean   int       // calls accepted since the last penalty, or since one was worked off
	probing bool      // the first call since until hasn't succeeded yet
	heardAt time.Time // the end of the last penalty, or when the last call after it was accepted
}

// multiplier is what the pace is multiplied by, from 0.3 to 1.
func (t *throttle) multiplier() float64 { return float64(paceParts-t.cut) / paceParts }

// leave cuts the pace to so many parts, or to the least.
func (t *throttle) leave(parts int) { t.cut = paceParts - max(paceLeast, parts) }

// callsToFull is how many calls have to be accepted until the pace is whole, the probe included; 0: it is.
func (t *throttle) callsToFull() (n int) {
	ahead := *t
	for ahead.multiplier() < 1 && n < 1000 {
		ahead.succeeded(ahead.until, ahead.until)
		n++
	}
	return n
}

// silence keeps quiet until a time. An earlier time than that in force changes
// nothing.
func (t *throttle) silence(until time.Time) {
	if until.After(t.until) {
		t.until = until
	}
	t.heardAt = t.until
	t.probing = true
}

// reduce cuts the pace for a penalty that lifts at until. Where no call was accepted since the
// last one (probe), it's the same trouble: that a probe is refused tells that the silence was too
// short, and nothing about a pace.
func (t *throttle) reduce(until time.Time, probe bool) {
	if !probe {
		t.leave((paceParts - t.cut) / 2)
		t.strikes = min(t.strikes+1, mostStrikes)
	}
	t.clean = 0
	t.heardAt = later(t.heardAt, until)
}

// heard takes in a penalty from before a restart, or from another process.
func (t *throttle) heard(p Penalty, now time.Time) {
	if p.Multiplier > 0 && p.Multiplier < t.multiplier() {
		t.leave(int(math.Round(p.Multiplier * paceParts)))
		t.clean = 0 // else it may be worked off before the pace is whole
	}
	if t.cut > 0 {
		t.strikes = max(t.strikes, 1)
	}
	if p.Until.After(now) {
		t.silence(p.Until)
		return
	}
	t.until = later(t.until, p.Until)
	t.heardAt = later(t.heardAt, p.Until)
}

// succeeded says that a call which had begun at a time was accepted. It ends the
// probe, or recovers some of the pace. ended is true if it was the probe.
func (t *throttle) succeeded(now, began time.Time) (ended bool) {
	if began.Before(t.until) {
		return false // it was under way already when the penalty came
	}
	if t.probing {
		t.probing, t.heardAt = false, now
		return true
	}
	if t.strikes == 0 {
		return false
	}
	t.heardAt = now
	t.cut = max(0, t.cut-paceStep>>(t.strikes-1))
	if t.clean++; t.clean >= cleanCalls {
		t.clean = 0
		t.strikes--
	}
	return false
}

// forgettable is when nothing of a throttle matters any more; zero: now.
func (t *throttle) forgettable() time.Time {
	if t.strikes == 0 && !t.probing {
		return t.until
	}
	return later(t.until, t.heardAt).Add(penaltyMemory)
}

// penalizeChat takes in a "too many requests" for a call in chat c that was
// answered now.
func (e *SlotEngine) penalizeChat(now time.Time, c *chat, l *lane, r CallResult) {
	asked := max(r.RetryAfter, time.Second)
	margin := penaltyMarginLeast + time.Duration(e.random.Int64N(int64(penaltyMarginMost-penaltyMarginLeast)))
	until := now.Add(asked + margin)
	e.totals.Penalties++
	e.opt.Meter.CountPenalty(l.family, asked)

	wide := asked > familyPenalty && !r.Narrow
	if l.family == FamilyMessage || wide {
		c.throttle.reduce(until, c.throttle.probing || l.throttle.probing)
	}
	if wide {
		e.silenceScope(now, &c.throttle, Scope{Chat: c.key, AllFamilies: true}, until)
	} else {
		e.silenceScope(now, &l.throttle, Scope{Chat: c.key, Family: l.family}, until)
	}
	if r.Narrow {
		return
	}
	e.toldOff = append(e.toldOff, toldOff{c, now, until})
	if latest, many := e.manyToldOff(now); r.Global || many {
		e.bot.throttle.reduce(until, e.bot.throttle.probing)
		e.setBotPace(now)
		e.silenceScope(now, &e.bot.throttle, Scope{}, later(until, latest))
	}
}

// silenceScope begins a penalty and has it kept.
func (e *SlotEngine) silenceScope(now time.Time, t *throttle, scope Scope, until time.Time) {
	t.silence(until)
	multiplier := e.bot.throttle.multiplier()
	if c := e.chats[scope.Chat]; c != nil {
		multiplier = c.throttle.multiplier()
	}
	e.budget.Penalize(now, Penalty{Scope: scope, Until: t.until, Multiplier: multiplier})
	e.opt.Logger.Warn("penalty", "target", string(scope.Chat), "family", string(scope.Family), "until", t.until)
	e.emitEvent(SchedulerEvent{Kind: ChatSilenced, Chat: scope.Chat, Until: t.until})
}

// toldOff is a chat that got a penalty lately.
type toldOff struct {
	chat      *chat
	at, until time.Time
}

// manyToldOff says whether so many chats got penalties at about the same time
// that the bot as a whole is meant, and when the last of these lifts.
func (e *SlotEngine) manyToldOff(now time.Time) (latest time.Time, many bool) {
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

// TakePenalty takes in a penalty that the budget reported.
func (e *SlotEngine) TakePenalty(now time.Time, p Penalty) {
	now = e.advanceClock(now)
	if p.Scope.Chat == "" {
		e.bot.throttle.heard(p, now)
		e.setBotPace(now)
		e.touchAll()
	} else {
		c := e.chatOf(p.Scope.Chat)
		if p.Scope.AllFamilies {
			c.throttle.heard(p, now)
		} else {
			c.laneOf(p.Scope.Family).throttle.heard(p, now)
			c.throttle.heard(Penalty{Multiplier: p.Multiplier}, now)
		}
		e.touchChat(c)
	}
	if p.Until.After(now) {
		e.emitEvent(SchedulerEvent{Kind: ChatSilenced, Chat: p.Scope.Chat, Until: p.Until})
	}
}

// silentUntil is until when nothing may go to a chat: penalties and back-off.
func (e *SlotEngine) silentUntil(c *chat) time.Time {
	return later(e.penaltyUntil(c), c.backoff.until)
}

// penaltyUntil is until when penalties silence a chat; zero if none ever did.
func (e *SlotEngine) penaltyUntil(c *chat) time.Time {
	return later(c.throttle.until, e.bot.throttle.until)
}
