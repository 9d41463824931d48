package adapters_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/qos"
)

func newMasker(t *testing.T) *redact.Masker {
	t.Helper()
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// alphanumeric is a secret's random part.
func alphanumeric(r *rand.Rand, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// shared is the length of the longest part of a secret that a text has.
func shared(secret, text string) int {
	for n := len(secret); n > 0; n-- {
		for i := 0; i+n <= len(secret); i++ {
			if strings.Contains(text, secret[i:i+n]) {
				return n
			}
		}
	}
	return 0
}

// dressed is a text as files have it: alone, with NULs about it, or as UTF-16.
func dressed(r *rand.Rand, text string) []byte {
	switch r.IntN(4) {
	case 0:
		return []byte("\x7fELF\x02\x01\x01\x00\x00" + text + "\x00.shstrtab\x00")
	case 1:
		return []byte("SQLite format 3\x00\x10\x00" + strings.TrimSpace(text) + "\x00" + text)
	case 2:
		order := []byte{0xFF, 0xFE}
		for _, b := range []byte(text) {
			order = append(order, b, 0)
		}
		return order
	}
	return []byte(text)
}

// Packed files arrive as they are.
func TestPackedFilesAreLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		random := rand.New(rand.NewPCG(1, 7))
		r.masker, r.form.MaxFile = newMasker(t), 1<<20
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		for i := range 3 {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write([]byte("GITHUB_TOKEN=ghp_" + alphanumeric(random, 36))); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			data := packed.String()
			r.must(r.hub.Post(adapters.Post{To: r.rules[0].To, Key: fmt.Sprint(i), Class: qos.Interactive, File: &adapters.File{Name: "x", Data: []byte(data)}}))
			r.pass(time.Minute)
			arrived := false
			for _, m := range r.platforms["a"].Seen("-1", "") {
				arrived = arrived || string(m.Data) == data
			}
			if !arrived {
				t.Errorf("%q didn't arrive as it is", data)
			}
		}
	})
}

// Whatever goes to a platform has no secret in it, however it was cut into lines and
// updates, in live regions and in posts too; all the rest of the text is there.
func TestNoSecretLeaves(t *testing.T) {
	files := 0
	for seed := range drawtest.Seeds(t, 20) {
		inBubble(t, func(t *testing.T, r *rig) {
			t.Helper()
			random := rand.New(rand.NewPCG(seed, 7))
			r.masker = newMasker(t)
			r.form.LiveRows, r.form.MaxFile = 3, 1<<20
			r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1"), rule(t, "*", "b:-1")}
			r.rules[1].View = adapters.ViewFinal
			r.start()
			r.begin("pb_1", "agent")
			var secrets, kept []string
			for i := range 30 {
				secret := alphanumeric(random, 36)
				secrets = append(secrets, secret)
				mark := fmt.Sprintf("line-%d-%s", i, hex.EncodeToString(sha256.New().Sum([]byte{byte(i)}))[:6])
				kept = append(kept, mark)
				text := "the token is ghp_" + secret + " they say"
				r.print("pb_1", mark)
				if random.IntN(2) == 0 {
					r.print("pb_1", text)
				} else { // wrapped at any place, in two updates
					at := len("the token is ghp_") + random.IntN(37)
					r.print("pb_1", text[:at])
					r.pass(time.Duration(random.IntN(1800)) * time.Millisecond)
					r.print("pb_1", text[at:])
				}
				if random.IntN(3) == 0 {
					r.must(r.house.Print("pb_1", adaptertest.Output{Live: []string{"working with ghp_" + secret[:20], secret[20:] + " now"}}))
				}
				if random.IntN(4) == 0 {
					if err := r.hub.Post(adapters.Post{
						To: r.rules[0].To, Key: fmt.Sprint(i), Class: qos.Interactive, Text: "it's `ghp_" + secret + "`",
						File: &adapters.File{Name: "x.txt", Data: dressed(random, "\nGITHUB_TOKEN=ghp_"+secret+"\n")},
					}); err != nil {
						t.Fatal(err)
					}
				}
				r.pass(time.Duration(random.IntN(5000)) * time.Millisecond)
				if random.IntN(5) == 0 {
					r.must(r.house.Print("pb_1", adaptertest.Output{Ends: true}))
				}
			}
			r.must(r.house.Print("pb_1", adaptertest.Output{Lines: []string{"over"}, Ends: true}))
			r.pass(5 * time.Minute)
			var all strings.Builder
			for _, name := range r.names {
				for _, a := range r.platforms[name].Arrivals() {
					all.WriteString(a.Call.Text + "\n")
				}
				for _, m := range r.platforms[name].Seen("-1", "") {
					files += min(1, len(m.Data))
					all.WriteString(strings.ReplaceAll(string(m.Data), "\x00", "") + "\n")
				}
			}
			sent := all.String()
			for _, secret := range secrets {
				if n := shared(secret, sent); n > 12 {
					t.Errorf("seed %d: %d characters of a secret of 36 left", seed, n)
				}
			}
			for _, name := range r.names {
				text := strings.Join(r.texts(name, "-1"), "\n")
				for _, mark := range append(kept, "over") {
					if strings.Count(text, mark) != 1 {
						t.Errorf("seed %d: %s shows %q %d times", seed, name, mark, strings.Count(text, mark))
					}
				}
			}
		})
	}
	if files == 0 {
		t.Error("no file was sent")
	}
}

// A line in which a secret may have begun waits for the next one, and no longer than
// 2 s; a turn that ends with it rings then.
func TestAnOpenHeadWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.masker = newMasker(t)
		r.qos.Mode = qos.CoalesceOnly
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.begin("pb_1", "agent")
		r.print("pb_1", "hello")
		r.pass(10 * time.Second)
		r.wantTexts("a", "-1", "hello")
		r.ends("pb_1", "it is ghp_Ab9xQe7")
		r.pass(1900 * time.Millisecond)
		r.wantTexts("a", "-1", "hello")
		r.pass(200 * time.Millisecond)
		r.wantTexts("a", "-1", "hello", "it is ghp_…[masked: GitHub token]\ndone · 10 s")
	})
}
