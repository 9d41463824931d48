package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/panebridge/panebridge/internal/regular"
)

// Caller runs a program of the service manager's and returns what it prints. An error has what it said. It blocks
// until the program has ended.
type Caller func(ctx context.Context, program string, args ...string) (out string, err error)

// UnitFile is one that an installation writes.
type UnitFile struct{ Path, Text string }

// maxFile is how many bytes of a unit are read: more than anybody writes.
const maxFile = 1 << 20

// ErrEdited says that somebody has edited a file that was to be overwritten.
var ErrEdited = errors.New("it was edited by hand")

// ErrNotInstalled says that there's no service.
var ErrNotInstalled = errors.New("panebridge isn't installed as a service: `panebridge service install` does that")

// step is something an installation did. Undo takes it back; nil: there's nothing to take back.
type step struct {
	said string
	undo func(ctx context.Context) error
}

// trail is what was done so far, and says each of it.
type trail struct {
	say  func(line string)
	done []step
}

func (t *trail) add(said string, undo func(ctx context.Context) error) {
	t.say(said)
	if undo != nil {
		t.done = append(t.done, step{said, undo})
	}
}

// undo takes all back, the last first, whatever has become of ctx.
func (t *trail) undo(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, s := range slices.Backward(t.done) {
		if err := s.undo(ctx); err != nil {
			errs = append(errs, fmt.Errorf("undo %q: %w", s.said, err))
			continue
		}
		t.say("undone: " + s.said)
	}
	t.done = nil
	return errors.Join(errs...)
}

// fileAt is how a file that's to be written stands.
type fileAt struct {
	UnitFile

	old    string
	there  bool
	edited bool
}

func (f fileAt) isSame() bool { return f.there && f.old == f.Text }

// lookAt reads what's at the files' paths.
func lookAt(files []UnitFile) ([]fileAt, error) {
	var all []fileAt
	for _, f := range files {
		s := fileAt{UnitFile: f}
		text, err := regular.Read(f.Path, maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("look at what's there: %w", err)
		default:
			s.old, s.there, s.edited = string(text), true, isEdited(string(text))
		}
		all = append(all, s)
	}
	return all, nil
}

// lookToWrite is lookAt of files that are to be written. ErrEdited: somebody has edited one, and replace is false.
func lookToWrite(files []UnitFile, replace bool) ([]fileAt, error) {
	states, err := lookAt(files)
	if err == nil && !replace {
		err = checkEdited(states)
	}
	return states, err
}

// checkEdited refuses files that somebody has edited.
func checkEdited(files []fileAt) error {
	for _, f := range files {
		if f.edited && !f.isSame() {
			return fmt.Errorf("%s isn't overwritten: %w. Keep changes beside it, where they survive (`systemctl edit` makes such a file), or give --replace: the edited one is then kept as %s", f.Path, ErrEdited, editedName(f.Path))
		}
	}
	return nil
}

// editedSuffix is behind the names of edited files that were replaced. No service manager reads such.
const editedSuffix = ".edited"

// editedName is the name under which an edited file is kept: one that none has that was kept before.
func editedName(path string) string {
	name := path + editedSuffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name // it's free, or whoever writes there is told why it can't be
		}
		name = path + editedSuffix + "-" + strconv.Itoa(n)
	}
}

// writeFiles writes those that aren't there as they should be. Changed reports whether there was one.
func (t *trail) writeFiles(files []fileAt) (changed bool, err error) {
	for _, f := range files {
		if f.isSame() {
			t.add("as it should be: "+f.Path, nil)
			continue
		}
		if f.edited {
			kept := editedName(f.Path)
			if err := writeFile(kept, f.old); err != nil {
				return changed, err
			}
			t.add("kept the edited one: "+kept, nil)
		}
		if err := t.makeFolders(filepath.Dir(f.Path)); err != nil {
			return changed, err
		}
		if err := writeFile(f.Path, f.Text); err != nil {
			return changed, err
		}
		changed = true
		t.add("wrote "+f.Path, func(context.Context) error {
			if f.there {
				return writeFile(f.Path, f.old)
			}
			return os.Remove(f.Path)
		})
	}
	return changed, nil
}

// makeFolders makes a folder and those above it that aren't there.
func (t *trail) makeFolders(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := t.makeFolders(filepath.Dir(dir)); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o755) //nolint:gosec // as service managers have them; a unit holds no secret
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make a folder for the service: %w", err)
	}
	t.add("made "+dir, func(context.Context) error { return os.Remove(dir) })
	return nil
}

// writeFile writes a file whole or not at all.
func writeFile(path, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".panebridge-*")
	if err != nil {
		return fmt.Errorf("write a service's file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
		}
	}()
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeFiles removes files, and keeps those that somebody has edited under another name. There reports whether one was.
func (t *trail) removeFiles(files []fileAt) (there bool, err error) {
	for _, f := range files {
		kept := ""
		switch {
		case !f.there:
			continue
		case f.edited:
			kept = editedName(f.Path)
			err = os.Rename(f.Path, kept)
		default:
			err = os.Remove(f.Path)
		}
		if err != nil {
			return there, fmt.Errorf("remove the service's files: %w", err)
		}
		there = true
		if f.edited {
			t.say("it was edited, and is kept: " + kept)
		} else {
			t.say("removed " + f.Path)
		}
	}
	return there, nil
}
