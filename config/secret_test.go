package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/config"
)

func TestSecretsAreNotPrinted(t *testing.T) {
	secret := config.NewSecret("s3cret")
	hidden := struct{ field config.Secret }{secret} // fmt can't call its methods
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb, secret, map[string]any{"a": secret})
		fmt.Fprintf(&out, verb, hidden)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", secret, "in", map[string]any{"a": secret})
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", secret, "in", []config.Secret{secret})
	for _, encode := range []func() ([]byte, error){
		func() ([]byte, error) { return json.Marshal(map[string]config.Secret{"a": secret}) },
		func() ([]byte, error) { return yaml.Dump(map[string]config.Secret{"a": secret}) },
	} {
		text, err := encode()
		if err != nil || !bytes.Contains(text, []byte("***")) {
			t.Errorf("encoded as %s: %v", text, err)
		}
		out.Write(text)
	}
	if text := out.String(); strings.Contains(text, "s3cret") || strings.Contains(text, "733363726574") {
		t.Error(text)
	}
	if got := secret.Reveal() + (config.Secret{}).Reveal(); got != "s3cret" {
		t.Errorf("Reveal() = %q", got)
	}
}
