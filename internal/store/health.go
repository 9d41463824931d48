package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions"
)

// What Health finds besides ErrFull, ErrLocked, ErrDamaged and ErrReadOnly; find them with
// errors.Is.
var (
	// ErrMissing: the file was deleted. What it held is still there as long as the process lives.
	ErrMissing = fmt.Errorf("%w: the database's file was deleted", sessions.ErrUnavailable)
	// ErrReplaced: another file has its name.
	ErrReplaced = fmt.Errorf("%w: another file has taken the database's name", sessions.ErrUnavailable)
	// ErrLittleRoom: it can be written to, but the disk is nearly full.
	ErrLittleRoom = fmt.Errorf("%w: the disk is nearly full", sessions.ErrUnavailable)
)

// littleRoom is the free space, in bytes, below which a disk counts as nearly full: an hour of what a
// very busy daemon writes.
const littleRoom = 64 << 20

// probeBytes is how much is written to see whether it can be.
const probeBytes = 256 << 10

// walSuffix is what the write-ahead log's name has behind the database's.
const walSuffix = "-wal"

// files are the database's as they were opened.
type files struct {
	mu  sync.Mutex
	all map[string]os.FileInfo // by their path
}

// remember takes in which files have the names of the database and its write-ahead log now. One that
// has gone already is found missing by the next check.
func (f *files) remember(path string) error {
	all := map[string]os.FileInfo{}
	for _, one := range []string{path, path + walSuffix} {
		info, err := os.Lstat(one)
		if err != nil && !isGone(err) {
			return err
		}
		all[one] = info
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = all
	return nil
}

// check reports whether they have these names still.
func (f *files) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var missing error
	for path, was := range f.all {
		now, err := os.Lstat(path)
		switch {
		case isGone(err):
			missing = fmt.Errorf("%w: %s", ErrMissing, path)
		case err != nil:
			return err
		case was != nil && os.SameFile(was, now):
		case strings.HasSuffix(path, walSuffix): // somebody has opened the database without it
			missing = fmt.Errorf("%w: %s", ErrMissing, path)
		default:
			return fmt.Errorf("%w: %s", ErrReplaced, path)
		}
	}
	return missing
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

// isTorn reports whether a database is there and used, and its write-ahead log isn't: who opened it
// now would begin another log beside the one that's written to.
func isTorn(path string) bool {
	_, db := os.Lstat(path)
	_, used := os.Lstat(path + "-shm")
	_, wal := os.Lstat(path + walSuffix)
	return db == nil && used == nil && isGone(wal)
}

// Health says what's wrong with the store; nil: what's written is safe. It looks at the file's name,
// at the room beside it, at what Check found last, and writes a row if the last write has failed. It
// blocks for as long as that takes, 5 s where another process holds the database.
func (s *Store) Health(ctx context.Context) error {
	if err := s.files.check(); err != nil {
		return err
	}
	if err := cut(ctx, s.path); err != nil {
		return s.explain("look at the store", err)
	}
	if s.write.failed.Load() {
		if err := s.probe(ctx); err != nil {
			return err
		}
	}
	if found := s.checked.Load(); found != nil && *found != nil {
		return *found
	}
	free, err := Room(s.path)
	if err != nil {
		return fmt.Errorf("ask for the room beside %s: %w", s.path, err)
	}
	if free < littleRoom {
		return fmt.Errorf("%w: %d MB are free beside %s; free some", ErrLittleRoom, free>>20, s.path)
	}
	return nil
}

// errCut says that a part of the file is gone.
var errCut = errors.New("its file is shorter than it was written")

// cut says whether a database's file is shorter than its header says
// (sqlite.org/fileformat2.html#in_header_database_size). Whoever brings the write-ahead log in
// writes that first, so it counts only if it stays so.
func cut(ctx context.Context, path string) error {
	for try := range 3 {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
		short, err := isShort(path)
		if err != nil || !short {
			return err
		}
	}
	return errCut
}

func isShort(path string) (bool, error) {
	f, err := os.Open(path)
	if isGone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	var header [32]byte
	if _, err := f.ReadAt(header[:], 0); errors.Is(err, io.EOF) {
		return true, nil // it was opened, so there was one
	} else if err != nil {
		return false, err
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536
	}
	return info.Size() < page*int64(binary.BigEndian.Uint32(header[28:])), nil
}

// unsound is what's known of the database's damage; nil: none is. What's written from then on may
// be lost at the next start, so nobody is told that something new is stored.
func (s *Store) unsound() error {
	if found := s.checked.Load(); found != nil && *found != nil {
		return *found
	}
	return nil
}

// Failing reports whether the last write failed, and nothing about it was to blame. It's known at
// once; Health finds out why.
func (s *Store) Failing() bool { return s.write.failed.Load() }

// Room is how many bytes this user may still write to the disk of a file or a folder.
func Room(path string) (free uint64, err error) {
	var s unix.Statfs_t
	err = unix.Statfs(path, &s)
	return uint64(s.Bavail) * uint64(s.Bsize), err //nolint:unconvert // the fields' types differ between systems
}

// probe writes as much as a busy session does at once, and takes it back.
func (s *Store) probe(ctx context.Context) error {
	notes := s.Notes("store")
	if err := notes.PutNote(ctx, "probe", strings.Repeat(".", probeBytes)); err != nil {
		return err
	}
	return notes.PutNote(ctx, "probe", "")
}

// Check reads all of the database and says whether it's sound; ErrDamaged if it isn't. A gigabyte
// takes some seconds, in which nobody has to wait for it. Health goes on saying what it found.
func (s *Store) Check(ctx context.Context) error {
	found := Examine(ctx, s.path)
	if found == nil || errors.Is(found, ErrDamaged) {
		s.checked.Store(&found)
	}
	if errors.Is(found, ErrDamaged) {
		return errors.Join(found, noteUnsound(s.path, found))
	}
	return found
}
