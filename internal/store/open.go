package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

var (
	_ sessions.Store = (*Store)(nil)
	_ polling.Log    = (*Store)(nil)
)

// DefaultLogMaxLines bounds a session's log unless Options say otherwise.
const DefaultLogMaxLines = 200_000

// Options of a store.
type Options struct {
	LogMaxLines int64        // lines kept per session, oldest dropped first; ≤ 0: DefaultLogMaxLines
	Logger      *slog.Logger // nil: silent
	Version     string       // of this program, which an older one names when it refuses the database; "": it stays as it is
}

// Store is an open database. Its methods may be called at the same time.
type Store struct {
	path     string
	maxLines atomic.Int64
	write    *writeConn
	read     atomic.Pointer[readPool] // nil: it isn't open yet
	files    fileWatch
	kept     atomic.Pointer[string] // the file that's written to where another has the name; nil: path is
}

// Open opens the database at path, makes it if there is none, and brings its
// schema up to date. The folder must exist. The file is readable by its owner
// only.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{path: path}
	s.SetLogMaxLines(o.LogMaxLines)
	if err := s.open(ctx, o.Logger); err != nil {
		return nil, errors.Join(explain("open store "+path, path, err), s.Close())
	}
	_ = s.noteWriter(ctx, o.Version) // it's only said to people; that a disk is full, say, is told by Health
	return s, nil
}

func (s *Store) open(ctx context.Context, log *slog.Logger) (err error) {
	for _, prepare := range []func(path string) error{FinishRewrite, beginFirst, makePrivate} {
		if err := prepare(s.path); err != nil { // a refused file stays as it was
			return err
		}
	}
	// The writer first: it makes the schema that the reader's statements need.
	if s.write, err = openWriter(ctx, s.path, log); err != nil {
		return err
	}
	read, err := openReader(ctx, s.write.soundness)
	if err != nil {
		return err
	}
	s.read.Store(read)
	s.write.mend = s.mendIndex
	return errors.Join(s.files.remember(s.path), endFirst(s.path))
}

// reader reads from the file as it is now: see Rescue.
func (s *Store) reader() *readPool { return s.read.Load() }

// Close waits for the writes that have been asked for, refuses new ones and
// closes the file. It may be called twice.
func (s *Store) Close() error {
	return errors.Join(s.reader().close(), s.write.close())
}

// HurryUp has writes wait for another process' lock no longer than half a second from now on: for the end of a
// daemon, of which somebody waits that it's over.
func (s *Store) HurryUp() { s.write.hurry.Store(true) }

// SetLogMaxLines changes the bound of every session's log; n ≤ 0 means
// DefaultLogMaxLines. A log that is longer shrinks as it's appended to.
func (s *Store) SetLogMaxLines(n int64) {
	if n <= 0 {
		n = DefaultLogMaxLines
	}
	s.maxLines.Store(n)
}

// makePrivate sees to a file of mode 0600; SQLite gives its -wal and -shm the
// same. An existing file isn't opened: closing it again would release the locks
// that another connection of this process has on it (POSIX locks belong to the
// process).
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, fs.ErrExist) {
		return os.Chmod(path, 0o600)
	}
	return err
}

// busyTimeout is how long a connection waits for another's lock: longer than any transaction of ours,
// and of the command line's.
const busyTimeout = 5 * time.Second

// hurriedTimeout is the same behind HurryUp.
const hurriedTimeout = 500 * time.Millisecond

// incremental is the auto_vacuum by which free pages are given back when that's asked for.
const incremental = 2

// writes are what a connection needs that writes. What's deleted is overwritten, and its room can be
// given back; the latter counts for a new database alone.
var writes = []string{fmt.Sprintf("auto_vacuum(%d)", incremental), "secure_delete(1)", "journal_mode(WAL)"} //nolint:gochecknoglobals // a constant table

// dsn names the database with what every connection needs.
func dsn(path string, pragmas ...string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	u := url.URL{Scheme: "file", Path: path}
	// busy_timeout first: the others may have to wait already.
	wait := fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())
	u.RawQuery = url.Values{"_pragma": append([]string{wait, "foreign_keys(1)"}, pragmas...)}.Encode()
	return u.String(), nil
}
