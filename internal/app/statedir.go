package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrInUse means that another daemon runs on the same state folder.
var ErrInUse = errors.New("another panebridge runs on this state folder")

// maxSocketPath is how long the path of a Unix socket may be (sun_path less
// its end: 104 bytes on BSD and macOS, 108 on Linux).
const maxSocketPath = 103

// Files in the state folder.
const (
	databaseFile = "panebridge.db"
	socketFile   = "panebridge.sock"
	pidFile      = "panebridge.pid"
)

// oldFiles are those of earlier releases: a token that opened the page for a year, and
// its address.
var oldFiles = []string{"web.token", "web.address"}

// stateDir is the folder of one daemon, locked for as long as it runs.
type stateDir struct {
	path  string
	lock  *os.File
	made  bool // the folder wasn't there before
	fresh bool // no daemon has ever used it
}

func openStateDir(dir string) (*stateDir, error) {
	_, err := os.Stat(dir)
	made := errors.Is(err, os.ErrNotExist)
	_, err = os.Stat(filepath.Join(dir, databaseFile))
	fresh := errors.Is(err, os.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	if err := checkOwn(dir); err != nil {
		return nil, err
	}
	pidFile := filepath.Join(dir, pidFile)
	f, err := os.OpenFile(pidFile, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the state folder: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		pid, _ := os.ReadFile(pidFile)
		_ = f.Close()
		return nil, fmt.Errorf("%w: %s (process %s); stop it, or give another --state-dir", ErrInUse, dir, strings.TrimSpace(string(pid)))
	}
	d := &stateDir{path: dir, lock: f, made: made, fresh: fresh}
	err = errors.Join(f.Truncate(0), writeAt(f, strconv.Itoa(os.Getpid())+"\n"))
	if err != nil && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) { // the number is for people
		d.undo()
		d.close()
		return nil, fmt.Errorf("write %s: %w", pidFile, err)
	}
	for _, name := range oldFiles {
		_ = os.Remove(filepath.Join(dir, name)) // they open nothing any more
	}
	return d, nil
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// undo takes back what a start has left that was refused, if the folder hadn't been
// used before. It's still locked.
func (d *stateDir) undo() {
	if d == nil || !d.fresh {
		return
	}
	for _, name := range []string{databaseFile, databaseFile + "-wal", databaseFile + "-shm", databaseFile + "-line", databaseFile + "-room", socketFile, pidFile} {
		_ = os.Remove(filepath.Join(d.path, name)) // what's left does no harm
	}
	_ = os.RemoveAll(filepath.Join(d.path, shellFolder))
	if d.made {
		_ = os.Remove(d.path)
	}
}

// close gives the folder free. Closing the file alone may not: a child that's being started
// has it open, too, until it runs its program.
func (d *stateDir) close() {
	if d == nil {
		return
	}
	_ = unix.Flock(int(d.lock.Fd()), unix.LOCK_UN)
	_ = d.lock.Close()
}

func socketPath(stateDir string) string { return filepath.Join(stateDir, socketFile) }

// listenUnix opens the socket for the command line. The state folder is locked,
// so a socket that's there is left over.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("open the socket %s: its path has %d bytes and may have %d; give a shorter --state-dir", path, len(path), maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove an old socket: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("protect the socket: %w", err)
	}
	return l, nil
}
