package tmux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParserCountsRowsOfHostileBody(t *testing.T) {
	in := "%begin 1 2 1\n%end 1 2 1\n%exit\n\x00\x1b\n%end 1 2 1\n%sessions-changed\n"
	p := newParser(strings.NewReader(in))
	b, _, err := p.nextBlock(func() int { return 3 })
	if err != nil || !slices.Equal(b.lines, []string{"%end 1 2 1", "%exit", "\x00\x1b"}) {
		t.Fatalf("body is %q, error %v", b.lines, err)
	}
	if _, note, err := p.nextBlock(nil); note != "%sessions-changed" || err != nil {
		t.Fatalf("notification is %q, error %v", note, err)
	}
}

func TestParserGivesUpWhenOutOfStep(t *testing.T) {
	for name, in := range map[string]string{
		"text outside a block": "hello\n",
		"more rows than said":  "%begin 1 2 1\na\nb\n%end 1 2 1\n",
	} {
		p := newParser(strings.NewReader(in))
		if _, _, err := p.nextBlock(func() int { return 1 }); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// Whatever comes, the parser ends, and a counted body comes out as it went in.
func FuzzParser(f *testing.F) {
	f.Add([]byte("%begin 1 2 1\nx\n%end 1 2 1\n"), 1)
	f.Add([]byte("%end 1 2 1\n%error 1 2 1\n%begin 1 2 1"), 2)
	f.Fuzz(func(t *testing.T, body []byte, rows int) {
		p := newParser(bytes.NewReader(body))
		for {
			if _, _, err := p.nextBlock(func() int { return rows % 50 }); err != nil {
				break
			}
		}
		lines := strings.Split(string(body), "\n")
		p = newParser(strings.NewReader("%begin 7 8 1\n" + string(body) + "\n%end 7 8 1\n"))
		b, _, err := p.nextBlock(func() int { return len(lines) })
		if err != nil || b.failed || !slices.Equal(b.lines, lines) {
			t.Fatalf("body %q came out as %+v, error %v", body, b, err)
		}
	})
}

// vis is what tmux 3.3a does to a buffer's text.
func vis(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '$' && i+1 < len(s) && (s[i+1] >= 'A' && s[i+1] <= 'Z' || s[i+1] == '_' || s[i+1] == '{' || s[i+1] >= 'a' && s[i+1] <= 'z'):
			b.WriteString(`\$`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func FuzzUnvis(f *testing.F) {
	f.Add(`a\b $HOME \\ \101`)
	f.Fuzz(func(t *testing.T, s string) {
		decodeVis(s) // never fails on what no tmux wrote
		if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' }) {
			return
		}
		if got := decodeVis(vis(s)); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}

func TestVersions(t *testing.T) {
	for s, want := range map[string]bool{
		"3.3a": true, "3.2": true, "3.1c": false, "2.9a": false, "next-3.7": true, "3.10": true, "openbsd-7.6": true, "master": true, "3.2-rc3": true,
	} {
		if got := ParseVersion(s).AtLeast(3, 2); got != want {
			t.Errorf("%s at least 3.2: %v", s, got)
		}
	}
}

// A program that isn't tmux, hangs or writes without an end is told of, and holds nobody up.
func TestAProgramThatSaysNoVersion(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo tmux 3.4":            "",
		"printf 'tmux 3.4'":        "",
		"echo tmux 3.1c":           "needs 3.2 or newer",
		"exec sleep 60":            "gave no answer within 10s",
		"sleep 60 & exec sleep 60": "gave no answer within 10s", // what it leaves holds the pipe
		"exec yes tmux":            "writes more than a version",
		"exit 3":                   "exit status 3",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "tmux")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			_, err := ProgramVersion(t.Context(), program)
			if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

func TestRowsKeepTheirColours(t *testing.T) {
	got := selfContained([]string{"\x1b[31mred", "still\x1b[1m", "bold\x1b[0m plain", "plain\x1b[0;32mgreen", "green"})
	want := []string{"\x1b[31mred", "\x1b[31mstill\x1b[1m", "\x1b[31m\x1b[1mbold\x1b[0m plain", "plain\x1b[0;32mgreen", "\x1b[0;32mgreen"}
	if !slices.Equal(got, want) {
		t.Errorf("rows are %q", got)
	}
}
