package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that a page of docs names is there.
func TestTestsThatDocsNameAreThere(t *testing.T) {
	declared, named := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`), regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)`")
	there, pages := map[string]bool{}, map[string][]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && name != root && skipped(name, d.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		test, page := strings.HasSuffix(name, "_test.go"), filepath.Ext(name) == ".md" && strings.HasPrefix(name, filepath.Join(root, "docs")+"/")
		if !test && !page {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if test {
			for _, found := range declared.FindAllSubmatch(text, -1) {
				there[string(found[1])] = true
			}
			return nil
		}
		for _, found := range named.FindAllSubmatch(text, -1) {
			pages[name] = append(pages[name], string(found[1]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for page, names := range pages {
		for _, name := range names {
			if !there[name] {
				t.Errorf("%s names %s, which isn't there", strings.TrimPrefix(page, root+"/"), name)
			}
		}
	}
	if security := len(pages[filepath.Join(root, "docs", "security.md")]); security < 100 {
		t.Errorf("%d tests are found in docs/security.md: does this one still read it?", security)
	}
}
