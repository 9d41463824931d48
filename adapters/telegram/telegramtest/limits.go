package telegramtest

import (
	"sort"
	"time"
)

// Window allows a number of calls in any span of that length. Spans are
// half-open: a call exactly Per after another one is outside its span.
type Window struct {
	Calls int
	Per   time.Duration
}

// Limits are the windows in which calls are counted, by when they arrive. All
// windows of a limit must have room.
type Limits struct {
	// Group is for one group or forum, all its topics together.
	Group []Window
	// Private is for one private chat.
	Private []Window
	// Bot is for all chats together.
	Bot []Window
	// Typing is for chat actions and drafts in one chat, on top of which they
	// don't count in Group and Private.
	Typing []Window
	// Commands is for setMyCommands and deleteMyCommands.
	Commands []Window
}

// TelegramLimits are Telegram's windows, and where the evidence conflicts the
// narrower ones.
func TelegramLimits() Limits {
	return Limits{
		// "In a group, bots are not able to send more than 20 messages per minute"
		// (core.telegram.org/bots/faq). Edits share the limit
		// (github.com/tdlib/td/issues/3034), and so does the message about a new
		// topic; a forum is one chat (github.com/tdlib/td/issues/2592).
		Group: []Window{{20, time.Minute}},
		// "In a single chat, avoid sending more than one message per second. We may
		// allow short bursts that go over this limit" (core.telegram.org/bots/faq).
		// Here: one a second on average over three seconds, all three at once if need
		// be.
		Private: []Window{{3, 3 * time.Second}},
		// "your bot is not able to broadcast more than about 30 messages per second"
		// (core.telegram.org/bots/faq).
		Bot: []Window{{30, time.Second}},
		// Both are messages.setTyping, of which a chat gets 20 in 5 s and 40 in 30 s
		// (core.telegram.org/api/bots/ai).
		Typing: []Window{{20, 5 * time.Second}, {40, 30 * time.Second}},
		// Not documented. Bots that set their commands at every start are silenced for
		// some eight minutes (github.com/openclaw/openclaw/issues/32017). Here: four in
		// ten minutes, enough to set the menus of a new bot once.
		Commands: []Window{{4, 10 * time.Minute}},
	}
}

func (l Limits) withDefaults() Limits {
	d := TelegramLimits()
	for _, pair := range []struct{ given, standard *[]Window }{
		{&l.Group, &d.Group}, {&l.Private, &d.Private}, {&l.Bot, &d.Bot}, {&l.Typing, &d.Typing}, {&l.Commands, &d.Commands},
	} {
		if len(*pair.given) == 0 {
			*pair.given = *pair.standard
		}
	}
	return l
}

// Family is a group of methods that are counted together.
type Family string

// The families. Free methods are neither counted nor stopped by a penalty:
// reading, and answerCallbackQuery, which is "without any limits"
// (github.com/tdlib/telegram-bot-api/issues/648).
const (
	Free     Family = ""
	Messages Family = "messages"
	Typing   Family = "typing"
	Menus    Family = "commands"
)

// Key names what calls are counted for: a family in a chat, or with chat 0 a
// family of the whole bot. Without a family, everything that's counted.
type Key struct {
	Chat   int64
	Family Family
}

// windowsOf returns the windows that count under a key; private says which kind
// of chat it is.
func (l Limits) windowsOf(k Key, private bool) []Window {
	switch {
	case k.Chat == 0 && k.Family == Menus:
		return l.Commands
	case k.Chat == 0 && k.Family == Free:
		return l.Bot
	case k.Family == Typing:
		return l.Typing
	case k.Family == Messages && private:
		return l.Private
	case k.Family == Messages:
		return l.Group
	}
	return nil
}

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

// ledger is an exact log of arrivals: nothing is forgotten, so that what it says
// of a window can be counted again.
type ledger map[Key][]time.Time

// add logs an arrival. Arrivals come in order.
func (l ledger) add(k Key, at time.Time) { l[k] = append(l[k], at) }

// count returns how many arrivals a window that ends now has, now included.
func (l ledger) count(k Key, per time.Duration, now time.Time) int {
	log := l[k]
	first := sort.Search(len(log), func(i int) bool { return log[i].After(now.Add(-per)) })
	return len(log) - first
}

// freeAt returns when a window will have room for one more call.
func (l ledger) freeAt(k Key, w Window, now time.Time) time.Time {
	log := l[k]
	if len(log) < w.Calls {
		return now
	}
	free := log[len(log)-w.Calls].Add(w.Per)
	if free.Before(now) {
		return now
	}
	return free
}

// worst returns the most arrivals that any window of that length ever had.
func (l ledger) worst(k Key, per time.Duration) int {
	log := l[k]
	most, first := 0, 0
	for i, at := range log {
		for !log[first].After(at.Add(-per)) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
