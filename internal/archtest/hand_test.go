package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// handMay are the calls by which something comes into a pane, and how often they stand in the daemon's code.
var handMay = map[*regexp.Regexp]int{
	regexp.MustCompile(`\.Paste\(ctx, `): 1,
	regexp.MustCompile(`\.Press\(ctx, `): 1,
	regexp.MustCompile(`"Enter"`):        1, // in package typing: a profile's steps and the keys of people have names of their own
}

// One place pastes, one presses keys, and one of these is Enter: what's learnt of how programs read what's
// typed holds for whatever is.
func TestOneHandTypes(t *testing.T) {
	const typing = "sessions/typing/"
	found := map[*regexp.Regexp][]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && name != root && skipped(name, d.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/agentlab/") ||
			slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return strings.HasSuffix(part, "test") }) {
			return nil // tests' own
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for call := range handMay {
			if strings.Contains(call.String(), "Enter") && !strings.HasPrefix(path, typing) {
				continue
			}
			for range call.FindAllIndex(text, -1) {
				found[call] = append(found[call], path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for call, most := range handMay {
		if places := found[call]; len(places) != most || !strings.HasPrefix(places[0], typing) {
			t.Errorf("%s stands in %q: something is typed by a step of a work in %s alone", call, places, typing)
		}
	}
}
