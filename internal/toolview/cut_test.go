package toolview_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// No part of a secret is shown where a long text is cut, wherever that is: in rows of secrets, in one
// row of many, in a key of many rows.
func TestNothingOfASecretIsShownAtACut(t *testing.T) {
	m, g := masker(t), redacttest.New(drawtest.Seed(t))
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for name, row := range map[string]func() (text, secret string){
		"rows of tokens": func() (string, string) {
			s := "ghp_" + g.Of(letters, 36)
			return strings.Repeat("x", g.IntN(40)) + " export GITHUB_TOKEN=" + s + "\n", s
		},
		"a row of tokens": func() (string, string) {
			s := "ghp_" + g.Of(letters, 36)
			return fmt.Sprintf(`{"n":%d, "token": "%s"}, `, g.IntN(1000), s), s
		},
		"a row without a blank": func() (string, string) {
			s := "ghp_" + g.Of(letters, 36)
			return `{"token":"` + s + `"},`, s
		},
		"keys of many rows": func() (string, string) {
			rows := make([]string, g.Between(20, 60))
			for i := range rows {
				rows[i] = g.Of(letters, 64)
			}
			return "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Join(rows, "\n") + "\n-----END RSA PRIVATE KEY-----\n", strings.Join(rows, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range drawtest.Times(40, 6, 2) {
				var text strings.Builder
				var secrets []string
				for text.Len() < 100_000+g.IntN(100_000) {
					one, secret := row()
					text.WriteString(one)
					secrets = append(secrets, secret)
				}
				for _, r := range read(t, text.String()) {
					use := sessions.ToolUse{Call: sessions.ToolRecord{ToolDetail: sessions.ToolDetail{Args: r.Args}}, Result: sessions.ToolRecord{ToolDetail: sessions.ToolDetail{Output: r.Whole}}}
					shown := drawn(toolview.Of(use, m))
					for _, secret := range secrets {
						for at := 0; at+16 <= len(secret); at += 16 {
							if strings.Contains(shown, secret[at:at+16]) {
								i := strings.Index(shown, secret[at:at+16])
								t.Fatalf("%s: %q of %q is shown: %q", r.Kind, secret[at:at+16], secret, shown[max(0, i-100):min(len(shown), i+100)])
							}
						}
					}
				}
			}
		})
	}
}

// read are the records of a call with a text, and of a result with it.
func read(t *testing.T, text string) []transcript.Record {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Write","input":{"file_path":"/a","content":` + string(write) + `}}]}}` + "\n" +
		`{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":` + string(write) + `}]}}` + "\n"
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := transcript.Open(transcript.Ref{Format: transcript.Claude, Path: path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := r.Read(t.Context(), 0)
	if err != nil || len(got) != 2 {
		t.Fatalf("read %d records, %v", len(got), err)
	}
	return got
}
