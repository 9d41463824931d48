package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/panebridge/panebridge/internal/regular"
)

// A database is a SQLite database of another program, which is never written to
// and never locked against it: in WAL mode, readers and a writer don't wait for
// one another. It's open only while it changes, so that the program can tidy up
// when it ends.
type database struct {
	path string
	db   *sql.DB
	seen [2]fileState // of the database and its log, before the last look
	when time.Time    // of the last look
}

// fileState tells whether a file has changed.
type fileState struct {
	size    int64
	changed time.Time
	info    fs.FileInfo // nil: it isn't there
}

func stateOf(path string) (fileState, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fileState{}, nil
	}
	if err != nil {
		return fileState{}, err
	}
	return fileState{info.Size(), info.ModTime(), info}, nil
}

func (s fileState) same(o fileState) bool {
	if s.info == nil || o.info == nil {
		return s.info == o.info
	}
	return s.size == o.size && s.changed.Equal(o.changed) && os.SameFile(s.info, o.info)
}

// settled is how old a change must be until its time tells it from the next one:
// more than the coarsest time stamp of a file system, 2 s.
const settled = 3 * time.Second

// openIfChanged opens the database if it may have changed since the last look; false if it
// hasn't, or isn't there.
func (d *database) openIfChanged(ctx context.Context) (bool, error) {
	file, err := stateOf(d.path)
	if err != nil {
		return false, err
	}
	log, err := stateOf(d.path + "-wal")
	if err != nil {
		return false, err
	}
	newest := file.changed
	if log.changed.After(newest) {
		newest = log.changed
	}
	if file.same(d.seen[0]) && log.same(d.seen[1]) && newest.Before(d.when.Add(-settled)) {
		return false, d.close()
	}
	if d.db != nil && (file.info == nil || d.seen[0].info == nil || !os.SameFile(file.info, d.seen[0].info)) {
		if err := d.close(); err != nil {
			return false, err
		}
	}
	d.seen, d.when = [2]fileState{file, log}, time.Now()
	if file.info == nil || file.size == 0 {
		return false, nil
	}
	return true, d.open(log.info != nil)
}

// expectChange makes the next look see a change.
func (d *database) expectChange() { d.seen = [2]fileState{} }

// open opens the database for reading. Without a log nobody has it open, and
// SQLite would make one unless it's told that the file doesn't change.
func (d *database) open(logged bool) error {
	if d.db != nil && logged {
		return nil
	}
	if err := d.close(); err != nil {
		return err
	}
	if err := ofFiles(d.path); err != nil {
		return err
	}
	options := "mode=ro&_pragma=busy_timeout(20)&_pragma=query_only(1)"
	if !logged {
		wal, err := keepsLog(d.path)
		if err != nil {
			return err
		}
		if wal {
			options += "&immutable=1"
		}
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: d.path}).EscapedPath()+"?"+options)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	d.db = db
	return nil
}

// ofFiles refuses a database that isn't made of files, of this user or root: SQLite would wait for who
// writes into a pipe.
func ofFiles(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(path + suffix); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("open %s: %w", path+suffix, regular.ErrIrregular)
		}
		if err := regular.CheckOwner(path + suffix); err != nil {
			return err
		}
	}
	return nil
}

// keepsLog says whether a database is in WAL mode, by its header.
func keepsLog(path string) (bool, error) {
	file, _, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var head [20]byte
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return false, fmt.Errorf("read its header: %w", err)
	}
	return head[18] == 2, nil // the "file format write version"
}

func (d *database) close() error {
	if d.db == nil {
		return nil
	}
	err := d.db.Close()
	d.db = nil
	return err
}
