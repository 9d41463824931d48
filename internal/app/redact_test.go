package app_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// A session prints secrets of several kinds, the daemon's own among them, cut into two
// updates and two rows. They're in the log and for the command line, and nothing of
// them comes to either platform: by mirrors, commands and files.
func TestNoSecretComesToAChat(t *testing.T) {
	slow(t)
	const (
		github = "x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ"
		own    = "zqw-of-our-own-0042"
		ticket = "C-123456"
	)
	b, d := newBothPlatforms(t)
	d.cfg.Agents = map[string]config.Agent{"x": {Command: []string{"true"}, Env: map[string]config.Secret{"X_API_KEY": config.NewSecret(own)}}}
	d.cfg.Redact.Rules = []config.RedactRule{{Name: "customer", Pattern: `C-[0-9]{6}`}}
	d.cfg.Access.Operators = b.people()
	d.start()
	script := fmt.Sprintf(`echo "token ghp_%[1]s, customer %[3]s, key %[2]s, bot %[4]s"
echo "GITHUB_TOKEN=ghp_%[1]s" >notes.txt
printf 'again ghp_%[5]s\n'; sleep 0.5; echo '%[6]s, over'; exec cat`, github, own, ticket, telegramtest.DefaultToken, github[:20], github[20:])
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "leaky", Command: []string{"sh", "-c", script}, Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	d.await("the last line in the log", func() bool {
		return slices.ContainsFunc(d.lines(s.ID), func(l string) bool { return strings.Contains(l, ", over") })
	})

	topic, thread := b.awaitPlaces(d, "leaky")
	commands := []string{"/history", "/search " + github[:8], "/search customer", "/screen text", "/screen", "/send notes.txt"}
	for _, c := range commands {
		if _, err := b.ann.Say(topic, c); err != nil {
			t.Fatal(err)
		}
		if _, err := b.bob.Say(thread, c); err != nil {
			t.Fatal(err)
		}
	}
	sent := func() string {
		var all strings.Builder
		calls, err := json.Marshal(b.telegram.Calls())
		if err != nil {
			t.Fatal(err)
		}
		all.Write(calls)
		for _, m := range b.telegram.See(topic) {
			fmt.Fprintf(&all, "\n%s", m.Text)
			if m.File != nil {
				fmt.Fprintf(&all, "\nfile %s: %s", m.File.Name, m.File.Content)
			}
		}
		for _, m := range b.discord.Messages(thread) {
			fmt.Fprintf(&all, "\n%s", m.Content)
			for _, f := range m.Files {
				fmt.Fprintf(&all, "\nfile %s: %s", f.Name, f.Content)
			}
		}
		return all.String()
	}
	d.await("all answers", func() bool {
		text := sent()
		return strings.Count(text, "file notes.txt: GITHUB_TOKEN=ghp_") >= 2 && strings.Contains(text, "[masked: customer]") && strings.Count(text, ", over") >= 2
	})
	text := sent()
	for _, secret := range []string{github[:13], github[20:33], own[:8], ticket, telegramtest.DefaultToken[12:24]} {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%q left: …%s…", secret, text[max(0, i-60):min(len(text), i+60)])
		}
	}
	if screen, err := d.api.Screen(d.ctx(), "leaky", "text"); err != nil || !strings.Contains(screen, github) {
		t.Errorf("on the command line the screen is %q, %v", screen, err)
	}
}

// A private key whose beginning has left the screen is masked on it, as it is on the page's terminal.
func TestTheMiddleOfAKeyIsMaskedOnAScreenInAChat(t *testing.T) {
	slow(t)
	b, d := newBothPlatforms(t)
	d.cfg.Access.Operators = b.people()
	d.start()
	random := rand.New(rand.NewPCG(drawtest.Seed(t), 1))
	raw := make([]byte, 48*120)
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	var key []string
	for text := base64.StdEncoding.EncodeToString(raw); len(text) > 0; text = text[64:] {
		key = append(key, text[:64])
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, []byte("-----BEGIN PRIVATE KEY-----\n"+strings.Join(key, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "leaky", Command: []string{"sh", "-c", "cat " + file + "; echo the last row; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("the last line", d.has(s.ID, "the last row"))
	topic, _ := b.awaitPlaces(d, "leaky")
	if _, err := b.ann.Say(topic, "/screen text"); err != nil {
		t.Fatal(err)
	}
	d.await("the screen", func() bool { return strings.Count(b.sent(t), "the last row") >= 3 }) // two mirrors and this
	text := b.sent(t)
	for _, row := range key {
		if strings.Contains(text, row[:32]) {
			t.Fatalf("a row of the key is shown: %q", row)
		}
	}
}

// An address that lets a browser in, printed in a session, is masked where it counts.
func TestAddressesOfThePageAreMasked(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	address, err := d.api.NewAddress(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "shows", Command: []string{"sh", "-c", "echo '" + address.URL + "'; exec cat"}})
	if err != nil {
		t.Fatal(err)
	}
	d.await("the address", func() bool { return slices.Contains(d.lines(s.ID), address.URL) })
	out, err := d.api.Output(d.ctx(), "shows", 0, 0)
	if err != nil || len(out.Secrets) != 1 || out.Secrets[0].To-out.Secrets[0].From < 18 || out.Secrets[0].From < strings.Index(address.URL, "#") {
		t.Errorf("masked is %+v, %v", out.Secrets, err)
	}
}
