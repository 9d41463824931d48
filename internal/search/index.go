package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// File is the index' name in the state folder.
const File = "search.db"

// version is of the tables' shape and of how words are cut: an index of another is made anew.
const version = 1

// tableLines is how many lines one table holds.
const tableLines = 1 << 16

// wordTable is one table of the index.
type wordTable struct {
	id          int64
	session     sessions.ID
	first, last int64     // numbers of lines
	newest      time.Time // of theirs
	lastAt      time.Time // of the last
}

func (p wordTable) name() string { return fmt.Sprintf("words_%d", p.id) }

// Index is the words of all sessions' lines. Its methods may be called by several goroutines.
type Index struct {
	path   string
	maxLen int64 // lines of one table

	writing sync.Mutex   // held while something is written, and taken before the others
	files   sync.RWMutex // held to write while the files are made anew, else to read
	write   *sql.DB      // one connection
	read    *sql.DB
	isShut  bool          // the files couldn't be made anew
	damaged chan struct{} // a search has met damage

	mu     sync.RWMutex
	tables map[sessions.ID][]wordTable // in the order of their lines
}

// OpenIndex opens the index at path, or makes it. One that can't be read, or is of another version, is made anew.
func OpenIndex(ctx context.Context, path string) (*Index, error) {
	x := &Index{path: path, maxLen: tableLines, damaged: make(chan struct{}, 1)}
	err := x.open(ctx)
	if err != nil {
		if err = x.remove(); err == nil {
			err = x.open(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the index for searches %s: %w", path, err)
	}
	return x, nil
}

var errVersion = errors.New("it's of another version")

func (x *Index) open(ctx context.Context) (err error) {
	for _, path := range x.filePaths() {
		if err := checkFile(path); err != nil {
			return err
		}
	}
	f, err := regular.OpenKept(x.path, os.O_CREATE) // SQLite would let the umask decide who may read it
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	// What's deleted is overwritten. After a power failure the index may be behind, or is made anew.
	pragmas := []string{"busy_timeout(5000)", "secure_delete(1)", "journal_mode(WAL)", "synchronous(NORMAL)"}
	if x.write, err = openSQL(x.path, 1, pragmas...); err != nil {
		return err
	}
	if x.read, err = openSQL(x.path, 2, "busy_timeout(5000)", "query_only(1)"); err == nil {
		err = x.prepare(ctx)
	}
	if err != nil {
		err = errors.Join(err, x.closeFiles())
	}
	return err
}

func openSQL(path string, connections int, pragmas ...string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// prepare makes the tables of an index that's new, and reads which tables there are.
func (x *Index) prepare(ctx context.Context) error {
	var have int
	if err := x.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	switch have {
	case version:
	case 0:
		const listing = `CREATE TABLE word_tables (id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, newest_at INTEGER NOT NULL, last_at INTEGER NOT NULL) STRICT`
		if _, err := x.write.ExecContext(ctx, fmt.Sprintf("BEGIN; %s; PRAGMA user_version = %d; COMMIT", listing, version)); err != nil {
			return err
		}
	default:
		return errVersion
	}
	return x.readTables(ctx)
}

func (x *Index) readTables(ctx context.Context) (err error) {
	rows, err := x.write.QueryContext(ctx, "SELECT id, session, first, last, newest_at, last_at FROM word_tables ORDER BY session, first")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	tables := map[sessions.ID][]wordTable{}
	for rows.Next() {
		var p wordTable
		var newest, last int64
		if err := rows.Scan(&p.id, &p.session, &p.first, &p.last, &newest, &last); err != nil {
			return err
		}
		p.newest, p.lastAt = fromNanos(newest), fromNanos(last)
		tables[p.session] = append(tables[p.session], p)
	}
	x.mu.Lock()
	x.tables = tables
	x.mu.Unlock()
	return rows.Err()
}

// Close closes the index. It waits for who searches.
func (x *Index) Close() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.files.Lock()
	defer x.files.Unlock()
	return x.closeFiles()
}

// makeAnew has an empty index take the place of one that's damaged. x.writing is held.
func (x *Index) makeAnew(ctx context.Context) error {
	x.files.Lock()
	defer x.files.Unlock()
	_ = x.closeFiles() // nothing of them is kept
	x.isShut = true
	err := x.remove()
	if err == nil {
		err = x.open(ctx)
	}
	if x.isShut = err != nil; x.isShut {
		return fmt.Errorf("make the index for searches anew: %w", err)
	}
	return nil
}

// check returns an error if a part of the index' files can't be read as what it is. It reads all of them.
func (x *Index) check(ctx context.Context) error {
	x.files.RLock()
	defer x.files.RUnlock()
	var found string
	if err := x.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, found)
	}
	return nil
}

var errDamaged = errors.New("it's damaged")

// isDamaged reports whether an error says that the index' files can't be read.
func isDamaged(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, errDamaged) || errors.As(err, &e) && slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}, e.Code()&0xff)
}

func (x *Index) closeFiles() error {
	var errs []error
	for _, db := range []*sql.DB{x.read, x.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// remove removes the index' files.
func (x *Index) remove() error {
	var errs []error
	for _, path := range x.filePaths() {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (x *Index) filePaths() []string {
	return []string{x.path, x.path + "-wal", x.path + "-shm", x.path + "-journal"}
}

// checkFile refuses what isn't a file of this user's alone, such as a pipe, which SQLite would wait for. It may be missing.
func checkFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file", path)
	}
	return regular.CheckOwn(path, info)
}

// Last is the newest line of a session that's indexed, and when it came; 0: none is.
func (x *Index) Last(id sessions.ID) (n int64, at time.Time) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if tables := x.tables[id]; len(tables) > 0 {
		p := tables[len(tables)-1]
		return p.last, p.lastAt
	}
	return 0, time.Time{}
}

// nanos is a time as it's stored; 0: there's none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// Sessions are those of which lines are indexed.
func (x *Index) Sessions() []sessions.ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ids := make([]sessions.ID, 0, len(x.tables))
	for id := range x.tables {
		ids = append(ids, id)
	}
	return ids
}

