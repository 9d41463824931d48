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

// What's put aside has one of these behind the database's name: a kind, and when that was.
const (
	// damagedSuffix: a damaged database that another has taken the place of.
	damagedSuffix = "-damaged-20060102T150405Z"
	// keptSuffix: what a store held whose database was replaced under it by another file.
	keptSuffix = "-kept-20060102T150405Z"
	// leftSuffix: a write-ahead log that was there without its database.
	leftSuffix = "-left-20060102T150405Z" + walSuffix
	// replacedSuffix: a database that a backup was restored over.
	replacedSuffix = "-replaced-20060102T150405Z"
)

const (
	// lostSuffix is behind the name of a damaged database in that of a file which says what couldn't be read of it.
	lostSuffix = "-lost"
	// maxLost is how many bytes that has at most.
	maxLost = 4 << 10
)

// Aside is a file that was put aside, that lies beside the database still, and that nothing uses.
type Aside struct {
	Path string    // its write-ahead log and what's known of it have names that begin like it
	At   time.Time // when it was put aside, to the second
	Lost string    // what couldn't be read of a damaged database, in words; "": that isn't known

	kind string // the suffix
}

// String says what it is and what to do.
func (a Aside) String() string {
	switch a.kind {
	case keptSuffix:
		return fmt.Sprintf("what panebridge held when its database was replaced by another lies in %s. Stop panebridge and give it the database's name if you need it; else delete it (rm %[1]s*)", a.Path)
	case replacedSuffix:
		return fmt.Sprintf("the database that a backup was restored over lies in %s. `panebridge restore %[1]s` brings it back; else delete it (rm %[1]s*)", a.Path)
	case leftSuffix:
		return fmt.Sprintf("a write-ahead log that was there without its database lies in %s. If you have its database, stop panebridge and give both their names; else delete it (rm %[1]s)", a.Path)
	}
	lost := a.Lost
	if lost == "" {
		lost = "what of it couldn't be read isn't known any more"
	}
	return fmt.Sprintf("a database that was damaged lies in %s. Another was written in its place; %s. Delete it (rm %[1]s*) or move it away, and this is said no more", a.Path, lost)
}

// Asides returns those beside the database at path, by their names. One that a running panebridge goes on with is
// none of them only for itself: see Store.Asides.
func Asides(path string) (all []Aside, err error) {
	names, err := namesBeside(path)
	if err != nil {
		return nil, fmt.Errorf("look for what was put aside beside %s: %w", path, err)
	}
	for _, name := range names {
		a, is := asideOf(path, name)
		if !is {
			continue
		}
		if a.kind == damagedSuffix {
			lost, _ := regular.Read(name+lostSuffix, maxLost) // without it the rest is said
			a.Lost = strings.TrimSpace(string(lost))
		}
		all = append(all, a)
	}
	return all, nil
}

// Asides is the function for this store's database. It leaves out the one that the store itself goes on with.
func (s *Store) Asides() ([]Aside, error) {
	all, err := Asides(s.path)
	if kept := s.kept.Load(); kept != nil {
		all = slices.DeleteFunc(all, func(a Aside) bool { return a.Path == *kept })
	}
	return all, err
}

// DropAsides deletes what was put aside before a time, with all that belongs to it, and returns what that was. What
// can't be deleted is in the error.
func (s *Store) DropAsides(before time.Time) (dropped []Aside, err error) {
	all, err := s.Asides()
	for _, a := range all {
		if !a.At.Before(before) {
			continue
		}
		if gone := errors.Join(removeAll(a.Path), removeIfThere(a.Path+lostSuffix)); gone != nil {
			err = errors.Join(err, fmt.Errorf("delete what was put aside: %w", gone))
			continue
		}
		dropped = append(dropped, a)
	}
	return dropped, err
}

// ForgetGoneAsides removes what's known of damaged databases that somebody has removed. Only who alone may open the
// database for the first time, the daemon, may call it.
func ForgetGoneAsides(path string) error {
	names, err := namesBeside(path)
	for _, name := range names {
		copied, is := strings.CutSuffix(name, lostSuffix)
		if !is || slices.Contains(names, copied) {
			continue
		}
		if a, is := asideOf(path, copied); is && a.kind == damagedSuffix {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// asideOf is what was put aside beside the database at path under a name.
func asideOf(path, name string) (_ Aside, is bool) {
	for _, kind := range []string{damagedSuffix, keptSuffix, leftSuffix, replacedSuffix} {
		if at, err := time.Parse(kind, strings.TrimPrefix(name, path)); err == nil {
			return Aside{Path: name, At: at, kind: kind}, true
		}
	}
	return Aside{}, false
}

// nameAside is the name under which something is put aside now.
func nameAside(path, kind string) string { return path + time.Now().UTC().Format(kind) }

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
