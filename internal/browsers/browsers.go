package browsers

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// keyLife is how long a browser is known that doesn't come back.
	keyLife = 30 * 24 * time.Hour
	// windowSeconds is how far a signature's time may be from the daemon's, either way.
	windowSeconds = 60
	// touchEvery is how exactly it's stored when a browser was here last.
	touchEvery = time.Minute
	// maxBrowsers is more than one person has, and few enough to look through.
	maxBrowsers = 64
	// maxLabel bounds what a browser is called, in bytes.
	maxLabel = 80
)

// Browser is a browser that may use the page at one address.
type Browser struct {
	ID       string
	Label    string // what it calls itself, in short
	Name     string // what its person calls it; "": Label
	Roles    access.Roles
	Address  string // host:port of the page, as the browser calls it
	Key      []byte // its public key: a point of P-256, uncompressed
	NextKey  []byte // takes the place of Key as soon as it's used; nil: none
	Created  time.Time
	LastUsed time.Time // zero: never
	Expires  time.Time
}

// Store keeps the browsers that are known. Its methods do disk I/O; the Doorkeeper makes one
// call at a time.
type Store interface {
	// Browsers returns all.
	Browsers(ctx context.Context) ([]Browser, error)
	// AddBrowser stores one that's new.
	AddBrowser(ctx context.Context, b Browser) error
	// UpdateBrowser stores what has changed of one that's there; of others, nothing.
	UpdateBrowser(ctx context.Context, b Browser) error
	// DropBrowsers drops those of these ids, whether they're there or not.
	DropBrowsers(ctx context.Context, ids []string) error
}

// Why a request is refused; found with errors.Is.
var (
	// ErrUnknown: it isn't signed by a browser that's known at this address.
	ErrUnknown = errors.New("this browser isn't let in here, or not any more: run `panebridge page` and open the address that it prints")
	// ErrToken: the token was used, has expired, or is of an earlier start.
	ErrToken = errors.New("this address was used already, is older than ten minutes, or was made before the daemon was started: run `panebridge page` and open the address that it prints")
	// ErrStale: it's signed for another start or another time. Signed anew for those of
	// this daemon it may be taken.
	ErrStale = errors.New("the request is signed for another start of the daemon, or for another time: sign it for those that this answer names")
	// ErrReplayed: this very request was taken already.
	ErrReplayed = errors.New("the request was sent before: sign each one anew")
	// ErrBusy: it sends more requests than can be told apart.
	ErrBusy = errors.New("this browser sends too many requests: wait a minute")
)

// Doorkeeper knows the browsers that may use the page. Its methods may be called by many
// requests at once.
type Doorkeeper struct {
	store   Store
	start   string    // the name of this start of the daemon
	started time.Time // with the monotonic clock

	writing sync.Mutex // held during the store's I/O, before mu

	mu      sync.Mutex // never held during I/O
	known   map[string]*keyedBrowser
	waiting map[string]*waitingDevice
	tokens  tokens
	gone    []func(id string)

	wrong wrongTokens
}

// keyedBrowser is a browser with its keys read.
type keyedBrowser struct {
	Browser
	key, next *ecdsa.PublicKey
	nonces    nonces
}

// New returns a Doorkeeper for one start of the daemon, which begins now. It knows nobody
// before Load.
func New(now time.Time, store Store) *Doorkeeper {
	return &Doorkeeper{
		store: store, start: rand.Text(), started: now,
		known: map[string]*keyedBrowser{}, waiting: map[string]*waitingDevice{}, tokens: newTokens(),
	}
}

// Load reads who is known, and drops those whose time is over.
func (k *Doorkeeper) Load(ctx context.Context, now time.Time) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	list, err := k.store.Browsers(ctx)
	if err != nil {
		return err
	}
	var over []string
	for _, b := range list {
		one, err := newKnown(b)
		if err != nil || !now.Before(b.Expires) {
			over = append(over, b.ID)
			continue
		}
		k.mu.Lock()
		k.known[b.ID] = one
		k.mu.Unlock()
	}
	if len(over) == 0 {
		return nil
	}
	return k.store.DropBrowsers(ctx, over)
}

func newKnown(b Browser) (one *keyedBrowser, err error) {
	one = &keyedBrowser{Browser: b}
	if one.key, err = parseKey(b.Key); err != nil {
		return nil, err
	}
	if b.NextKey != nil {
		one.next, err = parseKey(b.NextKey)
	}
	return one, err
}

// OnGone has a function called, too, with the id of each browser that was revoked: what it has
// open ends then.
func (k *Doorkeeper) OnGone(f func(id string)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = append(k.gone, f)
}

// Now returns what a browser needs to sign: the name of this start, and the time in
// seconds. The daemon's time goes on evenly from its start: a clock that's set back
// doesn't make what was signed earlier good again.
func (k *Doorkeeper) Now(now time.Time) (start string, seconds int64) { return k.start, k.seconds(now) }

