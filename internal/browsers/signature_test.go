package browsers_test

import (
	"context"
	"crypto/elliptic"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/drawtest"
)

var day = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

const host = "127.0.0.1:7333"

// rig is one start of a daemon with a clock that the test sets.
type rig struct {
	keeper *browsers.Doorkeeper
	store  *browserstest.Store
	now    time.Time
}

func newRig(t fataler) *rig {
	r := &rig{store: &browserstest.Store{}, now: day}
	r.start(t)
	return r
}

// fataler is a test, or a drawn one.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// start begins a new start of the daemon, which knows what's stored.
func (r *rig) start(t fataler) {
	t.Helper()
	r.keeper = browsers.New(r.now, r.store)
	if err := r.keeper.Load(context.Background(), r.now); err != nil {
		t.Fatalf("%v", err)
	}
}

// tell tells a browser what it needs to sign.
func (r *rig) tell(s *browserstest.Signer) {
	s.Start, _ = r.keeper.Now(r.now)
	s.Now = func() int64 { _, now := r.keeper.Now(r.now); return now }
}

// enrol shows a token as a browser of this machine does.
func (r *rig) enrol(ctx context.Context, token, label string, key []byte) (browsers.Browser, error) {
	got, err := r.keeper.Enrol(ctx, r.now, browsers.Visitor{Token: token, Host: host, Local: true, From: "127.0.0.1", Label: label, Key: key}, browsers.Browser{})
	return got.Browser, err
}

func (r *rig) token() string {
	url, _ := r.keeper.NewAddress(r.now, "http://"+host)
	_, token, _ := strings.Cut(url, "#")
	return token
}

func (r *rig) letIn(t fataler) *browserstest.Signer {
	t.Helper()
	s := browserstest.NewSigner()
	b, err := r.enrol(context.Background(), r.token(), "a test", s.PublicKey())
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.ID = b.ID
	r.tell(s)
	return s
}

func (r *rig) check(req *http.Request) error {
	_, err := r.keeper.Check(context.Background(), r.now, req)
	return err
}

func request(method, target, body string) *http.Request {
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	req.Host = host
	return req
}

// mutations change one part each of what was signed, or of how. All of them leave a
// request that's another.
var mutations = map[string]func(t *rapid.T, r *http.Request){
	"method": func(t *rapid.T, r *http.Request) {
		r.Method = other(t, r.Method, "GET", "POST", "PUT", "DELETE", "get", "")
	},
	"host": func(t *rapid.T, r *http.Request) {
		r.Host = other(t, r.Host, "localhost:7333", "127.0.0.1:7334", "127.0.0.1", "[::1]:7333", "")
	},
	"target":  func(t *rapid.T, r *http.Request) { r.RequestURI = edit(t, r.RequestURI) },
	"start":   func(t *rapid.T, r *http.Request) { change(t, r, browsers.StartHeader, edit) },
	"digest":  func(t *rapid.T, r *http.Request) { change(t, r, "Content-Digest", edit) },
	"input":   func(t *rapid.T, r *http.Request) { change(t, r, "Signature-Input", edit) },
	"created": func(t *rapid.T, r *http.Request) { change(t, r, "Signature-Input", number) },
	"nonce": func(t *rapid.T, r *http.Request) {
		change(t, r, "Signature-Input", func(t *rapid.T, s string) string {
			return strings.Replace(s, `nonce="`, `nonce="`+rapid.StringMatching(`[A-Za-z0-9_-]{1,20}`).Draw(t, "more"), 1)
		})
	},
	"components": func(t *rapid.T, r *http.Request) {
		change(t, r, "Signature-Input", func(t *rapid.T, s string) string {
			part := rapid.SampledFrom([]string{` "@authority"`, ` "@request-target"`, ` "content-digest"`, ` "panebridge-start"`, `"@method" `}).Draw(t, "part")
			return strings.Replace(s, part, "", 1)
		})
	},
	"signature": func(t *rapid.T, r *http.Request) { change(t, r, "Signature", flip) },
	"no header": func(t *rapid.T, r *http.Request) {
		r.Header.Del(rapid.SampledFrom([]string{browsers.StartHeader, "Content-Digest", "Signature-Input", "Signature"}).Draw(t, "name"))
	},
	"header twice": func(t *rapid.T, r *http.Request) {
		name := rapid.SampledFrom([]string{browsers.StartHeader, "Content-Digest", "Signature-Input", "Signature"}).Draw(t, "name")
		r.Header.Add(name, r.Header.Get(name))
	},
}

