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

	"github.com/panebridge/panebridge/internal/host/hosttest"
)

// blocks is a disk of blocks with a store on it that's written to.
type blocks struct {
	*testing.T
	image, folder string
	store         *Store
	acknowledged
	over    chan struct{}
	writers sync.WaitGroup
}

// run runs a command that only root may, and that needs what not every kernel has.
func (b *blocks) run(arguments ...string) string {
	out, err := exec.CommandContext(b.Context(), arguments[0], arguments[1:]...).CombinedOutput()
	if err != nil {
		b.Skipf("no disk of blocks can be made here: %s: %v %s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// mount has the disk be in a folder of its own.
func (b *blocks) mount() {
	b.folder = b.TempDir()
	b.run("mount", "-o", "loop,errors=remount-ro", b.image, b.folder)
	folder := b.folder
	b.Cleanup(func() { _ = hosttest.Detach(folder) })
}

func (b *blocks) taken() int { b.mu.Lock(); defer b.mu.Unlock(); return len(b.inputs) }

// writeTo has a store on a disk of blocks be written to; nil: this isn't the process that may.
func writeTo(t *testing.T) *blocks {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a disk of blocks")
	}
	if !inMountNamespace(t) {
		return nil
	}
	b := &blocks{T: t, image: filepath.Join(t.TempDir(), "disk"), over: make(chan struct{})}
	b.run("truncate", "-s", "100M", b.image)
	b.run("mkfs.ext4", "-q", "-F", b.image)
	b.mount()
	s, err := Open(t.Context(), b.folder+"/pb.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.store = s
	t.Cleanup(func() { _ = s.Close() })
	mustPut(t, s, "pb_000000000000")
	b.write(t, s, nil, b.over, &b.writers)
	for b.taken() < 100 {
		time.Sleep(time.Millisecond)
	}
	return b
}

// mustRefuse fails unless the disk's failure is told as what it is, and nothing is acknowledged any more.
// It reports whether the kernel kept what it hadn't written yet: ext4 may drop that as the disk fails, and what's
// read in its place then is no database.
func (b *blocks) mustRefuse(want error) (kept bool) {
	b.Helper()
	for began := time.Now(); b.store.Failing() == nil; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			b.Fatal("nothing is refused")
		}
	}
	// The kernel refuses one write, and may take others for a moment, until it has noted the failure.
	err := b.store.Health(b.Context())
	for began := time.Now(); err == nil && time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
		err = b.store.Health(b.Context())
	}
	if kept = !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCut); kept && !errors.Is(err, want) {
		b.Errorf("its health is %v", err)
	}
	before := b.taken()
	time.Sleep(20 * time.Millisecond)
	if n := b.taken(); n != before {
		b.Errorf("%d inputs were acknowledged by a disk that has failed", n-before)
	}
	close(b.over)
	b.writers.Wait()
	return kept
}

// The kernel has the database's disk only be read of a sudden, since that has failed: it's told as that, nothing is
// acknowledged, and what was before is there, now and for the next start. Only a disk of blocks does so, of which root
// alone may mount one: what's mounted can't be made read-only by hand while files on it are open for writing.
func TestARealDiskThatFailsAndMayOnlyBeRead(t *testing.T) {
	b := writeTo(t)
	if b == nil {
		return
	}
	device := b.run("findmnt", "-n", "-o", "SOURCE", b.folder)
	if err := os.WriteFile("/sys/fs/ext4/"+filepath.Base(device)+"/trigger_fs_error", []byte("it fails"), 0); err != nil {
		t.Skipf("the disk can't be made to fail: %v", err)
	}
	if !b.mustRefuse(ErrReadOnly) {
		t.Skip("the kernel has dropped what it hadn't written yet")
	}
	b.check(t, b.store, nil)
}

// A disk that gives and takes nothing any more isn't full: it's told as what it is, nothing is acknowledged, and what
// was before is there once the disk works again.
func TestARealDiskThatGivesNothing(t *testing.T) {
	b := writeTo(t)
	if b == nil {
		return
	}
	const shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32); 0: all that's written is there before
	folder, err := os.Open(b.folder)
	if err != nil {
		t.Fatal(err)
	}
	err = unix.IoctlSetPointerInt(int(folder.Fd()), shutdown, 0)
	if _ = folder.Close(); err != nil {
		t.Skipf("the disk can't be made to fail: %v", err)
	}
	b.mustRefuse(ErrUnreadable)
	if err := b.store.Health(t.Context()); err == nil || errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "dmesg") {
		t.Errorf("then its health is %v", err)
	}
	_ = b.store.Close()
	if err := hosttest.Unmount(b.folder); err != nil {
		t.Fatal(err)
	}
	b.mount()
	b.check(t, mustOpen(t, b.folder+"/pb.db", Options{}), nil)
}
