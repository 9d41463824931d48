package inbound

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// staleAfter is how old a part of a file is whose rest nobody sends any more.
const staleAfter = 24 * time.Hour

// Uploads takes files for sessions that come in parts, by the page, into the folders that files from chats
// go into. Its methods are called by many requests at once.
type Uploads struct {
	StateDir string
	MaxFile  int64 // bytes; less than 0: none is taken

	writing sync.Mutex // held while a part is written: two requests may send the same
}

// UploadPart is a part of a file.
type UploadPart struct {
	Key    string // of who sends it, and of this upload: a file's name depends on it
	Name   string // as the sender's device has it
	Size   int64  // of the whole file
	Offset int64  // where in the file the part begins
	Bytes  []byte
}

// TakePart writes a part. Parts come in their order; one that's there already changes nothing. With the last
// the file gets its name, and its path is returned as it's typed. Errors wrap those of package sessions where
// the sender can do something about them.
func (u *Uploads) TakePart(to sessions.Session, p UploadPart) (path string, err error) {
	switch {
	case u.MaxFile < 0:
		return "", fmt.Errorf("%w file: none is taken here; max_file_mb in the configuration says so", sessions.ErrInvalid)
	case p.Size > u.MaxFile:
		return "", fmt.Errorf("%w file: it's too large: at most %d MB are taken", sessions.ErrInvalid, u.MaxFile>>20)
	case p.Size <= 0 || len(p.Bytes) == 0 || p.Offset < 0 || p.Offset+int64(len(p.Bytes)) > p.Size:
		return "", fmt.Errorf("%w file: it's empty, or its part is none of it", sessions.ErrInvalid)
	case to.State == sessions.StateEnded:
		return "", fmt.Errorf("save a file for %s: %w", to.Name, sessions.ErrEnded)
	}
	u.writing.Lock()
	defer u.writing.Unlock()
	folder, place, err := openFilesFolder(u.StateDir, to)
	if err != nil {
		return "", fmt.Errorf("%w: there's no folder that files can be saved in: %w", sessions.ErrUnavailable, err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	name := fileName(p.Key, 0, intake.Attachment{Name: p.Name})
	whole, err := takePart(folder, name, p)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "", fmt.Errorf("%w: the disk of the session's folder or its quota is full", sessions.ErrUnavailable)
	case err != nil:
		return "", err
	case !whole:
		return "", nil
	}
	return quotedPath(filepath.Join(place, name)), nil
}

// takePart writes a part of a file into a folder, and says whether the file is whole.
func takePart(folder *os.Root, name string, p UploadPart) (whole bool, err error) {
	end := p.Offset + int64(len(p.Bytes))
	if info, err := folder.Lstat(name); err == nil {
		if !info.Mode().IsRegular() || info.Size() != p.Size {
			return false, fmt.Errorf("%w: something else has the name %s", sessions.ErrConflict, name)
		}
		return end == p.Size, removePart(folder, name) // its answer was lost
	}
	part := partName(name)
	flags := os.O_WRONLY | os.O_APPEND | syscall.O_NONBLOCK
	if p.Offset == 0 {
		removeStale(folder)
		if err := removePart(folder, name); err != nil {
			return false, unsaved(err)
		}
		flags |= os.O_CREATE | os.O_EXCL
	} else if there, err := folder.Lstat(part); err != nil || !there.Mode().IsRegular() || there.Size() < p.Offset {
		return false, fmt.Errorf("%w: what comes before this part isn't there; send the file again", sessions.ErrConflict)
	} else if there.Size() >= end {
		return false, nil // its answer was lost; the last part's is above
	} else if there.Size() > p.Offset {
		return false, fmt.Errorf("%w: half of this part is there; send the file again", sessions.ErrConflict)
	}
	w, err := folder.OpenFile(part, flags, 0o600)
	if err != nil {
		return false, unsaved(err)
	}
	_, err = w.Write(p.Bytes)
	if err = errors.Join(err, w.Close()); err != nil {
		return false, unsaved(errors.Join(err, removePart(folder, name)))
	}
	if end < p.Size {
		return false, nil
	}
	if err := folder.Link(part, name); err != nil { // which replaces nothing
		return false, unsaved(err)
	}
	return true, unsaved(folder.Remove(part))
}

// removeStale removes parts whose rest nobody sends any more. What can't be removed stays.
func removeStale(folder *os.Root) {
	all, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return
	}
	for _, entry := range all {
		if info, err := entry.Info(); err == nil && strings.HasPrefix(entry.Name(), partName("")) && time.Since(info.ModTime()) > staleAfter {
			_ = folder.Remove(entry.Name())
		}
	}
}
