package redact_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// Masking sources, beside what it's compared with in the same run: copying them, and
// searching them for six of the prefixes by one regular expression.
func BenchmarkText(b *testing.B) {
	var all [][]byte
	size := 0
	texts(b, filepath.Join(goOutput(b, "env", "GOROOT"), "src"), 24<<20, func(_ string, data []byte) {
		all = append(all, data)
		size += len(data)
	})
	m := newMasker(b, redact.Options{})
	six := regexp.MustCompile(`(?:ghp_|glpat-|xoxb-|sk-ant-|AKIA|AIza)[A-Za-z0-9_-]{16,}`)
	each := func(name string, do func(data []byte)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, data := range all {
					do(data)
				}
			}
		})
	}
	sink := 0
	each("copy", func(data []byte) { sink += len(bytes.Clone(data)) })
	each("regexp", func(data []byte) { sink += len(six.FindAll(data, -1)) })
	each("mask", func(data []byte) { sink += len(m.Text(data)) })
}

// What rendering a message costs: 40 lines with all their context, and a screen.
func BenchmarkLines(b *testing.B) {
	g := redacttest.New(1)
	lines := make([]string, redact.Before+40)
	for i := range lines {
		lines[i] = g.Noise()
	}
	m := newMasker(b, redact.Options{})
	for _, before := range []int{0, redact.Before} {
		b.Run(fmt.Sprintf("before=%d", before), func(b *testing.B) {
			for b.Loop() {
				m.Lines(redact.LineWindow{Before: lines[redact.Before-before : redact.Before], Lines: lines[redact.Before:], Open: true})
			}
		})
	}
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			m.Rows(nil, lines[:50])
		}
	})
}

// Texts made to be slow: anchors within what other anchors look at.
func BenchmarkHostile(b *testing.B) {
	m := newMasker(b, redact.Options{})
	for _, unit := range []string{"key=", "eyJa.", "://a:b", "AKIA", "sk-", "xoxb-", "-----BEGIN PRIVATE KEY-----\n"} {
		text := bytes.Repeat([]byte(unit), (1<<20)/len(unit))
		b.Run(fmt.Sprintf("%q", unit), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Text(text)
			}
		})
	}
}
