package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// root is the module's folder, seen from this package's.
const root = "../.."

func TestImportsRunOneWay(t *testing.T) {
	pkgs := load(t)
	if len(pkgs) < 2 {
		t.Fatalf("found %d packages below %s: the test looks in the wrong place", len(pkgs), root)
	}
	for _, wrong := range check(rules, outside, pkgs) {
		t.Error(wrong)
	}
}

// Two pages on how it works, and two with the folders, the words and the files of three trips.
func TestArchitectureFitsOnFourPages(t *testing.T) {
	const maxLines, maxRunes = 180, 12_000
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > maxLines {
		t.Errorf("docs/architecture.md has %d lines: at most %d fit on four pages", lines, maxLines)
	}
	if runes := utf8.RuneCount(text); runes > maxRunes {
		t.Errorf("docs/architecture.md has %d characters: at most %d fit on four pages", runes, maxRunes)
	}
}

// load reads the imports of all packages of the module from their files, so
// that no file is left out for its build tags, and a package that doesn't
// compile is checked all the same.
func load(t *testing.T) []pkg {
	t.Helper()
	type imports struct{ code, tests map[string]bool }
	found := map[string]*imports{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && skipped(name, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		p := found[filepath.ToSlash(dir)]
		if p == nil {
			p = &imports{map[string]bool{}, map[string]bool{}}
			found[filepath.ToSlash(dir)] = p
		}
		into := p.code
		if strings.HasSuffix(name, "_test.go") {
			if strings.HasSuffix(file.Name.Name, "_test") {
				return nil // a test from outside may put a part together with real neighbours
			}
			into = p.tests
		}
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			into[imp] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	var pkgs []pkg
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		pkgs = append(pkgs, pkg{
			path:        dir,
			imports:     slices.Sorted(maps.Keys(found[dir].code)),
			testImports: slices.Sorted(maps.Keys(found[dir].tests)),
		})
	}
	return pkgs
}

// skipped tells the folders that Go itself doesn't look into: hidden ones,
// testdata, and other modules.
func skipped(name, base string) bool {
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	return err == nil
}

// The checker itself, on a house that's wrong in every way it should notice.
func TestCheckNamesEachViolation(t *testing.T) {
	rules := map[string][]string{
		"core":        {},
		"core/*":      {"core"},
		"core/strict": {},
		"shell":       {"core"},
		"store":       {"core"},
		"top":         {everything},
	}
	outside := map[string][]string{"database/sql": {"store"}}
	ours := func(paths ...string) []string {
		for i := range paths {
			paths[i] = module + "/" + paths[i]
		}
		return paths
	}

	tests := map[string]struct {
		pkg  pkg
		want string // part of the one sentence; "" when all is well
	}{
		"nothing of ours is fine for all":         {pkg{path: "core", imports: []string{"fmt", "golang.org/x/sys/unix"}}, ""},
		"as the table says":                       {pkg{path: "shell", imports: ours("core")}, ""},
		"everything":                              {pkg{path: "top", imports: ours("core", "shell", "store")}, ""},
		"by the entry for siblings":               {pkg{path: "core/a", imports: ours("core")}, ""},
		"a root imports something":                {pkg{path: "core", imports: ours("shell")}, "core imports shell: it may import nothing of ours"},
		"against the direction":                   {pkg{path: "shell", imports: ours("core", "store")}, "shell imports store: it may import only core"},
		"a sibling of a sibling":                  {pkg{path: "core/a", imports: ours("core/b")}, "core/a imports core/b"},
		"an own entry is stronger":                {pkg{path: "core/strict", imports: ours("core")}, "core/strict imports core"},
		"a package below isn't the package":       {pkg{path: "shell", imports: ours("core/a")}, "shell imports core/a"},
		"not in the table":                        {pkg{path: "shed"}, "shed is not in the table: add it to"},
		"two levels below isn't one":              {pkg{path: "core/a/b"}, "core/a/b is not in the table"},
		"a test follows the same rules":           {pkg{path: "shell", testImports: ours("store")}, "a test of shell imports store"},
		"a test from outside its package":         {pkg{path: "shell", testImports: ours("shell")}, ""},
		"a test with a conformance suite":         {pkg{path: "shell", testImports: ours("core/coretest")}, ""},
		"code with a conformance suite":           {pkg{path: "shell", imports: ours("core/coretest")}, "only tests may import a conformance suite"},
		"everything but a conformance suite":      {pkg{path: "top", imports: ours("core/coretest")}, "only tests may import a conformance suite"},
		"a conformance suite of its parent":       {pkg{path: "shell/shelltest", imports: ours("shell", "core")}, ""},
		"a conformance suite with too much":       {pkg{path: "shell/shelltest", imports: ours("store")}, "shell/shelltest imports store"},
		"SQL where it belongs":                    {pkg{path: "store", imports: []string{"database/sql", "database/sql/driver"}}, ""},
		"SQL in the suite of who may":             {pkg{path: "store/storetest", imports: []string{"database/sql"}}, ""},
		"SQL elsewhere":                           {pkg{path: "core", imports: []string{"database/sql"}}, "core imports database/sql: only store may"},
		"SQL below, in a test, by who may import": {pkg{path: "top", testImports: []string{"database/sql/driver"}}, "a test of top imports database/sql/driver: only store may"},
		"a name that only begins alike":           {pkg{path: "core", imports: []string{"database/sqlite", module + "-extras/core"}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := check(rules, outside, []pkg{tt.pkg})
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("found %q, want nothing", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("found %q, want one sentence with %q", got, tt.want)
			}
		})
	}
}

func TestCheckGoesThroughAllPackages(t *testing.T) {
	got := check(map[string][]string{"a": {}, "b": {}}, nil, []pkg{
		{path: "a", imports: []string{module + "/b", module + "/c"}},
		{path: "b", testImports: []string{module + "/a"}},
		{path: "c"},
	})
	if len(got) != 4 {
		t.Errorf("found %d violations, want 4:\n%s", len(got), strings.Join(got, "\n"))
	}
}
