package archtest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// pkg is one package of ours: what its ordinary files import and what its
// tests import besides, as full import paths. Its own path is relative to the
// module.
type pkg struct {
	path        string
	imports     []string
	testImports []string
}

// check returns one sentence for each import that the rules don't allow and
// each package they don't know, in order of packages.
func check(rules map[string][]string, outside map[string][]string, pkgs []pkg) []string {
	var wrong []string
	for _, p := range pkgs {
		allowed, known := allowedFor(rules, p.path)
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s is not in the table: add it to rules in internal/archtest/rules_test.go and to docs/architecture.md", p.path))
			continue
		}
		for _, imp := range p.imports {
			wrong = append(wrong, checkImport(outside, p.path, allowed, imp, false)...)
		}
		for _, imp := range p.testImports {
			wrong = append(wrong, checkImport(outside, p.path, allowed, imp, true)...)
		}
	}
	return wrong
}

func checkImport(outside map[string][]string, from string, allowed []string, imp string, inTest bool) []string {
	where := from
	if inTest {
		where = "a test of " + from
	}
	for _, foreign := range slices.Sorted(maps.Keys(outside)) {
		may := outside[foreign]
		if within(imp, foreign) && !slices.Contains(may, from) && (!isSuite(from) || !slices.Contains(may, path.Dir(from))) {
			return []string{fmt.Sprintf("%s imports %s: only %s may", where, imp, strings.Join(may, ", "))}
		}
	}
	if !within(imp, module) {
		return nil
	}
	to := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
	switch {
	case inTest && (to == from || isSuite(to)):
		return nil
	case isSuite(to) && !isSuite(from) && !slices.Contains(allowed, to):
		return []string{fmt.Sprintf("%s imports %s: only tests may import a conformance suite", where, to)}
	case slices.Contains(allowed, to), slices.Contains(allowed, everything):
		return nil
	}
	may := "nothing of ours"
	if len(allowed) > 0 {
		may = "only " + strings.Join(allowed, ", ")
	}
	return []string{fmt.Sprintf("%s imports %s: it may import %s", where, to, may)}
}

// allowedFor returns what the package may import, by its own entry, by that
// for its siblings, or, for a conformance suite, by its parent's.
func allowedFor(rules map[string][]string, p string) (allowed []string, known bool) {
	if allowed, known = rules[p]; known {
		return allowed, true
	}
	parent := path.Dir(p)
	if isSuite(p) {
		if allowed, known = allowedFor(rules, parent); known {
			return append([]string{parent}, allowed...), true
		}
		return nil, false
	}
	allowed, known = rules[parent+"/*"]
	return allowed, known
}

// isSuite tells packages of test code by their names. Recordings of agents are such,
// too.
func isSuite(p string) bool {
	return strings.HasSuffix(path.Base(p), "test") || p == "internal/recording"
}

// within tells whether imp is the package root or lies below it.
func within(imp, root string) bool { return imp == root || strings.HasPrefix(imp, root+"/") }