func other(t *rapid.T, was string, from ...string) string {
	return rapid.SampledFrom(from).Filter(func(s string) bool { return s != was }).Draw(t, "other")
}

// edit changes, drops or adds one byte.
func edit(t *rapid.T, s string) string {
	at := rapid.IntRange(0, len(s)-1).Draw(t, "at")
	b := string(rapid.ByteRange(' ', '~').Draw(t, "byte"))
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		return s[:at] + s[at+1:]
	case 1:
		return s[:at] + b + s[at:]
	}
	if s[at:at+1] == b {
		b = "#"
		if s[at] == '#' {
			b = "$"
		}
	}
	return s[:at] + b + s[at+1:]
}

var created = regexp.MustCompile(`created=(\d+)`)

// number changes a signature's time by some seconds.
func number(t *rapid.T, s string) string {
	by := rapid.IntRange(1, 100).Draw(t, "later")
	return created.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := new(big.Int).SetString(strings.TrimPrefix(m, "created="), 10)
		return "created=" + n.Add(n, big.NewInt(int64(by))).String()
	})
}

// flip changes one bit of the signature, or takes s for n−s, which makes another of the
// same that's as good: that one is for the nonces to refuse.
func flip(t *rapid.T, s string) string {
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(s, "sig=:"), ":"))
	at := rapid.IntRange(0, 8*len(raw)-1).Draw(t, "bit")
	raw[at/8] ^= 1 << (at % 8)
	return "sig=:" + base64.StdEncoding.EncodeToString(raw) + ":"
}

func change(t *rapid.T, r *http.Request, name string, how func(*rapid.T, string) string) {
	r.Header.Set(name, how(t, r.Header.Get(name)))
}

// Whatever one part of a signed request is changed to, it isn't taken, though the request
// itself wasn't taken yet; that one is, once.
func TestNoPartOfASignedRequestCanBeChanged(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		r := newRig(t)
		s := r.letIn(t)
		req := request(rapid.SampledFrom([]string{"GET", "POST", "DELETE"}).Draw(t, "method"),
			"/api/v1/"+rapid.StringMatching(`[a-z/]{1,20}(\?[a-z]{1,5}=[a-z0-9%]{0,8})?`).Filter(func(s string) bool { return !strings.Contains(s, "%") }).Draw(t, "path"),
			rapid.StringN(0, 40, -1).Draw(t, "body"))
		s.Sign(req)
		name := rapid.SampledFrom(sorted(mutations)).Draw(t, "part")
		changed := req.Clone(context.Background())
		mutations[name](t, changed)
		if err := r.check(changed); err == nil {
			t.Fatalf("with another %s it's taken: %s %s %s %v", name, changed.Method, changed.Host, changed.RequestURI, changed.Header)
		}
		checked, err := r.keeper.Check(context.Background(), r.now, req)
		if err != nil || checked.Browser.ID != s.ID {
			t.Fatalf("the request itself: %+v, %v", checked, err)
		}
		if err := r.check(req); !errors.Is(err, browsers.ErrReplayed) {
			t.Fatalf("a second time: %v", err)
		}
	})
}

func sorted(m map[string]func(*rapid.T, *http.Request)) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	for i := range names { // a map's order isn't drawn
		for j := i; j > 0 && names[j] < names[j-1]; j-- {
			names[j], names[j-1] = names[j-1], names[j]
		}
	}
	return names
}

// A history of requests, of which a listener keeps all, the daemon's starts, revocations,
// time that passes, and replays: none that was sent is ever taken again, and none of an
// earlier start.
func TestNothingThatWasHeardIsTakenAgain(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		r := newRig(t)
		all := []*browserstest.Signer{r.letIn(t)}
		revoked := map[string]bool{}
		var heard []*http.Request // taken, or made for an earlier start
		var withheld []*http.Request
		t.Repeat(map[string]func(*rapid.T){
			"request": func(t *rapid.T) {
				s := rapid.SampledFrom(all).Draw(t, "browser")
				req := request("POST", "/api/v1/sessions", "{}")
				s.Sign(req)
				if rapid.Bool().Draw(t, "withheld") {
					withheld = append(withheld, req)
					return
				}
				err := r.check(req)
				if wrong := err != nil; wrong != revoked[s.ID] {
					t.Fatalf("revoked %v: %v", revoked[s.ID], err)
				}
				heard = append(heard, req)
			},
			"replay": func(t *rapid.T) {
				if len(heard) == 0 {
					return
				}
				req := rapid.SampledFrom(heard).Draw(t, "request").Clone(context.Background())
				if err := r.check(req); err == nil {
					t.Fatalf("taken again: %v", req.Header)
				}
			},
			"time": func(*rapid.T) { r.now = r.now.Add(time.Duration(rapid.IntRange(1, 200).Draw(t, "s")) * time.Second) },
			"start": func(t *rapid.T) {
				heard, withheld = append(heard, withheld...), nil
				r.start(t)
				for _, s := range all {
					r.tell(s)
				}
			},
			"new": func(t *rapid.T) {
				if len(all) < 5 {
					all = append(all, r.letIn(t))
				}
			},
			"revoke": func(t *rapid.T) {
				s := rapid.SampledFrom(all).Draw(t, "browser")
				if err := r.keeper.Revoke(context.Background(), s.ID); (err != nil) != revoked[s.ID] {
					t.Fatalf("%v", err)
				}
				revoked[s.ID] = true
			},
		})
	})
}

