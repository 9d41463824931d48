package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each module of the page is named in its first file, so that the browser asks for all of them
// at once, and not for one after it has read another.
func TestAllModulesArePreloaded(t *testing.T) {
	index, err := os.ReadFile("static/index.html")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Glob("static/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range modules {
		name := "/" + filepath.Base(module)
		if name != "/app.js" && !strings.Contains(string(index), `<link rel="modulepreload" href="`+name+`">`) {
			t.Errorf("%s isn't preloaded", name)
		}
	}
	if n := strings.Count(string(index), "modulepreload"); n != len(modules)-1 {
		t.Errorf("%d are preloaded of %d", n, len(modules)-1)
	}
}
