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
	for _, kind := range []string{damagedSuffix, keptSuffix, leftSuffix} {
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
