package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// Secrets of all kinds, and ordinary passwords that only a name tells of, are printed (at
// once, in two updates, in colours, wrapped by the pane), sent as files, asked for, said in a
// chat, and stand in names: nothing of them comes to either platform, by mirrors, commands,
// files, what's completed, questions or receipts.
func TestNoPlantedSecretLeaves(t *testing.T) {
	slow(t)
	n := 150
	if drawtest.Stressed() {
		n = 1000
	}
	b, d := newBothPlatforms(t)
	d.cfg.Access.Operators = b.people()
	d.start()

	p := planter{T: t, g: redacttest.New(drawtest.Seed(t)), dir: t.TempDir()}
	p.plant(n)
	const token = "x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ"
	p.secrets = append(p.secrets, token)
	folder := filepath.Join(p.dir, "ghp_"+token)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte(p.inFile(n)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "ghp_"+token+".txt"), []byte("harmless\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asks, answers := p.one(), p.one()
	script := "sh " + filepath.Join(p.dir, "print") + "; printf '%s\\nGo on? [y/N] ' \"$ASKS\"; read x; echo over-$x; exec cat"
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "leaky", Command: []string{"env", "ASKS=" + asks, "sh", "-c", script}, Cwd: folder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "ghp_" + token, Command: []string{"cat"}, Cwd: folder}); err != nil {
		t.Fatal(err)
	}
	d.await("the question", func() bool {
		prompts, err := d.api.Prompts(d.ctx())
		return err == nil && len(prompts) > 0
	})
	if err := d.api.Keys(d.ctx(), string(s.ID), "n", "Enter"); err != nil {
		t.Fatal(err)
	}
	d.await("the last line", d.has(s.ID, "over-n"))

	topic, thread := b.awaitPlaces(d, "leaky")
	for _, c := range []string{"/history", "/search password", "/search token", "/screen text", "/status", "/sessions", "/send notes.txt", "/send ghp_" + token + ".txt", answers} {
		if _, err := b.ann.Say(topic, c); err != nil {
			t.Fatal(err)
		}
		if _, err := b.bob.Say(thread, c); err != nil {
			t.Fatal(err)
		}
	}
	for _, option := range []string{"g", "ghp_"} {
		_, _ = b.bob.Complete(b.channel, "new", "folder", option, nil)
		_, _ = b.bob.Complete(b.channel, "new", "agent", option, nil)
		_, _ = b.bob.Complete(b.channel, "status", "session", option, nil)
	}
	sent := func() string { return b.sent(t) }
	d.await("the files", func() bool { return strings.Count(sent(), "end of the notes") >= 2 })
	d.await("what was said", func() bool {
		receipts, err := d.api.Waiting(d.ctx(), string(s.ID))
		return err == nil && len(receipts) == 0 && strings.Count(sent(), "over-n") >= 2
	})
	time.Sleep(2 * time.Second) // what's on its way
	text := sent()
	if n := strings.Count(text, "[masked"); n < len(p.secrets) {
		t.Errorf("%d secrets were planted, and %d masks are shown", len(p.secrets), n)
	}
	for _, found := range p.leaks(text) {
		t.Error(found)
	}
}

// sent is all that came to the platforms, but for what people wrote there.
func (b *bothPlatforms) sent(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	calls, err := json.Marshal(b.telegram.Calls())
	if err != nil {
		t.Fatal(err)
	}
	all.Write(calls)
	for _, topic := range b.telegram.Topics(b.group) {
		for _, m := range b.telegram.See(topic.Place) {
			if !m.From.IsBot {
				continue
			}
			fmt.Fprintf(&all, "\n%s", m.Text)
			if m.File != nil {
				fmt.Fprintf(&all, "\nfile %s: %s", m.File.Name, m.File.Content)
			}
		}
	}
	for _, c := range b.discord.Calls() {
		fmt.Fprintf(&all, "\n%s", c.Body)
	}
	for _, thread := range b.discord.Threads(b.channel) {
		for _, m := range b.discord.Messages(thread.ID) {
			if !m.Author.Bot {
				continue
			}
			fmt.Fprintf(&all, "\n%s", m.Content)
			for _, f := range m.Files {
				fmt.Fprintf(&all, "\nfile %s: %s", f.Name, f.Content)
			}
		}
	}
	return all.String()
}

// planter writes a script that prints secrets.
type planter struct {
	*testing.T
	g       redacttest.Garden
	dir     string
	secrets []string
}

func (p *planter) one() string {
	all := redacttest.Ordinary()
	one := all[p.g.IntN(len(all))].Make(p.g)
	p.secrets = append(p.secrets, one.Secret)
	return one.Text
}

