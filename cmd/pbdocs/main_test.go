package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/cli"
)

// read returns the files below a folder, by name.
func read(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, pattern := range []string{"man/man1/*", "completions/*"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(path, folder)] = string(text)
		}
	}
	return files
}

func TestTwoRunsWriteTheSame(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	date := time.Unix(1_700_000_000, 0).UTC()
	for _, folder := range []string{first, second} {
		if err := write(folder, "v1.2.3", date); err != nil {
			t.Fatal(err)
		}
	}
	one, two := read(t, first), read(t, second)
	if len(one) < 50 || len(one) != len(two) {
		t.Fatalf("the runs wrote %d and %d files", len(one), len(two))
	}
	for name, text := range one {
		if two[name] != text {
			t.Errorf("%s differs", name)
		}
	}
	if page := one["/man/man1/panebridge.1"]; !strings.Contains(page, `"Nov 2023" "panebridge v1.2.3"`) {
		t.Errorf("the page has another date or version:\n%.200s", page)
	}
}

var request = regexp.MustCompile(`(?m)^\.[A-Za-z]+ ?|\\f[A-Z]|\\&`)

// plain is a text without what a page or a paragraph sets it with.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\\' || r == '`' {
			return -1
		}
		return r
	}, request.ReplaceAllString(text, ""))
}

// Help is taken for Markdown: a star or a bracket in it mustn't be lost. Backticks become a type.
func TestPagesSayAllThatHelpSays(t *testing.T) {
	folder := t.TempDir()
	if err := write(folder, "v1.2.3", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	files, pages := read(t, folder), 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() && cmd.HasParent() {
			return
		}
		pages++
		name := "/man/man1/" + strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page := plain(files[name])
		for _, text := range []string{cmd.Short, cmd.Long, cmd.Example} {
			if !strings.Contains(page, plain(text)) {
				t.Errorf("%s doesn't say all of %q", name, text)
			}
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(cli.Tree())
	if pages < 50 {
		t.Errorf("%d commands were looked at", pages)
	}
}

func TestSourceDateIsANumber(t *testing.T) {
	if at, err := sourceDate(""); err != nil || at.Unix() != 0 {
		t.Errorf("without one: %v, %v", at, err)
	}
	if _, err := sourceDate("yesterday"); err == nil {
		t.Error("yesterday was taken")
	}
}
