package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whatever stands where a configuration should, it's read or refused within eleven seconds.
func TestAConfigurationIsReadFromFilesAndPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := func(name string, write func(f *os.File)) string {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if write != nil {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			go write(f)
		}
		return path
	}
	const text = "log: {level: debug}\n"
	read := make(chan struct{}) // closed when the pipe is about to be read
	whole := pipe("whole", func(f *os.File) {
		<-read
		_, _ = f.WriteString(text)
		time.Sleep(200 * time.Millisecond)
		_ = f.Close()
	})
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, 1<<40); err != nil {
		t.Fatal(err)
	}
	open, others, group := filepath.Join(dir, "open"), filepath.Join(dir, "others"), filepath.Join(dir, "group")
	for path, mode := range map[string]os.FileMode{open: 0o666, others: 0o600, group: 0o664} {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	foreign := "belongs to user 1234, and panebridge runs as 0, as which the programs would run that it names: run it as that user (in a container: --user 1234:4321), or chown 0 " + others
	if err := os.Chown(others, 1234, 4321); err != nil { // only root can give files away
		foreign = ""
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "", whole: "", os.DevNull: "", group: "",
		open:                                     "chmod o-w " + open,
		others:                                   foreign,
		pipe("nobody writes", nil):               "nothing came through the pipe",
		pipe("never written", func(*os.File) {}): "not all of it came through the pipe",
		"/dev/zero":                              "is neither a file nor a pipe",
		long:                                     "has more than 16 MB",
		dir:                                      "is a folder; give the file in it",
		loop:                                     "too many levels of symbolic links",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			if path == whole {
				close(read)
			}
			began := time.Now()
			cfg, err := form().Load(path, nil)
			if took := time.Since(began); took > 11*time.Second {
				t.Errorf("it took %s", took)
			}
			switch {
			case want == "" && (err != nil || path != os.DevNull && cfg.Log.Level != "debug"):
				t.Errorf("%+v, %v", cfg, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%v; want %q", err, want)
			}
		})
	}
}
