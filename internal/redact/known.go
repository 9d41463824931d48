package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Known are secrets by their texts: not what looks like one, but what is one. It's safe
// for concurrent use.
type Known struct {
	mu    sync.RWMutex
	all   []knownSecret
	added map[knownSecret]bool
}

// knownSecret is a secret, or one line of it.
type knownSecret struct {
	name, text string
	word       bool
}

const (
	// maxWord is how long a text of letters alone can be that may stand in other texts by
	// chance, as the password "panebridge" does in paths.
	maxWord = 15
	// minPart is from how many bytes on a text that's a part of a secret counts as one,
	// unless it may be a folder's path.
	minPart = 12
)

// Add has a secret known by a name. One of several lines, such as a key in PEM, is known
// by each of them.
func (k *Known) Add(name, secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.added == nil {
		k.added = map[knownSecret]bool{}
	}
	for line := range strings.Lines(secret) {
		line = strings.TrimSpace(line)
		s := knownSecret{name, line, isWord(line)}
		if line == "" || strings.HasPrefix(line, "-----") || k.added[s] {
			continue
		}
		k.added[s] = true
		k.all = append(k.all, s)
	}
}

// isWord says that a text may stand in others by chance.
func isWord(text string) bool {
	return len(text) < minOwn || len(text) <= maxWord && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '_' }) < 0
}

// Find returns the name of a secret that stands in a value: as it is, escaped, in base64,
// as the password of an address, or a good part of it as the whole value. A secret that
// may be a word counts only as the whole value or as such a password.
func (k *Known) Find(value string) (name string, found bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	i := slices.IndexFunc(k.all, func(s knownSecret) bool { return s.in(value) })
	if i < 0 {
		return "", false
	}
	return k.all[i].name, true
}

func (s knownSecret) in(value string) bool {
	if value == s.text || strings.Contains(value, ":"+s.text+"@") {
		return true
	}
	if s.word {
		return false
	}
	if len(value) >= minPart && !strings.Contains(value, "/") && strings.Contains(s.text, value) {
		return true
	}
	return slices.ContainsFunc(ownForms("", s.text), func(o ownSecret) bool { return strings.Contains(value, o.text) })
}