// The other signature that goes with each is refused as a replay.
func TestTheOtherSignatureIsAReplay(t *testing.T) {
	r := newRig(t)
	s := r.letIn(t)
	req := request("GET", "/api/v1/sessions", "")
	s.Sign(req)
	twin := req.Clone(t.Context())
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(req.Header.Get("Signature"), "sig=:"), ":"))
	n := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(raw[32:]))
	n.FillBytes(raw[32:])
	twin.Header.Set("Signature", "sig=:"+base64.StdEncoding.EncodeToString(raw)+":")
	if err := r.check(req); err != nil {
		t.Fatal(err)
	}
	if err := r.check(twin); !errors.Is(err, browsers.ErrReplayed) {
		t.Errorf("its twin: %v", err)
	}
}

func TestSignaturesAreForNow(t *testing.T) {
	r := newRig(t)
	s := r.letIn(t)
	for _, tc := range []struct {
		off  time.Duration
		want error
	}{
		{0, nil}, {-time.Minute, nil}, {time.Minute, nil}, {-61 * time.Second, browsers.ErrStale}, {61 * time.Second, browsers.ErrStale}, {time.Hour, browsers.ErrStale},
	} {
		_, now := r.keeper.Now(r.now)
		s.Now = func() int64 { return now + int64(tc.off/time.Second) }
		req := request("GET", "/", "")
		s.Sign(req)
		if err := r.check(req); !errors.Is(err, tc.want) {
			t.Errorf("%v off: %v", tc.off, err)
		}
	}
}

func FuzzSignatureInput(f *testing.F) {
	r := newRig(f)
	s := r.letIn(f)
	req := request("GET", "/api/v1/sessions", "")
	s.Sign(req)
	f.Add(req.Header.Get("Signature-Input"), req.Header.Get("Signature"), req.Header.Get("Content-Digest"), req.RequestURI)
	f.Add("sig=()", "sig=:", "sha-256=::", "/")
	was := []string{req.Header.Get("Signature-Input"), req.Header.Get("Signature"), req.Header.Get("Content-Digest"), req.RequestURI}
	f.Fuzz(func(t *testing.T, input, signature, digest, target string) {
		one := req.Clone(t.Context())
		one.Header.Set("Signature-Input", input)
		one.Header.Set("Signature", signature)
		one.Header.Set("Content-Digest", digest)
		one.RequestURI = target
		if err := r.check(one); err == nil && fmt.Sprint(was) != fmt.Sprint([]string{input, signature, digest, target}) {
			t.Errorf("taken: %q %q %q %q", input, signature, digest, target)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	r := newRig(b)
	s := r.letIn(b)
	req := request("POST", "/api/v1/sessions", strings.Repeat("x", 1000))
	s.Sign(req)
	for b.Loop() {
		_ = r.check(req) // a replay: all but the last step
	}
}

// A request that was signed for the last second that's taken, and arrives at any moment of
// what's kept, is refused at every later second.
func TestNoncesAreKeptForAsLongAsTheyMatter(t *testing.T) {
	r := newRig(t)
	s := r.letIn(t)
	for first := range 260 {
		_, now := r.keeper.Now(r.now)
		s.Now = func() int64 { return now + 60 }
		req := request("GET", "/", "")
		s.Sign(req)
		if err := r.check(req); err != nil {
			t.Fatalf("second %d: %v", first, err)
		}
		was := r.now
		if first%20 == 0 || first > 110 && first < 130 {
			for range 130 {
				r.now = r.now.Add(time.Second)
				if err := r.check(req); err == nil {
					t.Fatalf("arrived in second %d, and again %v later", first, r.now.Sub(was))
				}
			}
		}
		r.now = r.now.Add(time.Second)
	}
}
