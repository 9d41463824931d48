package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// ErrStrange means that something else than a file of this user's alone has the name of the database or of what's
// beside it. The error says which, and what would be right.
var ErrStrange = fmt.Errorf("%w: it's no file that panebridge has made", sessions.ErrUnavailable)

// ownSuffixes are behind the database's name in those of all files without which it isn't opened.
var ownSuffixes = []string{"", walSuffix, indexSuffix, "-journal", lineSuffix, roomSuffix, firstSuffix, newSuffix, wholeSuffix, salvagedSuffix, stagePartSuffix, stagedSuffix, settledSuffix} //nolint:gochecknoglobals // a constant table

// FileNames are the names of a database's files, the database's own first. Others may stand beside it: see Salvage.
func FileNames(path string) []string {
	names := make([]string, len(ownSuffixes))
	for i, suffix := range ownSuffixes {
		names[i] = path + suffix
	}
	return names
}

// checkFiles returns an ErrStrange about the first of a database's files that's something else. SQLite says of it no
// more than that a file can't be opened, or waits for a pipe.
func checkFiles(path string) error {
	for _, suffix := range ownSuffixes {
		if err := checkFile(path + suffix); err != nil {
			return err
		}
	}
	return nil
}

// checkFile is checkFiles for one of them. What can't be looked at is told by who opens it.
func checkFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		err = fmt.Errorf("%s is a folder: move it away", path)
	case mode&fs.ModeSocket != 0:
		err = fmt.Errorf("%s is a socket: remove it", path)
	default:
		err = regular.CheckOwn(path, info)
	}
	if err != nil {
		return fmt.Errorf("%w: %w; a file of this user's alone is right there, which panebridge makes where it's missing", ErrStrange, err)
	}
	return nil
}

// ErrDenied means that this user may not open the database or what's beside it: it's another user's, or of a
// wrong mode.
var ErrDenied = fmt.Errorf("%w: panebridge may not open the database; see to the owner and the mode of its file and its folder", sessions.ErrUnavailable)

// mayOpen reports whether this user may read and write a file, or use a folder.
func mayOpen(path string, folder bool) bool {
	mode := uint32(unix.R_OK | unix.W_OK)
	if folder {
		mode |= unix.X_OK
	}
	err := unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	return err == nil || errors.Is(err, unix.ENOENT)
}

// whatIsDenied says which of a database's files, or its folder, may not be opened, and what helps; "" if all
// may. SQLite tells neither.
func whatIsDenied(path string, mayOpen func(path string, folder bool) bool) string {
	folder := filepath.Dir(path)
	for _, one := range []string{folder, path, path + walSuffix, path + "-shm", path + lineSuffix, path + roomSuffix, path + unsoundSuffix} {
		if mayOpen(one, one == folder) {
			continue
		}
		rights := "rw"
		if one == folder {
			rights = "rwx"
		}
		advice := fmt.Sprintf("chmod u+%s %s", rights, one)
		if info, err := os.Stat(one); err == nil { //nolint:gosec // it's beside the database
			if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
				return fmt.Sprintf("%s belongs to user %d, and panebridge runs as %d: chown %[3]d %[1]s", one, s.Uid, os.Geteuid())
			}
		}
		return advice
	}
	return ""
}
