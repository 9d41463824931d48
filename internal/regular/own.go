package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckOwn refuses what stands at a path that panebridge keeps files at if it leads elsewhere, is another user's, or
// can be written by others: a link, and a file with another name. Info is Lstat's.
func CheckOwn(path string, info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link: remove it, or give another --state-dir", path)
	case ok && int(s.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, and panebridge runs as %d: run it as that user (in a container: --user %[2]d:%[4]d), change the owner, or give another --state-dir", path, s.Uid, os.Geteuid(), s.Gid)
	case mode&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeCharDevice|fs.ModeIrregular) != 0:
		return fmt.Errorf("%s is a pipe or a device: remove it", path)
	case mode&0o022 != 0 && mode&fs.ModeSocket == 0:
		return fmt.Errorf("others can write to %s: chmod go-w %s", path, path)
	case ok && mode.IsRegular() && s.Nlink > 1:
		return fmt.Errorf("%s has another name elsewhere, under which it can be read or written: remove one of them", path)
	}
	return nil
}

// OpenBase opens a folder by its path, which may lead through links. What isn't a folder is refused, and
// not waited for.
func OpenBase(path string) (*os.Root, error) {
	return os.OpenRoot(path + string(os.PathSeparator)) // behind the name of anything else that's an error, before it's opened
}

// OpenFolder opens a folder in another. It must be a real one: a link would lead to where somebody else
// wants files to be.
func OpenFolder(in *os.Root, name string) (*os.Root, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, fmt.Errorf("open %s: it isn't a folder", name)
	}
	// Whatever takes its place now isn't waited for: what stands before a "." is opened as a folder alone.
	next, err := in.OpenRoot(name + string(os.PathSeparator) + ".")
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(before, opened) {
		err = fmt.Errorf("open %s: it was replaced meanwhile", name)
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// MakeOwnFolder opens a folder in another, and makes it if it's missing; see OpenFolder. It must be this
// user's alone: see CheckOwn.
func MakeOwnFolder(in *os.Root, name string) (*os.Root, error) {
	if err := in.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	next, err := OpenFolder(in, name)
	if err != nil {
		return nil, err
	}
	info, err := next.Stat(".")
	if err == nil {
		err = CheckOwn(filepath.Clean(next.Name()), info)
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}
