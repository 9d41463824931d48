package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel has the database's disk only be read of a sudden, since that has failed: it's told as that, nothing is
// acknowledged, and what was before is there, now and for the next start. Only a disk of blocks does so, of which root
// alone may mount one: what's mounted can't be made read-only by hand while files on it are open for writing.
func TestARealDiskThatFailsAndMayOnlyBeRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a disk of blocks")
	}
	if !inMountNamespace(t) {
		return
	}
	ctx, image, folder := t.Context(), filepath.Join(t.TempDir(), "disk"), t.TempDir()
	run := func(arguments ...string) string {
		out, err := exec.CommandContext(ctx, arguments[0], arguments[1:]...).CombinedOutput()
		if err != nil {
			t.Skipf("no disk of blocks can be made here: %s: %v %s", strings.Join(arguments, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("truncate", "-s", "100M", image)
	run("mkfs.ext4", "-q", "-F", image)
	run("mount", "-o", "loop,errors=remount-ro", image, folder)
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	device := run("findmnt", "-n", "-o", "SOURCE", folder)
	path := folder + "/pb.db"
	s, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	mustPut(t, s, "pb_000000000000")
	over, writers, all := make(chan struct{}), sync.WaitGroup{}, acknowledged{}
	all.write(t, s, nil, over, &writers)
	taken := func() int { all.mu.Lock(); defer all.mu.Unlock(); return len(all.inputs) }
	for taken() < 100 {
		time.Sleep(time.Millisecond)
	}
	if err := os.WriteFile("/sys/fs/ext4/"+filepath.Base(device)+"/trigger_fs_error", []byte("it fails"), 0); err != nil {
		t.Skipf("the disk can't be made to fail: %v", err)
	}
	for began := time.Now(); !s.Failing(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("nothing is refused")
		}
	}
	if err := s.Health(ctx); !errors.Is(err, ErrReadOnly) {
		t.Errorf("its health is %v", err)
	}
	before := taken()
	time.Sleep(20 * time.Millisecond)
	if n := taken(); n != before {
		t.Errorf("%d inputs were acknowledged by a disk that may only be read", n-before)
	}
	close(over)
	writers.Wait()
	all.check(t, s, nil)
}
