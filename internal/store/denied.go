package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions"
)

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
