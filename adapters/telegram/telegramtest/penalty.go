package telegramtest

import "time"

const (
	// longPenalty is from when a penalty silences all of a chat, whatever earned
	// it; a shorter one only the methods of its family.
	longPenalty = 5 * time.Second
	// coolDown is what a full typing window costs: "cool-downs" of at most 3 s
	// (core.telegram.org/api/bots/ai), seen as retry_after 3
	// (github.com/fitz123/claude-code-bot/issues/117).
	coolDown = 3 * time.Second
	// menuPenalty is what too many setMyCommands cost
	// (github.com/openclaw/openclaw/issues/32017: 460 to 490 s).
	menuPenalty = 480 * time.Second
	// maxPenalty: the longest that were reported are 12 to 14 hours
	// (github.com/tdlib/telegram-bot-api/issues/535).
	maxPenalty = 24 * time.Hour
)

// penalty is an order to be silent.
type penalty struct {
	until  time.Time
	length time.Duration // of the last order; the next is twice as long
}

// Penalty is an order to be silent that's in force.
type Penalty struct {
	Key
	Until time.Time
}

// guard counts calls and orders silence. It knows nothing of HTTP.
type guard struct {
	limits    Limits
	arrivals  ledger
	penalties map[Key]*penalty
}

func newGuard(limits Limits) *guard {
	return &guard{limits: limits.withDefaults(), arrivals: ledger{}, penalties: map[Key]*penalty{}}
}

// silencing returns the keys whose penalties stop a call of that key.
func silencing(k Key) []Key {
	if k.Chat == 0 {
		return []Key{{}, k}
	}
	return []Key{{}, {Chat: k.Chat}, k}
}

// counting returns the keys a call counts under.
func counting(k Key) []Key {
	if k.Chat == 0 {
		return []Key{k}
	}
	return []Key{{}, k}
}

// arrive counts a call, whatever becomes of it, and returns for how long the
// caller must be silent; 0 lets the call through. A call inside a penalty doubles
// it: that retrying prolongs a penalty is what every report of hours says
// (github.com/NousResearch/hermes-agent/issues/76494).
func (g *guard) arrive(k Key, private bool, now time.Time) (silence time.Duration, inside bool) {
	if k.Family == Free {
		return 0, false
	}
	for _, c := range counting(k) {
		g.arrivals.add(c, now)
	}
	for _, p := range silencing(k) {
		if silence = max(silence, g.lengthen(p, now)); silence > 0 {
			inside = true
		}
	}
	if inside {
		return silence, true
	}
	return g.overdraw(k, private, now), false
}

// lengthen doubles a penalty that's in force.
func (g *guard) lengthen(k Key, now time.Time) time.Duration {
	p := g.penalties[k]
	if p == nil || !now.Before(p.until) {
		return 0
	}
	return g.order(k, max(2*p.length, p.until.Sub(now)), now)
}

// overdraw orders silence if the call that has just been counted was one too
// many.
func (g *guard) overdraw(k Key, private bool, now time.Time) time.Duration {
	var silence time.Duration
	for _, c := range counting(k) {
		for _, w := range g.limits.windowsOf(c, private) {
			if g.arrivals.count(c, w.Per, now) > w.Calls {
				silence = max(silence, g.order(c, g.price(c, w, now), now))
			}
		}
	}
	return silence
}

// price is how long the silence is that a full window costs.
func (g *guard) price(k Key, w Window, now time.Time) time.Duration {
	rest := g.arrivals.freeAt(k, w, now).Sub(now)
	switch k.Family {
	case Typing:
		return min(rest, coolDown)
	case Menus:
		return max(rest, menuPenalty)
	default:
		return rest
	}
}

// order imposes a penalty. It's never shortened.
func (g *guard) order(k Key, length time.Duration, now time.Time) time.Duration {
	length = wholeSeconds(min(length, maxPenalty))
	if k.Chat != 0 && length > longPenalty {
		k.Family = Free
	}
	p := g.penalties[k]
	if p == nil {
		p = &penalty{}
		g.penalties[k] = p
	}
	p.length = length
	if until := now.Add(length); until.After(p.until) {
		p.until = until
	}
	return p.until.Sub(now)
}

func (g *guard) inForce(now time.Time) []Penalty {
	var list []Penalty
	for k, p := range g.penalties {
		if now.Before(p.until) {
			list = append(list, Penalty{k, p.until})
		}
	}
	return list
}

// Penalise orders silence: for one method's family in a chat, or with an empty
// method for the whole chat; with chat 0 for the bot. It's in force at once, and
// the next call learns of it.
func (s *Server) Penalise(chat int64, method string, length time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard.order(Key{chat, s.familyOf(method)}, length, now())
	s.Touch()
}

// Penalties returns the penalties in force, in no order.
func (s *Server) Penalties() []Penalty {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard.inForce(now())
}