// plant writes the script that prints n of them.
func (p *planter) plant(n int) {
	p.Helper()
	all := append(redacttest.Ordinary(), redacttest.Kinds()...)
	var script strings.Builder
	write := func(i int, part, text string) {
		name := filepath.Join(p.dir, fmt.Sprint("part-", i, part))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			p.Fatal(err)
		}
		fmt.Fprintf(&script, "cat %s\n", name)
	}
	literals := distinct(p.g, slices.Concat(redacttest.Literals(), redacttest.Embedded()))
	for i := range n + n/3 {
		kind := all[i%len(all)]
		if i >= n {
			kind = literals[p.g.IntN(len(literals))]
		}
		one := kind.Make(p.g)
		p.secrets = append(p.secrets, one.Secret)
		text := one.Text
		at := p.g.IntN(len(text))
		for at > 0 && text[at]&0xc0 == 0x80 {
			at--
		}
		switch p.g.IntN(4) {
		case 0:
			write(i, "a", p.g.Noise()+"\n"+text[:at])
			fmt.Fprintf(&script, "sleep 0.%02d\n", p.g.IntN(40))
			write(i, "b", text[at:]+"\n")
		case 1:
			write(i, "", text[:at]+"\x1b[1;31m"+text[at:]+"\x1b[0m\n")
		case 2:
			write(i, "", "│ "+strings.ReplaceAll(text, "\n", " │\n│ ")+" │\n")
		default:
			write(i, "", text+"\n"+p.g.Noise()+"\n")
		}
	}
	if err := os.WriteFile(filepath.Join(p.dir, "print"), []byte(script.String()), 0o600); err != nil {
		p.Fatal(err)
	}
}

// distinct are kinds of which those secrets are made that stand in no other text by chance, and
// whose name stands in their own row: a screen may begin below a name. A kind that makes none in
// 1,000 is left out, and makes the first again where 1,000 more don't do.
func distinct(g redacttest.Garden, kinds []redacttest.Kind) []redacttest.Kind {
	var out []redacttest.Kind
	for _, k := range kinds {
		if strings.Contains(k.Name, "\n") { // a kind's form is in its name
			continue
		}
		plant := k.Make
		draw := func(g redacttest.Garden) (one redacttest.Planted, ok bool) {
			for range 1000 {
				if one = plant(g); len(one.Secret) > 8 && strings.ContainsAny(one.Secret, "0123456789") {
					return one, true
				}
			}
			return one, false
		}
		first, ok := draw(g)
		if !ok {
			continue
		}
		k.Make = func(g redacttest.Garden) redacttest.Planted {
			if one, ok := draw(g); ok {
				return one
			}
			return first
		}
		out = append(out, k)
	}
	return out
}

// Of short secrets, and of those without a digit, none is distinct; of a kind that makes a long one once, that's it.
func TestDistinctKindsAreFoundInTime(t *testing.T) {
	of := func(name string, secret func() string) redacttest.Kind {
		return redacttest.Kind{Name: name, Make: func(redacttest.Garden) redacttest.Planted { return redacttest.Planted{Secret: secret()} }}
	}
	made := 0
	once := func() string {
		if made++; made == 500 {
			return "long-enough-1"
		}
		return "short1"
	}
	g := redacttest.New(1)
	kinds := distinct(g, []redacttest.Kind{
		of("short", func() string { return "1234567" }), of("no digit", func() string { return "long enough" }), of("once", once),
		of("always", func() string { return "123456789" }), of("two\nrows", func() string { return "123456789" }),
	})
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name+" "+k.Make(g).Secret)
	}
	if want := []string{"once long-enough-1", "always 123456789"}; !slices.Equal(names, want) {
		t.Errorf("distinct are %q, want %q", names, want)
	}
	all := slices.Concat(redacttest.Literals(), redacttest.Embedded())
	oneRow := len(slices.DeleteFunc(slices.Clone(all), func(k redacttest.Kind) bool { return strings.Contains(k.Name, "\n") }))
	if n := len(distinct(g, all)); n != oneRow {
		t.Errorf("of the %d kinds of one row %d are distinct", oneRow, n)
	}
}

// inFile is a file with n of them, but for private keys: of a file with one nothing is sent.
func (p *planter) inFile(n int) string {
	all := slices.DeleteFunc(append(redacttest.Ordinary(), redacttest.Kinds()...), func(k redacttest.Kind) bool {
		return strings.Contains(k.Name, "PRIVATE KEY") || k.Name == "service account"
	})
	literals := distinct(p.g, slices.Concat(redacttest.Literals(), redacttest.Embedded()))
	var text strings.Builder
	for i := range n + n/3 {
		kind := all[i%len(all)]
		if i >= n {
			kind = literals[p.g.IntN(len(literals))]
		}
		one := kind.Make(p.g)
		p.secrets = append(p.secrets, one.Secret)
		text.WriteString(one.Text + "\n" + p.g.Noise() + "\n")
	}
	return text.String() + "end of the notes\n"
}

// leaks says what of the secrets stands in a text: all of a short one, or so much of a longer
// one that it's no head that tells its kind.
func (p *planter) leaks(text string) (found []string) {
	const most = 13
	of := map[string]string{}
	for _, secret := range p.secrets {
		secret = strings.ReplaceAll(secret, "\n", "")
		if len(secret) < most {
			if i := strings.Index(text, secret); i >= 0 {
				found = append(found, fmt.Sprintf("%q left: …%q…", secret, text[max(0, i-80):min(len(text), i+80)]))
			}
			continue
		}
		for i := range len(secret) - most + 1 {
			of[secret[i:i+most]] = secret
		}
	}
	told := map[string]bool{}
	for i := range max(0, len(text)-most+1) {
		if secret := of[text[i:i+most]]; secret != "" && !told[secret] && !regexp.MustCompile(`^[A-Za-z ]*$`).MatchString(text[i:i+most]) {
			told[secret] = true
			found = append(found, fmt.Sprintf("%q of %q left: …%q…", text[i:i+most], secret, text[max(0, i-80):min(len(text), i+80)]))
		}
	}
	return found
}
