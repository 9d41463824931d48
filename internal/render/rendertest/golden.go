package rendertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden compares with a file in testdata, which PANEBRIDGE_GOLDEN=write writes
// anew. Who does that reads the difference.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if os.Getenv("PANEBRIDGE_GOLDEN") == "write" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is different (-want +got):\n%s", name, diff)
	}
}
