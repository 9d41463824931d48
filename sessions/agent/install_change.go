package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/panebridge/panebridge/internal/regular"
)

// backupSuffix ends the name of the copy of a file as it was before an install.
const backupSuffix = ".before-panebridge"

// InstallChange is what an install or a removal would do to one file.
type InstallChange struct {
	Path    string // as the agent names it; it may be a link
	Before  []byte // nil: there's no file
	After   []byte // nil: there'll be none
	Backup  string // the file that will have Before; "" if none is made
	install bool
	backup  []byte // of an earlier install, nil if there's none
}

// Nothing reports whether there's nothing to do.
func (c InstallChange) Nothing() bool {
	return (c.Before == nil) == (c.After == nil) && bytes.Equal(c.Before, c.After)
}

// Plan says what an install would do; it changes nothing. An error that wraps ErrFile
// says where the user's file is broken.
func (i Install) Plan() (InstallChange, error) {
	c, err := i.read()
	if err != nil {
		return c, err
	}
	out, found, err := i.file().install(c.Before)
	if err != nil {
		return c, fmt.Errorf("read %s: %w", c.Path, err)
	}
	c.After, c.install = out, true
	if c.Before != nil && !found && !c.Nothing() {
		c.Backup = c.Path + backupSuffix
	}
	return c, nil
}

// PlanRemove says what a removal would do; it changes nothing.
func (i Install) PlanRemove() (InstallChange, error) {
	c, err := i.read()
	if err != nil {
		return c, err
	}
	c.After = c.Before
	if c.Before == nil {
		return c, nil
	}
	out, found, err := i.file().remove(c.Before, c.backup)
	if err != nil {
		return c, fmt.Errorf("read %s: %w", c.Path, err)
	}
	if !found {
		return c, nil
	}
	c.After = out
	if c.backup == nil {
		if empty, err := parseSettings(out); err == nil && len(bytes.TrimSpace(out)) == 2 && empty.root.len() == 0 {
			c.After = nil // an install made the file
		}
	} else if again, _, err := i.file().install(c.backup); err == nil && bytes.Equal(again, c.Before) {
		c.After = c.backup // nobody touched it since
	}
	return c, nil
}

// Status says how things stand. With HooksBroken the error says where the file is broken.
func (i Install) Status() (InstallStatus, error) {
	c, err := i.read()
	if err != nil {
		return HooksBroken, err
	}
	out, found, err := i.file().install(c.Before)
	switch {
	case err != nil:
		return HooksBroken, fmt.Errorf("read %s: %w", c.Path, err)
	case !found:
		return HooksNotInstalled, nil
	case !bytes.Equal(out, c.Before):
		return HooksOutdated, nil
	}
	return HooksInstalled, nil
}

// read reads the file and the copy of it from before an install.
func (i Install) read() (InstallChange, error) {
	path, err := i.Path()
	if err != nil {
		return InstallChange{}, err
	}
	c := InstallChange{Path: path}
	if c.Before, err = readIfThere(path); err != nil {
		return c, err
	}
	c.backup, err = readIfThere(path + backupSuffix)
	return c, err
}

// maxSettings is the size in bytes of the largest settings of an agent that are read: more than anybody has.
const maxSettings = 16 << 20

// readIfThere returns nil without error if there's no file.
func readIfThere(path string) ([]byte, error) {
	text, err := regular.Read(path, maxSettings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the agent's hooks: %w", err)
	case text == nil:
		text = []byte{}
	}
	return text, nil
}

// Apply makes the change: all of it or, with an error, nothing of it. A link stays a
// link, and a file keeps its mode.
func (c InstallChange) Apply() error {
	if c.Nothing() {
		return nil
	}
	now, err := readIfThere(c.Path)
	if err != nil {
		return err
	}
	if (now == nil) != (c.Before == nil) || !bytes.Equal(now, c.Before) {
		return fmt.Errorf("change %s: somebody else has just changed it: try again", c.Path)
	}
	target, mode, err := linkTarget(c.Path)
	if err != nil {
		return err
	}
	if c.Backup != "" {
		if err := replaceFile(c.Backup, c.Before, mode); err != nil {
			return err
		}
	}
	if c.After == nil {
		err = os.Remove(target)
	} else {
		err = replaceFile(target, c.After, mode)
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", c.Path, err)
	}
	return c.dropBackup()
}

// dropBackup removes a copy that has nothing more to tell: the file is as it was, or
// wasn't there before the install.
func (c InstallChange) dropBackup() error {
	stale := c.install && c.Before == nil || !c.install && bytes.Equal(c.After, c.backup)
	if c.backup == nil || !stale {
		return nil
	}
	if err := os.Remove(c.Path + backupSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the old copy: %w", err)
	}
	return nil
}

// maxLinks bounds a chain of links.
const maxLinks = 40

// linkTarget follows links to the file that's to be written, which needn't exist, and
// returns its mode.
func linkTarget(path string) (target string, mode fs.FileMode, err error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, 0o600, nil // it may have keys one day
		case err != nil:
			return "", 0, fmt.Errorf("look at the agent's hooks: %w", err)
		case info.Mode()&fs.ModeSymlink == 0:
			return path, info.Mode().Perm(), nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", 0, fmt.Errorf("follow a link: %w", err)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", 0, fmt.Errorf("follow the link %s: there are too many", path)
}

// replaceFile puts a file in the place of another in one step.
func replaceFile(path string, text []byte, mode fs.FileMode) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as the agents make it
		return fmt.Errorf("make the folder: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".panebridge-*")
	if err != nil {
		return fmt.Errorf("make a file beside it: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write beside it: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("put it in place: %w", err)
	}
	return nil
}