func (k *Doorkeeper) seconds(now time.Time) int64 {
	return k.started.Add(now.Sub(k.started)).Unix() // Sub is by the monotonic clock
}

// Check returns the browser that a request is from. The error is one of ErrUnknown,
// ErrWaiting, ErrStale, ErrReplayed and ErrBusy. SignedRequest.Digest is still to be compared with the
// body.
func (k *Doorkeeper) Check(ctx context.Context, now time.Time, r *http.Request) (SignedRequest, error) {
	s, ok := readSignature(r)
	if !ok {
		return SignedRequest{}, ErrUnknown
	}
	seconds := k.seconds(now)
	if subtle.ConstantTimeCompare([]byte(s.start), []byte(k.start)) != 1 || s.created < seconds-windowSeconds || s.created > seconds+windowSeconds {
		return SignedRequest{}, ErrStale
	}
	one, ok := k.find(s.id, r.Host, now)
	if !ok {
		return SignedRequest{}, k.checkWaiting(now, s, r.Host)
	}
	switch {
	case s.verify(one.key):
		return k.admit(ctx, now, s, one.key)
	case s.verify(one.next):
		return k.admit(ctx, now, s, one.next)
	default:
		return SignedRequest{}, ErrUnknown
	}
}

// SignedRequest is a request whose signature is good.
type SignedRequest struct {
	Browser Browser
	Digest  [32]byte // SHA-256 of the body that was signed
}

// find returns a copy of what's known of a browser at an address.
func (k *Doorkeeper) find(id, host string, now time.Time) (keyedBrowser, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.known[id]
	if one == nil || one.Address != strings.ToLower(host) || !now.Before(one.Expires) {
		return keyedBrowser{}, false
	}
	return *one, true
}

// admit takes a request that was signed with one of the keys that a browser had a moment
// ago.
func (k *Doorkeeper) admit(ctx context.Context, now time.Time, s signed, signer *ecdsa.PublicKey) (SignedRequest, error) {
	b, changed, err := k.note(now, s, signer)
	if err != nil {
		return SignedRequest{}, err
	}
	if changed {
		_ = k.update(ctx, s.id) // it's known in memory; the next minute stores it
	}
	return SignedRequest{Browser: b, Digest: s.digest}, nil
}

// note notes that a request was taken; changed says that there's something to be stored.
func (k *Doorkeeper) note(now time.Time, s signed, signer *ecdsa.PublicKey) (b Browser, changed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.known[s.id]
	if one == nil || !one.has(signer) {
		return b, false, ErrUnknown // revoked, or its key was changed, in this moment
	}
	taken, full := one.nonces.add(k.seconds(now), s.nonce)
	switch {
	case taken:
		return b, false, ErrReplayed
	case full:
		return b, false, ErrBusy
	}
	if !one.key.Equal(signer) {
		one.key, one.Key, one.next, one.NextKey = one.next, one.NextKey, nil, nil
		one.Expires, changed = now.Add(keyLife), true
	}
	if changed || now.Sub(one.LastUsed) >= touchEvery {
		one.LastUsed, changed = now, true
	}
	return one.Browser, changed, nil
}

// has reports whether a key is the browser's, or the one that follows.
func (o *keyedBrowser) has(key *ecdsa.PublicKey) bool {
	return o.key.Equal(key) || o.next != nil && o.next.Equal(key)
}

// update stores a browser as it is now.
func (k *Doorkeeper) update(ctx context.Context, id string) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	one := k.known[id]
	if one == nil {
		k.mu.Unlock()
		return ErrUnknown
	}
	b := one.Browser
	k.mu.Unlock()
	return k.store.UpdateBrowser(context.WithoutCancel(ctx), b)
}

// Knows reports whether a browser may still do anything.
func (k *Doorkeeper) Knows(id string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.known[id]
	return one != nil && now.Before(one.Expires)
}

var errFull = fmt.Errorf("%w: %d browsers are let in: `panebridge page revoke` takes one away", sessions.ErrConflict, maxBrowsers)

// Enrolled says what became of a token that was shown: the browser is let in, or waits.
type Enrolled struct {
	Browser Browser
	Waiting *Waiting // nil: it's let in
}

