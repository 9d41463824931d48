package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// What looks like a secret and is known to everybody: examples of standards, public keys.

// published are the tokens, secrets and passwords that standards have as examples, and with them
// most programs that follow these in their tests and documentation.
var published = []string{ //nolint:gochecknoglobals // a constant table
	// RFC 6749, OAuth 2.0: the access token, the refresh token, the code, two secrets of clients.
	"2YotnFZFEjr1zCsicMWpAA", "tGzv3JOkF0XG5Qx2TlKWIA", "SplxlOBeZQQYbYS6WxSbIA", "gX1fBat3bV", "7Fjfp0ZBr1KtDRbnfVdmIw",
	"mF_9.B5f-4.1JqM",                          // RFC 6750, bearer tokens
	"45ghiukldjahdnhzdauz", "agabcdefddddafdd", // RFC 7009, revocation
	"SlAV32hkKG", "8xLOxBtZp8", // OpenID Connect Core 1.0
	"h480djs93hd8", // draft-ietf-oauth-v2-http-mac
	// RFC 5849 and OAuth Core 1.0: tokens and secrets of tokens and of clients.
	"ad180jjd733klru7", "kkk9d7dh3k39sjv7", "j49sk3j29djd", "hh5s93j4hdidpola", "hdhd0244k9j7ao03", "nnch734d00sl2jdk", "pfkkdhi9sl3r4s00", "nnkkd7dh3k39sjv7", "kd94hf93k423kf44", "dpf43f3p2l4k3l03",
	// RFC 7519, JSON web tokens, and jwt.io: what follows the header.
	"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9.TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ",
}

// isPublished says that a value is one of those. Other values of an address may follow it.
func isPublished(v []byte) bool {
	v, _, _ = bytes.Cut(v, []byte{'&'})
	return slices.Contains(published, string(v))
}

// keyKinds are the object identifiers of the kinds of public keys, in DER (RFC 3279, RFC 5480, RFC 8410).
var keyKinds = []string{ //nolint:gochecknoglobals // a constant table
	"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01",                                                 // RSA
	"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01",                                                         // elliptic curves
	"\x06\x03\x2b\x65\x6e", "\x06\x03\x2b\x65\x6f", "\x06\x03\x2b\x65\x70", "\x06\x03\x2b\x65\x71", // X25519, X448, Ed25519, Ed448
}

// isPublicKey says that a text begins as a public key does in DER and base64: with a sequence whose
// first part is a sequence that begins with the kind of key (RFC 5280, SubjectPublicKeyInfo). A
// private key's first part is a number.
func isPublicKey(v []byte) bool {
	const sequence = 0x30
	var der [24]byte // the lengths are 4 bytes at most, and so is what begins a sequence
	if len(v) < 12 || v[0] != 'M' {
		return false
	}
	n, err := base64.StdEncoding.Decode(der[:], v[:min(len(v), 32)/4*4])
	if err != nil {
		return false
	}
	rest := der[:n]
	for range 2 {
		if len(rest) < 2 || rest[0] != sequence {
			return false
		}
		long := 0
		if rest[1] > 0x80 {
			long = int(rest[1] & 0x7f)
		}
		rest = rest[min(2+long, len(rest)):]
	}
	return slices.ContainsFunc(keyKinds, func(id string) bool { return bytes.HasPrefix(rest, []byte(id)) })
}
