package standin

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")
	wide    = regexp.MustCompile(` {8,}`) // what's between columns
)

// about stand in rows that are about several questions at once, which the recorded ones
// mostly were.
var about = []string{"Storage", "Parts ", "AskUserQuestion", "Navigate", "Answer Questions", "⇆ tab", "↑↓ select", "│ Parts"}

// telling are the rows that have text, without colours and the blanks at their ends.
func telling(rows []string) []string {
	var out []string
	for _, row := range rows {
		row = wide.ReplaceAllString(strings.TrimRight(strings.ReplaceAll(escapes.ReplaceAllString(row, ""), "\u00a0", " "), " "), "        ")
		skip := slices.ContainsFunc(about, func(s string) bool { return strings.Contains(row, s) })
		if strings.Trim(row, " │┃") != "" && !skip {
			out = append(out, row)
		}
	}
	return out
}

// Dialogs are drawn as the real programs draw them.
func TestDialogsAreDrawnAsRecorded(t *testing.T) {
	parts := func() []option {
		return []option{{label: "Parser", detail: "Reads the files"}, {label: "Writer", detail: "Writes the files"}, {label: "Viewer", detail: "Shows the files"}}
	}
	colours := func() []option {
		return []option{{label: "Red", detail: "Like a tomato"}, {label: "Blue", detail: "Like the sea"}}
	}
	checked := func(d *dialog) *dialog {
		d.options[1].checked = true
		return d
	}
	several := &dialog{form: "multi", title: "Which parts should be built?", multi: true, entry: "Type something", submits: true, options: parts()}
	for file, d := range map[string]*dialog{
		"claude-multi":         several,
		"claude-multi-checked": checked(&dialog{form: "multi", title: "Which parts should be built?", multi: true, entry: "Type something", submits: true, options: parts()}),
		"claude-multi-submit":  checked(&dialog{form: "multi", title: "Which parts should be built?", multi: true, entry: "Type something", submits: true, options: parts(), mark: 4}),
		"claude-review":        {form: "review", title: "Review your answers", body: []string{"Which parts should be built?", "→ Writer"}, options: []option{{label: "Submit answers"}, {label: "Cancel"}}},
		"claude-plan":          {form: "plan", title: "Exit plan mode?", body: []string{"Claude wants to exit plan mode"}, options: []option{{label: "Yes, and switch to default (ask each time) for this session"}, {label: "No"}}},
		"claude-trust":         {form: "trust", title: "Accessing workspace:", body: []string{"/srv/project"}, options: []option{{label: "No, exit"}, {label: "Yes, I trust this folder"}}},
		"codex-hooks":          {form: "hooks", title: "Hooks need review", body: []string{"6 hooks are new or changed."}, options: []option{{label: "Review hooks"}, {label: "Trust all and continue"}, {label: "Continue without trusting (hooks won't run)"}}},
		"codex-question":       codexStorage(0, false, ""),
		"codex-notes":          codexStorage(3, true, ""),
		"codex-notes-typed":    codexStorage(3, true, "my own words"),
		"gemini-trust": {form: "trust", title: "Do you trust the files in this folder?", body: []string{
			"Trusting a folder allows Gemini CLI to load its local configurations, including custom", "commands, hooks, MCP servers, agent skills, and settings. These configurations could execute", "code on your behalf or change the behavior of the CLI.",
		}, options: []option{{label: "Trust folder (project)"}, {label: "Trust parent folder (proj)"}, {label: "Don't trust"}}},
		"opencode-permission":    {form: "permission", title: "Permission required", sideways: true, body: []string{"seq 1 300 | tee numbers.txt"}, options: []option{{label: "Allow once"}, {label: "Allow always"}, {label: "Reject"}}},
		"opencode-multi":         {form: "multi", title: "Which parts should be built? (select all that apply)", multi: true, entry: "Type your own answer", options: parts()},
		"opencode-multi-checked": checked(&dialog{form: "multi", title: "Which parts should be built? (select all that apply)", multi: true, entry: "Type your own answer", options: parts()}),
		"qwen-multi-checked":     checked(&dialog{form: "multi", title: "Which parts should be built?", multi: true, entry: "Type something...", options: parts(), mark: 1}),
		"gemini-entry":           {form: "question", title: "Which colour should the button have?", entry: "Enter a custom value", options: colours(), mark: 2},
		"gemini-entry-typed":     {form: "question", title: "Which colour should the button have?", entry: "Enter a custom value", options: colours(), mark: 2, typed: "my own words"},
		"qwen-entry":             {form: "question", title: "Which colour should the button have?", entry: "Type something...", options: colours(), mark: 2},
		"qwen-entry-typed":       {form: "question", title: "Which colour should the button have?", entry: "Type something...", options: colours(), mark: 2, typed: "my own words"},
		"opencode-entry":         {form: "question", title: "Which colour should the button have?", entry: "Type your own answer", options: colours(), mark: 2},
		"opencode-entry-typed":   {form: "question", title: "Which colour should the button have?", entry: "Type your own answer", options: colours(), mark: 2, typed: "my own words"},
	} {
		t.Run(file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("../../sessions/agent/testdata/dialogs", file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			agent, _, _ := strings.Cut(file, "-")
			drawn := telling(looks(agent).dialog(d, 100))
			screen := telling(strings.Split(string(b), "\n"))
			if len(screen) < len(drawn) {
				t.Fatalf("%d rows are drawn; the screen has %d", len(drawn), len(screen))
			}
			if want := screen[len(screen)-len(drawn):]; !slices.Equal(drawn, want) {
				t.Errorf("it's drawn as\n%s\nand was recorded as\n%s", strings.Join(drawn, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func codexStorage(mark int, open bool, typed string) *dialog {
	return &dialog{form: "question", title: "Which storage should the queue use?", notes: true, open: open, typed: typed, mark: mark, options: []option{
		{label: "SQLite (Recommended)", detail: "One file, good enough for one machine"},
		{label: "Postgres", detail: "A server, for several machines"},
		{label: "Plain files", detail: "Simplest, no query language"},
		{label: "None of the above", detail: "Optionally, add details in notes (tab)"},
	}}
}