// Enrol lets a browser in that shows a token, or has it wait for somebody's word if the token
// was shared. It's known by its key at this address from then on. was is the browser that it
// is already, by the signature of its request; empty: none.
func (k *Doorkeeper) Enrol(ctx context.Context, now time.Time, v Visitor, was Browser) (Enrolled, error) {
	key, err := parseKey(v.Key)
	if err != nil {
		return Enrolled{}, errKey(err)
	}
	if was.ID != "" && v.Token == "" {
		b, err := k.renew(ctx, now, was, v.Key)
		return Enrolled{Browser: b}, err
	}
	if !k.wrong.allowGuess(now, v.From) {
		return Enrolled{}, ErrGuesses
	}
	k.mu.Lock()
	share, good := k.tokens.use(now, v.Token, v.Local)
	if good && share != nil {
		waits := k.addWaiting(now, v, share, key, was.ID)
		k.mu.Unlock()
		return Enrolled{Browser: waits.Browser, Waiting: &waits}, nil
	}
	k.mu.Unlock()
	if was.ID != "" { // its owner has opened another address in a browser that's known
		b, err := k.renew(ctx, now, was, v.Key)
		return Enrolled{Browser: b}, err
	}
	if !good {
		k.wrong.countWrong(v.From)
		return Enrolled{}, ErrToken
	}
	b, err := k.addOwn(ctx, now, v)
	return Enrolled{Browser: b}, err
}

// addOwn lets a browser of the owner in.
func (k *Doorkeeper) addOwn(ctx context.Context, now time.Time, v Visitor) (Browser, error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	over := k.over(now)
	full := len(k.known)-len(over) >= maxBrowsers
	k.mu.Unlock()
	if full {
		return Browser{}, errFull
	}
	b := Browser{
		ID: newID(), Label: short(v.Label), Roles: access.Roles{access.Admin: true}, Address: strings.ToLower(v.Host), Key: v.Key,
		Created: now, LastUsed: now, Expires: now.Add(keyLife),
	}
	one, err := newKnown(b)
	if err != nil {
		return Browser{}, errKey(err)
	}
	if err := k.drop(ctx, over); err != nil {
		return Browser{}, err
	}
	if err := k.store.AddBrowser(ctx, b); err != nil {
		return Browser{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[b.ID] = one
	return b, nil
}

// renew gives a browser another key, which takes the place of its own when it's used for the
// first time.
func (k *Doorkeeper) renew(ctx context.Context, now time.Time, b Browser, key []byte) (Browser, error) {
	next, err := parseKey(key)
	if err != nil {
		return Browser{}, errKey(err)
	}
	k.mu.Lock()
	one := k.known[b.ID]
	if one == nil {
		k.mu.Unlock()
		return Browser{}, ErrUnknown
	}
	one.next, one.NextKey = next, key
	b = one.Browser
	k.mu.Unlock()
	b.Expires = now.Add(keyLife) // once it's used
	return b, k.update(ctx, b.ID)
}

func errKey(err error) error {
	return fmt.Errorf("%w key: it must be a point of P-256, uncompressed: %w", sessions.ErrInvalid, err)
}

func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return "br_" + hex.EncodeToString(b[:])
}

// short makes one short line of what a browser calls itself.
func short(label string) string {
	label = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(label, ""), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	for len(label) > maxLabel {
		_, size := utf8.DecodeLastRuneInString(label)
		label = label[:len(label)-size]
	}
	return label
}

// List returns who is known, who was here last first.
func (k *Doorkeeper) List(now time.Time) []Browser {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := []Browser{}
	for _, one := range k.known {
		if now.Before(one.Expires) {
			list = append(list, one.Browser)
		}
	}
	slices.SortFunc(list, func(a, b Browser) int {
		return min(1, max(-1, 2*b.LastUsed.Compare(a.LastUsed)+strings.Compare(a.ID, b.ID)))
	})
	return list
}

// Revoke lets a browser do nothing any more, or refuses a device that waits. What it has open
// ends.
func (k *Doorkeeper) Revoke(ctx context.Context, id string) error {
	if k.refuse(id) {
		return nil
	}
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	_, ok := k.known[id]
	k.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w browser %s: `panebridge page list` lists those that are known", sessions.ErrUnknown, id)
	}
	return k.drop(ctx, []string{id})
}

// Rotate revokes all browsers, refuses all devices that wait, makes all tokens void that wait to
// be used, and returns how many browsers that were.
func (k *Doorkeeper) Rotate(ctx context.Context) (int, error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	k.tokens.waiting = nil
	clear(k.waiting)
	ids := make([]string, 0, len(k.known))
	for id := range k.known {
		ids = append(ids, id)
	}
	k.mu.Unlock()
	return len(ids), k.drop(ctx, ids)
}

// over returns the ids of those whose time is over.
func (k *Doorkeeper) over(now time.Time) (ids []string) {
	for id, one := range k.known {
		if !now.Before(one.Expires) {
			ids = append(ids, id)
		}
	}
	return ids
}

// drop forgets browsers at once, and then in the store.
func (k *Doorkeeper) drop(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	k.mu.Lock()
	for _, id := range ids {
		delete(k.known, id)
	}
	gone := slices.Clone(k.gone)
	k.mu.Unlock()
	for _, id := range ids {
		for _, tell := range gone {
			tell(id)
		}
	}
	if err := k.store.DropBrowsers(ctx, ids); err != nil {
		return fmt.Errorf("revoke for good: %w; until the daemon is started again it holds", err)
	}
	return nil
}
