package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	sources = "../../static"
	served  = "../../served"
)

// What's served is made of the sources as they are, and of all of them.
func TestWhatIsServedIsMadeOfTheSources(t *testing.T) {
	files, err := bundle(sources)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(served + "/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != len(files) {
		t.Errorf("%q are kept, %d files are made", kept, len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(served, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is out of date: call make generate (%v)", name, err)
		}
	}
	for kind, mark := range map[string]string{".js": "// %\n", ".css": "\n/* % */\n"} {
		modules, err := filepath.Glob(sources + "/*" + kind)
		if err != nil || len(modules) == 0 {
			t.Fatal(modules, err)
		}
		for _, module := range modules {
			if !strings.Contains(string(files["page"+kind])+string(files["key"+kind])+string(files["worker"+kind]), strings.Replace(mark, "%", filepath.Base(module), 1)) {
				t.Errorf("%s isn't in the page", filepath.Base(module))
			}
		}
	}
}

// What's wrong with a source is said with its line, and nothing is made of it.
func TestWhatIsWrongWithASourceIsSaid(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"app.js": "import { gone } from './part.js';\ngone();\n", "key.js": "", "worker.js": "", "part.js": "export const here = 1;\n", "page.css": "p { color: red }\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := bundle(folder); err == nil || len(files) != 0 || !strings.Contains(err.Error(), "app.js:1:") {
		t.Errorf("%d files, %v", len(files), err)
	}
}
