package transcript

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

// strange puts something at a path that isn't a file. Whoever waits for it waits for ever.
var strange = map[string]func(path string) error{
	"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"link to a pipe": func(path string) error {
		return linked(path, func(to string) error { return syscall.Mkfifo(to, 0o600) })
	},
	"endless device":  func(path string) error { return os.Symlink("/dev/zero", path) },
	"terminal":        func(path string) error { return os.Symlink("/dev/tty", path) },
	"folder":          func(path string) error { return os.Mkdir(path, 0o700) },
	"link to itself":  func(path string) error { return os.Symlink(path, path) },
	"socket":          socket,
	"far too long":    func(path string) error { return sparse(path, 1<<40) },
	"nothing at all":  func(string) error { return nil },
	"not to be read":  func(path string) error { return os.WriteFile(path, []byte("{}"), 0) },
	"a file with nul": func(path string) error { return os.WriteFile(path, make([]byte, 1000), 0o600) },
}

func linked(path string, put func(string) error) error {
	if err := put(path + ".to"); err != nil {
		return err
	}
	return os.Symlink(path+".to", path)
}

func socket(path string) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	return l.Close()
}

func sparse(path string, size int64) error {
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

// Whatever an agent puts where its files are read, nobody waits for it, and no more of it is
// kept than of a file.
func TestWhatIsNoFileHoldsNobodyUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the devices are Linux's")
	}
	for what, put := range strange {
		for where, read := range map[string]func(t *testing.T, swap func(path string)){
			"a transcript that's read": func(t *testing.T, swap func(string)) {
				t.Helper()
				if what == "far too long" {
					t.Skip("a transcript may be long")
				}
				path, r := pi(t)
				write(t, path, said("1", "one"))
				expect(t, r, "one")
				swap(path)
				for range 3 {
					_, _ = r.Read(t.Context(), 100)
				}
			},
			"a transcript that's sought": func(t *testing.T, swap func(string)) {
				t.Helper()
				path := filepath.Join(shortDir(t), "x")
				swap(path)
				_, _, _ = ends(path)
			},
			"what a process has": func(t *testing.T, swap func(string)) {
				t.Helper()
				h := newHome(t)
				path := h.put(fmt.Sprintf(".claude/sessions/%d.json", os.Getpid()), 0, "{}")
				swap(path)
				_ = h.find(Claude, func(w *Where) { w.PID = os.Getpid() })
			},
			"Gemini's folders": func(t *testing.T, swap func(string)) {
				t.Helper()
				h := newHome(t)
				swap(h.put(".gemini/projects.json", 0, "{}"))
				_ = h.find(Gemini, nil)
			},
			"who a helper is": func(t *testing.T, swap func(string)) {
				t.Helper()
				path := filepath.Join(shortDir(t), "x.meta.json")
				swap(path)
				_, _ = describedBy(path)
			},
			"a database":         readDatabase(""),
			"a database's log":   readDatabase("-wal"),
			"a database's index": readDatabase("-shm"),
		} {
			t.Run(what+" as "+where, func(t *testing.T) {
				over := make(chan struct{})
				go func() {
					defer close(over)
					read(t, func(path string) {
						_ = os.Remove(path)
						if err := put(path); err != nil {
							t.Error(err)
						}
					})
				}()
				select {
				case <-over:
				case <-time.After(waitedFor): // it would be for ever
					t.Fatal("it waits")
				}
			})
		}
	}
}

// waitedFor is more than any look at a file takes.
const waitedFor = time.Minute

// shortDir is short enough for a socket's path.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Error(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// What another user has put where an agent's transcript would be isn't read.
func TestTranscriptsOfOthersAreNotRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path, r := pi(t)
	write(t, path, said("1", "one"))
	if err := os.Chown(path, 1234, -1); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Read(t.Context(), 100); !errors.Is(err, regular.ErrOthers) || len(got) > 0 {
		t.Errorf("a transcript of another user's gives %+v, %v", got, err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		ref := placeDatabase(t, string(unzip(t, "testdata/opencode-all.sql.gz")))
		file, err := os.OpenFile(ref.Path+suffix, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Chown(1234, -1), file.Close()); err != nil {
			t.Fatal(err)
		}
		if err := ofFiles(ref.Path); !errors.Is(err, regular.ErrOthers) {
			t.Errorf("a database with another user's %q: %v", suffix, err)
		}
	}
}

func readDatabase(suffix string) func(*testing.T, func(string)) {
	return func(t *testing.T, swap func(string)) {
		t.Helper()
		ref := placeDatabase(t, string(unzip(t, "testdata/opencode-all.sql.gz")))
		swap(ref.Path + suffix)
		r, err := Open(ref, nil)
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = r.Read(t.Context(), 100)
	}
}
