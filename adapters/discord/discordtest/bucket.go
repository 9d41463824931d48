package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// bucketKey names a bucket: the hash that stands for a group of routes, and the
// top-level resource in their path.
type bucketKey struct{ name, major string }

// bucket is a window that begins with the first call after it has ended.
type bucket struct {
	resets  time.Time
	used    int
	blocked time.Time // by a Fault
	scope   Scope     // of that
}

// hash is what X-RateLimit-Bucket says: the same for all channels.
func (k bucketKey) hash() string {
	sum := sha256.Sum256([]byte(k.name))
	return hex.EncodeToString(sum[:16])
}

// bucketOf returns the bucket of a call; false if its route has none.
func (g *guard) bucketOf(c *call) (*bucket, bucketKey, bool) {
	k := bucketKey{c.route.bucket, c.major()}
	if k.name == "" {
		k.name = c.route.name
	}
	if g.limits.Routes[k.name].Calls == 0 {
		return nil, k, false
	}
	b := g.buckets[k]
	if b == nil {
		b = &bucket{}
		g.buckets[k] = b
	}
	return b, k, true
}

// major is the top-level resource of a call's path.
func (c *call) major() string {
	switch {
	case c.vars["channel"] != "":
		return c.vars["channel"]
	case c.vars["guild"] != "":
		return c.vars["guild"]
	}
	return c.vars["token"]
}

// arriveBucket counts a call in its bucket and writes the headers. What's refused
// isn't counted, but logged.
func (g *guard) arriveBucket(c *call) *refusal {
	b, k, ok := g.bucketOf(c)
	if !ok {
		return nil
	}
	g.logs[k] = append(g.logs[k], c.At)
	w := g.limits.Routes[k.name]
	if !c.At.Before(b.resets) {
		b.resets, b.used = c.At.Add(w.Per), 0
	}
	if rest := b.blocked.Sub(c.At); rest > 0 {
		b.write(c.headers, k, w, 0, b.blocked, c.At)
		return tooMany(b.scope, rest)
	}
	if b.used >= w.Calls {
		b.write(c.headers, k, w, 0, b.resets, c.At)
		return tooMany(ScopeUser, b.resets.Sub(c.At))
	}
	b.used++
	b.write(c.headers, k, w, w.Calls-b.used, b.resets, c.At)
	return nil
}

// write tells the state of a bucket (docs.discord.com/developers/topics/rate-limits#header-format).
func (b *bucket) write(h http.Header, k bucketKey, w Window, remaining int, resets, now time.Time) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(w.Calls))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(resets.UnixMilli())/1000, 'f', 3, 64))
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(round(resets.Sub(now)), 'f', 3, 64))
	h.Set("X-RateLimit-Bucket", k.hash())
}

// block closes a bucket until then, whatever its window says.
func (g *guard) block(c *call, length time.Duration, scope Scope) {
	if b, _, ok := g.bucketOf(c); ok {
		b.blocked, b.scope = c.At.Add(length), scope
	}
}
