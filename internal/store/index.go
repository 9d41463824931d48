package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// ErrIndexCut means that a part of the index of the write-ahead log (the -shm file) was cut off. All that stands in
// it is in the log, too: the next write or look has it made anew.
var ErrIndexCut = fmt.Errorf("%w: a part of the database's -shm file was cut off; it's made anew within seconds", sessions.ErrUnavailable)

// indexSuffix is what the index' name has behind the database's.
const indexSuffix = "-shm"

// The shape of the index (sqlite.org/walformat.html, 2): blocks of 32 KB, the first with a header, each for some
// frames of the log.
const (
	indexBlockBytes  = 32 << 10
	firstBlockFrames = 4062
	blockFrames      = 4096
	indexHeaderBytes = 48 // it stands there twice
	indexFramesAt    = 16 // in the header: how many frames are committed
	indexSaltsAt     = 32
	indexWriteLock   = 120 // the byte that who writes has locked
)

// mendTries is how often it's tried.
const mendTries = 5

// indexWatch finds out when a part of the index is gone, and has it made anew. It's shared memory of all who have the
// database open: SQLite answers with an error where it meets what's gone, and nothing at all where the kernel has
// zeros for it. Then pages are missed that stand in the log, and what's written is based on older ones.
//
// The file is kept open: to close it would take the locks of this process on it with it.
type indexWatch struct{ file *os.File }

func openIndex(path string) (*indexWatch, error) {
	file, err := regular.OpenKept(path+indexSuffix, 0)
	return &indexWatch{file}, err
}

// indexState is what the index says of the log.
type indexState struct {
	frames uint32 // that are committed
	salts  [walSaltsBytes]byte
}

// committedSince reports whether something was: behind what was there, or in a log that was begun anew for it, which
// counts the first salt up.
func (is indexState) committedSince(begun indexState) bool {
	if is.salts == begun.salts {
		return is.frames > begun.frames
	}
	return binary.BigEndian.Uint32(is.salts[:]) == binary.BigEndian.Uint32(begun.salts[:])+1 && is.frames > 0
}

// check says what the index has; ErrIndexCut if it's shorter than that takes. It counts for who has begun a
// transaction.
func (x *indexWatch) check() (is indexState, err error) {
	var header [indexHeaderBytes]byte
	if _, err := x.file.ReadAt(header[:], 0); errors.Is(err, io.EOF) {
		return is, fmt.Errorf("%w: its header is gone", ErrIndexCut)
	} else if err != nil {
		return is, err
	}
	size, err := sizeOf(x.file)
	if err != nil {
		return is, err
	}
	is = indexState{binary.NativeEndian.Uint32(header[indexFramesAt:]), [walSaltsBytes]byte(header[indexSaltsAt:])}
	if least := indexBytes(int64(is.frames)); size < least {
		return is, fmt.Errorf("%w: it has %d bytes, and had at least %d", ErrIndexCut, size, least)
	}
	return is, nil
}

// isToBlame reports whether an error may come of an index that's cut, whatever it says.
func (x *indexWatch) isToBlame(err error) bool {
	_, cut := x.check()
	return errors.Is(cut, ErrIndexCut) || errors.Is(kindOf(err), ErrIndexCut)
}

// indexBytes is how long an index of so many frames is.
func indexBytes(frames int64) int64 {
	return indexBlockBytes * (1 + (max(0, frames-firstBlockFrames)+blockFrames-1)/blockFrames)
}

// mend has the index be made anew by who uses it next, if it's cut. It waits for who writes. walBytes is how long the
// log is. The caller has no transaction open.
func (x *indexWatch) mend(walBytes int64) error {
	unlock, err := lockWriters(x.file)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := x.check(); !errors.Is(err, ErrIndexCut) {
		return err
	}
	if err := x.file.Truncate(indexBytes(walBytes / (walFrameBytes + smallestPageSize))); err != nil {
		return err
	}
	_, err = x.file.WriteAt(make([]byte, 2*indexHeaderBytes), 0) // which says that there's none
	return err
}

// mendIndex has the index be made anew if it's cut, whatever a transaction has met because of that; false: it isn't cut,
// or can't be mended. The caller has no transaction open.
func (w *writeConn) mendIndex(met error) bool {
	_, err := w.index.check()
	if !errors.Is(err, ErrIndexCut) {
		return errors.Is(kindOf(met), ErrIndexCut) // another process has mended it
	}
	log, err := os.Lstat(w.wal.path)
	if err != nil {
		return false
	}
	return w.mend(func() error { return w.index.mend(log.Size()) }) == nil
}

// hasCommitted finds out what became of a transaction when the index was cut while it was committed: what the log has
// counts, and it may have had all of it already. begun is what the index said before.
func (w *writeConn) hasCommitted(ctx context.Context, begun indexState) bool {
	for range mendTries { // it may be cut again meanwhile
		_, _ = w.rollback.ExecContext(ctx) // fails where SQLite has rolled back already
		w.mendIndex(ErrIndexCut)
		if _, err := w.begin.ExecContext(ctx); err != nil {
			continue
		}
		is, err := w.index.check()
		if err == nil {
			_, _ = w.rollback.ExecContext(ctx)
			return is.committedSince(begun)
		}
	}
	return false
}

// mendIndex has mend make the index anew. What was read before has nothing to do with what's read from then on.
func (s *Store) mendIndex(mend func() error) error {
	read := *s.reader()
	next, err := read.renew(mend)
	if err != nil {
		return err
	}
	read.soundness, s.write.soundness = next, next
	s.read.Store(&read)
	return nil
}

func (x *indexWatch) close() error {
	if x == nil || x.file == nil {
		return nil
	}
	return x.file.Close()
}
