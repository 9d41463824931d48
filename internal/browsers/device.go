package browsers

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// confirmWithin is how long a device waits for somebody's word.
	confirmWithin = 10 * time.Minute
	// maxWaiting bounds the devices that wait: the oldest makes room for a new one.
	maxWaiting = 16
	// Wrong tokens within guessWindow, from one address and from all, behind which none is
	// looked at. A token has 100 bits that nobody knows; this is so that nobody even tries.
	guessWindow     = 10 * time.Minute
	guessesEach     = 10
	guessesOverall  = 1000
	guessesRecorded = 4096 // addresses
)

// Share is what a shared address gives to the device that opens it.
type Share struct {
	Name  string       // what its person calls the device; "": what it calls itself
	Roles access.Roles // what it may do
}

// Visitor is a browser that shows a token.
type Visitor struct {
	Token string
	Host  string // the page's name or name:port, as the browser calls it
	Local bool   // it's one of this machine
	From  string // its network address, without port
	Label string // what it calls itself
	Key   []byte // its public key, as WebCrypto's format "raw" has it
}

// Waiting is a device that waits for somebody's word.
type Waiting struct {
	Browser

	From   string // its network address
	Number string // six digits, which the device shows, too: that it's the one at hand
	Until  time.Time
}

// ErrWaiting says that the device is known, and nobody has confirmed it yet.
var ErrWaiting = errors.New("nobody has confirmed this device yet")

// ErrGuesses says that too many wrong tokens were shown.
var ErrGuesses = errors.New("too many addresses that aren't good were opened: wait ten minutes")

// waitingDevice is a device that waits, with its key read.
type waitingDevice struct {
	Waiting
	key      *ecdsa.PublicKey
	replaces string // the browser that it is until it's confirmed; "": none
	nonces   nonces
}

// numberOf is what people compare of a device: six digits, in two halves.
func numberOf(key []byte) string {
	sum := sha256.Sum256(append([]byte("panebridge device "), key...))
	n := binary.BigEndian.Uint32(sum[:]) % 1_000_000
	return fmt.Sprintf("%03d %03d", n/1000, n%1000)
}

// addWaiting has a device wait. The caller holds k.mu.
func (k *Doorkeeper) addWaiting(now time.Time, v Visitor, share *Share, key *ecdsa.PublicKey, replaces string) Waiting {
	k.forgetWaiting(now)
	if len(k.waiting) >= maxWaiting {
		oldest := slices.MinFunc(slices.Collect(maps.Values(k.waiting)), func(a, b *waitingDevice) int { return a.Until.Compare(b.Until) })
		delete(k.waiting, oldest.ID)
	}
	label := short(v.Label)
	one := &waitingDevice{
		Waiting: Waiting{
			Browser: Browser{
				ID: newID(), Label: label, Name: cmp.Or(short(share.Name), label, "a device"), Address: strings.ToLower(v.Host), Key: v.Key, Created: now, Roles: share.Roles,
			},
			From: v.From, Number: numberOf(v.Key), Until: now.Add(confirmWithin),
		},
		key: key, replaces: replaces,
	}
	k.waiting[one.ID] = one
	return one.Waiting
}

func (k *Doorkeeper) forgetWaiting(now time.Time) {
	maps.DeleteFunc(k.waiting, func(_ string, one *waitingDevice) bool { return !now.Before(one.Until) })
}

// Waiting returns the devices that wait for somebody's word, the oldest first.
func (k *Doorkeeper) Waiting(now time.Time) []Waiting {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgetWaiting(now)
	list := []Waiting{}
	for _, one := range k.waiting {
		list = append(list, one.Waiting)
	}
	slices.SortFunc(list, func(a, b Waiting) int { return a.Until.Compare(b.Until) })
	return list
}

// Confirm lets a device in that waits.
func (k *Doorkeeper) Confirm(ctx context.Context, now time.Time, id string) (Browser, error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	k.forgetWaiting(now)
	one := k.waiting[id]
	over := k.over(now)
	full := len(k.known)-len(over) >= maxBrowsers
	k.mu.Unlock()
	switch {
	case one == nil:
		return Browser{}, fmt.Errorf("%w device %s: it doesn't wait, or not any more; `panebridge page list` lists those that do", sessions.ErrUnknown, id)
	case full:
		return Browser{}, errFull
	}
	b := one.Browser
	b.LastUsed, b.Expires = now, now.Add(keyLife)
	if one.replaces != "" {
		over = append(over, one.replaces)
	}
	if err := k.store.AddBrowser(ctx, b); err != nil {
		return Browser{}, err
	}
	k.mu.Lock()
	delete(k.waiting, id)
	k.known[b.ID] = &keyedBrowser{Browser: b, key: one.key, nonces: one.nonces}
	k.mu.Unlock()
	return b, k.drop(ctx, over)
}

// refuse forgets a device that waits, and says whether it did.
func (k *Doorkeeper) refuse(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.waiting[id]
	delete(k.waiting, id)
	return ok
}

// checkWaiting returns ErrWaiting if a device that waits has signed a request, and ErrUnknown
// otherwise.
func (k *Doorkeeper) checkWaiting(now time.Time, s signed, host string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgetWaiting(now)
	one := k.waiting[s.id]
	if one == nil || one.Address != strings.ToLower(host) || !s.verify(one.key) {
		return ErrUnknown
	}
	taken, full := one.nonces.add(k.seconds(now), s.nonce)
	switch {
	case taken:
		return ErrReplayed
	case full:
		return ErrBusy
	}
	return ErrWaiting
}

// wrongTokens counts them.
type wrongTokens struct {
	mu    sync.Mutex
	began time.Time
	all   int
	each  map[string]int // by network address
}

// allowGuess reports whether another token from an address is looked at.
func (g *wrongTokens) allowGuess(now time.Time, from string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.each == nil || now.Sub(g.began) >= guessWindow {
		g.began, g.all, g.each = now, 0, map[string]int{}
	}
	return g.all < guessesOverall && g.each[from] < guessesEach
}

// countWrong counts a wrong token from an address.
func (g *wrongTokens) countWrong(from string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all++
	if _, known := g.each[from]; known || len(g.each) < guessesRecorded {
		g.each[from]++
	}
}
