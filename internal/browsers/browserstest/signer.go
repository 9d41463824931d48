// Package browserstest plays browsers for tests: it signs requests as the page does.
package browserstest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/browsers"
)

// Signer is a browser's key. ID, Start and Now are what the daemon told it.
type Signer struct {
	ID    string
	Start string
	Now   func() int64 // the daemon's time in seconds

	key *ecdsa.PrivateKey
}

// NewSigner makes a key.
func NewSigner() *Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no randomness
	}
	return &Signer{key: key}
}

// Text is the signer with its key, for another process. Its time is that process's own.
func (s *Signer) Text() string {
	raw, err := s.key.Bytes()
	if err != nil {
		panic(err) // not for a key of P-256
	}
	return s.ID + " " + s.Start + " " + hex.EncodeToString(raw)
}

// ParseSigner reads what Text wrote.
func ParseSigner(text string) (*Signer, error) {
	var key string
	s := &Signer{Now: func() int64 { return time.Now().Unix() }}
	if _, err := fmt.Sscan(text, &s.ID, &s.Start, &key); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(key)
	if err == nil {
		s.key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	}
	return s, err
}

// PublicKey returns the key's public half as the daemon takes it.
func (s *Signer) PublicKey() []byte {
	raw, err := s.key.PublicKey.Bytes()
	if err != nil {
		panic(err) // not for a key of P-256
	}
	return raw
}

// Sign signs a request, anew if it was signed before.
func (s *Signer) Sign(r *http.Request) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // of a test: it's in memory
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	sum := sha256.Sum256(body)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	params := fmt.Sprintf(`("@method" "@authority" "@request-target" "content-digest" "panebridge-start");created=%d;nonce="%s";keyid="%s";alg="ecdsa-p256-sha256";tag="panebridge-page"`,
		s.Now(), rand.Text(), s.ID)
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	base := fmt.Sprintf("\"@method\": %s\n\"@authority\": %s\n\"@request-target\": %s\n\"content-digest\": %s\n\"panebridge-start\": %s\n\"@signature-params\": %s",
		r.Method, strings.ToLower(host), r.URL.RequestURI(), digest, s.Start, params)
	r.Header.Set("Content-Digest", digest)
	r.Header.Set(browsers.StartHeader, s.Start)
	r.Header.Set("Signature-Input", "sig="+params)
	r.Header.Set("Signature", "sig=:"+base64.StdEncoding.EncodeToString(s.signature([]byte(base)))+":")
}

// signature is r and s, 32 bytes each.
func (s *Signer) signature(base []byte) []byte {
	sum := sha256.Sum256(base)
	r1, s1, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		panic(err)
	}
	out := make([]byte, 64)
	r1.FillBytes(out[:32])
	s1.FillBytes(out[32:])
	return out
}

// Store keeps browsers in memory.
type Store struct {
	mu  sync.Mutex
	all map[string]browsers.Browser
	err error
}

var _ browsers.Store = (*Store)(nil)

// Fail has all calls return an error; nil: none.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Browsers returns all.
func (s *Store) Browsers(context.Context) ([]browsers.Browser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []browsers.Browser
	for _, b := range s.all {
		list = append(list, b)
	}
	return list, s.err
}

// AddBrowser stores one that's new.
func (s *Store) AddBrowser(_ context.Context, b browsers.Browser) error { return s.put(b, true) }

// UpdateBrowser stores what has changed of one that's there.
func (s *Store) UpdateBrowser(_ context.Context, b browsers.Browser) error { return s.put(b, false) }

func (s *Store) put(b browsers.Browser, add bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.all == nil {
		s.all = map[string]browsers.Browser{}
	}
	if _, there := s.all[b.ID]; there != add {
		s.all[b.ID] = b
	}
	return nil
}

// DropBrowsers drops those of these ids.
func (s *Store) DropBrowsers(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	for _, id := range ids {
		delete(s.all, id)
	}
	return nil
}
