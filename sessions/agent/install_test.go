package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

func noEnv(string) string { return "" }

func at(home, name string) Install {
	return Install{Agent: name, Program: "/usr/local/bin/panebridge", Home: home, Env: noEnv}
}

// put writes an agent's file as it is before an install.
func put(t fataler, i Install, text string) string {
	t.Helper()
	path, err := i.Path()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func apply(t fataler, plan func() (InstallChange, error)) InstallChange {
	t.Helper()
	c, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t fataler, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func status(t fataler, i Install, want InstallStatus) {
	t.Helper()
	got, err := i.Status()
	if got != want || (err != nil) != (want == HooksBroken) {
		t.Fatal("status", got, err, "want", want)
	}
}

func TestInstallKeepsWhatIsThere(t *testing.T) {
	before := `{
    // the model I like
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]} // tell me
        ],
        "PreCompact": []
    },
    "permissions": {"allow": ["Bash(ls:*)"],},
}
`
	i := at(t.TempDir(), "claude")
	path := put(t, i, before)
	status(t, i, HooksNotInstalled)
	c := apply(t, i.Plan)
	after := read(t, path)
	for _, want := range []string{
		"    // the model I like\n    \"model\": \"opus\",\n",
		`            {"hooks": [{"type": "command", "command": "say done"}]}, // tell me` + "\n            {\n",
		`                        "command": "/usr/local/bin/panebridge hook claude Stop",`,
		`"PreCompact": []`,
		`    "permissions": {"allow": ["Bash(ls:*)"],},` + "\n}\n",
	} {
		if !strings.Contains(after, want) {
			t.Errorf("%q is missing in\n%s", want, after)
		}
	}
	if got := read(t, c.Backup); got != before {
		t.Errorf("the copy is\n%s", got)
	}
	status(t, i, HooksInstalled)
	if again, err := i.Plan(); err != nil || !again.Nothing() {
		t.Errorf("a second install would change\n%s", cmp.Diff(after, string(again.After)))
	}

	// Somebody changes something, and the rest is taken out all the same.
	edited := strings.Replace(after, `"opus"`, `"haiku"`, 1)
	put(t, i, edited)
	apply(t, i.PlanRemove)
	if diff := cmp.Diff(strings.Replace(before, `"opus"`, `"haiku"`, 1), read(t, path)); diff != "" {
		t.Error(diff)
	}
	status(t, i, HooksNotInstalled)
}

func TestInstallMakesAndRemovesTheFile(t *testing.T) {
	for _, name := range HookAgents() {
		i := at(t.TempDir(), name)
		apply(t, i.Plan)
		path, _ := i.Path()
		status(t, i, HooksInstalled)
		if name != "opencode" && !json.Valid([]byte(read(t, path))) {
			t.Errorf("%s: not JSON:\n%s", name, read(t, path))
		}
		other := i
		other.Program = "/opt/panebridge 2/panebridge"
		other.StateDir = "/var/lib/it's"
		status(t, other, HooksOutdated)
		apply(t, other.Plan)
		status(t, other, HooksInstalled)
		status(t, i, HooksOutdated)
		if text := read(t, path); strings.Contains(text, i.Program) {
			t.Errorf("%s: the old program is still there:\n%s", name, text)
		}
		apply(t, other.PlanRemove)
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: the file is still there: %v", name, err)
		}
		apply(t, other.PlanRemove) // nothing to do
	}
}

func TestInstallLeavesABrokenFile(t *testing.T) {
	for name, tt := range map[string]struct{ agent, text, where string }{
		"not closed":       {"claude", "{\n  \"a\": [1,\n", "line 3, column 1"},
		"not an object":    {"codex", "[]\n", "line 1, column 1"},
		"hooks a text":     {"gemini", "{\n  \"hooks\": \"none\"\n}", "line 2, column 12"},
		"an event a text":  {"claude", "{\"hooks\": {\n\"Stop\": \"none\"}}", "line 2, column 9"},
		"another plug-in":  {"opencode", "export const Mine = 1\n", "move it away"},
		"a BOM and a word": {"claude", "\uFEFFhello", "line 1, column 1"},
	} {
		t.Run(name, func(t *testing.T) {
			i := at(t.TempDir(), tt.agent)
			path := put(t, i, tt.text)
			for _, plan := range []func() (InstallChange, error){i.Plan, i.PlanRemove} {
				if _, err := plan(); err == nil || !strings.Contains(err.Error(), tt.where) || !strings.Contains(err.Error(), path) {
					t.Errorf("error %v, want one that says %q", err, tt.where)
				}
			}
			status(t, i, HooksBroken)
			if got := read(t, path); got != tt.text {
				t.Errorf("the file is %q", got)
			}
		})
	}
}

func TestInstallKeepsLinkAndMode(t *testing.T) {
	home := t.TempDir()
	i := at(home, "gemini")
	path, _ := i.Path()
	target := filepath.Join(home, "dotfiles", "gemini.json")
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(target)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(target, []byte(`{"ui": {}}`), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles/gemini.json", path); err != nil {
		t.Fatal(err)
	}
	apply(t, i.Plan)
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", link, err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}
	apply(t, i.PlanRemove)
	if got := read(t, target); got != `{"ui": {}}` {
		t.Errorf("the file is %s", got)
	}
	entries, err := os.ReadDir(filepath.Dir(target))
	if err != nil || len(entries) != 1 {
		t.Errorf("something was left behind: %v (%v)", entries, err)
	}
}

func TestInstallTurnsHooksOn(t *testing.T) {
	before := "{\n\t\"hooksConfig\": {\"enabled\": false} // why not\n}\n"
	i := at(t.TempDir(), "gemini")
	path := put(t, i, before)
	apply(t, i.Plan)
	text := read(t, path)
	if !strings.Contains(text, `"enabled": true}, // why not`) || !strings.Contains(text, "\n\t\t\"AfterAgent\": [\n") {
		t.Errorf("the file is\n%s", text)
	}
	put(t, i, strings.Replace(text, "why not", "why", 1))
	apply(t, i.PlanRemove)
	if diff := cmp.Diff(strings.Replace(before, "why not", "why", 1), read(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestChangeThatSomebodyElseMadeIsKept(t *testing.T) {
	i := at(t.TempDir(), "claude")
	path := put(t, i, "{}\n")
	c, err := i.Plan()
	if err != nil {
		t.Fatal(err)
	}
	put(t, i, `{"theme": "dark"}`)
	if err := c.Apply(); err == nil {
		t.Error("it was overwritten")
	}
	if got := read(t, path); got != `{"theme": "dark"}` {
		t.Errorf("the file is %s", got)
	}
}

// Whatever a user has in the file, an install keeps it, a second one changes nothing,
// and a removal leaves each byte as it was, also if the user has changed something in
// between.
func TestInstallAndRemoveAreInverse(t *testing.T) {
	home := t.TempDir()
	drawtest.Check(t, func(t *rapid.T) {
		i := at(home, rapid.SampledFrom([]string{"claude", "codex", "gemini"}).Draw(t, "agent"))
		before := drawSettings(t, i.Agent)
		path := put(t, i, before)
		_ = os.Remove(path + backupSuffix)

		apply(t, i.Plan)
		after := read(t, path)
		status(t, i, HooksInstalled)
		if missing := lost(t, before, after); missing != "" {
			t.Fatalf("lost %s: from\n%s\nto\n%s", missing, before, after)
		}
		apply(t, i.Plan)
		if diff := cmp.Diff(after, read(t, path)); diff != "" {
			t.Fatalf("a second install changes\n%s", diff)
		}
		edit := rapid.Bool().Draw(t, "edited since")
		if edit {
			// Something of the user's own that stands nowhere else.
			put(t, i, strings.Replace(after, "\"mark\"", "\"changed\"", 1))
			before = strings.Replace(before, "\"mark\"", "\"changed\"", 1)
		}
		apply(t, i.PlanRemove)
		if diff := cmp.Diff(before, read(t, path)); diff != "" {
			t.Fatalf("install and removal change (edited: %v)\n%s\nby way of\n%s", edit, diff, after)
		}
	})
}

// lost returns what of the user's values isn't there any more.
func lost(t fataler, before, after string) string {
	t.Helper()
	had, has := values(t, before), values(t, after)
	for _, line := range had {
		at := slices.Index(has, line)
		if at < 0 {
			return line
		}
		has = slices.Delete(has, at, at+1)
	}
	return ""
}

// values lists names, comments and values of a file.
func values(t fataler, text string) []string {
	t.Helper()
	v, err := hujson.Parse([]byte(strings.TrimPrefix(text, "\uFEFF")))
	if err != nil {
		t.Fatal(err, text)
	}
	var list []string
	for x := range v.All() {
		for _, extra := range []hujson.Extra{x.BeforeExtra, x.AfterExtra} {
			if c := bytes.TrimSpace(extra); len(c) > 0 {
				list = append(list, string(c))
			}
		}
		if text, ok := x.Value.(hujson.Literal); ok {
			list = append(list, string(text))
		}
	}
	return list
}

// drawSettings makes a file as a person might have written it.
func drawSettings(t *rapid.T, name string) string {
	g := generator{
		t: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline"),
		indent:   rapid.SampledFrom([]string{"  ", "    ", "\t"}).Draw(t, "indent"),
		comments: rapid.Bool().Draw(t, "comments"),
	}
	members := []string{`"kept": ` + g.value(1)}
	if rapid.Bool().Draw(t, "has hooks") {
		members = append(members, `"hooks": `+g.hooks(name))
	}
	members = append(members, `"name": "mark"`)
	if rapid.Bool().Draw(t, "more") {
		members = append(members, `"z<&>": `+g.value(1))
	}
	order := rapid.Permutation(members).Draw(t, "order")
	bom := rapid.SampledFrom([]string{"", "\uFEFF"}).Draw(t, "bom")
	end := rapid.SampledFrom([]string{"", g.newline, g.newline + g.newline}).Draw(t, "end")
	return bom + g.object(order, 0) + end
}

type generator struct {
	t               *rapid.T
	newline, indent string
	comments        bool
}

func (g generator) value(depth int) string {
	switch n := rapid.IntRange(0, 6).Draw(g.t, "kind"); {
	case n == 0 && depth < 4:
		return g.object([]string{`"a": ` + g.value(depth+1), `"b": ` + g.value(depth+1)}, depth)
	case n == 1 && depth < 4:
		return g.row("[", []string{g.value(depth + 1), g.value(depth + 1)}, "]", depth)
	case n == 2:
		return rapid.SampledFrom([]string{"{}", "[]", "{ }", "[\n]"}).Draw(g.t, "empty")
	case n == 3:
		return rapid.SampledFrom([]string{"1.50", "-0", "1e3", "true", "null"}).Draw(g.t, "literal")
	default:
		return string(plainJSON(rapid.String().Draw(g.t, "text"), "", ""))
	}
}

func (g generator) hooks(name string) string {
	var events []string
	for _, event := range append([]string{"Other"}, hookEvents[name][:4]...) {
		if rapid.Bool().Draw(g.t, event) {
			group := g.object([]string{`"hooks": ` + g.row("[", []string{`{"type": "command", "command": "make"}`}, "]", 4)}, 3)
			list := rapid.SampledFrom([][]string{nil, {group}, {group, group}}).Draw(g.t, "groups")
			events = append(events, `"`+event+`": `+g.row("[", list, "]", 2))
		}
	}
	return g.object(events, 1)
}

func (g generator) object(members []string, depth int) string {
	return g.row("{", members, "}", depth)
}

// row joins things in one line or one a line, with comments and a comma at the end
// where they may be.
func (g generator) row(open string, things []string, end string, depth int) string {
	margin := g.newline + strings.Repeat(g.indent, depth)
	if len(things) == 0 {
		return open + rapid.SampledFrom([]string{"", " ", margin}).Draw(g.t, "empty") + end
	}
	comma := g.comments && rapid.Bool().Draw(g.t, "comma")
	if rapid.IntRange(0, 3).Draw(g.t, "one line") == 0 && !slices.ContainsFunc(things, func(s string) bool { return strings.Contains(s, "//") }) {
		text := strings.Join(things, ", ")
		if comma {
			text += ","
		}
		return open + text + rapid.SampledFrom([]string{"", " "}).Draw(g.t, "space") + end
	}
	var b strings.Builder
	b.WriteString(open)
	for n, thing := range things {
		if g.comments && rapid.IntRange(0, 4).Draw(g.t, "comment before") == 0 {
			b.WriteString(margin + g.indent + "// before")
		}
		b.WriteString(margin + g.indent + thing)
		if g.comments && rapid.IntRange(0, 6).Draw(g.t, "comment inside") == 0 {
			b.WriteString(" /* inside */ ")
		}
		if n < len(things)-1 || comma {
			b.WriteString(",")
		}
		if g.comments && rapid.IntRange(0, 4).Draw(g.t, "comment behind") == 0 {
			b.WriteString(" // behind")
		}
	}
	b.WriteString(margin + end)
	return b.String()
}

// An install of a version whose permission hook didn't wait is outdated, and gets the
// time to wait.
func TestInstallHasThePermissionHookWait(t *testing.T) {
	i := at(t.TempDir(), "claude")
	apply(t, i.Plan)
	now := read(t, must(t, i))
	if !strings.Contains(now, "PermissionRequest --wait") || !strings.Contains(now, `"timeout": 615`) || strings.Count(now, "--wait") != 1 {
		t.Fatalf("installed:\n%s", now)
	}
	put(t, i, strings.NewReplacer(" --wait", "", `"timeout": 615`, `"timeout": 5`).Replace(now))
	status(t, i, HooksOutdated)
	apply(t, i.Plan)
	if again := read(t, must(t, i)); again != now {
		t.Errorf("updated:\n%s", again)
	}
	status(t, i, HooksInstalled)
}

func must(t *testing.T, i Install) string {
	t.Helper()
	path, err := i.Path()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
