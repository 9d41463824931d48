package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// Less free space than this is worth a word, and than this is too little: a log
// of 200,000 lines has about 20 MB.
const (
	lowBytes  = 500 << 20
	fullBytes = 20 << 20
)

// examineStateDir looks at the state folder, or, where it isn't there yet, at
// the folder it would be made in.
func examineStateDir(dir string) []finding {
	const name = "state folder"
	there, exists, err := existing(dir)
	if err != nil {
		return []finding{{name, verdictBroken, err.Error(), "Give another folder with --state-dir or PANEBRIDGE_STATE_DIR."}}
	}
	if exists {
		if err := statedir.Check(there); err != nil {
			return []finding{{name, verdictBroken, err.Error(), "`panebridge run` refuses it until that's so."}}
		}
	}
	if err := tryWriting(there); err != nil {
		return []finding{{name, verdictBroken, fmt.Sprintf("%s can't be written to: %v", there, err), "Make it this user's (chown), or give another with --state-dir or PANEBRIDGE_STATE_DIR."}}
	}
	all := []finding{{Check: name, State: verdictOK, Detail: dir + " can be written to"}}
	if !exists {
		all[0].Detail = dir + " isn't there yet, and can be made"
	} else if open(there) {
		all[0] = finding{name, verdictWarning, "other users can look into " + dir, "chmod 700 " + dir}
	}
	return append(all, examineDisk(there))
}

// existing returns the folder, or the nearest above it that exists.
func existing(dir string) (there string, exists bool, err error) {
	for there = dir; ; there = filepath.Dir(there) {
		info, err := os.Stat(there)
		switch {
		case err == nil && !info.IsDir():
			return there, false, fmt.Errorf("%s is a file, not a folder", there)
		case err == nil:
			return there, there == dir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return there, false, fmt.Errorf("look at the state folder: %w", err)
		case there == filepath.Dir(there):
			return there, false, fmt.Errorf("look at the state folder: %w", err)
		}
	}
}

// tryWriting makes a file and removes it: rights alone don't tell of a file
// system that's mounted read-only or full.
func tryWriting(dir string) error {
	f, err := os.CreateTemp(dir, ".panebridge-doctor-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func open(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

func examineDisk(dir string) finding {
	const name = "disk"
	freeBytes, err := store.Room(dir)
	if err != nil {
		return finding{name, verdictWarning, fmt.Sprintf("how full it is can't be told: %v", err), "Look with `df`."}
	}
	f := finding{Check: name, State: verdictOK, Detail: fmt.Sprintf("%d MB free", freeBytes>>20)}
	switch {
	case freeBytes < fullBytes:
		f.State, f.Fix = verdictBroken, "Make room on the disk of "+dir+": without it output isn't stored."
	case freeBytes < lowBytes:
		f.State, f.Fix = verdictWarning, "Make room on the disk of "+dir+", or lower sessions.log_max_lines."
	}
	return f
}
