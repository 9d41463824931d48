package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/inbox"
)

// errNotOurs means that somebody else could have put something into the state folder, or can.
var errNotOurs = errors.New("the state folder isn't safe")

// checkOwn refuses a state folder that isn't this user's alone to write, and files in it that lead
// elsewhere or are another user's: what's read there opens the page, and what's written there
// would overwrite what a link leads to. It says all that's wrong, and what would be right.
func checkOwn(dir string) error {
	problems := []error{checkOne(dir, true)}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look at the state folder: %w", err)
	}
	for _, e := range entries {
		if isOurs(e.Name()) {
			problems = append(problems, checkOne(filepath.Join(dir, e.Name()), false))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%w: %w", errNotOurs, err)
	}
	return nil
}

// isOurs reports whether panebridge keeps something under a name in its state folder.
func isOurs(name string) bool {
	return strings.HasPrefix(name, "panebridge.") || strings.HasPrefix(name, "redis-") ||
		slices.Contains([]string{shellFolder, inbox.BellFolder, "files", "typing.lock"}, name)
}

// checkOne looks at the folder itself, which a link may lead to, or at what's in it.
func checkOne(path string, itself bool) error {
	look := unix.Lstat
	if itself {
		look = unix.Stat
	}
	var s unix.Stat_t
	switch err := look(path, &s); {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it has gone meanwhile
	case err != nil:
		return fmt.Errorf("look at %s: %w", path, err)
	}
	switch kind := s.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		return fmt.Errorf("%s is a link: remove it, or give another --state-dir", path)
	case int(s.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, and panebridge runs as %d: change its owner, or give another --state-dir", path, s.Uid, os.Geteuid())
	case s.Mode&0o022 != 0 && kind != unix.S_IFSOCK:
		return fmt.Errorf("others can write to %s: chmod go-w %s", path, path)
	case kind == unix.S_IFREG && s.Nlink > 1:
		return fmt.Errorf("%s has another name elsewhere, under which it can be read or written: remove one of them", path)
	}
	return nil
}
