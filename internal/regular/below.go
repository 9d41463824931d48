package regular

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNoFolder says that a folder isn't one now.
var ErrNoFolder = errors.New("there's no folder")

// OpenBelow opens a regular file below a folder that has no other name, through real folders only: links
// would lead around the names that are kept back. ErrNoFolder: base isn't there.
func OpenBelow(base, path string) (f *os.File, err error) {
	r, err := OpenBase(base)
	if err != nil {
		return nil, ErrNoFolder
	}
	return openIn(r, path)
}

// OpenBelowReal is OpenBelow for a folder to which no link may lead either: base is what filepath.EvalSymlinks says.
func OpenBelowReal(base, path string) (*os.File, error) {
	r, err := OpenBase(base)
	if err != nil {
		return nil, ErrNoFolder
	}
	opened, err := r.Stat(".")
	if err == nil {
		err = checkReal(base, opened)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return openIn(r, path)
}

// checkReal refuses a folder that was opened, and isn't the one that has a path of its own.
func checkReal(path string, opened os.FileInfo) error {
	there, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if now, err := filepath.EvalSymlinks(path); err != nil || now != path || !os.SameFile(there, opened) {
		return fmt.Errorf("somebody replaced %s meanwhile; try it again", path)
	}
	return nil
}

// openIn opens a regular file as OpenBelow does, below a folder, which it closes.
func openIn(r *os.Root, path string) (f *os.File, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	names := strings.Split(filepath.ToSlash(path), "/")
	for _, name := range names[:len(names)-1] {
		next, err := OpenFolder(r, name)
		if err != nil {
			return nil, err
		}
		if err := r.Close(); err != nil {
			return nil, errors.Join(err, next.Close())
		}
		r = next
	}
	name := names[len(names)-1]
	before, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("only plain files are read, not folders, links and devices; %s is one", path)
	}
	if s, ok := before.Sys().(*syscall.Stat_t); ok && s.Nlink > 1 {
		return nil, fmt.Errorf("%s has another name elsewhere, under which it may be kept back", path)
	}
	f, err = r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that takes its place holds nobody up
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(before, opened) {
		return nil, errors.Join(fmt.Errorf("somebody replaced %s meanwhile; try it again", path), err, f.Close())
	}
	return f, nil
}