// newestFirst are the tables of some sessions, or of all if there's none named, in the order of their newest lines.
func (x *Index) newestFirst(ids []sessions.ID) []wordTable {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var all []wordTable
	if len(ids) == 0 {
		for _, tables := range x.tables {
			all = append(all, tables...)
		}
	}
	for _, id := range ids {
		all = append(all, x.tables[id]...)
	}
	slices.SortFunc(all, func(a, b wordTable) int { return b.newest.Compare(a.newest) })
	return all
}

// change writes in one transaction, and then has the tables of a session be as fn returned them.
func (x *Index) change(ctx context.Context, id sessions.ID, fn func(tx *sql.Tx, tables []wordTable) ([]wordTable, error)) error {
	x.mu.RLock()
	tables := slices.Clone(x.tables[id])
	x.mu.RUnlock()
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	tables, err = fn(tx, tables)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tables[id] = tables
	if len(tables) == 0 {
		delete(x.tables, id)
	}
	return nil
}

// add indexes lines of a session, which are in order and newer than Last. x.writing is held.
func (x *Index) add(ctx context.Context, id sessions.ID, lines []sessions.Line) error {
	return x.change(ctx, id, func(tx *sql.Tx, tables []wordTable) ([]wordTable, error) {
		for len(lines) > 0 {
			if n := len(tables); n == 0 || lines[0].N >= tables[n-1].first+x.maxLen {
				p, err := makeTable(ctx, tx, id, lines[0].N)
				if err != nil {
					return nil, err
				}
				tables = append(tables, p)
			}
			p := &tables[len(tables)-1]
			n, err := p.add(ctx, tx, lines, p.first+x.maxLen)
			if err != nil {
				return nil, err
			}
			lines = lines[n:]
		}
		return tables, nil
	})
}

func makeTable(ctx context.Context, tx *sql.Tx, id sessions.ID, first int64) (wordTable, error) {
	res, err := tx.ExecContext(ctx, "INSERT INTO word_tables (session, first, last, newest_at, last_at) VALUES (?, ?, 0, 0, 0)", string(id), first)
	if err != nil {
		return wordTable{}, err
	}
	p := wordTable{session: id, first: first}
	if p.id, err = res.LastInsertId(); err != nil {
		return wordTable{}, err
	}
	_, err = tx.ExecContext(ctx, "CREATE VIRTUAL TABLE "+p.name()+" USING fts5 (words, content = '', detail = none, columnsize = 0, tokenize = 'ascii')")
	return p, err
}

// add adds lines whose numbers are below a bound. It returns how many.
func (p *wordTable) add(ctx context.Context, tx *sql.Tx, lines []sessions.Line, below int64) (n int, err error) {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+p.name()+" (rowid, words) VALUES (?, ?)") //nolint:gosec // a number is in the name
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	var words []string
	for _, l := range lines {
		if l.N >= below {
			break
		}
		words = appendWords(words[:0], l.Text)
		if _, err := insert.ExecContext(ctx, l.N, strings.Join(words, " ")); err != nil {
			return 0, err
		}
		p.last, p.lastAt = l.N, l.At
		if l.At.After(p.newest) {
			p.newest = l.At
		}
		n++
	}
	_, err = tx.ExecContext(ctx, "UPDATE word_tables SET last = ?, newest_at = ?, last_at = ? WHERE id = ?", p.last, nanos(p.newest), nanos(p.lastAt), p.id)
	return n, err
}

// drop forgets the tables of a session whose lines are all older than oldest. x.writing is held.
func (x *Index) drop(ctx context.Context, id sessions.ID, oldest int64) error {
	x.mu.RLock()
	hasOld := slices.ContainsFunc(x.tables[id], func(p wordTable) bool { return p.last < oldest })
	x.mu.RUnlock()
	if !hasOld {
		return nil
	}
	return x.change(ctx, id, func(tx *sql.Tx, tables []wordTable) (left []wordTable, err error) {
		for _, p := range tables {
			if p.last >= oldest {
				left = append(left, p)
				continue
			}
			if _, err := tx.ExecContext(ctx, "DROP TABLE "+p.name()); err != nil {
				return nil, err
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM word_tables WHERE id = ?", p.id); err != nil {
				return nil, err
			}
		}
		return left, nil
	})
}

// Forget forgets a session. Copies of its words may be in the index' files until Erase is done.
func (x *Index) Forget(ctx context.Context, id sessions.ID) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	if err := x.drop(ctx, id, math.MaxInt64); err != nil {
		return fmt.Errorf("forget %s in the index for searches: %w", id, err)
	}
	return nil
}

// Erase has nothing be left in the index' files of what was forgotten. The error is sessions.ErrUnavailable while somebody
// searches.
func (x *Index) Erase(ctx context.Context) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	var busy, frames, moved int
	if err := x.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return fmt.Errorf("erase what the index for searches has forgotten: %w", err)
	}
	if busy != 0 {
		return fmt.Errorf("%w: somebody is searching; what the index has forgotten is erased later", sessions.ErrUnavailable)
	}
	return nil
}
