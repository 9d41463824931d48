package doctest_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/internal/cli"
)

const (
	root = "../.."
	// maxReadmeWords is what somebody reads who wants to know whether it's for them.
	maxReadmeWords = 1000
	// maxPicture bounds a picture, in bytes.
	maxPicture = 150_000
)

// page is a document.
type page struct {
	path   string // from the root
	text   string
	prose  string  // without its blocks of code
	blocks []block // its blocks of code
}

// block is a block of code; its language is "" for commands.
type block struct{ language, text string }

var fenced = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```$")

// pages reads all documents for people: those at the root, and those in docs.
func pages(t *testing.T) []page {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []page
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := page{path: filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator))), text: string(text)}
		p.prose = fenced.ReplaceAllString(p.text, "")
		for _, found := range fenced.FindAllStringSubmatch(p.text, -1) {
			p.blocks = append(p.blocks, block{found[1], found[2]})
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("found %d documents below %s: the test looks in the wrong place", len(all), root)
	}
	return all
}

// isOfThePast says whether a page may name what isn't there any more.
func (p page) isOfThePast() bool {
	return p.path == "CHANGELOG.md" || strings.HasPrefix(p.path, "docs/adr/")
}

func TestReadmeIsBrief(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(text))); words > maxReadmeWords {
		t.Errorf("README.md has %d words, at most %d are read: move what's about one task into docs", words, maxReadmeWords)
	}
}

func TestPicturesAreSmall(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "docs", "pictures", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxPicture {
			t.Errorf("%s has %d bytes, at most %d are loaded quickly", path, info.Size(), maxPicture)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	code    = regexp.MustCompile("`([^`\n]+)`")
)

func TestLinksLeadSomewhere(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(p.prose, ""), -1) {
			to, err := url.Parse(found[1])
			if err != nil {
				t.Errorf("%s links to %q: %v", p.path, found[1], err)
				continue
			}
			if to.Scheme != "" {
				continue // elsewhere
			}
			checked++
			file := filepath.Join(root, p.path)
			if to.Path != "" {
				file = filepath.Join(filepath.Dir(file), filepath.FromSlash(to.Path))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which isn't there", p.path, found[1])
				continue
			}
			if to.Fragment != "" && !slices.Contains(anchors(t, file), to.Fragment) {
				t.Errorf("%s links to %s, whose file has no such heading", p.path, found[1])
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d links were found: does this test still read them?", checked)
	}
}

// anchors are the names under which GitHub has a document's headings.
func anchors(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, found := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, found[1]))
	}
	return all
}

