package store

import (
	"errors"
	"os"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

// firstSuffix is behind the database's name in that of a file which is there while the database is made for the first
// time. It comes before all others, so a kill meanwhile leaves it; and what else the kill leaves isn't taken for the
// rest of a database that somebody has deleted: see IsLost.
const firstSuffix = "-first"

// beginFirst makes that file where neither a database nor what's used beside it is. Several may do so at once.
func beginFirst(path string) error {
	for _, one := range []string{path, path + lineSuffix} {
		if _, err := os.Lstat(one); !isGone(err) {
			return err
		}
	}
	file, err := regular.OpenKept(path+firstSuffix, os.O_CREATE)
	if err != nil {
		return err
	}
	return file.Close()
}

// endFirst says that the database is there. What's stored in it is acknowledged only afterwards.
func endFirst(path string) error {
	return removeIfThere(path + firstSuffix)
}

// isFirst reports whether the database is being made for the first time, or whoever was at it was killed.
func isFirst(path string) bool {
	_, err := os.Lstat(path + firstSuffix)
	return err == nil
}

// IsLost reports whether there's no database at path, or an empty file, where one has been used.
func IsLost(path string) bool {
	// In this order: who makes it meanwhile makes the file of a first start first, and removes it last.
	if _, used := os.Stat(path + lineSuffix); used != nil || isFirst(path) {
		return false
	}
	info, err := os.Stat(path)
	_, wal := os.Stat(path + walSuffix)
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 && wal != nil
}

// SetLogAside gives a write-ahead log whose database isn't there another name and returns it, since SQLite
// deletes such a log, and whoever has moved the database away to mend it needs both. It returns "" if there's
// none, or if it was written in the last two seconds: another process may be making the database.
func SetLogAside(path string) (aside string, err error) {
	log, err := os.Lstat(path + walSuffix)
	if err != nil || !log.Mode().IsRegular() || log.Size() == 0 || time.Since(log.ModTime()) < 2*time.Second {
		return "", nil //nolint:nilerr // whoever opens the database says what's wrong with it
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return "", nil // the same
	}
	aside = nameAside(path, leftSuffix)
	return aside, os.Rename(path+walSuffix, aside)
}
