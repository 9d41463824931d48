package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every folder with Go files stands in the table of folders, and what begins a row there is one.
func TestFoldersStandInTheArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Folders\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var folders []string
	for _, p := range load(t) {
		folders = append(folders, p.path)
	}
	for _, wrong := range checkFolders(table, folders) {
		t.Error(wrong)
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// checkFolders returns one sentence for each folder that a table doesn't name, and for each name at the
// beginning of a row that's of no folder. In the table {a,b} is both, * is any name, and /… is a folder
// with all below it. A conformance suite stands beside the folder above it.
func checkFolders(table string, folders []string) []string {
	var named, heads []string
	for row := range strings.Lines(table) {
		for i, cell := range strings.Split(row, "|") {
			for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
				named = append(named, expand(found[1])...)
				if i == 1 {
					heads = append(heads, expand(found[1])...)
				}
			}
		}
	}
	var wrong []string
	for _, f := range folders {
		stands := func(folder string) bool {
			return slices.ContainsFunc(named, func(name string) bool { return names(name, folder) })
		}
		if !stands(f) && (!isSuite(f) || !stands(path.Dir(f))) {
			wrong = append(wrong, fmt.Sprintf("docs/architecture.md doesn't say what %s is: add it to the table of folders", f))
		}
	}
	for _, head := range heads {
		if !slices.ContainsFunc(folders, func(f string) bool { return names(head, f) }) {
			wrong = append(wrong, fmt.Sprintf("docs/architecture.md has a row for %s, which has no Go files", head))
		}
	}
	return wrong
}

// expand returns what a name with {a,b} stands for.
func expand(name string) []string {
	before, rest, ok := strings.Cut(name, "{")
	inside, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{name}
	}
	var all []string
	for part := range strings.SplitSeq(inside, ",") {
		all = append(all, expand(before+part+after)...)
	}
	return all
}

// names says whether a name of the table is that of a folder.
func names(name, folder string) bool {
	if above, ok := strings.CutSuffix(name, "/…"); ok {
		return within(folder, above)
	}
	is, err := path.Match(name, folder)
	return err == nil && is
}

// The check itself, with a table that's wrong in every way it should notice.
func TestCheckFoldersNamesWhatsWrong(t *testing.T) {
	const table = "| folder | has |\n|---|---|\n| `a`, `b/…` | one, on `e` |\n| `c/{d,e}`, `*bench` | `gone` |\n| `left` | nothing |\n"
	got := checkFolders(table, []string{"a", "a/atest", "a/x", "b", "b/c", "c/d", "c/e", "c/f", "e", "lostbench", "q/qtest"})
	want := []string{
		"docs/architecture.md doesn't say what a/x is: add it to the table of folders",
		"docs/architecture.md doesn't say what c/f is: add it to the table of folders",
		"docs/architecture.md doesn't say what q/qtest is: add it to the table of folders",
		"docs/architecture.md has a row for left, which has no Go files",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
