// Package regular opens files by names that come from outside: from agents, hooks and the
// configuration.
//
// What lives here: what may stand there in place of a file, and how much is read of it. What may
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

// Open opens a file for reading that any program of this user may have put there.
// What isn't a regular file is refused, and not waited for: to open a pipe takes until
// somebody writes into it.
func Open(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("read %s: it has more than %d bytes", path, limit)
	}
	return text, err
}
