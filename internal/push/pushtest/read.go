package pushtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/mail"
	"net/url"
	"strings"
	"time"
)

// Open decrypts a message as RFC 8291 says: one record of RFC 8188's aes128gcm.
func Open(body []byte, own *ecdh.PrivateKey, auth []byte) ([]byte, error) {
	const head = 16 + 4 + 1
	if len(body) < head || len(body) < head+int(body[20]) {
		return nil, errors.New("the head is cut")
	}
	salt, size, id, sealed := body[:16], binary.BigEndian.Uint32(body[16:20]), body[head:head+int(body[20])], body[head+int(body[20]):]
	if size < 18 || int(size) < len(sealed) {
		return nil, fmt.Errorf("a record of %d bytes in one of %d", len(sealed), size)
	}
	sender, err := ecdh.P256().NewPublicKey(id)
	if err != nil {
		return nil, fmt.Errorf("read the sender's key: %w", err)
	}
	secret, err := own.ECDH(sender)
	if err != nil {
		return nil, err
	}
	// RFC 8291, 3.4: the secret is combined with auth, and with both keys.
	info := append(append([]byte("WebPush: info\x00"), own.PublicKey().Bytes()...), sender.Bytes()...)
	ikm, err := derive(secret, auth, string(info), 32)
	if err != nil {
		return nil, err
	}
	// RFC 8188, 2.2 and 2.3.
	key, err1 := derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, err2 := derive(ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	text, ok := bytes.CutSuffix(bytes.TrimRight(plain, "\x00"), []byte{2}) // the last record's delimiter
	if !ok {
		return nil, errors.New("the record isn't delimited as the last one")
	}
	return text, nil
}

func derive(secret, salt []byte, info string, length int) ([]byte, error) {
	prk, err := hkdf.Extract(sha256.New, secret, salt)
	if err != nil {
		return nil, err
	}
	return hkdf.Expand(sha256.New, prk, info, length)
}

// checkVAPID checks an Authorization header as RFC 8292 says, and as Apple does. It returns "sub".
func checkVAPID(header, key, origin string, now time.Time) (string, error) {
	fields := map[string]string{}
	rest, ok := strings.CutPrefix(header, "vapid ")
	if !ok {
		return "", fmt.Errorf("the scheme of %.20q isn't vapid", header)
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	if fields["k"] != key {
		return "", errors.New("the key isn't the one that the browser subscribed with")
	}
	parts := strings.Split(fields["t"], ".")
	if len(parts) != 3 {
		return "", errors.New("the token isn't a JWT")
	}
	if err := checkSignature(parts, key); err != nil {
		return "", err
	}
	var claims struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub"`
	}
	if err := decodeJSON(parts[1], &claims); err != nil {
		return "", err
	}
	left := time.Unix(claims.Expires, 0).Sub(now)
	switch {
	case claims.Audience != origin:
		return "", fmt.Errorf("the token is for %q, and this is %s", claims.Audience, origin)
	case left <= 0 || left > 24*time.Hour:
		return "", fmt.Errorf("the token is good for %v", left)
	case !isContact(claims.Subject):
		return "", fmt.Errorf("%q is nobody to turn to", claims.Subject)
	}
	return claims.Subject, nil
}

func checkSignature(parts []string, key string) error {
	var head struct {
		Algorithm string `json:"alg"`
	}
	if err := decodeJSON(parts[0], &head); err != nil || head.Algorithm != "ES256" {
		return fmt.Errorf("the token is signed by %q (%w)", head.Algorithm, err)
	}
	point, err1 := base64.RawURLEncoding.DecodeString(key)
	signature, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if err := errors.Join(err1, err2); err != nil || len(signature) != 64 {
		return fmt.Errorf("the signature has %d bytes (%w)", len(signature), err)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the token isn't signed by the key beside it")
	}
	return nil
}

func decodeJSON(part string, to any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// isContact reports whether Apple takes a "sub".
func isContact(text string) bool {
	if address, ok := strings.CutPrefix(text, "mailto:"); ok {
		parsed, err := mail.ParseAddress(address)
		return err == nil && parsed.Address == address && !strings.HasSuffix(address, "@localhost")
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && strings.Contains(u.Hostname(), ".")
}
