package app_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// Two screens that differ in nothing but secrets, which stand in colours, behind characters that nobody sees, over the end of a
// row, and at the cursor, are one picture in a chat.
func TestPicturesHaveNoSecret(t *testing.T) {
	slow(t)
	seed := drawtest.Seed(t)
	b, d := newBothPlatforms(t)
	d.cfg.Access.Admins = b.people()
	d.start()
	forms := []string{"DB_PASSWORD=%s", "  password: \"%s\"", "curl -u ann:%s https://example.com", "ghp_%s", "mysql -p%s shop", "Authorization: Bearer %s", "https://ann:%s@example.com/"}
	insert := []string{"", "\x1b[1;31m", "\x1b[7m", "\u200b", "\u2060", "\u00ad"}
	const letters, digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	screen := func(secrets uint64) string {
		layout, random := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, secrets))
		var rows strings.Builder
		for n := range 12 {
			var secret strings.Builder
			at := layout.IntN(36)
			for i := range 36 {
				set := letters
				if i%3 == 0 {
					set = digits
				}
				if i == at {
					secret.WriteString(insert[n%len(insert)])
				}
				secret.WriteByte(set[random.IntN(len(set))])
			}
			pad := strings.Repeat(".", []int{0, 0, 40, 60}[layout.IntN(4)]) // what's behind that is wrapped
			if pad != "" {
				pad += " "
			}
			fmt.Fprintf(&rows, "%s%s\x1b[0m", pad, fmt.Sprintf(forms[layout.IntN(len(forms))], secret.String()))
			if n < 11 { // the cursor stays behind the last
				rows.WriteString("\r\n")
			}
		}
		return rows.String()
	}
	var inChat, shown [][]byte
	for n := range 2 {
		file, name := filepath.Join(t.TempDir(), "screen"), fmt.Sprint("session-", n)
		if err := os.WriteFile(file, []byte(screen(uint64(n))), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := d.api.NewSession(d.ctx(), api.Create{Name: name, Command: []string{"sh", "-c", "stty -echo; cat " + file + "; printf '%s' ' ready'; exec sleep 600"}})
		if err != nil {
			t.Fatal(err)
		}
		topic, _ := b.awaitPlaces(d, name)
		t.Cleanup(func() {
			if t.Failed() {
				for _, m := range b.telegram.See(topic) {
					t.Logf("in the topic: %+v", m)
				}
			}
		})
		d.await("the screen", func() bool {
			text, err := d.api.Screen(d.ctx(), string(s.ID), "text")
			return err == nil && strings.Contains(text, "ready")
		})
		if _, err := b.ann.Say(topic, "/screen"); err != nil {
			t.Fatal(err)
		}
		d.await("its picture", func() bool {
			for _, m := range b.telegram.See(topic) {
				if m.File != nil {
					inChat = append(inChat, m.File.Content)
					return true
				}
			}
			return false
		})
		picture, err := d.api.Screen(d.ctx(), string(s.ID), "png") // with its secrets
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, []byte(picture))
	}
	if !bytes.Equal(inChat[0], inChat[1]) {
		for n := range 2 {
			text, err := d.api.Screen(d.ctx(), fmt.Sprint("session-", n), "text")
			t.Logf("screen %d: %v\n%s", n, err, text)
		}
		t.Error("the pictures differ")
	}
	if bytes.Equal(shown[0], shown[1]) {
		t.Error("the screens are alike, also with their secrets")
	}
}
