package redact_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// Whatever the text: masking it doesn't panic, changes nothing outside of masks, keeps
// lines, gives the same again, and changes nothing when it's done twice.
func FuzzMask(f *testing.F) {
	for i, k := range redacttest.Kinds() {
		g := redacttest.New(uint64(i))
		f.Add(g.Noise() + "\n" + k.Make(g).Text + "\n" + g.Noise())
		text := k.Make(g).Text
		f.Add(text[:len(text)/2] + "\n" + text[len(text)/2:])
	}
	for i, k := range redacttest.Embedded() {
		g := redacttest.New(uint64(i))
		f.Add(g.Noise() + "\n" + k.Make(g).Text + "\n" + g.Noise())
	}
	f.Add("pin 123456 is wrong\nTOKEN=own-secret-17")
	f.Add("-token !!!")
	f.Add("-----BEGIN PRIVATE KEY-----\n\n----")
	f.Add("login0000000000000000000000 token pA0000AB\n00102 lin_api_00000000101010A0A0A2B701000A0")
	f.Add("key=MzA0NzA0OTA0NzA0MzA0MzA0.0A")
	f.Add("│ ghp_Zx8kQ9vB │\n│ 2mN7aaQ1 │\n\n-----BEGIN PRIVATE KEY-----\n+\n/")
	m := newMasker(f, redact.Options{
		Rules: []redact.MaskRule{{Name: "pin", Pattern: `\bpin ([0-9]{4,6})\b`}, {Name: "card", Pattern: `[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{4}`}},
		Allow: []string{"allowed"},
	})
	m.Add("own secret", "own-secret-17")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		for _, open := range []bool{false, true} {
			got := m.Lines(redact.LineWindow{Lines: lines, Open: open})
			checkMasks(t, lines, got)
			again := m.Lines(redact.LineWindow{Lines: got.Lines, Open: open})
			if a, b := strings.Join(got.Lines, "\n"), strings.Join(again.Lines, "\n"); a != b {
				t.Errorf("twice (open %v):\n%q\n%q\n%q", open, text, a, b)
			}
		}
		data := []byte(text)
		out := m.Text(data)
		if !bytes.Equal(data, []byte(text)) {
			t.Error("the text was changed")
		}
		if bytes.Count(out, []byte("\n")) != strings.Count(text, "\n") {
			t.Errorf("%q has other lines than %q", out, text)
		}
		if utf8.ValidString(text) && !utf8.Valid(out) {
			t.Errorf("%q of %q isn't UTF-8", out, text)
		}
		rows := m.Rows(nil, lines)
		if len(rows) != len(lines) {
			t.Errorf("%d rows of %d", len(rows), len(lines))
		}
		if again := m.Rows(nil, rows); strings.Join(again, "\n") != strings.Join(rows, "\n") {
			t.Errorf("rows, twice:\n%q\n%q\n%q", text, rows, again)
		}
	})
}

// checkMasks says whether lines are what they were, but for the masks.
func checkMasks(t *testing.T, lines []string, got redact.Masked) {
	t.Helper()
	if len(got.Lines) != len(lines) || got.Wait < 0 || got.Wait > len(lines) {
		t.Fatalf("%d lines of %d, wait %d", len(got.Lines), len(lines), got.Wait)
	}
	masks := got.Masks
	for i, l := range lines {
		var want strings.Builder
		at := 0
		for len(masks) > 0 && masks[0].Line == i {
			k := masks[0]
			if k.From < at || k.To <= k.From || k.To > len(l) {
				t.Fatalf("mask %+v in %q behind %d", k, l, at)
			}
			want.WriteString(l[at:k.From] + k.Text())
			at = k.To
			masks = masks[1:]
		}
		want.WriteString(l[at:])
		if got.Lines[i] != want.String() {
			t.Errorf("%q became %q, want %q", l, got.Lines[i], want.String())
		}
	}
	if len(masks) > 0 {
		t.Errorf("masks left: %+v", masks)
	}
}
