package config

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "***"

// Secret is a text that nothing prints: every way to format, log or encode it
// gives ***. Use [Secret.Reveal] where the text itself is needed.
//
// It holds a pointer because fmt doesn't call methods on unexported fields: a
// Secret deep inside a struct that's printed with %+v then shows an address.
type Secret struct{ text *string }

// NewSecret returns a secret that holds the text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Equal reports whether two secrets hold the same text.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String implements [fmt.Stringer].
func (Secret) String() string { return masked }

// GoString implements [fmt.GoStringer].
func (Secret) GoString() string { return masked }

// Format implements [fmt.Formatter], for verbs that would pass String by (%d).
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalJSON implements [encoding/json.Marshaler].
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalYAML masks the text in YAML, if there's one.
func (s Secret) MarshalYAML() (any, error) {
	if s.Reveal() == "" {
		return "", nil
	}
	return masked, nil
}
