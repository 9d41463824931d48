package diffs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// Bounds of what a repository's changes show.
const (
	maxChanged  = 2000     // files
	maxBefore   = 500      // files that weren't as in the commit when a session began
	maxBlob     = 5 << 20  // bytes of a file that's compared
	maxArgs     = 64 << 10 // bytes of paths that git is given at once
	maxNamed    = 5        // files that a note names
	maxShownFor = 200      // runes of a path in a note
)

// ChangeQuery says which changes of a repository are wanted.
type ChangeQuery struct {
	Folder string         // the session's
	Base   *sessions.Base // the repository as the session began; nil: that isn't known
	Since  string         // a commit, in place of that; "": since the session began
	File   string         // a file or a folder, from Folder or absolute, below the root; "": all
	// Open shows what's kept back, too: for who can read the files.
	Open bool
}

// Changes are what has changed in a repository.
type Changes struct {
	Root   string   `json:"root"`   // the repository's folder
	Commit string   `json:"commit"` // since which it is; "": since before the first
	Files  int      `json:"files"`  // that are shown
	Diff   string   `json:"diff"`   // unified, as git prints it; "": nothing has changed
	Notes  []string `json:"notes"`  // sentences about what isn't shown; never null
}

// OfRepository returns what has changed in a session's repository: in the files as they're on the disk now, committed or
// not, ignored ones left out. It runs git, for lookFor at most; the error is a sentence for people.
func (m Maker) OfRepository(ctx context.Context, q ChangeQuery) (c Changes, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if !filepath.IsAbs(q.Folder) {
		return c, errors.New("nobody knows in which folder this session works")
	}
	root := RootOf(q.Folder)
	only, err := onlyBelow(root, q.Folder, q.File)
	if err != nil {
		return c, err
	}
	c = Changes{Root: root, Notes: []string{}}
	name := q.Since
	var before map[string]string
	switch {
	case name != "":
	case q.Base == nil || q.Base.Root != root:
		name = "HEAD"
		c.Notes = append(c.Notes, "How the repository was when the session began isn’t known: this is since its last commit.")
	case q.Base.Commit == "":
		name = ""
		before = q.Base.Before
	default:
		name, before = q.Base.Commit, q.Base.Before
	}
	if q.Since == "" && q.Base != nil && q.Base.Unknown && name != "HEAD" {
		c.Notes = append(c.Notes, "Which files had been changed before the session began isn’t known: their changes are among these.")
	}
	clone, base, err := m.openBase(ctx, root, name)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, clone.close()) }()
	c.Commit = base
	paths, notes, err := m.changedPaths(ctx, clone, only, before, q.Open)
	if err != nil {
		return c, err
	}
	c.Notes = append(c.Notes, notes...)
	c.Files = len(paths)
	c.Diff, err = clone.diff(ctx, paths)
	if errors.Is(err, errTooLong) {
		c.Diff = wholeFiles(c.Diff)
		c.Notes = append(c.Notes, fmt.Sprintf("Only the first %d kB are shown: name a file to see its changes.", maxDiff/1000))
		err = nil
	}
	c.Diff = strings.ToValidUTF8(c.Diff, "\uFFFD")
	return c, err
}

// openBase opens a clone of a repository at a commit; "": before the first.
func (m Maker) openBase(ctx context.Context, root, name string) (*clone, string, error) {
	if name != "" {
		return openClone(ctx, root, name)
	}
	c, _, err := openClone(ctx, root, "HEAD")
	if err == nil {
		_, err = c.run(ctx, "", maxErrors, "read-tree", "--empty")
	}
	return c, "", err
}

// BaseOf returns the repository of a folder as it is now; nil: it's in none. It runs git, for lookFor at most.
func (m Maker) BaseOf(ctx context.Context, folder string) (b *sessions.Base, err error) {
	if !filepath.IsAbs(folder) {
		return nil, nil //nolint:nilnil // there's none
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	root := RootOf(folder)
	b = &sessions.Base{Root: root, At: time.Now()}
	// The commit first: what comes next may take longer, and a program runs already.
	clone, commit, err := openClone(ctx, root, "HEAD")
	if errors.Is(err, ErrNoRepository) {
		return nil, nil //nolint:nilnil // there's none
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, clone.close()) }()
	b.Commit = commit
	paths, _, err := m.changedPaths(ctx, clone, "", nil, true)
	if err != nil || len(paths) > maxBefore {
		b.Unknown = true
		return b, nil
	}
	b.Before = map[string]string{}
	for _, path := range paths {
		b.Before[path] = digestOf(filepath.Join(root, path))
	}
	return b, nil
}

