package agent

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCalledBy(t *testing.T) {
	has, lacks, folder := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(has, OwnName), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lacks, OwnName), nil, 0o600); err != nil { // nobody can run it
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, OwnName), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, executable, want string }{
		{lacks + ":" + has, "/opt/pb/panebridge", "panebridge"},
		{lacks + ":" + folder, "/opt/pb/panebridge", "/opt/pb/panebridge"},
		{"", "/opt/my programs/panebridge", "'/opt/my programs/panebridge'"},
		{".", "/opt/pb/panebridge", "/opt/pb/panebridge"},
		{"", "", "panebridge"},
	} {
		if got := CalledBy(c.path, c.executable); got != c.want {
			t.Errorf("with PATH %q: %s, wanted %s", c.path, got, c.want)
		}
	}
}
