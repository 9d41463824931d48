package store

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// ErrStrange means that something else than a file of this user's alone has the name of the database or of what's
// beside it. The error says which, and what would be right.
var ErrStrange = fmt.Errorf("%w: it's no file that panebridge has made", sessions.ErrUnavailable)

// ownSuffixes are behind the database's name in those of all files without which it isn't opened.
var ownSuffixes = []string{"", walSuffix, indexSuffix, "-journal", lineSuffix, roomSuffix, firstSuffix, newSuffix, wholeSuffix, salvagedSuffix} //nolint:gochecknoglobals // a constant table

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
