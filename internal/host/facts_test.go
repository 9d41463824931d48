package host

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What each system is said not to tell is what the code that's built for it says it doesn't.
func TestTheTableOfFactsIsTheCodes(t *testing.T) {
	names := map[string]FactName{}
	eachIdentifier(t, "facts.go", func(spec *ast.ValueSpec) {
		for i, name := range spec.Names {
			if value, ok := spec.Values[i].(*ast.BasicLit); ok {
				names[name.Name] = FactName(strings.Trim(value.Value, `"`))
			}
		}
	})
	if len(names) != len(Facts()) {
		t.Errorf("%d names, and %d facts", len(names), len(Facts()))
	}
	for _, system := range []string{"linux", "darwin", "freebsd"} {
		refused := map[FactName]bool{}
		for _, file := range filesOf(t, system) {
			for _, ident := range refusals(t, file) {
				if names[ident] == "" {
					t.Errorf("%s says that %s isn't known, which is no fact", file, ident)
				}
				refused[names[ident]] = true
			}
		}
		for _, f := range Facts() {
			said := f.By(system) == ""
			// Two aren't refused by an error: a nil attribute, and a list without sockets.
			if f.Name == EndingWithParent || f.Name == ProcessSockets {
				continue
			}
			if said != refused[f.Name] {
				t.Errorf("%s: the table says by %q of %s; that it isn't known in the code: %t", system, f.By(system), f.Name, refused[f.Name])
			}
			if f.Follows == "" {
				t.Errorf("nothing is said to follow where %s isn't known", f.Name)
			}
		}
	}
}

// filesOf are the package's files that are built for a system.
func filesOf(t *testing.T, system string) []string {
	t.Helper()
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = system, "amd64", false
	p, err := ctx.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.GoFiles, func(name string) bool { return strings.HasSuffix(name, "_"+system+".go") }) {
		t.Fatalf("nothing is built for %s alone", system)
	}
	return p.GoFiles
}

// refusals are the names that notKnown is called with in a file.
func refusals(t *testing.T, file string) (all []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(".", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "notKnown" {
			if name, ok := call.Args[0].(*ast.Ident); ok {
				all = append(all, name.Name)
			}
		}
		return true
	})
	return all
}

func eachIdentifier(t *testing.T, file string, do func(*ast.ValueSpec)) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range tree.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					do(v)
				}
			}
		}
	}
}

// The error names what isn't known and what follows, and is found among wrapped ones.
func TestWhatIsntKnownSaysWhatFollows(t *testing.T) {
	for _, f := range Facts() {
		err := notKnown(f.Name)
		if !IsNotKnown(err) || !strings.Contains(err.Error(), string(f.Name)) || !strings.Contains(err.Error(), f.Follows) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if IsNotKnown(nil) {
		t.Error("no error says that something isn't known")
	}
}

// docs/platforms.md has the table as the code has it.
func TestTheDocumentHasTheTableOfFacts(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "platforms.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Facts() {
		row := "| " + strings.Join([]string{string(f.Name), orNot(f.Linux), orNot(f.Darwin), orNot(f.FreeBSD), f.Follows}, " | ") + " |"
		if !strings.Contains(string(document), row+"\n") {
			t.Errorf("docs/platforms.md hasn't this row:\n%s", row)
		}
	}
}

func orNot(by string) string {
	if by == "" {
		return "*no*"
	}
	return "`" + by + "`"
}
