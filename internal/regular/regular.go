// Package regular opens files by names that come from outside: from agents, hooks and the
// configuration.
//
// What lives here: what may stand there in place of a file, whose it may be, and how much is read of it. What may
// not: what the files are about.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrIrregular says that something else stands where a file should: a pipe, say, which would be
// waited for.
var ErrIrregular = errors.New("it's not a regular file")

// ErrOthers says that a file is another user's, who could write anything into it.
var ErrOthers = errors.New("it belongs to another user")

// Open opens a file for reading that any program of this user may have put there.
// What isn't a regular file is refused, and not waited for: to open a pipe takes until
// somebody writes into it. So is a file of another user than this one and root: ErrOthers.
func Open(path string) (*os.File, fs.FileInfo, error) {
	file, info, err := OpenAnybodys(path)
	if err != nil {
		return nil, nil, err
	}
	if err := checkOwner(path, info); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// CheckOwner refuses a file as Open does, for who opens it in another way. It may not be there.
func CheckOwner(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return checkOwner(path, info)
}

func checkOwner(path string, info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid == 0 || int(s.Uid) == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("open %s: %w, %d, and panebridge runs as %d: run it as that user (in a container: --user %[3]d:%[5]d), or chown it, if what it says is to be believed", path, ErrOthers, s.Uid, os.Geteuid(), s.Gid)
}

// OpenKept opens a file of the state folder to read and to write it, and makes it where how says so
// (os.O_CREATE), for this user alone. Whose it is was checked as the daemon began; what else may have its name
// since then is refused, and not waited for. So is a link.
func OpenKept(path string, how int) (*os.File, error) {
	file, _, err := openWith(path, os.O_RDWR|syscall.O_NOFOLLOW|how)
	return file, err
}

// OpenAnybodys is Open for what may be any user's.
func OpenAnybodys(path string) (*os.File, fs.FileInfo, error) { return openWith(path, os.O_RDONLY) }

func openWith(path string, how int) (*os.File, fs.FileInfo, error) {
	file, err := os.OpenFile(path, how|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: %w", path, ErrIrregular)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// Read reads all of such a file, which may have limit bytes at most.
func Read(path string, limit int64) ([]byte, error) {
	file, _, err := Open(path)
	return readAll(file, err, path, limit)
}

// ReadAnybodys is Read for what may be any user's, since whoever could change it could do as much without
// it: a part of a program that's run.
func ReadAnybodys(path string, limit int64) ([]byte, error) {
	file, _, err := OpenAnybodys(path)
	return readAll(file, err, path, limit)
}

func readAll(file *os.File, opened error, path string, limit int64) ([]byte, error) {
	if opened != nil {
		return nil, opened
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("read %s: it has more than %d bytes", path, limit)
	}
	return text, err
}
