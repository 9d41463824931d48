package diffs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

// Bounds of what's compared, in bytes.
const (
	maxFile = 1 << 20
	maxDiff = 1 << 20
)

// Maker makes diffs of what agents ask to change.
type Maker struct {
	StateDir string // the state folder, of which nothing is shown
}

// OfEdits returns what edits would change in files as they're on the disk now, as a unified diff whose paths are from
// the root of the repository that folder is in, or from folder; where the agent works below that, of the one that it works
// in. Where none can be made it's "", and note says why, as a sentence. It reads the files, and those alone that are below that root and aren't kept back.
func (m Maker) OfEdits(folder string, edits []sessions.FileEdit) (diff, note string) {
	if len(edits) == 0 {
		return "", ""
	}
	root := rootFor(folder, edits[0].Folder)
	if root == "" {
		return "", "Nobody knows in which folder this session works, so it isn’t compared with what’s there."
	}
	p := planned{Maker: m, root: root, now: map[string]version{}, was: map[string]version{}, from: map[string]string{}}
	for _, e := range edits {
		if e.Folder == "" {
			e.Folder = folder
		}
		if err := p.add(e); err != nil {
			return "", err.Error()
		}
	}
	diff = p.unified()
	switch {
	case diff == "":
		return "", "It changes nothing in the file as it is now."
	case len(diff) > maxDiff:
		return "", fmt.Sprintf("As a diff it would be %d kB long.", len(diff)/1000)
	}
	return diff, ""
}

// rootFor is the root from which an agent's paths are shown; "": it isn't known. folder is the session's, and works where the
// agent says that it works: an agent may have been begun in a folder below, but nothing outside of the session's is read.
func rootFor(folder, works string) string {
	if !filepath.IsAbs(folder) {
		return ""
	}
	root := RootOf(folder)
	if !filepath.IsAbs(works) {
		return root
	}
	if rel, err := filepath.Rel(root, filepath.Clean(works)); err != nil || !filepath.IsLocal(rel) {
		return root
	}
	if inner := RootOf(works); len(inner) > len(root) && isRepository(inner) {
		return inner
	}
	return root
}

func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// RootOf returns the folder of the repository that a folder is in, by the names of files alone; the folder, if it's in
// none.
func RootOf(folder string) string {
	folder = filepath.Clean(folder)
	for dir := folder; ; dir = filepath.Dir(dir) {
		if isRepository(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return folder
		}
	}
}

// whyNone is why there's no diff, as a sentence for people.
type whyNone string

func (w whyNone) Error() string { return string(w) }

func sayWhy(format string, args ...any) error { return whyNone(fmt.Sprintf(format, args...)) }

// planned are files as they are, and as they're to be.
type planned struct {
	Maker

	root  string
	order []string           // paths in the order of their first edit
	was   map[string]version // by path
	now   map[string]version
	from  map[string]string // the path from which a file is moved to one
}

