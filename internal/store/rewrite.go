package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
)

// A database that's written anew has one of these behind its name until it has that. Who writes it holds a lock on the
// file, so that a kill can be told from one that's at work.
const (
	// newSuffix: it isn't whole yet.
	newSuffix = "-new"
	// wholeSuffix: it has all that was stored, and what has the name still hasn't.
	wholeSuffix = "-whole"
	// salvagedSuffix: it has all that can be read of the damaged one, as long as that has the name.
	salvagedSuffix = "-salvaged"
)

// FinishRewrite does to its end what a kill has left of writing the database anew: what's whole gets the name, and what
// isn't needed is deleted. It's called before the database is opened, may be called by several at once, and does nothing
// to what somebody is at work on. ErrStrange if one of the database's files is none.
func FinishRewrite(path string) error {
	if err := checkFiles(path); err != nil {
		return err
	}
	return explain("finish writing the database anew", path, errors.Join(
		ifLeft(path+newSuffix, removeAll),
		ifLeft(path+salvagedSuffix, func(left string) error {
			if _, err := os.Lstat(path); !isGone(err) {
				return errors.Join(err, removeAll(left))
			}
			return giveName(left, path)
		}),
		ifLeft(path+wholeSuffix, func(left string) error { return giveName(left, path) }),
	))
}

// ifLeft does something to a file if it's there, and nobody is at work on it.
func ifLeft(left string, do func(left string) error) (err error) {
	file, err := regular.OpenKept(left, 0)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := lock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil || !isAt(file, left) {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = nil
		}
		return err
	}
	return do(left)
}

// beginRewrite makes an empty file and holds it until it's closed, which must be before SQLite has it open for longer:
// it would lose its locks.
func beginRewrite(path string) (*os.File, error) {
	if err := removeAll(path); err != nil {
		return nil, err
	}
	for {
		file, err := regular.OpenKept(path, os.O_CREATE)
		if err != nil {
			return nil, err
		}
		if err := lock(file, unix.LOCK_EX); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if isAt(file, path) {
			return file, nil
		}
		_ = file.Close() // somebody has taken it for one that was left
	}
}

func isAt(file *os.File, path string) bool {
	here, err := file.Stat()
	there, gone := os.Lstat(path)
	return err == nil && gone == nil && os.SameFile(here, there)
}

// giveName gives a database that's whole the name of another, of which nothing is left then. At each moment either has
// all of it, and the note beside the other is about that.
func giveName(whole, path string) error {
	if err := removeAll(path); err != nil {
		return err
	}
	if err := os.RemoveAll(path + unsoundSuffix); err != nil {
		return err
	}
	return os.Rename(whole, path)
}
