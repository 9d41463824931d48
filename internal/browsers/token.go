package browsers

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
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
	prefix  string // the first half of all tokens of this start; see Keeper.Secret
	waiting map[[sha256.Size]byte]time.Time
}

func newTokens() tokens {
	return tokens{prefix: rand.Text()[:halfToken], waiting: map[[sha256.Size]byte]time.Time{}}
}

func (t *tokens) add(now time.Time) (token string, expires time.Time) {
	t.forget(now)
	if len(t.waiting) >= maxTokens {
		delete(t.waiting, t.oldest())
	}
	token, expires = t.prefix+rand.Text()[:halfToken], now.Add(tokenLife)
	t.waiting[sha256.Sum256([]byte(token))] = expires
	return token, expires
}

// use reports whether a token is good, and uses it up. A lookup by the hash takes the
// same time for every wrong token.
func (t *tokens) use(now time.Time, token string) bool {
	t.forget(now)
	sum := sha256.Sum256([]byte(token))
	_, good := t.waiting[sum]
	delete(t.waiting, sum)
	return good
}

func (t *tokens) forget(now time.Time) {
	for sum, expires := range t.waiting {
		if !now.Before(expires) {
			delete(t.waiting, sum)
		}
	}
}

func (t *tokens) oldest() (sum [sha256.Size]byte) {
	var first time.Time
	for s, expires := range t.waiting {
		if first.IsZero() || expires.Before(first) {
			sum, first = s, expires
		}
	}
	return sum
}

// NewAddress returns an address of the page that lets one browser in, once, until it
// expires. host is where the page is served, such as "127.0.0.1:7333". The token is behind
// the #, which browsers send to no server.
func (k *Keeper) NewAddress(now time.Time, host string) (url string, expires time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	token, expires := k.tokens.add(now)
	return fmt.Sprintf("http://%s%s%s#%s", host, EnterPath, strings.ToLower(rand.Text()[:8]), token), expires
}

// Secret returns the half that all tokens of this start have in common. Who masks it
// wherever it's printed has made every token useless.
func (k *Keeper) Secret() string { return k.tokens.prefix }
