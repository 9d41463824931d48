package browsers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/sessions"
)

func TestTokenLetsOneBrowserIn(t *testing.T) {
	r := newRig(t)
	enrol := func(token string) error {
		t.Helper()
		_, err := r.enrol(t.Context(), token, "x", browserstest.NewSigner().PublicKey())
		return err
	}
	token := r.token()
	if err := enrol(token); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]string{"used": token, "none": "", "half": token[:20], "another": strings.Repeat("A", 40), "in small": strings.ToLower(r.token())} {
		if err := enrol(wrong); !errors.Is(err, browsers.ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	old := r.token()
	r.now = r.now.Add(10*time.Minute - time.Second)
	late := r.token()
	if err := enrol(old); err != nil {
		t.Errorf("just in time: %v", err)
	}
	r.now = r.now.Add(10 * time.Minute)
	if err := enrol(late); !errors.Is(err, browsers.ErrToken) {
		t.Errorf("expired: %v", err)
	}
	waiting := r.token()
	r.start(t)
	if err := enrol(waiting); !errors.Is(err, browsers.ErrToken) {
		t.Errorf("of the start before: %v", err)
	}
	waiting = r.token()
	if _, err := r.keeper.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := enrol(waiting); !errors.Is(err, browsers.ErrToken) {
		t.Errorf("made before a rotation: %v", err)
	}
	if !strings.HasPrefix(waiting, r.keeper.Secret()) || len(r.keeper.Secret()) < 20 {
		t.Error("a token lacks the part that's masked")
	}
	first := r.token()
	for range 16 {
		_ = r.token()
	}
	if err := enrol(first); !errors.Is(err, browsers.ErrToken) {
		t.Errorf("the oldest of too many: %v", err)
	}
}

func TestKeysMustBePoints(t *testing.T) {
	r := newRig(t)
	good := browserstest.NewSigner().PublicKey()
	bad := append([]byte{}, good...)
	bad[64] ^= 1 // not on the curve
	for name, key := range map[string][]byte{"none": nil, "short": good[:64], "compressed": append([]byte{2}, good[1:33]...), "elsewhere": bad, "infinity": {0}} {
		if _, err := r.enrol(t.Context(), r.token(), "x", key); !errors.Is(err, sessions.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A browser is known for thirty days, over starts; revoked, expired and rotated ones
// aren't, and what they have open ends.
func TestBrowsersAreForgotten(t *testing.T) {
	r := newRig(t)
	var gone []string
	r.keeper.OnGone(func(id string) { gone = append(gone, id) })
	taken := func(s *browserstest.Signer) error {
		req := request("GET", "/api/v1/sessions", "")
		s.Sign(req)
		return r.check(req)
	}
	one, two, three := r.letIn(t), r.letIn(t), r.letIn(t)
	if err := r.keeper.Revoke(t.Context(), one.ID); err != nil || len(gone) != 1 || gone[0] != one.ID {
		t.Fatalf("%v, gone are %v", err, gone)
	}
	if err := r.keeper.Revoke(t.Context(), one.ID); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("once more: %v", err)
	}
	if err := taken(one); !errors.Is(err, browsers.ErrUnknown) {
		t.Errorf("revoked: %v", err)
	}
	r.start(t)
	r.tell(two)
	r.tell(one)
	if err := errors.Join(taken(two)); err != nil {
		t.Errorf("after a start: %v", err)
	}
	if err := taken(one); !errors.Is(err, browsers.ErrUnknown) {
		t.Errorf("revoked, after a start: %v", err)
	}
	r.now = r.now.Add(30*24*time.Hour - time.Second)
	if err := taken(two); err != nil {
		t.Errorf("on the last day: %v", err)
	}
	r.now = r.now.Add(time.Second)
	if err := taken(two); !errors.Is(err, browsers.ErrUnknown) || len(r.keeper.List(r.now)) != 0 || r.keeper.Knows(two.ID, r.now) {
		t.Errorf("expired: %v, known are %+v", err, r.keeper.List(r.now))
	}
	r.start(t)
	r.tell(three)
	if stored, err := r.store.Browsers(t.Context()); err != nil || len(stored) != 0 || !errors.Is(taken(three), browsers.ErrUnknown) {
		t.Errorf("expired, after a start: %+v, %v", stored, err)
	}

	four, five := r.letIn(t), r.letIn(t)
	if n, err := r.keeper.Rotate(t.Context()); n != 2 || err != nil {
		t.Errorf("rotated %d, %v", n, err)
	}
	for _, s := range []*browserstest.Signer{four, five} {
		if err := taken(s); !errors.Is(err, browsers.ErrUnknown) {
			t.Errorf("rotated: %v", err)
		}
	}
}

// The new key takes the old one's place when it's used first, and the thirty days begin
// again. Until then the old one holds: the answer may have been lost.
func TestKeyIsChanged(t *testing.T) {
	r := newRig(t)
	old := r.letIn(t)
	taken := func(s *browserstest.Signer) error {
		req := request("GET", "/api/v1/sessions", "")
		s.Sign(req)
		return r.check(req)
	}
	was := r.keeper.List(r.now)[0]
	r.now = r.now.Add(8 * 24 * time.Hour)
	lost, next := browserstest.NewSigner(), browserstest.NewSigner()
	for _, s := range []*browserstest.Signer{lost, next} {
		s.ID = old.ID
		if _, err := r.keeper.Enrol(t.Context(), r.now, browsers.Visitor{Host: host, Key: s.PublicKey()}, was); err != nil {
			t.Fatal(err)
		}
	}
	r.start(t)
	for _, s := range []*browserstest.Signer{old, lost, next} {
		r.tell(s)
	}
	if err := taken(old); err != nil {
		t.Errorf("the old one, before the new one was used: %v", err)
	}
	if err := taken(lost); !errors.Is(err, browsers.ErrUnknown) {
		t.Errorf("one whose answer was lost: %v", err)
	}
	if err := taken(next); err != nil {
		t.Errorf("the new one: %v", err)
	}
	if err := taken(old); !errors.Is(err, browsers.ErrUnknown) {
		t.Errorf("the old one, behind it: %v", err)
	}
	r.start(t)
	r.tell(old)
	r.tell(next)
	if err := taken(old); !errors.Is(err, browsers.ErrUnknown) {
		t.Errorf("the old one, after a start: %v", err)
	}
	if err := taken(next); err != nil {
		t.Errorf("the new one, after a start: %v", err)
	}
	if now := r.keeper.List(r.now); len(now) != 1 || now[0].ID != was.ID || now[0].Expires.Sub(r.now) < 29*24*time.Hour || !now[0].Created.Equal(was.Created) {
		t.Errorf("known are %+v", now)
	}
	if err := r.keeper.Revoke(t.Context(), next.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.keeper.Enrol(t.Context(), r.now, browsers.Visitor{Token: r.token(), Host: host, Local: true, Key: old.PublicKey()}, was); !errors.Is(err, browsers.ErrUnknown) {
		t.Errorf("a revoked one gets another key: %v", err)
	}
}

// What can't be stored is said; who was revoked stays so until the next start at least.
func TestStoreThatFails(t *testing.T) {
	r := newRig(t)
	s := r.letIn(t)
	full := errors.New("the disk is full")
	r.store.Fail(full)
	if _, err := r.enrol(t.Context(), r.token(), "x", browserstest.NewSigner().PublicKey()); !errors.Is(err, full) || len(r.keeper.List(r.now)) != 1 {
		t.Errorf("let in: %v", err)
	}
	r.now = r.now.Add(time.Hour)
	req := request("GET", "/", "")
	s.Sign(req)
	if err := r.check(req); err != nil {
		t.Errorf("a request: %v", err)
	}
	if err := r.keeper.Revoke(t.Context(), s.ID); !errors.Is(err, full) || !strings.Contains(err.Error(), "started again") {
		t.Errorf("revoked: %v", err)
	}
	req = request("GET", "/", "")
	s.Sign(req)
	if err := r.check(req); !errors.Is(err, browsers.ErrUnknown) {
		t.Errorf("a request of one that was revoked: %v", err)
	}
}

// What's kept against replays is bounded, and so are browsers.
func TestBoundsHold(t *testing.T) {
	r := newRig(t)
	s := r.letIn(t)
	var err error
	n := 0
	for ; err == nil && n < 10_000; n++ {
		req := request("GET", "/", "")
		s.Sign(req)
		err = r.check(req)
	}
	if !errors.Is(err, browsers.ErrBusy) || n < 4800 {
		t.Errorf("after %d requests: %v", n, err)
	}
	r.now = r.now.Add(3 * time.Minute)
	req := request("GET", "/", "")
	s.Sign(req)
	if err := r.check(req); err != nil {
		t.Errorf("some minutes later: %v", err)
	}
	for range 63 {
		r.letIn(t)
	}
	if _, err := r.enrol(t.Context(), r.token(), "x", s.PublicKey()); !errors.Is(err, sessions.ErrConflict) {
		t.Errorf("the 65th browser: %v", err)
	}
	r.now = r.now.Add(30 * 24 * time.Hour)
	r.letIn(t) // the others are over
	if list := r.keeper.List(r.now); len(list) != 1 {
		t.Errorf("%d are known", len(list))
	}
}
