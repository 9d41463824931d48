package discordtest

import (
	"slices"
	"strings"
	"unicode"
)

// SetAutoMod has the guild's auto-moderation block words, whatever their case, in what the bot
// posts and edits (200000) and in the names of threads (200001). Files aren't looked into. None
// lets everything through.
func (g *Guild) SetAutoMod(words ...string) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.blocked = words
}

// blocks says whether a text has a word that the auto-moderation blocks.
func (g *Guild) blocks(text string) bool {
	if g == nil {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(g.blocked, func(w string) bool { return slices.Contains(words, strings.ToLower(w)) })
}