// What stands in backticks or in a block of commands and begins with the program's or make's name is a
// command that's there.
func TestCommandsAreThere(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, p := range pages(t) {
		if p.isOfThePast() {
			continue
		}
		var lines []string
		for _, found := range code.FindAllStringSubmatch(p.prose, -1) {
			lines = append(lines, found[1])
		}
		for _, b := range p.blocks {
			if b.language == "" {
				lines = append(lines, strings.Split(b.text, "\n")...)
			}
		}
		for _, line := range lines {
			line, _, _ = strings.Cut(line, " #")
			words := strings.Fields(strings.TrimPrefix(line, "bin/"))
			if len(words) < 2 {
				continue
			}
			switch words[0] {
			case "panebridge":
				checked++
				if wrong := checkCommand(t, words[1:]); wrong != "" {
					t.Errorf("%s says `%s`: %s", p.path, strings.TrimSpace(line), wrong)
				}
			case "make":
				checked++
				if !regexp.MustCompile(`(?m)^([a-z-]+ )*` + regexp.QuoteMeta(words[1]) + `( [a-z-]+)*:`).Match(makefile) {
					t.Errorf("%s says `%s`, which the Makefile doesn't have", p.path, line)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d commands were found: does this test still read them?", checked)
	}
}

// checkCommand says what's wrong with a call of the program, as far as its commands' help tells.
func checkCommand(t *testing.T, words []string) string {
	t.Helper()
	var command, flags []string
	for _, w := range words {
		switch {
		case w == "--":
			return checkHelp(t, command, flags)
		case strings.HasPrefix(w, "--"):
			name, _, _ := strings.Cut(w, "=")
			flags = append(flags, name)
		case len(flags) == 0 && isGroup(t, command):
			command = append(command, w)
		}
	}
	return checkHelp(t, command, flags)
}

func checkHelp(t *testing.T, command, flags []string) string {
	t.Helper()
	text := help(t, command)
	if name := strings.Join(append([]string{"panebridge"}, command...), " "); !strings.Contains(text, "\n  "+name) {
		return "there's no such command"
	}
	for _, f := range flags {
		if !regexp.MustCompile(regexp.QuoteMeta(f) + `\b`).MatchString(text) {
			return "the command has no " + f
		}
	}
	return ""
}

// isGroup says whether a command has commands of its own.
func isGroup(t *testing.T, command []string) bool {
	t.Helper()
	name := strings.Join(append([]string{"panebridge"}, command...), " ")
	return strings.Contains(help(t, command), "\n  "+name+" COMMAND\n")
}

func help(t *testing.T, command []string) string {
	t.Helper()
	var out bytes.Buffer
	cli.Main(t.Context(), cli.Build{}, append(slices.Clone(command), "--help"), cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &out}, func(string) (string, bool) { return "", false })
	return out.String()
}

// What stands in backticks and begins like a key of the configuration is one; and so are the keys of
// blocks of YAML.
func TestKeysAreThere(t *testing.T) {
	text, err := all.Form().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	dotted := regexp.MustCompile(`^([a-z_]+)(\.[a-z_*]+)+:?$`)
	properties, _ := schema["properties"].(map[string]any)
	keys, blocks := 0, 0
	for _, p := range pages(t) {
		if p.isOfThePast() {
			continue
		}
		for _, found := range code.FindAllStringSubmatch(p.prose, -1) {
			match := dotted.FindStringSubmatch(found[1])
			if match == nil || properties[match[1]] == nil || strings.HasSuffix(found[1], ".md") {
				continue // a file's name, say
			}
			keys++
			if !hasKey(schema, schema, strings.Split(strings.TrimSuffix(found[1], ":"), ".")) {
				t.Errorf("%s names the key `%s`, which the configuration doesn't have", p.path, found[1])
			}
		}
		for _, b := range p.blocks {
			if b.language != "yaml" {
				continue
			}
			blocks++
			indent := len(b.text) - len(strings.TrimLeft(b.text, " "))
			lines := strings.Split(b.text, "\n")
			for i, line := range lines {
				lines[i] = line[min(indent, len(line)):]
			}
			env := func(name string) (string, bool) { return "/" + name, true }
			if _, err := all.Form().Parse(p.path, []byte(strings.Join(lines, "\n")), env); err != nil {
				t.Errorf("%s has a configuration that isn't one: %v\n%s", p.path, err, b.text)
			}
		}
	}
	if keys < 20 || blocks < 5 {
		t.Errorf("%d keys and %d blocks were found: does this test still read them?", keys, blocks)
	}
}

// hasKey follows a path of keys through a JSON schema; * is any key of a map or any item of a list.
func hasKey(schema, at map[string]any, path []string) bool {
	if ref, ok := at["$ref"].(string); ok {
		at = schema
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at, _ = at[part].(map[string]any)
		}
	}
	if len(path) == 0 {
		return at != nil
	}
	for _, below := range []string{"properties", "items", "additionalProperties"} {
		next, ok := at[below].(map[string]any)
		switch {
		case !ok:
		case below == "properties":
			if next, ok = next[path[0]].(map[string]any); ok {
				return hasKey(schema, next, path[1:])
			}
		case path[0] == "*":
			return hasKey(schema, next, path[1:])
		case below == "items":
			return hasKey(schema, next, path)
		}
	}
	return false
}
