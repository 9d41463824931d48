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

// nameless are the folders that know no chat platform by name: what one is to them, its descriptor says.
var nameless = []string{"qos", "internal/app", "internal/api", "internal/cli"}

// named are their files that may name one all the same, and why.
var named = map[string]string{
	"internal/cli/doctor.go":   "help",
	"internal/cli/access.go":   "help has an example",
	"internal/cli/sessions.go": "help has examples",
	"internal/cli/cli.go":      "help says what panebridge is for",
}

// A platform is a part that one adds: nothing in these folders needs an edit for it.
func TestPlatformsAreNamedNowhere(t *testing.T) {
	platforms, used := regexp.MustCompile(`(?i)telegram|discord`), map[string]bool{}
	for _, folder := range nameless {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && (strings.HasSuffix(d.Name(), "test") || skipped(name, d.Name())) {
					return filepath.SkipDir
				}
				return err
			}
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			file, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			file = filepath.ToSlash(file)
			if found := platforms.FindAllString(string(text), -1); found != nil {
				used[file] = true
				if named[file] == "" {
					t.Errorf("%s names %s: what it needs of a platform belongs to platform.Descriptor", file, strings.Join(slices.Compact(found), ", "))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file := range named {
		if !used[file] {
			t.Errorf("%s names no platform any more: take it off the list", file)
		}
	}
}
