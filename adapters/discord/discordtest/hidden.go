package discordtest

import (
	"time"
)

// hiddenKey names a limit that no header tells of.
type hiddenKey struct{ what, where string }

// threadLie is how much longer a 429 for a new thread says it lasts than it does:
// told 219 s, another try went through after 145 (github.com/NousResearch/hermes-agent/issues/103296).
const threadLie = 1.5

// rename counts a new name or topic of a channel. The headers go on showing the
// visible limit, with room in it.
func (g *guard) rename(channel string, now time.Time) *refusal {
	return g.count(hiddenKey{"rename", channel}, g.limits.Renames, ScopeUser, now)
}

// oldEdit counts an edit of an old message.
func (g *guard) oldEdit(channel string, now time.Time) *refusal {
	r := g.count(hiddenKey{"edit", channel}, g.limits.OldEdits, ScopeUser, now)
	if r != nil {
		r.code, r.text = 30046, "Maximum number of edits to messages older than 1 hour reached. Try again later."
	}
	return r
}

// newThread counts a thread or post.
func (g *guard) newThread(guild string, now time.Time) *refusal {
	r := g.count(hiddenKey{"thread", guild}, g.limits.Threads, ScopeShared, now)
	if r != nil {
		r.retryAfter = time.Duration(float64(r.retryAfter) * threadLie)
	}
	return r
}

func (g *guard) count(k hiddenKey, w Window, scope Scope, now time.Time) *refusal {
	if rest := g.hidden[k].room(w, now); rest > 0 {
		return tooMany(scope, rest)
	}
	g.hidden[k] = append(g.hidden[k], now)
	return nil
}

// commandDay counts a command with a new name.
func (s *Server) commandDay(guild string) *refusal {
	if s.newCommands[guild].room(s.opts.Limits.NewCommands, now()) > 0 {
		return errDailyCommands
	}
	s.newCommands[guild] = append(s.newCommands[guild], now())
	return nil
}