// onlyBelow is the path from the root of what's asked for; "": all is.
func onlyBelow(root, folder, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	rel, err := filepath.Rel(root, filepath.Clean(path))
	if err != nil || !filepath.IsLocal(rel) || strings.ContainsRune(file, 0) {
		return "", fmt.Errorf("%s isn’t in the session’s repository", file)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// changedPaths are the files that aren't as in the clone's commit and may be shown, and what's said of the others.
func (m Maker) changedPaths(ctx context.Context, c *clone, only string, before map[string]string, open bool) (paths, notes []string, err error) {
	others, err := c.names(ctx, nil, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, nil, err
	}
	var left leftOut
	others = slices.DeleteFunc(others, func(path string) bool {
		if nested := strings.HasSuffix(path, "/"); nested {
			left.add(path, only, "repositories within this one")
			return true
		}
		return !isIn(path, only)
	})
	if len(others) > maxChanged {
		return nil, nil, fmt.Errorf("%d files are new: ignore those that aren’t meant, or name one", len(others))
	}
	if len(others) > 0 {
		if _, err := c.names(ctx, others, "add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return nil, nil, err
		}
	}
	_, _ = c.run(ctx, "", maxErrors, "update-index", "-q", "--refresh", "--ignore-submodules") // it fails if anything has changed
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("git took more than %d s", lookFor/time.Second)
	}
	changed, err := c.names(ctx, nil, "diff-files", "-z", "--name-only", "--ignore-submodules=all")
	if err != nil {
		return nil, nil, err
	}
	changed = slices.DeleteFunc(changed, func(path string) bool { return !isIn(path, only) })
	filtered, err := c.filtered(ctx, changed)
	if err != nil {
		return nil, nil, err
	}
	same := 0
	for _, path := range changed {
		full := filepath.Join(c.root, path)
		why := m.whyLeft(full, open)
		if filtered[path] {
			why = "handled by a filter (git-lfs, say), which isn’t run here"
		}
		was, known := before[path]
		switch {
		case why != "":
			left.add(path, only, why)
		case known && was == digestOf(full):
			same++
		default:
			paths = append(paths, path)
		}
	}
	if same > 0 {
		notes = append(notes, fmt.Sprintf("%d files had been changed before the session began and are as they were then: they’re left out.", same))
	}
	if len(paths) > maxChanged {
		return nil, nil, fmt.Errorf("%d files have changed: name one, or a folder", len(paths))
	}
	return paths, append(notes, left.notes()...), nil
}

// isIn reports whether a path is what's asked for, or in it; only "": all is.
func isIn(path, only string) bool {
	return only == "" || path == only || strings.HasPrefix(path, only+"/")
}

// whyLeft is why a file that has changed isn't shown; "": it is.
func (m Maker) whyLeft(full string, open bool) string {
	if why := regular.KeptBack(full, m.StateDir); why != "" && !open {
		return "kept back by their names"
	}
	info, err := os.Lstat(full)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return ""
	}
	if err != nil {
		return "can’t be read"
	}
	s, _ := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return ""
	case !info.Mode().IsRegular():
		return "no plain files"
	case info.Size() > maxBlob:
		return fmt.Sprintf("larger than %d MB", maxBlob>>20)
	case s != nil && s.Nlink > 1 && !open:
		return "known by another name elsewhere, too"
	case !mayRead(full):
		return "can’t be read"
	}
	return ""
}

// mayRead reports whether a file can be opened.
func mayRead(full string) bool {
	f, _, err := regular.OpenAnybodys(full)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// digestOf tells what's in a file from anything else; "": it isn't there, or isn't to be read.
func digestOf(full string) string {
	info, err := os.Lstat(full)
	switch {
	case err != nil:
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(full)
		sum := sha256.Sum256([]byte(to))
		return "link " + hex.EncodeToString(sum[:])
	}
	f, info, err := regular.OpenAnybodys(full)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxBlob+1)); err != nil {
		return ""
	}
	return fmt.Sprintf("%o %s", info.Mode().Perm()&0o100, hex.EncodeToString(h.Sum(nil)))
}

// filtered are those files of which the repository's attributes say that a program makes what's committed.
func (c *clone) filtered(ctx context.Context, paths []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(paths) == 0 {
		return out, nil
	}
	said, err := c.names(ctx, paths, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	for i := 0; i+2 < len(said); i += 3 { // path, "filter", value
		if value := said[i+2]; value != "unspecified" && value != "unset" {
			out[said[i]] = true
		}
	}
	return out, nil
}

// diff is what git prints of files that have changed, maxDiff bytes of it at most.
func (c *clone) diff(ctx context.Context, paths []string) (string, error) {
	var out strings.Builder
	for len(paths) > 0 {
		n, size := 0, 0
		for n < len(paths) && (n == 0 || size+len(paths[n]) < maxArgs) {
			size += len(paths[n]) + 1
			n++
		}
		args := append([]string{
			"diff-files", "--patch", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--ignore-submodules=all",
			"--src-prefix=a/", "--dst-prefix=b/", "--",
		}, paths[:n]...)
		text, err := c.run(ctx, "", maxDiff-out.Len(), args...)
		out.WriteString(text)
		if err != nil {
			return out.String(), err
		}
		paths = paths[n:]
	}
	return out.String(), nil
}

// wholeFiles is a diff that's cut off, up to the end of its last file that's whole, or of its last line.
func wholeFiles(diff string) string {
	if i := strings.LastIndex(diff, "\ndiff --git "); i >= 0 {
		return diff[:i+1]
	}
	return diff[:strings.LastIndexByte(diff, '\n')+1]
}

// leftOut are files that aren't shown, by why.
type leftOut struct {
	why   []string
	paths map[string][]string
}

func (l *leftOut) add(path, only, why string) {
	if !isIn(strings.TrimSuffix(path, "/"), only) {
		return
	}
	if l.paths == nil {
		l.paths = map[string][]string{}
	}
	if len(l.paths[why]) == 0 {
		l.why = append(l.why, why)
	}
	l.paths[why] = append(l.paths[why], path)
}

// notes says of each reason which files it's about.
func (l *leftOut) notes() (all []string) {
	for _, why := range l.why {
		paths := l.paths[why]
		var names []string
		for _, path := range paths[:min(len(paths), maxNamed)] {
			if r := []rune(path); len(r) > maxShownFor {
				path = string(r[:maxShownFor]) + "…"
			}
			names = append(names, sessions.Legible(strings.ReplaceAll(path, "\n", " ")))
		}
		text := "Not shown, since they’re " + why + ": " + strings.Join(names, ", ")
		if more := len(paths) - len(names); more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		all = append(all, text+".")
	}
	return all
}
