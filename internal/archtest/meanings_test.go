package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// meanings are the types that several packages have under one name, and the one thing that it means in
// all of them. What isn't here is a type of one package: a word that means two things is two words.
var meanings = map[string]string{
	"Adapter":       "a chat platform at work",
	"Budget":        "what grants calls of a bot",
	"Client":        "what calls a server",
	"Config":        "a part's section of the configuration",
	"Continuations": "what has sessions go on when limits are over",
	"Deliverer":     "what makes the calls that a scheduler grants",
	"Fleet":         "sessions that work together",
	"Hand":          "what types into a session's pane",
	"Hub":           "what a package needs of adapters.Hub",
	"Inbound":       "the inbound half of the adapters",
	"Log":           "what a package needs of the output log",
	"Meter":         "what is told of what's to be measured",
	"Notes":         "where a package writes down what it has to know after a restart",
	"Observer":      "what of a poller knows the program in the pane",
	"Options":       "what a part is made with",
	"Page":          "what one message shows",
	"Run":           "text of one style",
	"Sessions":      "what a package needs of sessions.Manager",
	"Store":         "what a package needs of internal/store",
	"Style":         "how text looks",
	"liveChange":    "how a live region changed",
	"noMeter":       "a Meter that nobody asked for",
}

// A package whose types are those of others in another form calls them as those do: sections of the
// configuration and documents of the API are called after what they're of; recordings and stand-ins are worlds
// of their own, for tests; and what one chat platform has, another has, too.
func worldOf(folder string, platforms []string) string {
	switch {
	case folder == "config" || folder == "internal/api" || strings.HasPrefix(folder, "internal/api/"):
		return ""
	case strings.HasPrefix(folder, "internal/recording"), strings.HasPrefix(folder, "internal/agentlab"), strings.HasPrefix(folder, "internal/demo"),
		slices.Contains([]string{"internal/chatview", "internal/faults", "internal/standin", "internal/trips"}, folder), strings.HasPrefix(folder, "cmd/"):
		return ""
	case slices.ContainsFunc(strings.Split(folder, "/"), func(part string) bool { return strings.HasSuffix(part, "test") || strings.HasSuffix(part, "bench") }):
		return ""
	case slices.Contains(platforms, folder):
		return "a chat platform"
	default:
		return folder
	}
}

// A type's name means one thing in all of the program.
func TestTypesMeanOneThing(t *testing.T) {
	for _, wrong := range checkMeanings(meanings, typesOf(t)) {
		t.Error(wrong)
	}
}

// checkMeanings says which types stand in several worlds without a meaning that they share.
func checkMeanings(meanings map[string]string, types map[string][]string) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if folders := types[name]; len(folders) > 1 && meanings[name] == "" {
			wrong = append(wrong, name+" is a type of "+strings.Join(folders, ", ")+": call what's something else something else, or say in meanings_test.go what it means in all of them")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(meanings)) {
		if len(types[name]) < 2 {
			wrong = append(wrong, name+" isn't a type of several packages any more: take it out of meanings_test.go")
		}
	}
	return wrong
}

// typesOf are the types that packages of the program have, with the worlds in which they are.
func typesOf(t *testing.T) map[string][]string {
	t.Helper()
	types := map[string][]string{}
	_, files := parseAll(t)
	platforms := platformsOf(files)
	for name, file := range files {
		world := worldOf(path.Dir(name), platforms)
		if world == "" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, spec := range g.Specs {
					one := spec.(*ast.TypeSpec).Name.Name
					if !slices.Contains(types[one], world) {
						types[one] = append(types[one], world)
					}
				}
			}
		}
	}
	if len(types) < 100 {
		t.Fatalf("found %d types: the test looks in the wrong place", len(types))
	}
	return types
}

// platformsOf are the folders of chat platforms: each has a function Descriptor.
func platformsOf(files map[string]*ast.File) (folders []string) {
	for name, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "Descriptor" {
				folders = append(folders, path.Dir(name))
			}
		}
	}
	return folders
}

// parseAll parses all files of Go, by their paths in the project.
func parseAll(t *testing.T) (set *token.FileSet, files map[string]*ast.File) {
	t.Helper()
	set, files = token.NewFileSet(), map[string]*ast.File{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && skipped(name, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		files[filepath.ToSlash(rel)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, files
}

// The check itself: a name twice, one that's allowed, one that was allowed.
func TestMeaningsAreChecked(t *testing.T) {
	got := checkMeanings(map[string]string{"Shared": "one thing", "Gone": "nothing any more"}, map[string][]string{"Twice": {"a", "b"}, "Shared": {"a", "b"}, "Once": {"a"}, "Gone": {"b"}})
	if len(got) != 2 || !strings.HasPrefix(got[0], "Twice is a type of a, b") || !strings.HasPrefix(got[1], "Gone isn't") {
		t.Errorf("got %q", got)
	}
}
