package redact_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/redact"
)

// In the sources of Go and of the modules that panebridge is made of, which have next to no real
// secrets in them, at most one thing per MB is masked, but for keys in PEM; so it is in the agents'
// programs, where they're installed, and in the folders that PANEBRIDGE_SOURCES lists. Other modules
// of the machine's cache aren't read: what they are depends on the machine, and clients of clouds
// and of forges have made-up secrets in their tests by the hundred.
func TestFalseMasks(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all sources there are")
	}
	const most = 1 // per MB of 10⁶ bytes
	m := newMasker(t, redact.Options{})
	roots := map[string][]string{"GOROOT": {filepath.Join(goOutput(t, "env", "GOROOT"), "src")}, "modules": moduleFolders(t)}
	if agents := filepath.Join("..", "..", ".cache", "agents", "npm"); isFolder(agents) {
		roots["agents"] = []string{agents}
	}
	for _, root := range filepath.SplitList(os.Getenv("PANEBRIDGE_SOURCES")) {
		roots[root] = []string{root}
	}
	for name, folders := range roots {
		t.Run(name, func(t *testing.T) {
			size, masks, keys := 0, 0, 0
			names := map[string]int{}
			for _, folder := range folders {
				texts(t, folder, 1<<40, func(_ string, data []byte) {
					size += len(data)
					for _, k := range m.Find(data) {
						if names[k.Name]++; k.Name == "private key" {
							keys++
							continue
						}
						masks++
					}
				})
			}
			if size < 10<<20 {
				t.Skipf("only %d bytes in %d folders", size, len(folders))
			}
			rate := float64(masks) / (float64(size) / 1e6)
			t.Logf("%d MB, %d masks beside %d rows of private keys: %.2f per MB: %v", size/1e6, masks, keys, rate, names)
			if rate > most {
				t.Errorf("%.2f masks per MB, at most %d may be", rate, most)
			}
		})
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// texts calls each for the text files in a folder and below, up to so many bytes in all.
func texts(tb testing.TB, root string, limit int, each func(path string, data []byte)) {
	tb.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || limit <= 0 || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if head := data[:min(len(data), 4096)]; err != nil || bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(head[:max(0, len(head)-4)]) && !utf8.Valid(data) {
			return err
		}
		limit -= len(data)
		each(path, data)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// moduleFolders returns the folders of the modules whose packages panebridge's programs are made of.
func moduleFolders(tb testing.TB) []string {
	tb.Helper()
	out := goOutput(tb, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Dir}}{{end}}{{end}}", "github.com/panebridge/panebridge/cmd/...")
	folders := strings.Fields(out)
	slices.Sort(folders)
	return slices.Compact(folders)
}

func goOutput(tb testing.TB, args ...string) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		tb.Skipf("there's no go command that answers %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
