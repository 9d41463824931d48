package statedir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/store"
)

// ErrInUse means that another daemon runs on the same state folder.
var ErrInUse = errors.New("another panebridge runs on this state folder")

// MaxSocketPath is how long the path of a Unix socket may be (sun_path less
// its end: 104 bytes on BSD and macOS, 108 on Linux).
const MaxSocketPath = 103

// Files in the state folder.
const (
	DatabaseFile = "panebridge.db"
	// ShellFolder has what shells read at their start.
	ShellFolder = "shell"
	socketFile  = "panebridge.sock"
	pidFile     = "panebridge.pid"
	// lockFolder is locked by the daemon. The state folder itself isn't: where a tmux server's
	// socket is in it, who comes and goes there locks that (sessions/tmux, turn).
	lockFolder = "lock"
)

// oldFiles are those of earlier releases: a token that opened the page for a year, and
// its address.
var oldFiles = []string{"web.token", "web.address"} //nolint:gochecknoglobals // a constant table

// Dir is the folder of one daemon, locked for as long as it runs: a folder in it, and the file in it
// that has the daemon's number, which older releases lock alone and which may be removed.
type Dir struct {
	path   string
	folder *os.File
	number *os.File
	made   bool // the folder wasn't there before
	fresh  bool // it has no database
	// had are the names of startFiles and startFolders that were there before.
	had map[string]bool
}

// What a start makes in a fresh folder.
var (
	startFiles   = slices.Concat(store.FileNames(DatabaseFile), search.FileNames(search.File), []string{socketFile, pidFile, lockFolder}) //nolint:gochecknoglobals // a constant table
	startFolders = []string{ShellFolder}                                                                                                  //nolint:gochecknoglobals // a constant table
)

// Open makes the folder if it's missing, and locks it until Close. ErrInUse if another daemon
// has it; an error that says what to do if somebody else could have put something into it.
func Open(dir string) (*Dir, error) {
	d := &Dir{path: dir, had: map[string]bool{}}
	_, err := os.Stat(dir)
	d.made = errors.Is(err, os.ErrNotExist)
	for _, name := range slices.Concat(startFiles, startFolders) {
		_, err := os.Lstat(filepath.Join(dir, name))
		d.had[name] = !errors.Is(err, os.ErrNotExist)
	}
	d.fresh = !d.had[DatabaseFile]
	if err := Make(dir); err != nil {
		return nil, err
	}
	if err := d.acquire(); err != nil {
		d.Close()
		return nil, ExplainDenied(dir, err)
	}
	for _, name := range oldFiles {
		_ = os.Remove(filepath.Join(dir, name)) // they open nothing any more
	}
	return d, nil
}

// Make makes the folder if it isn't there, and refuses one that others can have put something into.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ExplainDenied(dir, fmt.Errorf("make the state folder: %w", err))
	}
	return ExplainDenied(dir, Check(dir))
}

// ExplainDenied says what to do where the folder can't be used for want of a right to.
func ExplainDenied(dir string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("%w; make it this user's (chown -R %d %s; chmod u+rwx %[3]s), or give another --state-dir", err, os.Geteuid(), dir)
}

// acquire locks what has the names of the folder to be locked and of the file with the number now, where that's something
// else than what is locked already. ErrInUse if another daemon has it.
func (d *Dir) acquire() error {
	lock := filepath.Join(d.path, lockFolder)
	made := os.Mkdir(lock, 0o700)
	if (made == nil || errors.Is(made, fs.ErrExist)) && !isSameFile(d.folder, lock) { // without room for it, the file has to do
		folder, err := d.lock(lock, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
		if err != nil {
			return err
		}
		unlock(d.folder)
		d.folder = folder
	}
	file := filepath.Join(d.path, pidFile)
	if isSameFile(d.number, file) && d.isNumbered() {
		return nil
	}
	number := d.number
	if !isSameFile(number, file) {
		var err error
		if number, err = d.lock(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK); err != nil {
			return err
		}
		unlock(d.number)
		d.number = number
	}
	err := errors.Join(number.Truncate(0), writeAt(number, d.pid()))
	if err != nil && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) { // the number is for people
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// Recheck sees to it that the state folder is still this daemon's: what was removed or replaced is
// made anew and locked. ErrInUse if another daemon has it meanwhile.
func (d *Dir) Recheck() error {
	if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the state folder %s was removed: start panebridge anew", d.path)
	}
	return d.acquire()
}

// lock opens something and locks it. A file system that locks no folders (NFS) leaves that to the file in it.
func (d *Dir) lock(path string, how int) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, how, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the state folder: %w", err)
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			_ = f.Close()
			return nil, d.inUse()
		}
		if err != nil && how&unix.O_DIRECTORY == 0 {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if isSameFile(f, path) {
			return f, nil
		}
		unlock(f) // it was replaced meanwhile
	}
}

// inUse says who else has the state folder.
func (d *Dir) inUse() error {
	who := "a process that's unknown: its " + pidFile + " was removed"
	if pid, err := regular.Read(filepath.Join(d.path, pidFile), 64); err == nil {
		who = "process " + strings.TrimSpace(string(pid))
	}
	return fmt.Errorf("%w: %s (%s); stop it, or give another --state-dir", ErrInUse, d.path, who)
}

// isSameFile reports whether an open file is what has that name.
func isSameFile(f *os.File, path string) bool {
	if f == nil {
		return false
	}
	here, err := f.Stat()
	there, gone := os.Stat(path)
	return err == nil && gone == nil && os.SameFile(here, there)
}

func (d *Dir) pid() string { return strconv.Itoa(os.Getpid()) + "\n" }

// isNumbered reports whether the file says this daemon's number.
func (d *Dir) isNumbered() bool {
	text, err := io.ReadAll(io.NewSectionReader(d.number, 0, 32))
	return err == nil && string(text) == d.pid()
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// RemoveMade removes what a refused start has made, if there was no database before. The folder
// is still locked.
func (d *Dir) RemoveMade() {
	if d == nil || !d.fresh {
		return
	}
	for _, name := range startFiles {
		if !d.had[name] {
			_ = os.Remove(filepath.Join(d.path, name)) // what's left does no harm
		}
	}
	for _, name := range startFolders {
		if !d.had[name] {
			_ = os.RemoveAll(filepath.Join(d.path, name))
		}
	}
	if d.made {
		_ = os.Remove(d.path)
	}
}

// Close unlocks the folder.
func (d *Dir) Close() {
	if d == nil {
		return
	}
	unlock(d.number)
	unlock(d.folder)
}

// unlock gives a file free. Closing it alone may not: a child that's being started has it open, too, until
// it runs its program.
func unlock(f *os.File) {
	if f == nil {
		return
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	_ = f.Close()
}

// DatabasePath is where the database is in a state folder.
func DatabasePath(dir string) string { return filepath.Join(dir, DatabaseFile) }

// SocketPath is where the API's Unix socket is in a state folder.
func SocketPath(dir string) string { return filepath.Join(dir, socketFile) }

// Listen opens the Unix socket of a state folder, which the caller has opened: a socket that's
// there is left over, and is replaced.
func Listen(ctx context.Context, dir string) (net.Listener, error) {
	path := SocketPath(dir)
	if len(path) > MaxSocketPath {
		return nil, fmt.Errorf("open the socket %s: its path has %d bytes and may have %d; give a shorter --state-dir", path, len(path), MaxSocketPath)
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
