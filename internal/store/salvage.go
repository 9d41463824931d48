package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/internal/regular"
)

const (
	// unsoundSuffix is behind the database's name in that of a file which says that it's damaged.
	unsoundSuffix = "-unsound"
	// maxUnsound is how many bytes it has at most.
	maxUnsound = 64 << 10
)

// Salvaged is what became of a damaged database.
type Salvaged struct {
	Kept string // where the damaged file is now
	Lost []Loss // in the order of the tables' names
}

// Loss is what couldn't be read of a table.
type Loss struct {
	Table string
	Rows  int64 // at least so many; 0: nobody knows
}

// String names what's lost in words.
func (s Salvaged) String() string {
	switch {
	case len(s.Lost) == 0:
		return "nothing of it is lost"
	case s.Lacks():
		return "nothing of it could be read"
	}
	var all []string
	for _, l := range s.Lost {
		what := strings.ReplaceAll(l.Table, "_", " ")
		if l.Rows > 0 {
			what = fmt.Sprintf("%s (%d)", what, l.Rows)
		}
		all = append(all, what)
	}
	return "not all of these could be read: " + strings.Join(all, ", ")
}

// Lacks reports whether rows of one of these tables are lost.
func (s Salvaged) Lacks(tables ...string) bool {
	return slices.ContainsFunc(s.Lost, func(l Loss) bool { return l.Table == everything || slices.Contains(tables, l.Table) })
}

// everything is the table of a Loss of all there was.
const everything = "everything"

// Salvage puts a new database in the place of a damaged one, with all that can still be read of
// that. The damaged file stays beside it under another name. Nobody may have the database open. It
// blocks until that's done: some seconds for a gigabyte. Where it fails, for want of room for
// instance, the damaged database has its name still.
func Salvage(ctx context.Context, path string, log *slog.Logger) (out Salvaged, err error) {
	defer func() { err = explain("save what can be read of "+path, path, err) }()
	gate, err := openEntrance(path, gateWaitOthers)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { err = errors.Join(err, gate.close()) }()
	defer gate.enter()()
	fresh := path + newSuffix
	held, err := beginRewrite(fresh)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { err = errors.Join(err, removeAll(fresh), held.Close()) }() // nothing is removed where it has the name
	if err := dropPartOfPage(path); err != nil {
		return Salvaged{}, err
	}
	if out.Lost, err = salvageInto(ctx, path, fresh, log); err != nil {
		return Salvaged{}, err
	}
	out.Kept = nameAside(path, damagedSuffix)
	if err := noteLost(out.Kept, out); err != nil {
		return Salvaged{}, err
	}
	if err := swap(path, out.Kept, fresh); err != nil {
		return Salvaged{}, err
	}
	return out, nil
}

// dropPartOfPage shortens a file that was cut in the middle of a page to its whole pages: SQLite would
// take zeros for the rest.
func dropPartOfPage(path string) (err error) {
	f, err := regular.OpenKept(path, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	header := make([]byte, 18) // the last two bytes are the size of a page
	if _, err := f.ReadAt(header, 0); err != nil {
		return nil // it has no page
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	info, err := f.Stat()
	if err != nil || page < 512 || info.Size()%page == 0 {
		return err
	}
	return f.Truncate(info.Size() - info.Size()%page)
}

// swap gives fresh the name of a database that's kept under another. The database goes first: as long as it has its
// name it has its write-ahead log, too, and the next start saves anew what can be read of both.
func swap(path, kept, fresh string) error {
	salvaged := path + salvagedSuffix
	if err := os.Rename(fresh, salvaged); err != nil {
		return err
	}
	if err := os.Rename(path, kept); err != nil {
		return errors.Join(err, removeAll(salvaged))
	}
	if err := os.Rename(path+walSuffix, kept+walSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return giveName(salvaged, path)
}

// salvageInto writes what can be read of a damaged database into a new one.
func salvageInto(ctx context.Context, damaged, fresh string, log *slog.Logger) (lost []Loss, err error) {
	to, err := openFresh(ctx, fresh)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	from, err := openDamaged(ctx, damaged)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	is, newest, err := versions(ctx, from.conn, migrations())
	if errors.Is(err, ErrTooNew) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil || is == 0 { // not even its first page can be read
		log.WarnContext(ctx, "nothing of the damaged database can be read", "err", err)
		lost = []Loss{{Table: everything}}
		is = 0
	}
	if _, err := migrateFrom(ctx, to.conn, migrations(), 0, is); err != nil {
		return nil, err
	}
	c := copier{from: from.conn, to: to.conn, log: log, lost: map[string]bool{}}
	if is > 0 {
		if err := c.copyAll(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := migrateFrom(ctx, to.conn, migrations(), is, newest); err != nil {
		return nil, err
	}
	rows, err := mend(ctx, to.conn)
	if err != nil {
		return nil, err
	}
	for name := range c.lost {
		rows[name] += 0
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		lost = append(lost, Loss{name, rows[name]})
	}
	return lost, syncFile(fresh)
}

// single is a database with one connection.
type single struct {
	db   *sql.DB
	conn *sql.Conn
}

func openSingle(ctx context.Context, name string) (s single, err error) {
	if s.db, err = sql.Open("sqlite", name); err != nil {
		return single{}, err
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return single{}, errors.Join(err, s.db.Close())
	}
	return s, nil
}

func (s single) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// openFresh opens a new database; what's written to it isn't safe until its file is synced.
func openFresh(ctx context.Context, path string) (single, error) {
	name, err := dsn(path, writes[0], "journal_mode(OFF)", "synchronous(OFF)")
	if err != nil {
		return single{}, err
	}
	s, err := openSingle(ctx, name)
	if err != nil {
		return single{}, err
	}
	// What refers to others comes before them, and is looked at last: see mend.
	if _, err := s.conn.ExecContext(ctx, "PRAGMA foreign_keys = 0"); err != nil {
		return single{}, errors.Join(err, s.close())
	}
	return s, nil
}

// openDamaged opens a database to read what it can. Its write-ahead log counts, and isn't written
// into it.
func openDamaged(ctx context.Context, path string) (single, error) {
	// The second reads what it can of a schema that isn't whole.
	name, err := dsn(path, "query_only(1)", "writable_schema(1)", "cell_size_check(1)")
	if err != nil {
		return single{}, err
	}
	return openSingle(ctx, name+"&mode=ro")
}

func syncFile(path string) error {
	f, err := regular.OpenKept(path, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Unsound returns an ErrDamaged if a database was found damaged while it was used; nil otherwise.
func Unsound(path string) error {
	if err := checkFile(path + unsoundSuffix); err != nil {
		return explain("open store "+path, path, err)
	}
	found, err := regular.Read(path+unsoundSuffix, maxUnsound)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain("open store "+path, path, err)
	}
	return damaged("open store "+path, path, errors.New(strings.TrimSpace(string(found))))
}

// noteUnsound has the next start save what can be read: reading all of a database to find out takes
// too long to do it at every one.
func noteUnsound(path string, found error) error {
	f, err := regular.OpenKept(path+unsoundSuffix, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	text := found.Error()
	_, err = f.WriteString(text[:min(len(text), maxUnsound-1)] + "\n")
	return errors.Join(err, f.Close())
}
