package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

const (
	// damagedSuffix is behind the name of a damaged database that another has taken the place of.
	damagedSuffix = "-damaged-20060102T150405Z"
	// lostSuffix is behind that name in that of a file which says what couldn't be read of it.
	lostSuffix = "-lost"
	// maxLost is how many bytes that has at most.
	maxLost = 4 << 10
)

// DamagedCopy is a damaged database that another has taken the place of, and that lies beside it still.
type DamagedCopy struct {
	Path string // of the file; its write-ahead log and what's known of it have names that begin like it
	Lost string // what couldn't be read of it, in words; "": that isn't known
}

// String says what it is and what to do.
func (c DamagedCopy) String() string {
	lost := c.Lost
	if lost == "" {
		lost = "what of it couldn't be read isn't known any more"
	}
	return fmt.Sprintf("a database that was damaged lies in %s. Another was written in its place; %s. Delete it (rm %[1]s*) or move it away, and this is said no more", c.Path, lost)
}

// DamagedCopies returns those that lie beside the database at path, the oldest first.
func DamagedCopies(path string) (all []DamagedCopy, err error) {
	names, err := namesBeside(path)
	if err != nil {
		return nil, fmt.Errorf("look for damaged databases beside %s: %w", path, err)
	}
	for _, name := range names {
		if !isDamagedCopy(path, name) {
			continue
		}
		lost, _ := regular.Read(name+lostSuffix, maxLost) // without it the rest is said
		all = append(all, DamagedCopy{name, strings.TrimSpace(string(lost))})
	}
	return all, nil
}

// DamagedCopies is the function for this store's database.
func (s *Store) DamagedCopies() ([]DamagedCopy, error) { return DamagedCopies(s.path) }

// ForgetGoneCopies removes what's known of damaged databases that somebody has removed. Only who alone may open the
// database for the first time, the daemon, may call it.
func ForgetGoneCopies(path string) error {
	names, err := namesBeside(path)
	for _, name := range names {
		copied, is := strings.CutSuffix(name, lostSuffix)
		if is && isDamagedCopy(path, copied) && !slices.Contains(names, copied) {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// isDamagedCopy reports whether a path is one that Salvage gives a damaged database.
func isDamagedCopy(path, name string) bool {
	_, err := time.Parse(damagedSuffix, strings.TrimPrefix(name, path))
	return err == nil
}

// namesBeside are the paths of what's in the folder of path, sorted.
func namesBeside(path string) (all []string, err error) {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		all = append(all, filepath.Join(folder, e.Name()))
	}
	return all, err
}

// noteLost writes down what couldn't be read of a damaged database that's about to get the name kept.
func noteLost(kept string, s Salvaged) error {
	file, err := regular.OpenKept(kept+lostSuffix, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	text := s.String()
	_, err = file.WriteString(text[:min(len(text), maxLost-1)] + "\n")
	return errors.Join(err, file.Sync(), file.Close())
}
