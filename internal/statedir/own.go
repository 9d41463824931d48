package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/regular"
)

// errNotOurs means that somebody else could have put something into the state folder, or can.
var errNotOurs = errors.New("the state folder isn't safe")

// Check refuses a state folder that isn't this user's alone to write, and files in it that lead
// elsewhere or are another user's: what's read there opens the page, and what's written there
// would overwrite what a link leads to. It says all that's wrong, and what would be right. Folders in it
// are looked into when something in them is opened (regular.MakeOwnFolder).
func Check(dir string) error {
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
		slices.Contains([]string{ShellFolder, "qos", inbox.BellFolder, "files", "typing.lock"}, name)
}

// checkOne looks at the folder itself, which a link may lead to, or at what's in it.
func checkOne(path string, itself bool) error {
	look := os.Lstat
	if itself {
		look = os.Stat
	}
	info, err := look(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it has gone meanwhile
	case err != nil:
		return fmt.Errorf("look at %s: %w", path, err)
	}
	return regular.CheckOwn(path, info)
}
