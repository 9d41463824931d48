package browsers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// The headers of a signed request, besides those of RFC 9421 and RFC 9530.
const (
	// StartHeader names the start of the daemon for which a request is signed.
	StartHeader = "Panebridge-Start"

	inputHeader     = "Signature-Input"
	signatureHeader = "Signature"
	digestHeader    = "Content-Digest"
)

// halfSignature is the length of r and of s in a signature of P-256, in bytes.
const halfSignature = 32

// inputForm is the one form of Signature-Input that's taken: all of these components, in
// this order, and all of these parameters.
var inputForm = regexp.MustCompile(`^sig=(\("@method" "@authority" "@request-target" "content-digest" "panebridge-start"\)` +
	`;created=([0-9]{1,12});nonce="([A-Za-z0-9_-]{16,64})";keyid="([a-z0-9_]{1,64})";alg="ecdsa-p256-sha256";tag="panebridge-page")$`)

// signed is what a request says of its signature.
type signed struct {
	id, nonce string
	created   int64
	start     string
	digest    [sha256.Size]byte // of the body
	base      []byte            // what was signed
	signature []byte            // r and s, one behind the other
}

// readSignature reads a request's signature; false when there's none, or none of the form
// that's taken.
func readSignature(r *http.Request) (signed, bool) {
	var s signed
	input, ok1 := one(r.Header, inputHeader)
	signature, ok2 := one(r.Header, signatureHeader)
	digest, ok3 := one(r.Header, digestHeader)
	start, ok4 := one(r.Header, StartHeader)
	m := inputForm.FindStringSubmatch(input)
	if m == nil || !ok1 || !ok2 || !ok3 || !ok4 {
		return s, false
	}
	sum, ok1 := bytesOf(digest, "sha-256=:", sha256.Size)
	s.signature, ok2 = bytesOf(signature, "sig=:", 2*halfSignature)
	if !ok1 || !ok2 {
		return s, false
	}
	copy(s.digest[:], sum)
	s.created, _ = strconv.ParseInt(m[2], 10, 64) // 12 digits
	s.nonce, s.id, s.start = m[3], m[4], start
	s.base = signatureBase(r.Method, r.Host, r.RequestURI, digest, start, m[1])
	return s, true
}

// signatureBase is what's signed, as RFC 9421 section 2.5 writes it. No value can have a
// line break: net/http takes none in a request line or a header.
func signatureBase(method, host, target, digest, start, params string) []byte {
	return []byte(strings.Join([]string{
		`"@method": ` + method,
		`"@authority": ` + strings.ToLower(host),
		`"@request-target": ` + target,
		`"content-digest": ` + digest,
		`"panebridge-start": ` + start,
		`"@signature-params": ` + params,
	}, "\n"))
}

// one returns the value of a header that's there once.
func one(h http.Header, name string) (string, bool) {
	values := h.Values(name)
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// bytesOf reads a dictionary of one member whose value is a sequence of n bytes.
func bytesOf(value, prefix string, n int) ([]byte, bool) {
	text, ok1 := strings.CutPrefix(value, prefix)
	text, ok2 := strings.CutSuffix(text, ":")
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	return b, ok1 && ok2 && err == nil && len(b) == n
}

// verify reports whether a key made the signature.
func (s *signed) verify(key *ecdsa.PublicKey) bool {
	if key == nil {
		return false
	}
	sum := sha256.Sum256(s.base)
	return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(s.signature[:halfSignature]), new(big.Int).SetBytes(s.signature[halfSignature:]))
}

// parseKey reads a public key as WebCrypto's format "raw" has it: a point of P-256,
// uncompressed.
func parseKey(raw []byte) (*ecdsa.PublicKey, error) {
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
}
