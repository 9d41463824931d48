package search

import (
	"cmp"
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
const version = 4

// tableLines is how many lines of a session a table of its own holds.
const tableLines = 1 << 16

// block are lines of a session that stand in one table, in their order and without holes.
type block struct {
	id          int64
	table       int64 // its number
	isMerged    bool  // others stand in the same table, which isn't added to
	session     sessions.ID
	first, last int64     // numbers of lines
	shift       int64     // the number of a line's row is that of the line and shift
	newest      time.Time // of its lines
	lastAt      time.Time // of the last line
}

func (b block) lines() int64 { return b.last - b.first + 1 }

func tableName(number int64) string { return fmt.Sprintf("words_%d", number) }

// Index is the words of all sessions' lines. Its methods may be called by several goroutines.
type Index struct {
	path      string
	log       Log   // of what's indexed
	maxLen    int64 // lines of one table
	mostSmall int
	fewRows   int
	tailLines int

	masks   string       // by which rules log masks secrets; it's written to the index when that's made
	writing sync.Mutex   // held while something is written, and taken before the others
	files   sync.RWMutex // held to write while the files are made anew, else to read
	write   *sql.DB      // one connection
	read    *sql.DB
	readers readers
	isShut  bool          // the files couldn't be made anew
	damaged chan struct{} // a search has met damage

	mu     sync.RWMutex            // also held to write while a change is committed: who reads both sees both before or after it
	blocks map[sessions.ID][]block // in the order of their lines
}

// OpenIndex opens the index at path of the lines in log, or makes it. What log masks can't be found by its words: of an index
// with secrets, how long a search takes would tell who may not see them whether a line has what they guess. One that can't be read, or is of another version, is made
// anew.
func OpenIndex(ctx context.Context, path string, log Log) (*Index, error) {
	x := &Index{path: path, log: log, maxLen: tableLines, mostSmall: mostSmall, fewRows: fewRows, tailLines: tailLines, damaged: make(chan struct{}, 1)}
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
	for _, path := range FileNames(x.path) {
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
	if x.read, err = openSQL(x.path, readConns+1, "busy_timeout(5000)", "query_only(1)"); err == nil { // one to check it
		err = x.prepare(ctx)
	}
	if err == nil {
		x.readers, err = openReaders(ctx, x.read)
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

// prepare makes the list of blocks of an index that's new, and reads it.
func (x *Index) prepare(ctx context.Context) error {
	var have int
	if err := x.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	switch have {
	case version:
	case 0:
		const list = `CREATE TABLE blocks (id INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL, is_merged INTEGER NOT NULL, session TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, shift INTEGER NOT NULL, newest_at INTEGER NOT NULL, last_at INTEGER NOT NULL) STRICT; CREATE TABLE masks (text TEXT NOT NULL) STRICT`
		if _, err := x.write.ExecContext(ctx, fmt.Sprintf("BEGIN; %s; INSERT INTO masks VALUES (?); PRAGMA user_version = %d; COMMIT", list, version), x.masks); err != nil {
			return err
		}
	default:
		return errVersion
	}
	return x.readBlocks(ctx)
}

func (x *Index) readBlocks(ctx context.Context) (err error) {
	rows, err := x.write.QueryContext(ctx, "SELECT id, number, is_merged, session, first, last, shift, newest_at, last_at FROM blocks ORDER BY session, first")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	blocks := map[sessions.ID][]block{}
	for rows.Next() {
		var b block
		var newest, last int64
		if err := rows.Scan(&b.id, &b.table, &b.isMerged, &b.session, &b.first, &b.last, &b.shift, &newest, &last); err != nil {
			return err
		}
		b.newest, b.lastAt = fromNanos(newest), fromNanos(last)
		blocks[b.session] = append(blocks[b.session], b)
	}
	x.mu.Lock()
	x.blocks = blocks
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

var (
	errDamaged = errors.New("it's damaged")
	errShut    = fmt.Errorf("%w: the index for searches is to be made anew", sessions.ErrUnavailable)
)

// isDamaged reports whether an error says that the index' files can't be read.
func isDamaged(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, errDamaged) || errors.As(err, &e) && slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}, e.Code()&0xff)
}

func (x *Index) closeFiles() error {
	errs := []error{x.readers.close()}
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
	for _, path := range FileNames(x.path) {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// FileNames are the names of an index' files, its own first.
func FileNames(path string) []string {
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
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
	if blocks := x.blocks[id]; len(blocks) > 0 {
		b := blocks[len(blocks)-1]
		return b.last, b.lastAt
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
	ids := make([]sessions.ID, 0, len(x.blocks))
	for id := range x.blocks {
		ids = append(ids, id)
	}
	return ids
}

// all are the blocks of some sessions, or of all if there's none named. x.mu is held.
func (x *Index) all(ids []sessions.ID) (all []block) {
	if len(ids) == 0 {
		for _, blocks := range x.blocks {
			all = append(all, blocks...)
		}
	}
	for _, id := range ids {
		all = append(all, x.blocks[id]...)
	}
	return all
}

// change is a transaction of the index. What's put and dropped in it is listed once it's committed.
type change struct {
	*sql.Tx

	index   *Index
	put     []block
	dropped map[int64]sessions.ID // whose blocks of these ids were
}

// commit has fn make a change. x.writing is held.
func (x *Index) commit(ctx context.Context, fn func(c *change) error) error {
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	c := &change{Tx: tx, index: x, dropped: map[int64]sessions.ID{}}
	if err := fn(c); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, id := range c.dropped {
		isDropped := func(b block) bool { return c.dropped[b.id] != "" }
		if blocks := slices.DeleteFunc(slices.Clone(x.blocks[id]), isDropped); len(blocks) > 0 {
			x.blocks[id] = blocks
		} else {
			delete(x.blocks, id)
		}
	}
	for _, b := range c.put {
		blocks := append(x.blocks[b.session], b)
		slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.first, b.first) })
		x.blocks[b.session] = blocks
	}
	return nil
}

// putBlock lists a block, or what it has become.
func (c *change) putBlock(ctx context.Context, b block) error {
	_, err := c.ExecContext(ctx, "UPDATE blocks SET number = ?, is_merged = ?, first = ?, last = ?, shift = ?, newest_at = ?, last_at = ? WHERE id = ?",
		b.table, b.isMerged, b.first, b.last, b.shift, nanos(b.newest), nanos(b.lastAt), b.id)
	c.dropped[b.id] = b.session // as it was before
	c.put = append(slices.DeleteFunc(c.put, func(o block) bool { return o.id == b.id }), b)
	return err
}

// newBlock returns a block with an id, which is in no table yet.
func (c *change) newBlock(ctx context.Context, id sessions.ID) (block, error) {
	res, err := c.ExecContext(ctx, "INSERT INTO blocks (number, is_merged, session, first, last, shift, newest_at, last_at) VALUES (0, 0, ?, 0, 0, 0, 0, 0)", string(id))
	if err != nil {
		return block{}, err
	}
	b := block{session: id}
	b.id, err = res.LastInsertId()
	return b, err
}

// makeTable makes a table. Its number is that of the first block in it.
func (c *change) makeTable(ctx context.Context, number int64) error {
	_, err := c.ExecContext(ctx, "CREATE VIRTUAL TABLE "+tableName(number)+" USING fts5 (words, content = '', detail = none, columnsize = 0, tokenize = 'ascii')")
	return err
}

// dropBlocks drops blocks, which are all of those in their tables, with the tables.
func (c *change) dropBlocks(ctx context.Context, blocks []block) error {
	tables := map[int64]bool{}
	for _, b := range blocks {
		tables[b.table] = true
		c.dropped[b.id] = b.session
		if _, err := c.ExecContext(ctx, "DELETE FROM blocks WHERE id = ?", b.id); err != nil {
			return err
		}
	}
	for number := range tables {
		if _, err := c.ExecContext(ctx, "DROP TABLE "+tableName(number)); err != nil {
			return err
		}
	}
	return nil
}

// add indexes lines of a session, which are in order and newer than Last. x.writing is held.
func (x *Index) add(ctx context.Context, id sessions.ID, lines []sessions.Line) error {
	if len(lines) == 0 {
		return nil
	}
	return x.commit(ctx, func(c *change) error {
		x.mu.RLock()
		blocks := slices.Clone(x.blocks[id])
		x.mu.RUnlock()
		var b block // that's added to
		if n := len(blocks); n > 0 && !blocks[n-1].isMerged && lines[0].N == blocks[n-1].last+1 {
			b = blocks[n-1]
		}
		for len(lines) > 0 {
			if b.id == 0 || b.lines() >= x.maxLen {
				var err error
				if b, err = c.newBlock(ctx, id); err != nil {
					return err
				}
				b.table, b.first, b.last = b.id, lines[0].N, lines[0].N-1
				if err := c.makeTable(ctx, b.table); err != nil {
					return err
				}
			}
			n := int(min(int64(len(lines)), x.maxLen-b.lines()))
			if err := c.addLines(ctx, &b, lines[:n]); err != nil {
				return err
			}
			if err := c.putBlock(ctx, b); err != nil {
				return err
			}
			lines = lines[n:]
		}
		return nil
	})
}

// addLines adds lines to a block, behind those that it has.
func (c *change) addLines(ctx context.Context, b *block, lines []sessions.Line) (err error) {
	insert, err := c.PrepareContext(ctx, "INSERT INTO "+tableName(b.table)+" (rowid, words) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	var words []string
	for _, l := range lines {
		words = appendWords(words[:0], l.Text)
		if _, err := insert.ExecContext(ctx, l.N+b.shift, strings.Join(words, " ")); err != nil {
			return err
		}
		b.last, b.lastAt = l.N, l.At
		if l.At.After(b.newest) {
			b.newest = l.At
		}
	}
	return nil
}

// drop forgets the blocks of a session whose lines are all older than oldest. What else stands in their tables is indexed
// anew. x.writing is held.
func (x *Index) drop(ctx context.Context, id sessions.ID, oldest int64) error {
	isOld := func(b block) bool { return b.session == id && b.last < oldest }
	x.mu.RLock()
	var all []block
	if slices.ContainsFunc(x.blocks[id], isOld) {
		all = x.all(nil)
	}
	x.mu.RUnlock()
	if len(all) == 0 {
		return nil
	}
	return x.commit(ctx, func(c *change) error {
		tables := map[int64]bool{}
		for _, b := range all {
			if isOld(b) {
				tables[b.table] = true
			}
		}
		var gone, left []block
		for _, b := range all {
			if !tables[b.table] {
				continue
			}
			gone = append(gone, b)
			if !isOld(b) {
				left = append(left, b)
			}
		}
		if err := c.dropBlocks(ctx, gone); err != nil {
			return err
		}
		return c.merge(ctx, left)
	})
}

// merge indexes the lines of blocks anew in one table. The blocks were dropped.
func (c *change) merge(ctx context.Context, blocks []block) error {
	table, row := int64(0), int64(1) // its number, and that of the next row
	for _, was := range blocks {
		var b block
		for next := was.first; next <= was.last; {
			out, err := c.index.log.Read(ctx, was.session, next, batchLines)
			if errors.Is(err, sessions.ErrUnknown) {
				break // it's forgotten
			}
			if err != nil {
				return err
			}
			lines := slices.DeleteFunc(slices.Clone(out.Lines), func(l sessions.Line) bool { return l.N > was.last })
			if len(lines) == 0 {
				break
			}
			if b.id == 0 {
				if b, err = c.newBlock(ctx, was.session); err != nil {
					return err
				}
				if table == 0 {
					table = b.id
					if err := c.makeTable(ctx, table); err != nil {
						return err
					}
				}
				b.table, b.isMerged, b.first, b.shift = table, true, lines[0].N, row-lines[0].N
			}
			if err := c.addLines(ctx, &b, lines); err != nil {
				return err
			}
			next = b.last + 1
		}
		if b.id == 0 {
			continue
		}
		row = b.last + b.shift + 1
		if err := c.putBlock(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

const (
	mostSmall   = 128     // small blocks with tables of their own; of more, the oldest are merged until half are left
	mergedLines = 1 << 15 // of a table to which blocks are merged, at least: those that have half of it aren't small
)

// mergeOld merges the oldest of small blocks, if there are many. It says whether it did. x.writing is held.
func (x *Index) mergeOld(ctx context.Context) (bool, error) {
	x.mu.RLock()
	small := slices.DeleteFunc(x.all(nil), func(b block) bool { return b.isMerged || b.lines() >= mergedLines/2 })
	x.mu.RUnlock()
	if len(small) <= x.mostSmall {
		return false, nil
	}
	slices.SortFunc(small, func(a, b block) int { return a.newest.Compare(b.newest) })
	var merged []block
	for sum := int64(0); sum < mergedLines && len(small) > x.mostSmall/2; small = small[1:] {
		merged = append(merged, small[0])
		sum += small[0].lines()
	}
	return true, x.commit(ctx, func(c *change) error {
		if err := c.dropBlocks(ctx, merged); err != nil {
			return err
		}
		return c.merge(ctx, merged)
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
