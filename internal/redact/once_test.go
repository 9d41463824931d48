package redact_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// What's masked in a line while it's the newest one stays masked whatever comes behind it.
func TestOnceMaskedAlways(t *testing.T) {
	n := drawtest.Times(20_000, 250, 250)
	t.Run("kinds", func(t *testing.T) { stayMasked(t, append(redacttest.Kinds(), redacttest.Ordinary()...), n, 1e6) })
	t.Run("literals", func(t *testing.T) { stayMasked(t, redacttest.Literals(), n, 7e6) })
	t.Run("embedded", func(t *testing.T) { stayMasked(t, redacttest.Embedded(), n, 8e6) })
}

// stayMasked plants n secrets of kinds in streams, and looks whether masks go again.
func stayMasked(t *testing.T, all []redacttest.Kind, n int, seed uint64) {
	t.Helper()
	m := newMasker(t, redact.Options{})
	shown := 0
	for more := range drawtest.Seeds(t, n) {
		g := garden{redacttest.New(more + seed)}
		p := all[more%uint64(len(all))].Make(g.Garden)
		cutOff := p
		if cut := g.IntN(len(p.Text)); g.IntN(3) == 0 { // something else comes before it's whole
			cutOff.Text = p.Text[:runeBefore(p.Text, cut)]
		}
		log := g.stream(cutOff)
		lines := make([]string, len(log))
		for k, a := range log {
			lines[k] = a.text
		}
		var was [][]bool
		for known := 1; known <= len(lines); known++ {
			got := m.Lines(redact.LineWindow{Lines: lines[:known], Open: true})
			now := make([][]bool, known)
			for k, l := range lines[:known] {
				now[k] = make([]bool, len(l))
			}
			for _, mask := range got.Masks {
				for at := mask.From; at < mask.To; at++ {
					now[mask.Line][at] = true
				}
			}
			for k := range was {
				for at := range was[k] {
					if was[k][at] && !now[k][at] && !isHead(p, lines[k], at, now[k]) {
						shown++
						t.Errorf("seed %d: %s: %q is masked in %q, and shown once %q follows", more, p.Kind, lines[k][at:], lines[k], lines[known-1])
						was[k] = nil
						break
					}
				}
			}
			was = now
		}
		if shown > 20 {
			break
		}
	}
}

// maxHead is how many characters of a secret tell its kind at most: the number of a bot on Discord, which
// has up to 20 digits, in base64, and a dot.
var maxHead = base64.RawURLEncoding.EncodedLen(20) + len(".")

// isHead says that what's shown of a secret is what tells its kind and stands before what's random in
// it, and that a mask follows in the same row.
func isHead(p redacttest.Planted, line string, at int, masked []bool) bool {
	end := at
	for end < len(line) && !masked[end] {
		end++
	}
	for at > 0 && !masked[at-1] && end-at < len("eyJ") {
		at--
	}
	shown := line[at:end]
	before, _, ok := strings.Cut(p.Text, p.Secret)
	return end < len(line) && len(shown) <= maxHead && ok && strings.Contains(before, shown) && (shown == "eyJ" || !strings.Contains(p.Secret, shown))
}

// unseen are characters that nobody sees.
var unseen = []string{"\u200b", "\u200d", "\u2060", "\u00ad", "\ufeff", "\u202e", "\u2066", "\ufe0f", "\U000e0041"}

// Characters that nobody sees hide no secret from the masker, wherever they stand.
func TestUnseenCharactersHideNothing(t *testing.T) {
	m := newMasker(t, redact.Options{})
	if !m.Add("own", "p4ss-of-the-daemon") {
		t.Fatal("Add")
	}
	all := append(append(redacttest.Kinds(), redacttest.Ordinary()...), redacttest.Kind{Name: "own", Make: func(redacttest.Garden) redacttest.Planted {
		return redacttest.Planted{Kind: "own", Text: "it is p4ss-of-the-daemon here", Secret: "p4ss-of-the-daemon"}
	}})
	visible := strings.NewReplacer(pairsOf(unseen)...)
	for i := range 4 * len(all) {
		g := redacttest.New(uint64(i) + 3e6)
		p := all[i%len(all)].Make(g)
		text := p.Text
		for range g.Between(1, 6) {
			at := runeBefore(text, g.IntN(len(text)))
			text = text[:at] + g.One(unseen...) + text[at:]
		}
		rows := strings.Split(text, "\n")
		got := m.Lines(redact.LineWindow{Lines: rows}).Lines
		seen := map[string]bool{visible.Replace(strings.Join(got, "\n")): true}
		if share, what := leaked(p.Secret, seen); share > 1.0/3 {
			t.Errorf("%d: %s: %q leaks of %q", i, p.Kind, what, text)
		}
	}
}

// pairsOf are old and new ones for a replacer that takes them away.
func pairsOf(list []string) (out []string) {
	for _, s := range list {
		out = append(out, s, "")
	}
	return out
}

// Of ordinary passwords nothing leaves, where a name or an option says what they are.
func TestOrdinaryPasswords(t *testing.T) {
	m := newMasker(t, redact.Options{})
	all := redacttest.Ordinary()
	failed := map[string]int{}
	for i := range 20 * len(all) {
		g := redacttest.New(uint64(i) + 2e6)
		k := all[i%len(all)]
		p := k.Make(g)
		got := m.Line(g.Noise() + "\n" + p.Text + "\n" + g.Noise())
		if strings.Contains(got, p.Secret) {
			if failed[k.Name]++; failed[k.Name] <= 3 {
				t.Errorf("%s is shown: %s", p.Secret, p.Text)
			}
		}
	}
	t.Log(failed)
}

// A row of a list behind a secret doesn't look like the rest of its mask.
func TestListsBehindSecretsShowNothing(t *testing.T) {
	m := newMasker(t, redact.Options{})
	for i, k := range slices.Concat(redacttest.Ordinary(), redacttest.Embedded()) {
		p := k.Make(redacttest.New(uint64(i) + 3e6))
		if shown := uncovered(m.Find([]byte(p.Text+"\n• and another")), strings.Split(p.Text, "\n"), p.Secret); shown != "" {
			t.Errorf("%q of %q is shown", shown, p.Text)
		}
	}
}

// Masking what's masked changes nothing, wherever a form of a secret is cut, broken or lacks a character.
func TestMaskingTwiceChangesNothing(t *testing.T) {
	m := newMasker(t, redact.Options{})
	mask := func(rows []string) []string { return m.Lines(redact.LineWindow{Lines: rows, Open: true}).Lines }
	for i, k := range redacttest.Embedded() {
		text := k.Make(redacttest.New(uint64(i) + 4e6)).Text
		for at := range text {
			for _, part := range []string{text[:at], text[at:], text[:at] + "\n" + text[at:], text[:at] + text[at+1:]} {
				once := mask(strings.Split(part, "\n"))
				if again := mask(once); !slices.Equal(once, again) {
					t.Errorf("%q\n is masked as %q\nand that as %q", part, once, again)
				}
			}
		}
	}
}
