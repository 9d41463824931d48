package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
)

// Without an index of words the daemon runs, and says that nothing can be searched, and why.
func TestADaemonWithoutAnIndexSaysSo(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	if text := d.scrape(); !strings.Contains(text, "panebridge_search_up 1") || !strings.Contains(text, "panebridge_search_behind_lines 0") {
		t.Error("metrics lack the search")
	}
	d.stop()
	path := filepath.Join(d.dir, "state", "search.db")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "not empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.start()
	health, err := d.api.Health(d.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(health.Parts, func(p api.HealthPart) bool { return p.Name == "search" }); i < 0 || health.Parts[i].State != api.HealthDegraded || !strings.Contains(health.Parts[i].Detail, "nothing can be searched until the next start: ") {
		t.Errorf("the health is %+v", health)
	}
	if _, err := d.api.Search(d.ctx(), "word", "", 0, 0); err == nil || !strings.Contains(err.Error(), "nothing can be searched") {
		t.Errorf("a search: %v", err)
	}
	if text := d.scrape(); !strings.Contains(text, "panebridge_search_up 0") || strings.Contains(text, "search_behind_lines") {
		t.Error("metrics have the search")
	}
}
