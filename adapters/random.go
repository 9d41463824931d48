package adapters

import (
	"crypto/rand"
	"encoding/hex"
)

// randomHex returns n random bytes as hexadecimal digits.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // documented never to fail
	return hex.EncodeToString(b)
}
