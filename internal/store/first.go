package store

import (
	"errors"
	"os"

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
	if err := os.Remove(path + firstSuffix); err != nil && !isGone(err) {
		return err
	}
	return nil
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