// add takes in one more edit. The error is a sentence for people.
func (p *planned) add(e sessions.FileEdit) error {
	if e.Patch == "" {
		return p.edit(e, func(text string) (string, error) { return applyEdit(text, e) })
	}
	for _, f := range toolview.ParsePatch(e.Patch) {
		one := sessions.FileEdit{Path: f.Path, Folder: e.Folder, Delete: f.Does == toolview.FileDeleted}
		if f.From != "" {
			one.Path, one.To = f.From, f.Path
		}
		if f.Does == toolview.FileAdded {
			var all strings.Builder
			for _, h := range f.Hunks {
				for _, l := range h.Lines {
					all.WriteString(l.Text + "\n")
				}
			}
			text := all.String()
			one.Write = &text
		}
		err := p.edit(one, func(text string) (string, error) {
			if one.Write != nil {
				return applyEdit(text, one)
			}
			crlf, mixed := hasCRLF(text)
			if crlf || mixed {
				return "", errMixed
			}
			return applyHunks(text, f.Hunks, true)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// edit changes one file.
func (p *planned) edit(e sessions.FileEdit, apply func(text string) (string, error)) error {
	path, err := p.pathOf(e.Folder, e.Path)
	if err != nil {
		return err
	}
	v, err := p.version(path)
	if err != nil {
		return err
	}
	makes := e.Write != nil || len(e.Swaps) > 0 && e.Swaps[0].Old == ""
	switch {
	case e.Delete && !v.there, !v.there && !makes:
		return sayWhy("There’s no file %s now.", path)
	case e.Delete:
		p.now[path] = version{path: path}
		return nil
	}
	was := v
	if v.text, err = apply(v.text); err != nil {
		return sayWhy("The file %s %v.", path, err)
	}
	if bad := whyNoText(v.text); bad != "" {
		return sayWhy("What it writes to %s %s.", path, bad)
	}
	if !v.there {
		v.there, v.mode = true, 0o644
	}
	if crlf, _ := hasCRLF(was.text); e.Write != nil && crlf && !e.KeepsEnds && !strings.Contains(v.text, "\r") {
		return sayWhy("The lines of %s end in “\\r\\n”, and those of what’s written there in “\\n”: it isn’t known how the agent would leave them.", path)
	}
	if e.To == "" || e.To == e.Path {
		p.now[path] = v
		return nil
	}
	to, err := p.pathOf(e.Folder, e.To)
	if err != nil {
		return err
	}
	if _, err := p.version(to); err != nil {
		return err
	}
	if !p.was[to].there && to != path {
		p.from[to] = path
	}
	p.now[path] = version{path: path}
	v.path = to
	p.now[to] = v
	return nil
}

// pathOf is a file's path from the root.
func (p *planned) pathOf(folder, path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) || !utf8.ValidString(path) {
		return "", sayWhy("The agent’s record names no file.")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	rel, err := filepath.Rel(p.root, filepath.Clean(path))
	if err == nil && !filepath.IsLocal(rel) { // the folder may be known by another name
		if root, err := filepath.EvalSymlinks(p.root); err == nil {
			rel, _ = filepath.Rel(root, filepath.Clean(path)) // "" isn't local
		}
	}
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", sayWhy("%s isn’t in the session’s folder, so it isn’t compared with what’s there.", path)
	}
	return filepath.ToSlash(rel), nil
}

// version is a file as it's after the edits so far.
func (p *planned) version(path string) (version, error) {
	if v, ok := p.now[path]; ok {
		return v, nil
	}
	v, err := p.read(path)
	if err != nil {
		return v, err
	}
	p.order = append(p.order, path)
	p.was[path], p.now[path] = v, v
	return v, nil
}

// read reads a file from the disk. One that isn't there is a version that's not there.
func (p *planned) read(path string) (v version, err error) {
	v.path = path
	if why := regular.KeptBack(filepath.Join(p.root, path), p.StateDir); why != "" {
		return v, sayWhy("Nothing is read of %s: %s.", path, why)
	}
	f, err := regular.OpenBelow(p.root, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return v, nil
	case errors.Is(err, fs.ErrPermission):
		return v, sayWhy("panebridge may not read %s.", path)
	case err != nil:
		return v, sayWhy("It isn’t compared with what’s there: %v.", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return v, sayWhy("It isn’t compared with what’s there: %v.", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return v, sayWhy("It isn’t compared with what’s there: %v.", err)
	}
	v.there, v.mode, v.text = true, info.Mode().Perm(), string(data)
	if bad := whyNoText(v.text); bad != "" {
		return v, sayWhy("The file %s %s.", path, bad)
	}
	return v, nil
}

// whyNoText is why a text isn't compared line by line, as a sentence's end; "": it is.
func whyNoText(text string) string {
	switch {
	case len(text) > maxFile:
		return fmt.Sprintf("has more than %d kB", maxFile/1000)
	case bytes.IndexByte([]byte(text), 0) >= 0, !utf8.ValidString(text):
		return "isn’t text"
	}
	return ""
}

// unified is the diff of all that's planned.
func (p *planned) unified() string {
	var b strings.Builder
	moved := map[string]bool{}
	for to, from := range p.from {
		moved[from] = p.now[to].there
	}
	for _, path := range p.order {
		was, is := p.was[path], p.now[path]
		if from, ok := p.from[path]; ok && is.there {
			writeUnified(&b, p.was[from], is)
		} else if !moved[path] {
			writeUnified(&b, was, is)
		}
	}
	return b.String()
}
