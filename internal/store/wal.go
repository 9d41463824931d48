package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// ErrCut means that a part of the write-ahead log is gone, which other programs have cut off. What stood
// there is lost for whoever opens the database; the process that wrote it may still know it: see Rescue.
var ErrCut = fmt.Errorf("%w: a part of the database's write-ahead log was cut off", sessions.ErrUnavailable)

// The shape of a write-ahead log, in bytes (sqlite.org/fileformat2.html, 4.1).
const (
	walHeaderBytes   = 32
	walFrameBytes    = 24         // of a frame, before its page
	walMagic         = 0x377f0682 // or one more
	walSaltsAt       = 16         // in the header
	walFrameSaltsAt  = 8          // in a frame
	walPageSizeAt    = 8          // in the header
	walSaltsBytes    = 8
	smallestPageSize = 512
)

// walWatch knows how far a write-ahead log goes, to find out when a part of it is gone. SQLite doesn't: it
// goes on behind the gap, and whoever opens the database later reads up to that alone.
//
// To open the log beside SQLite is harmless: no locks are on it.
type walWatch struct {
	path string

	mu     sync.Mutex
	file   *os.File
	salts  [walSaltsBytes]byte // of the log as it was begun last; frames of another beginning have others
	page   int64               // size of a page in bytes
	frames int64               // that are known to be there
}

// check follows the log up to its end. ErrCut if frames that were there are gone, or if there's a gap before
// one. Nobody may write meanwhile: the caller holds SQLite's write lock. A log that's empty is one that was
// emptied or cut: passOverEmptied.
func (w *walWatch) check() error { return w.look(true) }

// suspect is check for who doesn't hold the lock: what it finds may be what somebody is writing.
func (w *walWatch) suspect() error { return w.look(false) }

func (w *walWatch) look(follow bool) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		if w.file, _, err = regular.Open(w.path); err != nil {
			if isGone(err) {
				return nil // files.check tells
			}
			return err
		}
	}
	size, err := sizeOf(w.file)
	if err != nil {
		return err
	}
	if size == 0 && w.frames == 0 {
		return nil
	}
	var header [walHeaderBytes]byte
	if err := w.readAt(header[:], 0); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(header[:])&^1 != walMagic {
		return fmt.Errorf("%w: its header is gone", ErrCut)
	}
	salts, page, frames := [walSaltsBytes]byte(header[walSaltsAt:]), int64(binary.BigEndian.Uint32(header[walPageSizeAt:])), w.frames
	if page < smallestPageSize {
		return fmt.Errorf("%w: its header is damaged", ErrCut)
	}
	if salts != w.salts { // it was begun anew, once all of it was in the database
		frames = 0
	}
	at := func(frame int64) int64 { return walHeaderBytes + frame*(walFrameBytes+page) } // where the one behind it begins
	if size < at(frames) {
		return fmt.Errorf("%w: it has %d bytes, and had %d", ErrCut, size, at(frames))
	}
	var frame [walFrameBytes]byte
	isOurs := func() bool { return bytes.Equal(frame[walFrameSaltsAt:walFrameSaltsAt+walSaltsBytes], salts[:]) }
	if frames > 0 {
		if err := w.readAt(frame[:], at(frames-1)); err != nil {
			return err
		}
		if !isOurs() {
			return fmt.Errorf("%w: frame %d is gone", ErrCut, frames)
		}
	}
	if !follow {
		return nil
	}
	for ; at(frames+1) <= size; frames++ {
		if err := w.readAt(frame[:], at(frames)); err != nil {
			return err
		}
		if frame == [walFrameBytes]byte{} { // nobody has written there, and somebody behind it
			return fmt.Errorf("%w: frame %d is gone", ErrCut, frames+1)
		}
		if !isOurs() {
			break // of an earlier beginning
		}
	}
	w.salts, w.page, w.frames = salts, page, frames
	return nil
}

// readAt fills into; ErrCut if the log ends before.
func (w *walWatch) readAt(into []byte, at int64) error {
	_, err := w.file.ReadAt(into, at)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends before byte %d", ErrCut, at+int64(len(into)))
	}
	return err
}

// forget begins anew, with a log that was emptied.
func (w *walWatch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = 0
}

// isEmpty reports whether the log has nothing in it, where it had.
func (w *walWatch) isEmpty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.frames == 0 {
		return false
	}
	size, err := sizeOf(w.file)
	return err == nil && size == 0
}

// sizeOf is how many bytes an open file has. It's asked for with each transaction: File.Stat would take memory.
func sizeOf(file *os.File) (int64, error) {
	var s unix.Stat_t
	err := unix.Fstat(int(file.Fd()), &s)
	return s.Size, err
}

func (w *walWatch) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

// beginWhole begins a transaction, and refuses with ErrCut if the write-ahead log isn't whole: what's written behind
// a gap is lost for whoever opens the database. What's cut off is noted for the next start, should there be one
// before it's written anew.
func (w *writeConn) beginWhole(ctx context.Context) error {
	w.wal.passOverEmptied(ctx, w.conn)
	_, begun := w.begin.ExecContext(ctx)
	var err error
	switch {
	case begun == nil:
		if _, err = w.index.check(); err == nil {
			err = w.wal.check()
		}
		if err != nil {
			_, _ = w.rollback.ExecContext(ctx)
		}
	case errors.Is(kindOf(begun), ErrDamaged): // its first page may be among what's gone
		err = w.wal.suspect()
	}
	if errors.Is(kindOf(errors.Join(begun, err)), ErrIndexCut) {
		return errors.Join(begun, err)
	}
	if !errors.Is(err, ErrCut) {
		return errors.Join(begun, err, w.recordCut(nil))
	}
	return errors.Join(err, w.recordCut(err))
}

// passOverEmptied goes on with a log that somebody has emptied as SQLite does, all of it being in the
// database. Outside of transactions, and cheap unless it's empty. One that was cut to nothing stays as it is:
// SQLite can copy nothing out of it.
func (w *walWatch) passOverEmptied(ctx context.Context, conn *sql.Conn) {
	if !w.isEmpty() {
		return
	}
	var busy bool
	var frames, done int64
	if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &done); err == nil && frames == done {
		w.forget()
	}
}
