package browsers

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// tokenLife is long enough to carry an address to a browser by hand.
	tokenLife = 10 * time.Minute
	// maxTokens bounds the tokens that wait to be used: the oldest makes room for a new
	// one.
	maxTokens = 16
	// halfToken is the length of each half of a token, in letters and digits of 5 bits.
	halfToken = 20
	// EnterPath is where the page lets a browser in. What follows it is random, so that
	// no server that had the port before can have left an answer in the browser's cache.
	EnterPath = "/new/"
)

// tokens are the one-time tokens that wait to be used. Only hashes are kept, and only in
// memory.
type tokens struct {
	prefix  string  // the first half of all tokens of this start; see Doorkeeper.Secret
	waiting []token // oldest first
}

type token struct {
	sum     [sha256.Size]byte
	expires time.Time
	share   *Share // nil: it lets a browser of this machine in, as the owner's
}

func newTokens() tokens { return tokens{prefix: rand.Text()[:halfToken]} }

func (t *tokens) add(now time.Time, share *Share) (text string, expires time.Time) {
	t.forget(now)
	text, expires = t.prefix+rand.Text()[:halfToken], now.Add(tokenLife)
	t.waiting = append(t.waiting, token{sha256.Sum256([]byte(text)), expires, share})
	t.waiting = t.waiting[max(0, len(t.waiting)-maxTokens):]
	return text, expires
}

// use reports whether a token is good where it's shown, and uses it up. That it compares hashes
// hides how much of a wrong one is right. share is what it gives; nil: it's the owner's, and
// good for a browser of this machine alone.
func (t *tokens) use(now time.Time, text string, local bool) (share *Share, good bool) {
	t.forget(now)
	sum := sha256.Sum256([]byte(text))
	t.waiting = slices.DeleteFunc(t.waiting, func(one token) bool {
		if one.sum != sum || one.share == nil && !local {
			return false
		}
		share, good = one.share, true
		return true
	})
	return share, good
}

func (t *tokens) forget(now time.Time) {
	t.waiting = slices.DeleteFunc(t.waiting, func(one token) bool { return !now.Before(one.expires) })
}

// NewAddress returns an address of the page that lets one browser in, once, until it
// expires. origin is where the page is served, such as "http://127.0.0.1:7333". The token is
// behind the #, which browsers send to no server.
// It's for browsers of this machine.
func (k *Doorkeeper) NewAddress(now time.Time, origin string) (url string, expires time.Time) {
	return k.newAddress(now, origin, nil)
}

// NewShare returns an address of the page that has one device ask to be let in, once, until it
// expires: see Confirm.
func (k *Doorkeeper) NewShare(now time.Time, origin string, s Share) (url string, expires time.Time) {
	return k.newAddress(now, origin, &s)
}

func (k *Doorkeeper) newAddress(now time.Time, origin string, share *Share) (url string, expires time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, expires := k.tokens.add(now, share)
	return fmt.Sprintf("%s%s%s#%s", origin, EnterPath, strings.ToLower(rand.Text()[:8]), text), expires
}

// Secret returns the half that all tokens of this start have in common. Who masks it
// wherever it's printed has made every token useless.
func (k *Doorkeeper) Secret() string { return k.tokens.prefix }
